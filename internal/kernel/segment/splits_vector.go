package segment

import (
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// splitsOp is an elementwise operation on two slices of splits.
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
	k := vectorsNow()
	par.For(len(x), chunkCost, func(lo, hi int) {
		if k != nil && 8*len(x) >= largeSplits {
			shiftPast(k, out[lo:hi], x[lo:hi], by)
			return
		}
		if k != nil {
			k.shift(&out[lo], &x[lo], hi-lo, by)
			return
		}
		for i, v := range x[lo:hi] {
			out[lo+i] = v + by
		}
	})
}

// largeSplits is the size in bytes from which new splits are written with non-temporal stores.
// Ordinary stores would read every line only to overwrite it, and evict the values that are moved
// next.
const largeSplits = 1 << 20

// shiftPast is shiftSplits with non-temporal stores.
func shiftPast(k *movers, out, x []int64, by int64) {
	head := min(int(-uintptr(unsafe.Pointer(&out[0]))%64)/8, len(x))
	if head > 0 {
		k.shift(&out[0], &x[0], head, by)
	}
	// Assembly cannot be preempted, so calls are kept short.
	const piece = 8 << 10
	for lo := head; lo < len(x); lo += piece {
		k.shiftPast(&out[lo], &x[lo], min(piece, len(x)-lo), by)
	}
}

// isRising is isSorted with vector kernels.
func isRising(x []int64) bool {
	k := vectorsNow()
	var falls atomic.Bool
	par.For(len(x)-1, chunkCost, func(lo, hi int) {
		done := lo
		if !falls.Load() {
			done += k.rising(&x[lo], hi-lo)
		}
		// The rest is shorter than one step of the kernel, or contains a decrease.
		if !isSortedExactly(x[done : min(hi, done+risingStep)+1]) {
			falls.Store(true)
		}
	})
	return !falls.Load()
}

// risingStep is the number of pairs that the kernel checks at a time.
const risingStep = 32
