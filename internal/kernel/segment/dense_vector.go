package segment

import (
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// padVectorised is [Pad] by vector kernels; it reports whether they can do it. Kernels move rows of
// up to two vectors, and wider rows are copied one by one. Either way, a large result is assembled
// in cache and written with non-temporal stores.
func padVectorised[T any](out, values []T, splits []int64, width, inner int, fill []T) bool {
	k := moversFor[T]()
	size := int(unsafe.Sizeof(*new(T)))
	item := inner * size
	rowBytes := width * item
	if k == nil || len(out) < worthVectors || rowBytes > readRoom || len(fill) > 1 && readRoom%(len(fill)*size) != 0 {
		return false
	}
	var pattern [readRoom]byte
	fillItems(pattern[:], bytesOf(fill))
	kernel, past := k.pad[0], k.padPast[0]
	if rowBytes > 64 {
		kernel, past = k.pad[1], k.padPast[1]
	}
	dst, src := bytesOf(out), bytesOf(values)
	rows := rowsOf(splits)
	safe := reachable(splits, 0, rows, item, cap(src))
	m := mover{
		out:  dst,
		item: rowBytes,
		kernel: func(dst *byte, lo, hi int) {
			kernel(dst, unsafe.SliceData(src), &splits[lo], hi-lo, item, rowBytes, &pattern[0])
		},
		past: func(dst *byte, lo, hi int, stage *byte) int {
			return past(dst, unsafe.SliceData(src), &splits[lo], hi-lo, item, rowBytes, &pattern[0], stage)
		},
	}
	par.For(rows, max(1, chunkCost/(width*inner)), func(lo, hi int) {
		m.run(lo, min(hi, safe))
		for r := max(lo, safe); r < hi; r++ {
			padRow(out, values, splits, r, width, inner, fill)
		}
	})
	return true
}

// unpadVectorised is [Unpad] by vector kernels; done reports whether they can do it, and fits
// whether all rows fit. The kernels check the lengths of the rows as they move them, because a
// separate pass would read the splits from memory twice.
func unpadVectorised[T any](out, dense []T, splits []int64, width, inner int) (fits, done bool) {
	k := moversFor[T]()
	size := int(unsafe.Sizeof(*new(T)))
	item := inner * size
	rowBytes := width * item
	if k == nil || len(out) < worthVectors || rowBytes > readRoom || rowBytes == 0 {
		return false, false
	}
	kernel, past := k.unpad[0], k.unpadPast[0]
	if rowBytes > 64 {
		kernel, past = k.unpad[1], k.unpadPast[1]
	}
	dst, src := bytesOf(out), bytesOf(dense)
	safe := min(rowsOf(splits), max(cap(src)-readRoom, 0)/rowBytes)
	m := mover{
		out:    dst,
		splits: splits,
		item:   item,
		kernel: func(dst *byte, lo, hi int) {
			kernel(dst, &src[lo*rowBytes], &splits[lo], hi-lo, item, rowBytes)
		},
		past: func(dst *byte, lo, hi int, stage *byte) int {
			return past(dst, &src[lo*rowBytes], &splits[lo], hi-lo, item, rowBytes, stage)
		},
		plain: func(r int) { copy(row(out, splits, r, inner), dense[r*width*inner:]) },
	}
	var tooLong atomic.Bool
	eachRows(splits, inner, func(lo, hi int) {
		if MaxLength(splits[lo:hi+1]) > int64(width) {
			tooLong.Store(true)
			return
		}
		m.run(lo, min(hi, safe))
		for r := max(lo, safe); r < hi; r++ {
			m.plain(r)
		}
	})
	return !tooLong.Load(), true
}
