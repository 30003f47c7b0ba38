package segment

import (
	"math"
	"sync/atomic"
)

// Places converts positions within rows to positions among all values and writes them to
// out. outSplits are the row splits of the lists of positions, one list for each row of
// splits. Negative positions count from the end of their row. Places returns the first row
// that lacks a position of its list, and that position, or -1 if there is none.
func Places(out, positions []int64, outSplits, splits []int64) (row int, position int64) {
	return eachPosition(positions, outSplits, splits, func(r int, list []int64) int {
		o, start, n := out[outSplits[r]:outSplits[r+1]], splits[r], splits[r+1]-splits[r]
		for i, k := range list {
			k += k >> 63 & n
			if uint64(k) >= uint64(n) {
				return i
			}
			o[i] = start + k
		}
		return -1
	})
}

// Take copies the values at the given positions within rows to out. Arguments and results are those
// of [Places].
func Take[T any](out, values []T, positions []int64, outSplits, splits []int64) (row int, position int64) {
	return eachPosition(positions, outSplits, splits, func(r int, list []int64) int {
		o, x := out[outSplits[r]:outSplits[r+1]], values[splits[r]:splits[r+1]]
		o = o[:len(list)]
		for i, k := range list {
			k += k >> 63 & int64(len(x))
			if uint64(k) >= uint64(len(x)) {
				return i
			}
			o[i] = x[k]
		}
		return -1
	})
}

// eachPosition calls f for the list of each row. f returns the index of a position that the row
// lacks, or -1. If several rows lack one, eachPosition returns the first such row, whichever
// goroutine finds it.
func eachPosition(positions, outSplits, splits []int64, f func(r int, list []int64) int) (row int, position int64) {
	var first atomic.Int64
	first.Store(math.MaxInt64)
	eachRows(outSplits, 1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			if f(r, positions[outSplits[r]:outSplits[r+1]]) < 0 {
				continue
			}
			for {
				old := first.Load()
				if int64(r) >= old || first.CompareAndSwap(old, int64(r)) {
					return
				}
			}
		}
	})
	if r := first.Load(); r < math.MaxInt64 {
		list := positions[outSplits[r]:outSplits[r+1]]
		return int(r), list[f(int(r), list)]
	}
	return -1, 0
}
