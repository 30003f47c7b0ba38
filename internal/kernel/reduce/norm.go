package reduce

import (
	"math"

	"github.com/tenonml/tenon/internal/par"
)

// LayerNorm sets each row of dst to gamma·(x-mean)·rstd + beta, where mean is that of the same row
// of x and rstd is 1/√(var+eps) with the biased variance (Ba, Kiros and Hinton, arXiv:1607.06450).
// gamma and beta have n elements, or are nil for 1 and 0. mean and rstd, with one element per row,
// receive what [LayerNormGrad] needs; they may be nil.
func LayerNorm[T float](dst, x, gamma, beta []T, n int, eps T, mean, rstd []T) {
	k := assembly[T]()
	w := k
	if gamma != nil || beta == nil { // otherwise there are two passes over the rows
		w = writer(k, dst, x, n)
	}
	if isShort(len(dst), n) {
		layerNormRows(k, w, dst, x, gamma, beta, n, eps, mean, rstd, 0, len(dst))
		return
	}
	eachRows(len(dst), n, func(lo, hi int) {
		layerNormRows(k, w, dst, x, gamma, beta, n, eps, mean, rstd, lo, hi)
	})
}

// layerNormRows processes the rows between two offsets.
func layerNormRows[T float](k, w *kernels[T], dst, x, gamma, beta []T, n int, eps T, mean, rstd []T, lo, hi int) {
	for i := lo; i < hi; i += n {
		m, r := layerNormRow(k, w, dst[i:i+n], x[i:i+n], gamma, beta, eps)
		if mean != nil {
			mean[i/n] = m
		}
		if rstd != nil {
			rstd[i/n] = r
		}
	}
}

// RMSNorm sets each row of dst to gamma·x·rstd, where rstd is 1/√(mean(x²)+eps) of the same row of
// x (Zhang and Sennrich, arXiv:1910.07467). gamma has n elements, or is nil for 1; rstd, with one
// element per row, may be nil.
func RMSNorm[T float](dst, x, gamma []T, n int, eps T, rstd []T) {
	k := assembly[T]()
	w := writer(k, dst, x, n)
	if isShort(len(dst), n) {
		rmsNormRows(k, w, dst, x, gamma, n, eps, rstd, 0, len(dst))
		return
	}
	eachRows(len(dst), n, func(lo, hi int) {
		rmsNormRows(k, w, dst, x, gamma, n, eps, rstd, lo, hi)
	})
}

// rmsNormRows processes the rows between two offsets.
func rmsNormRows[T float](k, w *kernels[T], dst, x, gamma []T, n int, eps T, rstd []T, lo, hi int) {
	for i := lo; i < hi; i += n {
		r := rmsNormRow(k, w, dst[i:i+n], x[i:i+n], gamma, eps)
		if rstd != nil {
			rstd[i/n] = r
		}
	}
}

// LayerNormGrad computes the gradients of [LayerNorm] for the cotangent dy of
// its result: with g = gamma·dy and h = (x-mean)·rstd,
//
//	dx     = rstd·(g - mean(g) - h·mean(g·h))   by rows
//	dgamma = Σ dy·h, dbeta = Σ dy               over rows
//
// Each of dx, dgamma and dbeta may be nil if it is not needed, and gamma if it was nil in
// [LayerNorm].
func LayerNormGrad[T float](dx, dgamma, dbeta, x, gamma, dy []T, n int, mean, rstd []T) {
	if dx != nil {
		eachRow(len(x), n, func(i int) {
			layerNormGradRow(dx[i:i+n], x[i:i+n], gamma, dy[i:i+n], mean[i/n], rstd[i/n])
		})
	}
	parameterGrads(dgamma, dbeta, x, dy, n, mean, rstd)
}

