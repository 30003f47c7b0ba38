package str

import (
	"strconv"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/par"
)

// A Column is a sequence of strings: string i is Bytes[Offsets[i]:Offsets[i+1]].
// There is one offset more than there are strings; the zero Column has none.
// Offsets never decrease and stay within Bytes; they need not start at 0.
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

// Size returns the number of bytes of all strings together.
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

// An Error names the first string that an operation cannot take.
type Error struct {
	Index  int    // its position in the column
	Detail string // what is wrong with it
}

// Error returns "string 3: not a number".
func (e *Error) Error() string { return "string " + strconv.Itoa(e.Index) + ": " + e.Detail }

// slack is the room behind the last byte of a result, so that vector loads there
// stay inside the buffer.
const slack = 64

// A builder collects strings.
type builder struct {
	offsets []int64 // ends of the strings so far
	bytes   []byte
	err     error
}

// end closes the current string.
func (b *builder) end() { b.offsets = append(b.offsets, int64(len(b.bytes))) }

// add appends a whole string.
func (b *builder) add(s []byte) {
	b.bytes = append(b.bytes, s...)
	b.end()
}

// builders are kept for the next column: the memory that a small one collects in grows
// once, and what is returned is as large as it has to be.
var builders = sync.Pool{New: func() any {
	return &builder{offsets: make([]int64, 0, 64), bytes: make([]byte, 0, 512)}
}}

// keptBytes and keptStrings bound what a builder holds while it is not used.
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

// column returns what has been collected. Many bytes are not copied where their memory is
// not much too large.
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

// newColumn returns n strings of so many bytes altogether, to be filled in. Offsets and
// bytes are one piece of memory.
func newColumn(n, size int) Column {
	words := freshWords(n + 1 + (size+slack+7)/8)
	words[0] = 0
	rest := words[n+1:]
	return Column{
		Offsets: words[: n+1 : n+1],
		Bytes:   unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rest))), 8*len(rest))[:size],
	}
}

// large is the size in bytes from which memory comes from the arena: to clear it, page by
// page, takes as long as to fill it.
const large = 64 << 10

// freshWords returns n numbers for a result, which are arbitrary.
func freshWords(n int) []int64 {
	if 8*n < large {
		return make([]int64, n)
	}
	return arena.View[int64](arena.Alloc(8*n), n)
}

// freshOffsets returns the offsets of n strings, of which all but the first, 0, are arbitrary.
func freshOffsets(n int) []int64 {
	o := freshWords(n + 1)
	o[0] = 0
	return o
}

// freshBytes returns n bytes for a result, which are arbitrary, with slack behind them.
func freshBytes(n int) []byte {
	if n < large {
		return make([]byte, n, n+slack)
	}
	return arena.Alloc(n).Bytes()
}

// rowsWith returns how many of so many rows have about as many strings as are asked for, where
// all of them have n.
func rowsWith(strings, rows, n int) int {
	return max(1, int(float64(strings)*float64(rows)/float64(max(n, 1))))
}

// merge returns what the builders of all chunks hold, one behind the other, and adds to
// splits, if not nil, the strings of the chunks before.
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

// inChunks calls f for all strings of a column of n, on several workers where there are
// many, with what it needs to know.
func inChunks[C any](n int, with C, f func(lo, hi int, with C)) {
	if n <= chunk {
		f(0, n, with)
	} else {
		inManyChunks(n, with, f)
	}
}

// inManyChunks is inChunks of many strings: only there what is known has to be in memory
// that workers share.
func inManyChunks[C any](n int, with C, f func(lo, hi int, with C)) {
	par.For(n, chunk, func(lo, hi int) { f(lo, hi, with) })
}

// build calls f for every row of n, giving it the builder that collects the results in
// order, and what it needs to know. splits, if not nil, has room for the n+1 row splits of
// the results. The error is that of the first row that fails.
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

// buildMany is build of many rows.
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

// mapped is build for one string of result for each string; f appends its bytes to dst.
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

// mapMany is mapped of many strings.
func mapMany[C any](n int, with C, f func(dst []byte, i int, with C) []byte) Column {
	c, _ := buildMany(n, nil, with, func(b *builder, i int, with C) error {
		b.bytes = f(b.bytes, i, with)
		b.end()
		return nil
	})
	return c
}
