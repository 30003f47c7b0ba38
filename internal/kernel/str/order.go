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
		keys[i] = sortKey{prefix(x, i), int64(i)}
	}
	if len(keys) <= fewKeys {
		insertKeys(keys, x, descending)
		for i, k := range keys {
			out[i] = k.at
		}
		return
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

// fewKeys is the number of strings up to which inserting one after the other is fastest.
const fewKeys = 32

// insertKeys sorts a few keys. Equal strings keep their order as none is moved before one.
func insertKeys(keys []sortKey, x Column, descending bool) {
	for i := 1; i < len(keys); i++ {
		k, j := keys[i], i
		for ; j > 0; j-- {
			p := keys[j-1]
			before := k.prefix < p.prefix
			if k.prefix == p.prefix {
				c := bytes.Compare(x.At(int(k.at)), x.At(int(p.at)))
				if c == 0 {
					break
				}
				before = c < 0
			}
			if before == descending {
				break
			}
			keys[j] = p
		}
		keys[j] = k
	}
}

// prefix returns the first eight bytes of string i as a number of the same order, zeros for
// missing ones.
func prefix(x Column, i int) uint64 {
	lo, n := x.Offsets[i], x.Offsets[i+1]-x.Offsets[i]
	if lo+8 <= int64(len(x.Bytes)) {
		p := binary.BigEndian.Uint64(x.Bytes[lo:])
		if n < 8 {
			p &^= 1<<(64-8*n) - 1 // what is behind belongs to others
		}
		return p
	}
	var p uint64
	for k, b := range x.At(i)[:min(n, 8)] {
		p |= uint64(b) << (56 - 8*k)
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
