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

// inline is the number of sizes that a Shape holds without allocating.
const inline = 4

// MaxRank is the largest rank a shape can have.
const MaxRank = 127

// Shape is the list of a tensor's sizes. The zero Shape is that of a scalar.
// Shapes are immutable; compare them with Equal.
type Shape struct {
	rank int8 // -1: unknown
	dims [inline]int
	more *[]int // all sizes, where there are more than fit inline
}

// UnknownRank is the shape of which nothing is known.
var UnknownRank = Shape{rank: -1}

// Of returns the shape with the given sizes, each at least 0 or Unknown. It
// throws on another size: use [From] for sizes that come from outside.
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
	s := Shape{rank: int8(len(dims))}
	if len(dims) > inline {
		c := slices.Clone(dims)
		s.more = &c
		return s
	}
	copy(s.dims[:], dims)
	return s
}

// OfRank returns the shape with the given rank, all of whose sizes are unknown;
// a negative rank gives UnknownRank.
func OfRank(rank int) Shape {
	if rank < 0 {
		return UnknownRank
	}
	return make_(slices.Repeat([]int{Unknown}, rank))
}

// Rank returns the number of axes, and -1 where it is unknown.
func (s Shape) Rank() int { return int(s.rank) }

// HasRank reports whether the rank is known.
func (s Shape) HasRank() bool { return s.rank >= 0 }

// IsScalar reports whether the rank is known to be 0.
func (s Shape) IsScalar() bool { return s.rank == 0 }

func (s *Shape) view() []int {
	if s.more != nil {
		return *s.more
	}
	return s.dims[:max(0, s.rank)]
}

// Dims returns a copy of the sizes, and nil where the rank is unknown.
func (s Shape) Dims() []int {
	if s.rank < 0 {
		return nil
	}
	return append(make([]int, 0, s.rank), s.view()...)
}

// AppendDims appends the sizes to dst, for callers that have room.
func (s *Shape) AppendDims(dst []int) []int { return append(dst, s.view()...) }

// Dim returns the size of an axis; a negative axis counts from the end. It is
// Unknown where the rank is unknown, and panics where the axis does not exist.
func (s Shape) Dim(axis int) int {
	if s.rank < 0 {
		return Unknown
	}
	if axis < 0 {
		axis += int(s.rank)
	}
	return s.view()[axis]
}

// Axis turns an axis that may count from the end into one that counts from the
// start. A rank that is unknown leaves it as it is.
func (s Shape) Axis(axis int) (int, error) {
	if s.rank < 0 {
		return axis, nil
	}
	r := int(s.rank)
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
	if s.rank < 0 {
		return false
	}
	for _, d := range s.view() {
		if d < 0 {
			return false
		}
	}
	return true
}

// Size returns the number of elements, and Unknown where it is not known (a
// known size 0 makes it 0 whatever the others are). Where it does not fit an int
// it is math.MaxInt.
func (s Shape) Size() int {
	if s.rank < 0 {
		return Unknown
	}
	n, over, open := uint64(1), uint64(0), false
	for _, d := range s.view() {
		switch {
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

// CheckedSize returns the number of elements, and an error where it, times the
// bytes of an element, does not fit an int. Decoders call it before they allocate.
func (s Shape) CheckedSize(elem int) (int, error) {
	if s.rank < 0 {
		return 0, fmt.Errorf("shape: %v is not fully known", s)
	}
	n := uint64(1)
	for _, d := range s.view() {
		if d == 0 {
			return 0, nil
		}
	}
	for _, d := range s.view() {
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

// Equal reports whether both shapes know the same.
func (s Shape) Equal(t Shape) bool {
	if s.rank != t.rank {
		return false
	}
	if s.more == nil {
		return s.dims == t.dims
	}
	return slices.Equal(*s.more, *t.more)
}

// String prints the sizes: "[2, ?, 3]", "[]" for a scalar, and "[...]" for unknown rank.
func (s Shape) String() string {
	if s.rank < 0 {
		return "[...]"
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range s.view() {
		if i > 0 {
			b.WriteString(", ")
		}
		if d < 0 {
			b.WriteByte('?')
		} else {
			b.WriteString(strconv.Itoa(d))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// Parse reads what String prints.
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
