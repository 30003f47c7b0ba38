package shape

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon/internal/throw"
)

// Unknown is the size of an axis whose size is not known.
const Unknown = -1

// inline is the number of sizes below 1<<31 that a Shape holds without allocating.
const inline = 5

// MaxRank is the largest rank a shape can have.
const MaxRank = 127

// Shape is the list of a tensor's sizes. The zero Shape is that of a scalar.
// Shapes are immutable; compare them with Equal.
//
// A Shape is four words long, so that it is passed in registers. Copying one to the heap takes a
// write barrier for a single pointer, which is rarely set.
type Shape struct {
	more   *[]int // all sizes, if they do not fit inline
	s0, s2 uint64 // two 32-bit sizes each, the first in the low half
	s4     uint64 // the last size, and above it the rank in eight bits
}

// unknownRank is the value of s4 if the rank is unknown.
const unknownRank = 0xFF << 32

// UnknownRank is the shape about which nothing is known.
var UnknownRank = Shape{s4: unknownRank}

// Of returns the shape with the given sizes, each at least 0 or Unknown. It
// throws on any other size; use [From] for sizes that come from outside the
// program.
func Of(dims ...int) Shape {
	s, err := From(dims)
	throw.Throw(err)
	return s
}

// From returns the shape with the given sizes, each at least 0 or Unknown.
func From(dims []int) (Shape, error) {
	if len(dims) > MaxRank {
		return Shape{}, fmt.Errorf("shape: rank %d is above the limit of %d", len(dims), MaxRank)
	}
	for i, d := range dims {
		if d < Unknown {
			return Shape{}, fmt.Errorf("shape: size %d of axis %d is negative", d, i)
		}
	}
	return make_(dims), nil
}

func make_(dims []int) Shape {
	s := Shape{s4: uint64(len(dims)) << 32}
	if len(dims) > inline {
		return long(dims)
	}
	for i, d := range dims {
		if int(int32(d)) != d {
			return long(dims)
		}
		switch w := uint64(uint32(d)) << (i & 1 * 32); i >> 1 {
		case 0:
			s.s0 |= w
		case 1:
			s.s2 |= w
		default:
			s.s4 |= w
		}
	}
	return s
}

// long is make_ for sizes that do not fit inline.
func long(dims []int) Shape {
	c := slices.Clone(dims)
	return Shape{more: &c, s4: uint64(len(dims)) << 32}
}

// OfRank returns the shape of the given rank whose sizes are all unknown. A rank
// that is negative or above [MaxRank] gives UnknownRank.
func OfRank(rank int) Shape {
	if rank < 0 || rank > MaxRank {
		return UnknownRank
	}
	return make_(slices.Repeat([]int{Unknown}, rank))
}

// Rank returns the number of axes, or -1 if it is unknown.
func (s Shape) Rank() int { return int(int8(s.s4 >> 32)) }

// HasRank reports whether the rank is known.
func (s Shape) HasRank() bool { return s.Rank() >= 0 }

// IsScalar reports whether the rank is known to be 0.
func (s Shape) IsScalar() bool { return s.Rank() == 0 }

// A buffer has room for the sizes that are stored inline.
type buffer [inline]int

// view returns the sizes, either in b or in the shape's own memory. They must not be changed.
func (s Shape) view(b *buffer) []int {
	if s.more != nil {
		return *s.more
	}
	b[0], b[1] = int(int32(s.s0)), int(int32(s.s0>>32))
	b[2], b[3] = int(int32(s.s2)), int(int32(s.s2>>32))
	b[4] = int(int32(s.s4))
	return b[:max(0, s.Rank())]
}

// at returns the size of an axis that exists.
func (s Shape) at(axis int) int {
	if s.more != nil {
		return (*s.more)[axis]
	}
	w := s.s0
	if axis >= 4 {
		w = s.s4
	} else if axis >= 2 {
		w = s.s2
	}
	return int(int32(w >> (axis & 1 * 32)))
}

// Dims returns a copy of the sizes, or nil if the rank is unknown.
func (s Shape) Dims() []int {
	if s.Rank() < 0 {
		return nil
	}
	return s.AppendDims(make([]int, 0, s.Rank()))
}

// AppendDims appends the sizes to dst, for callers that have memory for them.
func (s Shape) AppendDims(dst []int) []int {
	var b buffer
	return append(dst, s.view(&b)...)
}

// Dim returns the size of an axis; a negative axis counts from the end. It
// returns Unknown if the rank is unknown, and panics if the axis does not exist.
func (s Shape) Dim(axis int) int {
	r := s.Rank()
	if r < 0 {
		return Unknown
	}
	if axis < 0 {
		axis += r
	}
	if uint(axis) >= uint(r) {
		s.bad(axis)
	}
	return s.at(axis)
}

