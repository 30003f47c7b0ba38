package str

import (
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/segment"
)

// Gather returns the strings at the given positions. A position outside
// [0, x.Len()) is a *[gather.IndexError].
func Gather[I gather.Index](x Column, idx []I) (Column, error) {
	if err := gather.Check(idx, int64(x.Len())); err != nil {
		return Column{}, err
	}
	// The sizes come first: how many bytes there are is not known before.
	offsets := make([]int64, len(idx)+1)
	lent := arena.Alloc(8 * len(idx))
	defer lent.Release()
	starts := arena.View[int64](lent, len(idx))
	total, err := segment.GatherSplits(offsets, starts, x.Offsets, idx)
	if err != nil {
		return Column{}, err
	}
	bytes := make([]byte, total, total+slack)
	segment.Gather(bytes, x.Bytes, offsets, starts, 1)
	return Column{Offsets: offsets, Bytes: bytes}, nil
}

// Concat returns the strings of all columns, one column behind the other.
func Concat(columns ...Column) Column {
	var strings int
	var size int64
	for _, c := range columns {
		strings += c.Len()
		size += c.Size()
	}
	out := newColumn(strings, int(size))
	at, b := 0, int64(0)
	var room [4][]byte
	parts := room[:0]
	for _, c := range columns {
		n := c.Len()
		if n == 0 {
			continue
		}
		first := c.Offsets[0]
		for i, o := range c.Offsets {
			out.Offsets[at+i] = b + o - first
		}
		parts = append(parts, c.Bytes[first:c.Offsets[n]])
		at += n
		b += c.Size()
	}
	segment.Join(out.Bytes, parts...)
	return out
}

// Fill returns n copies of s.
func Fill(n int, s []byte) Column {
	c := newColumn(n, n*len(s))
	for i := range n {
		copy(c.Bytes[i*len(s):], s)
		c.Offsets[i+1] = int64((i + 1) * len(s))
	}
	return c
}