// RMSNormGrad computes the gradients of [RMSNorm] for the cotangent dy of its
// result: with g = gamma·dy and h = x·rstd,
//
//	dx     = rstd·(g - h·mean(g·h))   by rows
//	dgamma = Σ dy·h                   over rows
//
// dx or dgamma may be nil if it is not needed, and gamma if it was nil in [RMSNorm].
func RMSNormGrad[T float](dx, dgamma, x, gamma, dy []T, n int, rstd []T) {
	if dx != nil {
		eachRow(len(x), n, func(i int) {
			rmsNormGradRow(dx[i:i+n], x[i:i+n], gamma, dy[i:i+n], rstd[i/n])
		})
	}
	parameterGrads(dgamma, nil, x, dy, n, nil, rstd)
}

func layerNormPlain[T float](dst, x, gamma, beta []T, eps T) (mean, rstd T) {
	n := float64(len(x))
	m := pairwise(x) / n
	r := 1 / math.Sqrt(squaresAbout(x, m)/n+float64(eps))
	for i, v := range x {
		h := (float64(v) - m) * r
		if gamma != nil {
			h *= float64(gamma[i])
		}
		if beta != nil {
			h += float64(beta[i])
		}
		dst[i] = T(h)
	}
	return T(m), T(r)
}

func rmsNormPlain[T float](dst, x, gamma []T, eps T) (rstd T) {
	r := 1 / math.Sqrt(squaresAbout(x, 0)/float64(len(x))+float64(eps))
	for i, v := range x {
		h := float64(v) * r
		if gamma != nil {
			h *= float64(gamma[i])
		}
		dst[i] = T(h)
	}
	return T(r)
}

func layerNormGradPlain[T float](dx, x, gamma, dy []T, mean, rstd T) {
	m, r := float64(mean), float64(rstd)
	sumG, sumGH := 0.0, 0.0
	for i, d := range dy {
		g := float64(d)
		if gamma != nil {
			g *= float64(gamma[i])
		}
		sumG += g
		sumGH += g * (float64(x[i]) - m) * r
	}
	n := float64(len(x))
	sumG /= n
	sumGH /= n
	for i, d := range dy {
		g := float64(d)
		if gamma != nil {
			g *= float64(gamma[i])
		}
		dx[i] = T(r * (g - sumG - (float64(x[i])-m)*r*sumGH))
	}
}

func rmsNormGradPlain[T float](dx, x, gamma, dy []T, rstd T) {
	r := float64(rstd)
	sum := 0.0
	for i, d := range dy {
		g := float64(d)
		if gamma != nil {
			g *= float64(gamma[i])
		}
		sum += g * float64(x[i]) * r
	}
	sum /= float64(len(x))
	for i, d := range dy {
		g := float64(d)
		if gamma != nil {
			g *= float64(gamma[i])
		}
		dx[i] = T(r * (g - float64(x[i])*r*sum))
	}
}

// parameterGrads sums over rows in groups of fixed size, in the element type, and then sums the
// groups in order in float64, so that the result does not depend on the number of workers.
func parameterGrads[T float](dgamma, dbeta, x, dy []T, n int, mean, rstd []T) {
	if n == 0 || dgamma == nil && dbeta == nil {
		return
	}
	const group = 32
	rows := len(x) / n
	groups := (rows + group - 1) / group
	parts := make([]T, 2*groups*n)
	gammas, betas := parts[:groups*n], parts[groups*n:]
	par.For(groups, max(1, serialBelow/(group*n)), func(lo, hi int) {
		for r := lo * group; r < min(hi*group, rows); r++ {
			m := T(0)
			if mean != nil {
				m = mean[r]
			}
			at := r / group * n
			addParameterGrads(gammas[at:at+n], betas[at:at+n], x[r*n:(r+1)*n], dy[r*n:(r+1)*n], m, rstd[r])
		}
	})
	addGroups(dgamma, gammas, n)
	addGroups(dbeta, betas, n)
}

// addGroups sets dst to the sums of the columns of parts, whose rows have n elements.
func addGroups[T float](dst, parts []T, n int) {
	sums := make([]float64, len(dst))
	for i := 0; i < len(parts) && dst != nil; i += n {
		for j, v := range parts[i : i+n] {
			sums[j] += float64(v)
		}
	}
	for j, s := range sums {
		dst[j] = T(s)
	}
}
