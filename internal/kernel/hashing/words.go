package hashing

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"sync/atomic"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/internal/par"
)

// A Column is one column of keys, of one table or of two tables one after the other: words, and a
// function that tells whether rows with equal words have equal keys.
type Column struct {
	words []uint64
	same  func(i, j int) bool // nil if equal words imply equal keys
	lent  *arena.Buffer
}

// newColumn returns a column for n words, all of which the caller must set.
func newColumn(n int) Column {
	b, words := arena.Lend[uint64](n)
	return Column{words: words, lent: b}
}

// Release gives back the memory of columns that are no longer used.
func Release(columns []Column) {
	for _, c := range columns {
		c.lent.Release()
	}
}

// Len returns the number of rows.
func (c Column) Len() int { return len(c.words) }

// grain is the number of rows that a worker takes at a time.
const grain = 1 << 15

// Numbers returns the key columns of the concatenation of tables of numbers: two for complex128,
// and one for other types.
func Numbers[T dtype.Number](tables ...[]T) []Column {
	if z, ok := any(tables).([][]complex128); ok {
		return []Column{
			words(z, func(v complex128) uint64 { return bits64(real(v)) }),
			words(z, func(v complex128) uint64 { return bits64(imag(v)) }),
		}
	}
	var c Column
	switch t := any(tables).(type) {
	case [][]float64:
		c = words(t, bits64)
	case [][]float32:
		c = words(t, func(v float32) uint64 { return bits32(v) })
	case [][]dtype.F16:
		c = words(t, func(v dtype.F16) uint64 { return bits32(v.Float32()) })
	case [][]dtype.BF16:
		c = words(t, func(v dtype.BF16) uint64 { return bits32(v.Float32()) })
	case [][]complex64:
		c = words(t, func(v complex64) uint64 { return bits32(real(v))<<32 | bits32(imag(v)) })
	case [][]int8:
		c = integers(t)
	case [][]int16:
		c = integers(t)
	case [][]int32:
		c = integers(t)
	case [][]int64:
		c = integers(t)
	case [][]uint8:
		c = integers(t)
	case [][]uint16:
		c = integers(t)
	case [][]uint32:
		c = integers(t)
	case [][]uint64:
		c = integers(t)
	}
	return []Column{c}
}

func integers[T dtype.Integer](tables [][]T) Column {
	return words(tables, func(v T) uint64 { return uint64(v) })
}

// words returns a column of the results of f for each value.
func words[T any](tables [][]T, f func(T) uint64) Column {
	n := 0
	for _, t := range tables {
		n += len(t)
	}
	c := newColumn(n)
	at := 0
	for _, t := range tables {
		part := c.words[at : at+len(t)]
		par.For(len(t), grain, func(lo, hi int) {
			dst := part[lo:hi]
			for i, v := range t[lo:hi] {
				dst[i] = f(v)
			}
		})
		at += len(t)
	}
	return c
}

func bits32(v float32) uint64 {
	if v != v {
		return 0x7fc00000
	}
	return uint64(math.Float32bits(v + 0))
}

func bits64(v float64) uint64 {
	if v != v {
		return 0x7ff8000000000000
	}
	return math.Float64bits(v + 0)
}

// longString marks the words of strings that do not contain the string itself.
const longString = 1 << 63

var seed = maphash.MakeSeed()

// Strings returns the key column of the concatenation of tables of strings.
func Strings(tables ...str.Column) Column {
	n, long := 0, false
	for _, t := range tables {
		n += t.Len()
	}
	c := newColumn(n)
	at := 0
	for _, t := range tables {
		m := t.Len()
		part := c.words[at : at+m]
		par.For(m, grain/4, func(lo, hi int) { stringWords(part[lo:hi], t, lo) })
		at += m
	}
	for _, w := range c.words {
		if w >= longString {
			long = true
			break
		}
	}
	if long {
		c.same = sameStrings(tables)
	}
	return c
}

// StringsAt is [Strings] for the rows of one table that are selected by at, in its order.
func StringsAt(t str.Column, at []int64) Column {
	c := newColumn(len(at))
	var long atomic.Bool
	par.For(len(at), grain/4, func(lo, hi int) {
		dst := c.words[lo:hi]
		for i, k := range at[lo:hi] {
			dst[i] = stringWord(t, t.Offsets[k], t.Offsets[k+1])
			if dst[i] >= longString {
				long.Store(true)
			}
		}
	})
	if long.Load() {
		same := sameStrings([]str.Column{t})
		c.same = func(i, j int) bool { return same(int(at[i]), int(at[j])) }
	}
	return c
}

// sameStrings returns a function that compares the strings of two rows whose words are equal.
func sameStrings(tables []str.Column) func(i, j int) bool {
	if len(tables) == 1 {
		t := tables[0]
		return func(i, j int) bool {
			a, b, c, d := t.Offsets[i], t.Offsets[i+1], t.Offsets[j], t.Offsets[j+1]
			return b-a == d-c && bytes.Equal(t.Bytes[a:b], t.Bytes[c:d])
		}
	}
	at := func(i int) []byte {
		for _, t := range tables {
			if i < t.Len() {
				return t.At(i)
			}
			i -= t.Len()
		}
		return nil
	}
	return func(i, j int) bool { return bytes.Equal(at(i), at(j)) }
}

// stringWords writes the words of the strings from lo on.
func stringWords(dst []uint64, t str.Column, lo int) {
	offsets := t.Offsets[lo : lo+len(dst)+1]
	for i := range dst {
		dst[i] = stringWord(t, offsets[i], offsets[i+1])
	}
}

// stringWord returns the word of the string [a, b): its length and bytes if it is short, its bytes
// if it has eight and ends in ASCII, and otherwise a hash. Eight bytes are read at once if the
// buffer is long enough, as the slack of columns usually ensures.
func stringWord(t str.Column, a, b int64) uint64 {
	switch n := b - a; {
	case n == 8 && t.Bytes[b-1]-8 < 120:
		// The last byte, from 8 to 127, distinguishes the word from those with a length.
		return binary.LittleEndian.Uint64(t.Bytes[a:])
	case n >= 8:
		return maphash.Bytes(seed, t.Bytes[a:b]) | longString
	case a+8 <= int64(cap(t.Bytes)):
		w := binary.LittleEndian.Uint64(t.Bytes[a:a+8]) & (1<<(8*uint64(n)) - 1)
		return w | uint64(n)<<56
	default:
		w := uint64(n) << 56
		for k, x := range t.Bytes[a:b] {
			w |= uint64(x) << (8 * k)
		}
		return w
	}
}
