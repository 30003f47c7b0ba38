package segment

import "unsafe"

// zipVectorised is [Zip] by vector kernels; it reports whether they can do it. plain zips row r.
func zipVectorised[T any](out []T, outSplits []int64, values [][]T, splits [][]int64, inner int, plain func(r int)) bool {
	k := moversFor[T]()
	if k == nil || len(out) < worthVectors || inner == 0 || len(values) == 0 {
		return false
	}
	item := inner * int(unsafe.Sizeof(*new(T)))
	rows := rowsOf(outSplits)
	safe := rows
	parts := make([]*byte, 0, 2*len(values))
	for p, v := range values {
		src := bytesOf(v)
		safe = min(safe, reachable(splits[p], 0, rows, item, cap(src)))
		parts = append(parts, unsafe.SliceData(src), (*byte)(unsafe.Pointer(unsafe.SliceData(splits[p]))))
	}
	m := mover{
		out:    bytesOf(out),
		splits: outSplits,
		item:   item,
		kernel: func(dst *byte, lo, hi int) { k.zip(dst, &parts[0], len(values), lo, hi-lo, item) },
		past: func(dst *byte, lo, hi int, stage *byte) int {
			return k.zipPast(dst, &parts[0], len(values), lo, hi-lo, item, stage)
		},
		plain: plain,
	}
	eachRows(outSplits, inner, func(lo, hi int) {
		m.run(lo, min(hi, safe))
		for r := max(lo, safe); r < hi; r++ {
			plain(r)
		}
	})
	return true
}
