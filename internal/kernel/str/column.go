package str

import (
	"strconv"

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

// A builder collects strings, and optionally rows of them.
type builder struct {
	offsets []int64 // ends of the strings so far
	bytes   []byte
	splits  []int64 // ends of the rows so far
	err     error
}

// end closes the current string.
func (b *builder) end() { b.offsets = append(b.offsets, int64(len(b.bytes))) }

// add appends a whole string.
func (b *builder) add(s []byte) {
	b.bytes = append(b.bytes, s...)
	b.end()
}

// endRow closes the current row.
func (b *builder) endRow() { b.splits = append(b.splits, int64(len(b.offsets))) }

func (b *builder) column() Column { return b.built(nil).column }

// built is [merge] of a single builder, which keeps its memory where that is not much too
// large. room, if not nil, is a 0 and behind it the memory that offsets began in.
func (b *builder) built(room []int64) (m built) {
	if n := len(b.offsets); cap(room) > n && n > 0 && &room[:2][1] == &b.offsets[0] || n == 0 && cap(room) > 0 {
		m.column.Offsets = room[: 1+n : 1+n]
	} else {
		m.column.Offsets = append(make([]int64, 1, n+1), b.offsets...)
	}
	if n := len(b.bytes); cap(b.bytes)-n >= slack && cap(b.bytes)-n <= 2*slack+n/4 {
		m.column.Bytes = b.bytes
	} else {
		m.column.Bytes = append(make([]byte, 0, n+slack), b.bytes...)
	}
	if len(b.splits) > 0 || len(b.offsets) == 0 {
		m.splits = append(make([]int64, 1, len(b.splits)+1), b.splits...)
	}
	return m
}

// A built is what the builders of all chunks hold together.
type built struct {
	column Column
	splits []int64
}

func merge(parts []builder) built {
	var strings, bytes, rows int
	for i := range parts {
		strings += len(parts[i].offsets)
		bytes += len(parts[i].bytes)
		rows += len(parts[i].splits)
	}
	m := built{
		column: Column{Offsets: make([]int64, strings+1), Bytes: make([]byte, bytes, bytes+slack)},
		splits: make([]int64, rows+1),
	}
	o, b, s := 1, 0, 1
	for i := range parts {
		p := &parts[i]
		base := int64(o - 1)
		for _, end := range p.splits {
			m.splits[s] = base + end
			s++
		}
		for _, end := range p.offsets {
			m.column.Offsets[o] = int64(b) + end
			o++
		}
		b += copy(m.column.Bytes[b:], p.bytes)
	}
	return m
}

// chunk is the number of strings that a worker takes at a time.
const chunk = 4096

// build calls f for every string of a column of n, giving it the builder that
// collects the results in order. The error is that of the first string that fails.
func build(n int, f func(b *builder, i int) error) (built, error) {
	if n <= chunk {
		room := make([]int64, 1, n+1)
		b := builder{offsets: room[1:], bytes: make([]byte, 0, min(4*n, 64)+slack)}
		for i := range n {
			if err := f(&b, i); err != nil {
				return built{}, err
			}
		}
		return b.built(room), nil
	}
	parts := make([]builder, (n+chunk-1)/chunk)
	par.For(n, chunk, func(lo, hi int) {
		b := &parts[lo/chunk]
		for i := lo; i < hi; i++ {
			if err := f(b, i); err != nil {
				b.err = err
				return
			}
		}
	})
	for i := range parts {
		if parts[i].err != nil {
			return built{}, parts[i].err
		}
	}
	return merge(parts), nil
}

// mapped is build for one string of result for each string; f writes its bytes.
func mapped(n int, f func(dst []byte, i int) []byte) Column {
	m, _ := build(n, func(b *builder, i int) error {
		b.bytes = f(b.bytes, i)
		b.end()
		return nil
	})
	return m.column
}
