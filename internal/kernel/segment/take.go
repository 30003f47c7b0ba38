package segment

import (
	"math"
	"sync/atomic"
)

// Places writes to out where the positions of each row's list are among all values:
// outSplits divides positions into lists, splits the values into as many rows. Negative
// positions count from the end of their row. It returns the first row that lacks a position
// of its list, and the position; -1 if there is none.
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

// Take copies the values at positions in their rows to out: what [Places] finds.
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

// eachPosition calls f for the list of each row; it returns the number of a position that
// the row lacks, or -1. Of several such rows the first counts, whoever finds it.
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
