package str

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/tenonml/tenon/internal/par"
)

// ArgSort writes the positions of the strings in ascending or descending order of
// their bytes to out, which has x.Len() elements. Equal strings keep their order.
func ArgSort(out []int64, x Column, descending bool) {
	keys := make([]sortKey, x.Len())
	argSort(out, x, keys, descending)
}

// ArgSortRows is [ArgSort] within each row: positions count from 0 in every row.
func ArgSortRows(out []int64, x Column, splits []int64, descending bool) {
	par.For(max(len(splits)-1, 0), chunk/4, func(lo, hi int) {
		var keys []sortKey
		for r := lo; r < hi; r++ {
			from, to := splits[r], splits[r+1]
			row := Column{Offsets: x.Offsets[from : to+1], Bytes: x.Bytes}
			keys = slices.Grow(keys[:0], row.Len())
			argSort(out[from:to], row, keys[:row.Len()], descending)
		}
	})
}

// A sortKey holds the first eight bytes of a string, which decide most comparisons
// without looking at the string.
type sortKey struct {
	prefix uint64
	at     int64
}

func argSort(out []int64, x Column, keys []sortKey, descending bool) {
	for i := range keys {
		keys[i] = sortKey{prefix(x.At(i)), int64(i)}
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		c := cmp.Compare(a.prefix, b.prefix)
		if c == 0 {
			c = bytes.Compare(x.At(int(a.at)), x.At(int(b.at)))
		}
		if descending {
			c = -c
		}
		if c == 0 {
			c = cmp.Compare(a.at, b.at)
		}
		return c
	})
	for i, k := range keys {
		out[i] = k.at
	}
}

// prefix returns the first eight bytes as a number of the same order, zeros for
// missing ones.
func prefix(s []byte) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(s)
	}
	var p uint64
	for i, b := range s {
		p |= uint64(b) << (56 - 8*i)
	}
	return p
}

// SearchSorted writes, for each string of x, the position in sorted, whose strings
// are in ascending order, at which it can be inserted: before equal ones, or behind
// them with right.
func SearchSorted(out []int64, sorted, x Column, right bool) {
	limit := 0 // insert before the first string that compares at least this high
	if right {
		limit = 1
	}
	par.For(x.Len(), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s := x.At(i)
			from, n := 0, sorted.Len()
			for n > 0 {
				half := n / 2
				if bytes.Compare(sorted.At(from+half), s) < limit {
					from += half + 1
					n -= half + 1
				} else {
					n = half
				}
			}
			out[i] = int64(from)
		}
	})
}
