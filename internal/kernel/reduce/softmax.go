package reduce

import (
	"math"

	"github.com/tenonml/tenon/internal/par"
)

// The row operations below work on rows of n contiguous elements; len(dst) is a multiple of n, and
// dst may be the same memory as an operand of the same shape. Rows are divided among the workers of
// package par. float32 rows are computed in float64 by the plain Go loops and in float32 by the
// assembly, whose results are within a few ulps of the exact ones.

// Softmax sets each row of dst to e^x / Σ e^x of the same row of x. The greatest element is
// subtracted first, so that nothing overflows. A row that contains NaN or +Inf becomes NaN, as does
// one that is all -Inf.
func Softmax[T float](dst, x []T, n int) {
	if k := assembly[T](); k != nil && k.softmaxStep != nil {
		w := writer(k, dst, x, n)
		if isShort(len(dst), n) {
			softmaxRows(k, w, dst, x, n)
			return
		}
		eachRows(len(dst), n, func(lo, hi int) { softmaxRows(k, w, dst[lo:hi], x[lo:hi], n) })
		return
	}
	eachRow(len(dst), n, func(i int) { softmaxRow(dst[i:i+n], x[i:i+n]) })
}

// LogSoftmax sets each row of dst to x - log Σ e^x of the same row of x.
func LogSoftmax[T float](dst, x []T, n int) {
	k := assembly[T]()
	w := writer(k, dst, x, n)
	eachRow(len(dst), n, func(i int) { logSoftmaxRow(k, w, dst[i:i+n], x[i:i+n]) })
}

// SoftmaxGrad sets each row of dx to y·(dy - Σ y·dy): the gradient of [Softmax]
// at the result y for the cotangent dy.
func SoftmaxGrad[T float](dx, y, dy []T, n int) {
	eachRow(len(dx), n, func(i int) { softmaxGradRow(dx[i:i+n], y[i:i+n], dy[i:i+n]) })
}

// LogSoftmaxGrad sets each row of dx to dy - e^y·Σ dy: the gradient of
// [LogSoftmax] at the result y for the cotangent dy.
func LogSoftmaxGrad[T float](dx, y, dy []T, n int) {
	eachRow(len(dx), n, func(i int) { logSoftmaxGradRow(dx[i:i+n], y[i:i+n], dy[i:i+n]) })
}

// isShort reports whether [eachRows] would make a single call. Its caller then does the work
// directly, because a function value that may be passed to other goroutines is allocated on the
// heap.
func isShort(size, n int) bool { return n > 0 && size/n <= max(1, serialBelow/2/n) }

// eachRow calls f with the offset of each row of n elements.
func eachRow(size, n int, f func(i int)) {
	eachRows(size, n, func(lo, hi int) {
		for i := lo; i < hi; i += n {
			f(i)
		}
	})
}

// eachRows calls f with pairs of offsets, each enclosing some rows of n elements.
func eachRows(size, n int, f func(lo, hi int)) {
	if n == 0 {
		return
	}
	par.For(size/n, max(1, serialBelow/2/n), func(lo, hi int) { f(lo*n, hi*n) })
}

func softmaxPlain[T float](dst, x []T) {
	m := float64(maxPlain(x))
	s := 0.0
	for _, v := range x {
		s += math.Exp(float64(v) - m)
	}
	scale := 1 / s
	for i, v := range x {
		dst[i] = T(math.Exp(float64(v)-m) * scale)
	}
}

func logSoftmaxPlain[T float](dst, x []T) {
	m := float64(maxPlain(x))
	s := 0.0
	for _, v := range x {
		s += math.Exp(float64(v) - m)
	}
	log := math.Log(s)
	for i, v := range x {
		dst[i] = T((float64(v) - m) - log)
	}
}

func softmaxGradPlain[T float](dx, y, dy []T) {
	dot := 0.0
	for i, v := range y {
		dot += float64(v) * float64(dy[i])
	}
	for i, v := range y {
		dx[i] = T(float64(v) * (float64(dy[i]) - dot))
	}
}

func logSoftmaxGradPlain[T float](dx, y, dy []T) {
	sum := pairwise(dy)
	for i, v := range y {
		dx[i] = T(float64(dy[i]) - math.Exp(float64(v))*sum)
	}
}
