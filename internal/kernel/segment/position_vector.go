package segment

import (
	"sort"
	"unsafe"
)

// A folder combines rows position by position with a vector kernel.
type folder[O, T any] struct {
	// kernel combines rows into out, which receives most results, and reads most elements from the
	// beginning of each row. There is at least one row, and no row is longer than that.
	kernel func(out *O, x *T, first int64, splits *int64, rows int)
	most   int
}

// foldRows is the largest number of rows that one kernel call combines.
const foldRows = 4096

// each combines the rows of each list of values; k may lack a kernel. plain adds one row to
// the results and handles what the kernel cannot: lists with long rows, and rows too close to
// the end of the memory of values.
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
