package segment

import (
	"sort"
	"unsafe"
)

// A folder combines rows position by position, by vectors.
type folder[O, T any] struct {
	// kernel writes what rows combine to to out, most results, and reads as many elements
	// from the beginning of each. There is at least one row, and none is longer.
	kernel func(out *O, x *T, first int64, splits *int64, rows int)
	most   int
}

// foldRows is the number of rows that a kernel combines in one go.
const foldRows = 4096

// each combines the rows of each list of values; k may have no kernel. plain combines one row
// with results, and does what the kernel does not: lists of long rows, and rows near the end
// of the memory.
func (k *folder[O, T]) each(out []O, outSplits []int64, values []T, splits, lists []int64, plain func(acc []O, x []T), join func(acc, more []O)) {
	reachable := int64(cap(values) - k.most)
	eachLists(splits, lists, func(from, to int) {
		ws := workspaces.Get().(*workspace)
		results := view[O](ws.a[:])[:k.most]
		for l := from; l < to; l++ {
			lo, hi := int(lists[l]), int(lists[l+1])
			acc := row(out, outSplits, l, 1)
			end := hi
			switch {
			case k.kernel == nil || len(acc) > k.most || len(acc) == 0:
				end = lo
			case splits[hi] > reachable:
				end = lo + sort.Search(hi-lo, func(i int) bool { return splits[lo+i] > reachable })
			}
			for ; lo < end; lo += foldRows {
				n := min(end-lo, foldRows)
				k.kernel(&results[0], unsafe.SliceData(values), 0, &splits[lo], n)
				join(acc, results[:len(acc)])
			}
			for r := end; r < hi; r++ {
				x := values[splits[r]:splits[r+1]]
				plain(acc[:len(x)], x)
			}
		}
		workspaces.Put(ws)
	})
}
