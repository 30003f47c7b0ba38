package segment

import "unsafe"

// gatherVectorised is [Gather] where kernels can do it, and reports whether they can.
func gatherVectorised[T any, I Index](out, values []T, outSplits, splits []int64, idx []I, inner int) bool {
	k := moversFor[T]()
	if k == nil || len(out) < worthVectors {
		return false
	}
	item := inner * int(unsafe.Sizeof(*new(T)))
	src := bytesOf(values)
	limit := cap(src) - readRoom
	kernel, past := k.gather, k.gatherPast
	if k.gatherWords != nil && item%4 == 0 {
		kernel, past = k.gatherWords, k.gatherWordsPast
	}
	at := asInt64(idx)
	m := mover{
		out:    bytesOf(out),
		splits: outSplits,
		item:   item,
		kernel: func(dst *byte, lo, hi int) {
			kernel(dst, unsafe.SliceData(src), unsafe.SliceData(splits), &at[lo], hi-lo, len(at)-hi, item, limit)
		},
		past: func(dst *byte, lo, hi int, stage *byte) int {
			return past(dst, unsafe.SliceData(src), unsafe.SliceData(splits), &at[lo], hi-lo, len(at)-hi, item, limit, stage)
		},
		plain: func(r int) { copyLong(row(out, outSplits, r, inner), row(values, splits, int(idx[r]), inner)) },
	}
	eachRows(outSplits, inner, m.run)
	return true
}

// asInt64 returns idx as int64, which is a copy where it is int32.
func asInt64[I Index](idx []I) []int64 {
	if unsafe.Sizeof(*new(I)) == 8 {
		return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(idx))), len(idx))
	}
	wide := make([]int64, len(idx))
	for i, v := range idx {
		wide[i] = int64(v)
	}
	return wide
}