//go:noinline
func (s Shape) bad(axis int) { throw.Bug("shape: there is no axis %d in %v", axis, s) }

// Axis converts an axis that may count from the end to one that counts from the
// start. If the rank is unknown, the axis is returned unchanged.
func (s Shape) Axis(axis int) (int, error) {
	if s.Rank() < 0 {
		return axis, nil
	}
	r := s.Rank()
	if axis < -r || axis >= r {
		return 0, fmt.Errorf("axis %d is out of range for rank %d (%v)", axis, r, s)
	}
	if axis < 0 {
		axis += r
	}
	return axis, nil
}

// IsFull reports whether the rank and every size are known.
func (s Shape) IsFull() bool {
	if s.Rank() < 0 {
		return false
	}
	for i := range s.Rank() {
		if s.at(i) < 0 {
			return false
		}
	}
	return true
}

// Size returns the number of elements, or Unknown if it is not known. A known
// size of 0 makes it 0 whatever the others are. A number that overflows int is
// returned as math.MaxInt.
func (s Shape) Size() int {
	if s.more == nil && s.s4 == 1<<32 { // one axis
		return int(int32(s.s0))
	}
	return s.product()
}

func (s Shape) product() int {
	if s.Rank() < 0 {
		return Unknown
	}
	n, over, open := uint64(1), uint64(0), false
	for i := range s.Rank() {
		switch d := s.at(i); {
		case d == 0:
			return 0
		case d < 0:
			open = true
		default:
			var hi uint64
			hi, n = bits.Mul64(n, uint64(d))
			over |= hi | n>>63
		}
	}
	switch {
	case open:
		return Unknown
	case over != 0:
		return math.MaxInt
	}
	return int(n)
}

// CheckedSize returns the number of elements. It returns an error if that number, or its product
// with elem, the size of an element in bytes, overflows int. Decoders call it before they allocate.
func (s Shape) CheckedSize(elem int) (int, error) {
	if s.Rank() < 0 {
		return 0, fmt.Errorf("shape: %v is not fully known", s)
	}
	n := uint64(1)
	var b buffer
	dims := s.view(&b)
	if slices.Contains(dims, 0) {
		return 0, nil
	}
	for _, d := range dims {
		if d < 0 {
			return 0, fmt.Errorf("shape: %v is not fully known", s)
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 {
			return 0, fmt.Errorf("shape: %v has too many elements", s)
		}
		n = lo
	}
	if hi, lo := bits.Mul64(n, uint64(max(1, elem))); hi != 0 || lo > 1<<62 {
		return 0, fmt.Errorf("shape: %v has too many elements", s)
	}
	return int(n), nil
}

// Equal reports whether both shapes have the same rank and sizes, known or
// unknown.
func (s Shape) Equal(t Shape) bool {
	if s.more == nil || t.more == nil {
		return s == t
	}
	return slices.Equal(*s.more, *t.more)
}

// Hash returns a number that is the same for equal shapes.
func (s Shape) Hash() uint64 {
	h := s.s4
	if s.more == nil {
		return h ^ s.s0*0x9E3779B97F4A7C15 ^ s.s2*0xBF58476D1CE4E5B9
	}
	for _, d := range *s.more {
		h = h*31 + uint64(d)
	}
	return h
}

// String prints the sizes: "[2, ?, 3]", "[]" for a scalar, and "[...]" for unknown rank.
func (s Shape) String() string {
	if s.Rank() < 0 {
		return "[...]"
	}
	var b strings.Builder
	b.WriteByte('[')
	for i := range s.Rank() {
		if i > 0 {
			b.WriteString(", ")
		}
		if d := s.at(i); d < 0 {
			b.WriteByte('?')
		} else {
			b.WriteString(strconv.Itoa(d))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// Parse reads the text that String returns.
func Parse(text string) (Shape, error) {
	bad := func() (Shape, error) { return Shape{}, fmt.Errorf("shape: %q is not a shape like [2, ?, 3]", text) }
	if text == "[...]" {
		return UnknownRank, nil
	}
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return bad()
	}
	inner := strings.TrimSpace(text[1 : len(text)-1])
	if inner == "" {
		return Shape{}, nil
	}
	var dims []int
	for part := range strings.SplitSeq(inner, ",") {
		part = strings.TrimSpace(part)
		if part == "?" {
			dims = append(dims, Unknown)
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return bad()
		}
		dims = append(dims, n)
	}
	return From(dims)
}

// MarshalText returns the same text as String, for JSON, flags and the like.
func (s Shape) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text that String returns.
func (s *Shape) UnmarshalText(text []byte) (err error) {
	*s, err = Parse(string(text))
	return err
}
