package reduce

import (
	"math"
	"unsafe"
)

// kernels are the assembly functions for one element type. Integer types have only the first three.
type kernels[T any] struct {
	max, min func(x *T, n int) T
	find     func(x *T, n int, v T) int

	top      func(x *T, n int) T // like max, but the result is unspecified if an element is NaN
	sum      func(x *T, n int) float64
	squares  func(x *T, n int, c T) float64
	shifted  func(x *T, n int, c T) (s0, s1 float64)
	dot      func(x, y *T, n int) float64
	expSum   func(x *T, n int, shift T) float64
	expShift func(dst, x *T, n int, shift T) float64

	// softmaxExp sets dst to 2^(x·log2 e + c) and returns the sum. It is faster than expShift, but
	// only for results up to about 1. There is none for float64.
	softmaxExp func(dst, x *T, n int, c T) float64

	// softmaxStep is softmaxExp that also sets done to last·a.
	softmaxStep func(dst, done, x, last *T, n int, c, a T) float64

	subTwice       func(dst, x *T, n int, a, b T)
	softmaxGrad    func(dst, y, dy *T, n int, dot T)
	logSoftmaxGrad func(dst, y, dy *T, n int, sum T)

	normalize       func(dst, x *T, n int, mean, rstd T)
	normalizeScale  func(dst, x, gamma *T, n int, mean, rstd T)
	normalizeAffine func(dst, x, gamma, beta *T, n int, mean, rstd T)
	normSums        func(x, gamma, dy *T, n int, mean, rstd T) (s0, s1 float64)
	normSumsPlain   func(x, dy *T, n int, mean, rstd T) (s0, s1 float64)
	normGrad        func(dst, x, gamma, dy *T, n int, mean, rstd, a, b T)
	normGradPlain   func(dst, x, dy *T, n int, mean, rstd, a, b T)
	addNormalized   func(dst, acc, x, dy *T, n int, mean, rstd T)

	// past are the kernels that write results with non-temporal stores, for dst aligned to 64
	// bytes. Only float32 has them.
	past *kernels[T]
}

// piece is the number of elements that one call into assembly covers. Assembly sums in the element
// type, so short pieces, added in float64, keep the rounding error small. The goroutine can be
// preempted between pieces.
const piece = 1024

// pieces calls f for consecutive parts of n elements. Callers handle rows of a single piece
// directly, because the call and the captured variables cost as much as the arithmetic of a hundred
// elements.
func pieces(n int, f func(lo, hi int)) {
	for lo := 0; lo < n; lo += piece {
		f(lo, min(lo+piece, n))
	}
}

// sumBlock returns Σ x.
func sumBlock[T float](x []T) float64 {
	k := assembly[T]()
	if k == nil {
		return pairwise(x)
	}
	if len(x) <= piece {
		return k.sum(unsafe.SliceData(x), len(x))
	}
	var s compensated
	pieces(len(x), func(lo, hi int) { s = s.plus(compensated{sum: k.sum(&x[lo], hi-lo)}) })
	return s.value()
}

// sumSquaresBlock returns Σ (x-center)².
func sumSquaresBlock[T float](x []T, center float64) float64 {
	k := assembly[T]()
	if k == nil {
		return squaresAbout(x, center)
	}
	c := T(center)
	var s compensated
	if len(x) <= piece {
		s.sum = k.squares(unsafe.SliceData(x), len(x), c)
	} else {
		pieces(len(x), func(lo, hi int) { s = s.plus(compensated{sum: k.squares(&x[lo], hi-lo, c)}) })
	}
	// Σ(x-center)² = Σ(x-c)² - n·(c-center)² if center is the mean, and c is center if it is 0.
	d := float64(c) - center
	return max(0, s.value()-float64(len(x))*d*d)
}

