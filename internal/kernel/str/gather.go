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
	out := Column{Offsets: make([]int64, strings+1), Bytes: make([]byte, size, size+slack)}
	at, b := 0, int64(0)
	parts := make([][]byte, 0, len(columns))
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
	c := Column{Offsets: make([]int64, n+1), Bytes: make([]byte, 0, n*len(s)+slack)}
	for i := range n {
		c.Bytes = append(c.Bytes, s...)
		c.Offsets[i+1] = int64(len(c.Bytes))
	}
	return c
}
