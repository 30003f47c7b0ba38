package segment

import "unsafe"

// repeatVectorised is [Repeat] for single elements where kernels can do it, and
// reports whether they can.
func repeatVectorised[T any](out, perRow []T, splits []int64) bool {
	k := vectorsNow()
	size := unsafe.Sizeof(*new(T))
	log, ok := logSize(size)
	if k == nil || !ok {
		return false
	}
	item := int(size)
	own := bytesOf(perRow)
	kernel := func(dst *byte, lo, hi int) { k.repeat[log](dst, &own[lo*item], &splits[lo], hi-lo) }
	fillRows(bytesOf(out), splits, item, kernel, func(r int) {
		o, v := row(out, splits, r, 1), perRow[r]
		eachSpan(len(o), 1, func(lo, hi int) {
			for i := range o[lo:hi] {
				o[lo+i] = v
			}
		})
	})
	return true
}

// fillRows writes rows that a kernel makes from nothing.
func fillRows(dst []byte, splits []int64, item int, kernel func(dst *byte, lo, hi int), plain func(r int)) {
	m := mover{
		flow:   flowFor(len(dst)),
		out:    dst,
		splits: splits,
		item:   item,
		kernel: kernel,
		plain:  plain,
	}
	eachRows(splits, 1, func(lo, hi int) {
		if hi-lo == 1 && int(splits[hi]-splits[lo])*item > blockBytes {
			m.plain(lo)
			return
		}
		m.run(lo, hi)
	})
}

// numberRows writes numbers of values with a kernel, and reports whether there is one.
// number gives value i of row r.
func numberRows(out, splits []int64, kernel func(k *movers) func(dst, splits *int64, row, rows int), number func(r, i int) int64) bool {
	k := vectorsNow()
	if k == nil {
		return false
	}
	f := kernel(k)
	fillRows(bytesOf(out), splits, 8, func(dst *byte, lo, hi int) {
		f((*int64)(unsafe.Pointer(dst)), &splits[lo], lo, hi-lo)
	}, func(r int) {
		o := out[splits[r]:splits[r+1]]
		eachSpan(len(o), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				o[i] = number(r, i)
			}
		})
	})
	return true
}
