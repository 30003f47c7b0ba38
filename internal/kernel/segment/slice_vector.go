package segment

import (
	"sort"
	"sync"
	"unsafe"
)

// startsRoom is the largest number of rows in a range of [eachRows].
const startsRoom = 2 * chunkCost / rowCost

var startsPool = sync.Pool{New: func() any { return new([startsRoom]int64) }}

// selectVectorised is [Select] by vector kernels; it reports whether they can do it. With step 1,
// the slices of rows are gathered from where they begin.
func selectVectorised[T any](out, values []T, outSplits, splits []int64, how *slicing, inner int) bool {
	k := moversFor[T]()
	item := inner * int(unsafe.Sizeof(*new(T)))
	if k == nil || len(out) < worthVectors {
		return false
	}
	if how.signed() == 1 {
		eachStarts(outSplits, splits, how, inner, func(starts []int64, lo, hi int) {
			m := gatherer(k, out, values, outSplits[lo:hi+1], starts, inner)
			m.run(0, hi-lo)
		})
		return true
	}
	// The kernel picks several items at once: it permutes a vector of strideWords words.
	words := item / 4
	if item%4 != 0 || words == 0 || how.step > int64(k.strideWords) {
		return false
	}
	var order [16]int32
	apart := int(how.step) * words
	each := min((k.strideWords-words)/apart+1, min(k.strideWords, len(order))/words)
	if each < 2 {
		return false
	}
	offset, window := 0, 4*k.strideWords
	for i := range order[:each*words] {
		order[i] = int32(i/words*apart + i%words)
	}
	by := each * apart * 4
	if how.back != 0 {
		// The vector ends with the first item.
		offset, by = item-window, -by
		for i := range order[:each*words] {
			order[i] = int32(k.strideWords - words - i/words*apart + i%words)
		}
	}
	src := bytesOf(values)
	// Leave out rows for which the kernel would read outside of values.
	rows := rowsOf(splits)
	from, to := 0, rows
	if how.back != 0 {
		from = sort.Search(rows, func(r int) bool { return int(splits[r])*item >= window })
	} else {
		to = reachable(splits, 0, rows, item, cap(src))
	}
	eachStarts(outSplits, splits, how, inner, func(starts []int64, lo, hi int) {
		m := mover{
			out:    bytesOf(out),
			splits: outSplits,
			item:   item,
			kernel: func(dst *byte, first, end int) {
				k.stride(dst, &src[:1][0], &outSplits[first], &starts[first-lo], end-first, item, offset, each, by, &order[0])
			},
			past: func(dst *byte, first, end int, stage *byte) int {
				return k.stridePast(dst, &src[:1][0], &outSplits[first], &starts[first-lo], end-first, item, offset, each, by, &order[0], stage)
			},
			plain: func(r int) { selectRange(out, values, outSplits, splits, how, inner, r, r+1) },
		}
		first, end := min(max(lo, from), hi), max(min(hi, to), lo)
		selectRange(out, values, outSplits, splits, how, inner, lo, first)
		m.run(first, end)
		selectRange(out, values, outSplits, splits, how, inner, max(first, end), hi)
	})
	return true
}

// eachStarts calls f for ranges of rows, with the positions at which their selected items begin.
func eachStarts(outSplits, splits []int64, how *slicing, inner int, f func(starts []int64, lo, hi int)) {
	eachRows(outSplits, inner, func(lo, hi int) {
		room := startsPool.Get().(*[startsRoom]int64)
		starts := room[:0]
		if hi-lo > len(room) {
			starts = make([]int64, 0, hi-lo)
		}
		starts = starts[:hi-lo]
		begin := splits[lo]
		for i, end := range splits[lo+1 : hi+1] {
			first, _ := how.bounds(end - begin)
			starts[i] = begin + first
			begin = end
		}
		f(starts, lo, hi)
		startsPool.Put(room)
	})
}
