package reduce

import "math"

// moments are the number of elements, their mean, and the sum of their squared
// distances from it.
type moments struct{ n, mean, m2 float64 }

// plus merges two sets of elements (T. F. Chan, G. H. Golub, R. J. LeVeque,
// "Updating formulae and a pairwise algorithm for computing sample variances", 1979).
func (a moments) plus(b moments) moments {
	n := a.n + b.n
	d := b.mean - a.mean
	return moments{n, a.mean + d*(b.n/n), a.m2 + b.m2 + d*d*(a.n*b.n/n)}
}

// variance makes the two passes of the definition over blocks that stay in the cache, and merges
// the moments of the blocks.
func variance[T float](ddof int) *reducer[T, moments, T] {
	return &reducer[T, moments, T]{
		block:  momentsBlock[T],
		merge:  moments.plus,
		finish: func(a moments, n int) T { return T(a.m2 / math.Max(0, a.n-float64(ddof))) },
		empty:  T(nan),
	}
}

func momentsBlock[T float](x []T) moments {
	const run = 4096
	var total moments
	for len(x) > 0 {
		m := min(len(x), run)
		n := float64(m)
		mean := sumBlock(x[:m]) / n
		part := moments{n, mean, sumSquaresBlock(x[:m], mean)}
		if total.n == 0 {
			total = part
		} else {
			total = total.plus(part)
		}
		x = x[m:]
	}
	return total
}

// varianceInt converts to float64 first, since the distances from the mean are floating-point
// anyway.
func varianceInt[T integer](ddof int) *reducer[T, moments, float64] {
	f := variance[float64](ddof)
	return &reducer[T, moments, float64]{
		block: func(x []T) moments {
			var buf [512]float64
			var total moments
			for len(x) > 0 {
				m := min(len(x), len(buf))
				for i, v := range x[:m] {
					buf[i] = float64(v)
				}
				if part := momentsBlock(buf[:m]); total.n == 0 {
					total = part
				} else {
					total = total.plus(part)
				}
				x = x[m:]
			}
			return total
		},
		merge:  f.merge,
		finish: f.finish,
		empty:  nan,
	}
}

// A logSum represents scale·e^shift, where shift is the greatest exponent seen.
type logSum struct{ shift, scale float64 }

func (a logSum) plus(b logSum) logSum {
	switch {
	case a.shift == b.shift:
		return logSum{a.shift, a.scale + b.scale}
	case a.shift < b.shift:
		a, b = b, a
	}
	if a.shift != a.shift || math.IsInf(a.shift, 1) || math.IsInf(b.shift, -1) {
		return a
	}
	if b.shift != b.shift {
		return b
	}
	return logSum{a.shift, a.scale + b.scale*math.Exp(b.shift-a.shift)}
}

func (a logSum) value() float64 {
	if a.scale == 0 { // all elements are -Inf
		return -inf
	}
	if a.scale == 1 { // a single number, such as the first of a running sum
		return a.shift + 0 // no -0
	}
	return a.shift + math.Log(a.scale)
}

func logSumExp[T float]() *reducer[T, logSum, T] {
	return &reducer[T, logSum, T]{
		block: func(x []T) logSum {
			m := float64(maxBlock(x))
			switch {
			case m != m || math.IsInf(m, 1):
				return logSum{m, 1}
			case math.IsInf(m, -1):
				return logSum{m, 0}
			}
			return logSum{m, expSumBlock(x, T(m))}
		},
		merge:  logSum.plus,
		finish: func(a logSum, n int) T { return T(a.value()) },
		empty:  T(-inf),
	}
}

// expSumPlain returns Σ e^(x-shift).
func expSumPlain[T float](x []T, shift T) float64 {
	s := 0.0
	for _, v := range x {
		s += math.Exp(float64(v) - float64(shift))
	}
	return s
}
