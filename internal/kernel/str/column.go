package str

import (
	"strconv"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/par"
)

// A Column is a sequence of strings: string i is Bytes[Offsets[i]:Offsets[i+1]]. There is one more
// offset than there are strings; the zero Column has no offsets. Offsets never decrease and stay
// within Bytes; they need not start at 0.
type Column struct {
	Offsets []int64
	Bytes   []byte
}

// Of returns a column with a copy of the given strings.
func Of(s ...string) Column {
	var b builder
	for _, v := range s {
		b.bytes = append(b.bytes, v...)
		b.end()
	}
	return b.column()
}

// Len returns the number of strings.
func (c Column) Len() int { return max(len(c.Offsets)-1, 0) }

// At returns the bytes of string i, which must not be changed.
func (c Column) At(i int) []byte {
	lo, hi := c.Offsets[i], c.Offsets[i+1]
	return c.Bytes[lo:hi:hi]
}

// Size returns the total number of bytes of the strings.
func (c Column) Size() int64 {
	if len(c.Offsets) == 0 {
		return 0
	}
	return c.Offsets[len(c.Offsets)-1] - c.Offsets[0]
}

// Strings returns a copy of the strings.
func (c Column) Strings() []string {
	s := make([]string, c.Len())
	for i := range s {
		s[i] = string(c.At(i))
	}
	return s
}

// An Error reports the first string that an operation cannot process.
type Error struct {
	Index  int    // its position in the column
	Detail string // what is wrong with it
}

// Error returns "string 3: not a number".
func (e *Error) Error() string { return "string " + strconv.Itoa(e.Index) + ": " + e.Detail }

// slack is the spare capacity after the last byte of a result, so that vector loads there stay
// within the buffer.
const slack = 64

// A builder accumulates strings.
type builder struct {
	offsets []int64 // ends of the strings so far
	bytes   []byte
	err     error
}

// end finishes the current string.
func (b *builder) end() { b.offsets = append(b.offsets, int64(len(b.bytes))) }

// add appends a whole string.
func (b *builder) add(s []byte) {
	b.bytes = append(b.bytes, s...)
	b.end()
}

// builders are pooled: their buffers grow once, and the columns returned are allocated with exact
// sizes.
var builders = sync.Pool{New: func() any {
	return &builder{offsets: make([]int64, 0, 64), bytes: make([]byte, 0, 512)}
}}

// keptBytes and keptStrings bound the capacity of pooled builders.
const (
	keptBytes   = 64 << 10
	keptStrings = 2 * chunk
)

func (b *builder) free() {
	b.err = nil
	if b.offsets = b.offsets[:0]; cap(b.offsets) > keptStrings {
		b.offsets = nil
	}
	if b.bytes = b.bytes[:0]; cap(b.bytes) > keptBytes {
		b.bytes = nil
	}
	builders.Put(b)
}

// column returns the strings of the builder. A large buffer is not copied unless it is much too
// large.
func (b *builder) column() Column {
	n, size := len(b.offsets), len(b.bytes)
	var c Column
	if spare := cap(b.bytes) - size; cap(b.bytes) > keptBytes && spare >= slack && spare <= 2*slack+size/4 {
		c.Offsets, c.Bytes = freshOffsets(n), b.bytes
		b.bytes = nil
	} else {
		c = newColumn(n, size)
		copy(c.Bytes, b.bytes)
	}
	copy(c.Offsets[1:], b.offsets)
	return c
}

// newColumn returns n strings of size bytes in total, to be filled in. Offsets and bytes share one
// allocation.
func newColumn(n, size int) Column {
	words := freshWords(n + 1 + (size+slack+7)/8)
	words[0] = 0
	rest := words[n+1:]
	return Column{
		Offsets: words[: n+1 : n+1],
		Bytes:   unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rest))), 8*len(rest))[:size],
	}
}

// large is the size in bytes from which memory comes from the arena: clearing it, page by page,
// would take as long as filling it.
const large = 64 << 10

// freshWords returns n numbers of arbitrary value for a result.
func freshWords(n int) []int64 {
	if 8*n < large {
		return make([]int64, n)
	}
	_, out := arena.Lend[int64](n)
	return out
}