// dotBlock returns Σ x·y.
func dotBlock[T float](x, y []T) float64 {
	var s compensated
	if k := assembly[T](); k != nil {
		pieces(len(x), func(lo, hi int) { s = s.plus(compensated{sum: k.dot(&x[lo], &y[lo], hi-lo)}) })
		return s.value()
	}
	pieces(len(x), func(lo, hi int) {
		part := 0.0
		for i, v := range x[lo:hi] {
			part += float64(v) * float64(y[lo+i])
		}
		s = s.plus(compensated{sum: part})
	})
	return s.value()
}

// expSumBlock returns Σ e^(x-shift).
func expSumBlock[T float](x []T, shift T) float64 {
	k := assembly[T]()
	if k == nil {
		return expSumPlain(x, shift)
	}
	s := 0.0
	pieces(len(x), func(lo, hi int) { s += k.expSum(&x[lo], hi-lo, shift) })
	return s
}

func maxBlock[T ordered](x []T) T {
	k := assembly[T]()
	if k == nil {
		return maxPlain(x)
	}
	m := x[0]
	pieces(len(x), func(lo, hi int) { m = max(m, k.max(&x[lo], hi-lo)) })
	if m == 0 && isFloat[T]() && !holds(x, 0) {
		return T(math.Copysign(0, -1)) // assembly returns either zero
	}
	return m + 0
}

// topBlock is maxBlock for callers to whom the result for NaN and the sign of a zero do not matter.
func topBlock[T float](x []T) T {
	k := assembly[T]()
	if k == nil {
		return maxPlain(x)
	}
	if len(x) <= piece {
		return k.top(&x[0], len(x))
	}
	m := x[0]
	pieces(len(x), func(lo, hi int) { m = max(m, k.top(&x[lo], hi-lo)) })
	return m
}

func minBlock[T ordered](x []T) T {
	k := assembly[T]()
	if k == nil {
		return minPlain(x)
	}
	m := x[0]
	pieces(len(x), func(lo, hi int) { m = min(m, k.min(&x[lo], hi-lo)) })
	if m == 0 && isFloat[T]() && holds(x, math.Copysign(0, -1)) {
		return T(math.Copysign(0, -1))
	}
	return m + 0
}

// holds reports whether some element of x has the same bits as v.
func holds[T ordered](x []T, v float64) bool {
	p := unsafe.Pointer(unsafe.SliceData(x))
	if width[T]() == 64 {
		bits := int64(math.Float64bits(v))
		return findBlock(unsafe.Slice((*int64)(p), len(x)), bits) < len(x)
	}
	bits := int32(math.Float32bits(float32(v)))
	return findBlock(unsafe.Slice((*int32)(p), len(x)), bits) < len(x)
}

// findBlock returns the index of the first element equal to v, where NaN equals NaN, or len(x).
func findBlock[T ordered](x []T, v T) int {
	k := assembly[T]()
	if k == nil {
		for i, e := range x {
			if e == v || e != e && v != v {
				return i
			}
		}
		return len(x)
	}
	for lo := 0; lo < len(x); lo += piece {
		n := min(piece, len(x)-lo)
		if i := k.find(&x[lo], n, v); i < n {
			return lo + i
		}
	}
	return len(x)
}

func argMaxBlock[T ordered](x []T) int {
	k := assembly[T]()
	if k == nil {
		return argMaxPlain(x)
	}
	return argBlock(x, k.max, func(a, b T) bool { return a > b }, k.find)
}

func argMinBlock[T ordered](x []T) int {
	k := assembly[T]()
	if k == nil {
		return argMinPlain(x)
	}
	return argBlock(x, k.min, func(a, b T) bool { return a < b }, k.find)
}

// argBlock first finds the piece that contains the extreme and then searches that piece.
func argBlock[T ordered](x []T, extreme func(x *T, n int) T, better func(a, b T) bool, find func(x *T, n int, v T) int) int {
	var best T
	at := -1
	for lo := 0; lo < len(x); lo += piece {
		v := extreme(&x[lo], min(piece, len(x)-lo))
		if at < 0 || better(v, best) || v != v {
			best, at = v, lo
		}
		if best != best {
			break
		}
	}
	return at + find(&x[at], min(piece, len(x)-at), best)
}
