package segment

import "unsafe"

// gatherVectorised is [Gather] where kernels can do it, and reports whether they can.
func gatherVectorised[T any, I Index](out, values []T, outSplits, splits []int64, idx []I, inner int) bool {
	k := vectorsNow()
	if k == nil {
		return false
	}
	item := inner * int(unsafe.Sizeof(*new(T)))
	dst, src := bytesOf(out), bytesOf(values)
	limit := cap(src) - readRoom
	kernel := k.gather
	if k.gatherWords != nil && item%4 == 0 {
		kernel = k.gatherWords
	}
	m := mover{
		flow:   flowFor(len(dst)),
		out:    dst,
		splits: outSplits,
		item:   item,
		plain:  func(r int) { copyLong(row(out, outSplits, r, inner), row(values, splits, int(idx[r]), inner)) },
	}
	switch idx := any(idx).(type) {
	case []int64:
		m.kernel = func(dst *byte, lo, hi int) {
			kernel(dst, unsafe.SliceData(src), unsafe.SliceData(splits), &idx[lo], hi-lo, len(idx)-hi, item, limit)
		}
	default:
		m.kernel = widened(kernel, src, splits, idx.([]int32), item, limit)
	}
	eachRows(outSplits, inner, func(lo, hi int) {
		if hi-lo == 1 && int(outSplits[hi]-outSplits[lo])*item > blockBytes {
			m.plain(lo)
			return
		}
		m.run(lo, hi)
	})
	return true
}

// widened is the kernel for int32 indices, which it widens a few at a time.
func widened(kernel gatherKernel, src []byte, splits []int64, idx []int32, item, limit int) func(dst *byte, lo, hi int) {
	return func(dst *byte, lo, hi int) {
		const batch, ahead = 256, 32
		var wide [batch + ahead]int64
		to := 0
		for ; lo < hi; lo += batch {
			n, more := min(hi-lo, batch), 0
			for i, at := range idx[lo:min(lo+n+ahead, len(idx))] {
				wide[i] = int64(at)
				if i < n {
					to += int(splits[at+1]-splits[at]) * item
				} else {
					more++
				}
			}
			kernel(dst, unsafe.SliceData(src), unsafe.SliceData(splits), &wide[0], n, more, item, limit)
			dst = (*byte)(unsafe.Add(unsafe.Pointer(dst), to))
			to = 0
		}
	}
}
