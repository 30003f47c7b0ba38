package segment

import (
	"sync/atomic"

	"github.com/tenonml/tenon/internal/par"
)

// splitsOp is an operation of two arrays of splits.
type splitsOp uint8

const (
	add splitsOp = iota
	sub
)

// combineSplits sets out[i] = a[i] op b[i]. out may be a.
func combineSplits(out, a, b []int64, op splitsOp) {
	par.For(len(out), chunkCost, func(lo, hi int) {
		k := vectorsNow()
		switch {
		case k != nil && op == add:
			k.add(&out[lo], &a[lo], &b[lo], hi-lo)
		case k != nil:
			k.sub(&out[lo], &a[lo], &b[lo], hi-lo)
		case op == add:
			for i := lo; i < hi; i++ {
				out[i] = a[i] + b[i]
			}
		default:
			for i := lo; i < hi; i++ {
				out[i] = a[i] - b[i]
			}
		}
	})
}

// shiftSplits sets out[i] = x[i] + by.
func shiftSplits(out, x []int64, by int64) {
	par.For(len(x), chunkCost, func(lo, hi int) {
		if k := vectorsNow(); k != nil {
			k.shift(&out[lo], &x[lo], hi-lo, by)
			return
		}
		for i, v := range x[lo:hi] {
			out[lo+i] = v + by
		}
	})
}

// isRising is isSorted with vectors.
func isRising(x []int64) bool {
	k := vectorsNow()
	var falls atomic.Bool
	par.For(len(x)-1, chunkCost, func(lo, hi int) {
		done := lo
		if !falls.Load() {
			done += k.rising(&x[lo], hi-lo)
		}
		// What is left is shorter than what the kernel looks at in one go, or holds a fall.
		if !isSortedExactly(x[done : min(hi, done+risingStep)+1]) {
			falls.Store(true)
		}
	})
	return !falls.Load()
}

// risingStep is the number of pairs that the kernel looks at in one go.
const risingStep = 32