// freshOffsets returns the offsets of n strings. The first is 0 and the others are arbitrary.
func freshOffsets(n int) []int64 {
	o := freshWords(n + 1)
	o[0] = 0
	return o
}

// freshBytes returns n bytes of arbitrary value for a result, followed by slack.
func freshBytes(n int) []byte {
	if n < large {
		return make([]byte, n, n+slack)
	}
	return arena.Alloc(n).Bytes()
}

// rowsWith returns how many of the given rows hold about the given number of strings, if all rows
// hold n.
func rowsWith(strings, rows, n int) int {
	return max(1, int(float64(strings)*float64(rows)/float64(max(n, 1))))
}

// merge returns the concatenation of the builders of all chunks and, if splits is not nil, adds to
// each entry the number of strings of the preceding chunks.
func merge(parts []builder, splits []int64) Column {
	var strings, bytes int
	for i := range parts {
		strings += len(parts[i].offsets)
		bytes += len(parts[i].bytes)
	}
	c := newColumn(strings, bytes)
	o, b := 1, 0
	for i := range parts {
		p := &parts[i]
		if splits != nil {
			for r := i * chunk; r < min((i+1)*chunk, len(splits)-1); r++ {
				splits[r+1] += int64(o - 1)
			}
		}
		for _, end := range p.offsets {
			c.Offsets[o] = int64(b) + end
			o++
		}
		b += copy(c.Bytes[b:], p.bytes)
	}
	return c
}

// chunk is the number of strings that a worker takes at a time.
const chunk = 4096

// inChunks calls f for ranges that cover [0, n), on several workers if n is large, and passes it
// with. Using an argument rather than captured variables keeps small calls free of allocations.
func inChunks[C any](n int, with C, f func(lo, hi int, with C)) {
	if n <= chunk {
		f(0, n, with)
	} else {
		inManyChunks(n, with, f)
	}
}

// inManyChunks is inChunks for large n. It is a separate function so that only large calls move
// with to the heap.
func inManyChunks[C any](n int, with C, f func(lo, hi int, with C)) {
	par.For(n, chunk, func(lo, hi int) { f(lo, hi, with) })
}

// build calls f for each of n rows with a builder that collects the results in order, and with the
// argument with. If splits is not nil, it has n+1 entries and receives the row splits of the
// results. build returns the error of the first row that fails.
func build[C any](n int, splits []int64, with C, f func(b *builder, i int, with C) error) (Column, error) {
	if splits != nil {
		splits[0] = 0
	}
	if n <= chunk {
		b := builders.Get().(*builder)
		defer b.free()
		for i := range n {
			if err := f(b, i, with); err != nil {
				return Column{}, err
			}
			if splits != nil {
				splits[i+1] = int64(len(b.offsets))
			}
		}
		return b.column(), nil
	}
	return buildMany(n, splits, with, f)
}

// buildMany is build for large n.
func buildMany[C any](n int, splits []int64, with C, f func(b *builder, i int, with C) error) (Column, error) {
	parts := make([]builder, (n+chunk-1)/chunk)
	par.For(n, chunk, func(lo, hi int) {
		b := &parts[lo/chunk]
		for i := lo; i < hi; i++ {
			if err := f(b, i, with); err != nil {
				b.err = err
				return
			}
			if splits != nil {
				splits[i+1] = int64(len(b.offsets))
			}
		}
	})
	for i := range parts {
		if parts[i].err != nil {
			return Column{}, parts[i].err
		}
	}
	return merge(parts, splits), nil
}

// mapped is build with exactly one result string for each row; f appends its bytes to dst.
func mapped[C any](n int, with C, f func(dst []byte, i int, with C) []byte) Column {
	if n <= chunk {
		b := builders.Get().(*builder)
		defer b.free()
		for i := range n {
			b.bytes = f(b.bytes, i, with)
			b.end()
		}
		return b.column()
	}
	return mapMany(n, with, f)
}

// mapMany is mapped for large n.
func mapMany[C any](n int, with C, f func(dst []byte, i int, with C) []byte) Column {
	c, _ := buildMany(n, nil, with, func(b *builder, i int, with C) error {
		b.bytes = f(b.bytes, i, with)
		b.end()
		return nil
	})
	return c
}
