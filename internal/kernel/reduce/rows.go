package reduce

import (
	"math"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// The row functions, in assembly where available. Rows are not empty.

func softmaxRow[T float](dst, x []T) {
	if assembly[T]() == nil {
		softmaxPlain(dst, x)
		return
	}
	s, _ := exponentials(dst, x, topBlock(x)) // a NaN in x makes the sum NaN
	scale(dst, T(1/s))
}

var (
	scale32 = elementwise.BinaryVS[float32](elementwise.Mul)
	scale64 = elementwise.BinaryVS[float64](elementwise.Mul)
)

// scale multiplies x by a.
func scale[T float](x []T, a T) {
	switch x := any(x).(type) {
	case []float32:
		scale32(x, x, float32(a))
	case []float64:
		scale64(x, x, float64(a))
	}
}

// Those of the row functions below that write a transformed x take two sets of kernels: one to
// compute with and one to write with.

func logSoftmaxRow[T float](k, w *kernels[T], dst, x []T) {
	if k == nil {
		logSoftmaxPlain(dst, x)
		return
	}
	m := topBlock(x)
	log := T(math.Log(expSumBlock(x, m)))
	pieces(len(x), func(lo, hi int) { w.subTwice(&dst[lo], &x[lo], hi-lo, m, log) })
}

func softmaxGradRow[T float](dx, y, dy []T) {
	k := assembly[T]()
	if k == nil {
		softmaxGradPlain(dx, y, dy)
		return
	}
	dot := T(dotBlock(y, dy))
	pieces(len(y), func(lo, hi int) { k.softmaxGrad(&dx[lo], &y[lo], &dy[lo], hi-lo, dot) })
}

func logSoftmaxGradRow[T float](dx, y, dy []T) {
	k := assembly[T]()
	if k == nil {
		logSoftmaxGradPlain(dx, y, dy)
		return
	}
	sum := T(sumBlock(dy))
	pieces(len(y), func(lo, hi int) { k.logSoftmaxGrad(&dx[lo], &y[lo], &dy[lo], hi-lo, sum) })
}

func layerNormRow[T float](k, w *kernels[T], dst, x, gamma, beta []T, eps T) (mean, rstd T) {
	if k == nil {
		return layerNormPlain(dst, x, gamma, beta, eps)
	}
	m, variance := meanVariance(k, x)
	mean, rstd = T(m), T(1/math.Sqrt(variance+float64(eps)))
	affine(w, dst, x, gamma, beta, mean, rstd)
	return mean, rstd
}

// meanVariance returns the mean of x and its biased variance. One pass about the first element is
// accurate enough if that element is close to the mean, compared with the standard deviation.
// Otherwise a second pass about the mean computes the variance.
func meanVariance[T float](k *kernels[T], x []T) (mean, variance float64) {
	n := float64(len(x))
	if len(x) <= piece {
		c := x[0]
		sum, squares := k.shifted(&x[0], len(x), c)
		d := sum / n
		if m2 := squares - sum*d; m2*16 >= squares {
			return float64(c) + d, m2 / n
		}
	}
	mean = sumBlock(x) / n
	return mean, sumSquaresBlock(x, mean) / n
}

func rmsNormRow[T float](k, w *kernels[T], dst, x, gamma []T, eps T) (rstd T) {
	if k == nil {
		return rmsNormPlain(dst, x, gamma, eps)
	}
	rstd = T(1 / math.Sqrt(sumSquaresBlock(x, 0)/float64(len(x))+float64(eps)))
	affine(w, dst, x, gamma, nil, 0, rstd)
	return rstd
}

// affine sets dst to (x-mean)·rstd·gamma + beta; gamma and beta may be nil.
func affine[T float](k *kernels[T], dst, x, gamma, beta []T, mean, rstd T) {
	if len(x) <= piece {
		affinePiece(k, dst, x, gamma, beta, mean, rstd)
		return
	}
	part := func(s []T, lo, hi int) []T {
		if s == nil {
			return nil
		}
		return s[lo:hi]
	}
	pieces(len(x), func(lo, hi int) {
		affinePiece(k, dst[lo:hi], x[lo:hi], part(gamma, lo, hi), part(beta, lo, hi), mean, rstd)
	})
}

func affinePiece[T float](k *kernels[T], dst, x, gamma, beta []T, mean, rstd T) {
	n := len(x)
	switch {
	case gamma != nil && beta != nil:
		k.normalizeAffine(&dst[0], &x[0], &gamma[0], &beta[0], n, mean, rstd)
		return
	case gamma != nil:
		k.normalizeScale(&dst[0], &x[0], &gamma[0], n, mean, rstd)
	default:
		k.normalize(&dst[0], &x[0], n, mean, rstd)
	}
	if beta != nil {
		elementwise.Binary[T](elementwise.Add)(dst, dst, beta)
	}
}

func layerNormGradRow[T float](dx, x, gamma, dy []T, mean, rstd T) {
	k := assembly[T]()
	if k == nil {
		layerNormGradPlain(dx, x, gamma, dy, mean, rstd)
		return
	}
	n := float64(len(x))
	a, b := normSums(k, x, gamma, dy, mean, rstd)
	normGrad(k, dx, x, gamma, dy, mean, rstd, T(a/n), T(b/n))
}

func rmsNormGradRow[T float](dx, x, gamma, dy []T, rstd T) {
	k := assembly[T]()
	if k == nil {
		rmsNormGradPlain(dx, x, gamma, dy, rstd)
		return
	}
	_, b := normSums(k, x, gamma, dy, 0, rstd)
	normGrad(k, dx, x, gamma, dy, 0, rstd, 0, T(b/float64(len(x))))
}

// normSums returns Σ g and Σ g·(x-mean)·rstd for g = gamma·dy.
func normSums[T float](k *kernels[T], x, gamma, dy []T, mean, rstd T) (a, b float64) {
	pieces(len(x), func(lo, hi int) {
		var s, t float64
		if gamma != nil {
			s, t = k.normSums(&x[lo], &gamma[lo], &dy[lo], hi-lo, mean, rstd)
		} else {
			s, t = k.normSumsPlain(&x[lo], &dy[lo], hi-lo, mean, rstd)
		}
		a += s
		b += t
	})
	return a, b
}

// normGrad sets dx to rstd·(g - a - (x-mean)·rstd·b).
func normGrad[T float](k *kernels[T], dx, x, gamma, dy []T, mean, rstd, a, b T) {
	pieces(len(x), func(lo, hi int) {
		if gamma != nil {
			k.normGrad(&dx[lo], &x[lo], &gamma[lo], &dy[lo], hi-lo, mean, rstd, a, b)
		} else {
			k.normGradPlain(&dx[lo], &x[lo], &dy[lo], hi-lo, mean, rstd, a, b)
		}
	})
}

// addParameterGrads adds one row's dy·(x-mean)·rstd to dgamma, and its dy to dbeta.
func addParameterGrads[T float](dgamma, dbeta, x, dy []T, mean, rstd T) {
	k := assembly[T]()
	if k == nil {
		for j, d := range dy {
			dgamma[j] += T(float64(d) * (float64(x[j]) - float64(mean)) * float64(rstd))
			dbeta[j] += d
		}
		return
	}
	pieces(len(x), func(lo, hi int) {
		k.addNormalized(&dgamma[lo], &dgamma[lo], &x[lo], &dy[lo], hi-lo, mean, rstd)
	})
	elementwise.Binary[T](elementwise.Add)(dbeta, dbeta, dy)
}
