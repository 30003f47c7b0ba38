package segment

import "github.com/tenonml/tenon/dtype"

// Var writes the variance of each row, the mean squared distance from the row's
// mean with divisor length-ddof, to out, which has rows*inner elements. It makes
// two passes. A row with no more than ddof values gives NaN or, for ddof values
// and a sum of zero, 0/0 = NaN as well.
func Var[T Float](out, values []T, splits []int64, inner, ddof int) {
	if w, ok := widen(values); ok {
		o := make([]float32, rowsOf(splits)*inner)
		Var(o, w, splits, inner, ddof)
		narrow(out, o)
		return
	}
	switch out := any(out).(type) {
	case []float32:
		varReal(out, any(values).([]float32), splits, inner, ddof)
	case []float64:
		varReal(out, any(values).([]float64), splits, inner, ddof)
	}
}

// VarInt is [Var] for integers: the variance of each row in float64.
func VarInt[T dtype.Integer](out []float64, values []T, splits []int64, inner, ddof int) {
	eachRows(splits, inner, func(lo, hi int) {
		mean := make([]float64, inner)
		for r := lo; r < hi; r++ {
			x := row(values, splits, r, inner)
			meanOfIntegers(mean, x, inner)
			varItems(item(out, r, inner), x, mean, ddof)
		}
	})
}

func varReal[T float32 | float64](out, values []T, splits []int64, inner, ddof int) {
	if inner == 1 && isShort(splits, inner) {
		varRange(out, values, splits, make([]T, 1), make([]float64, 1), make([]float64, 1), ddof, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		varRange(out, values, splits, make([]T, inner), make([]float64, inner), make([]float64, inner), ddof, lo, hi)
	})
}

// varRange does the rows from lo up to hi, with room for the sums, variances and means of
// an item.
func varRange[T float32 | float64](out, values []T, splits []int64, sum []T, variance, mean []float64, ddof, lo, hi int) {
	inner := len(sum)
	for r := lo; r < hi; r++ {
		x := row(values, splits, r, inner)
		pairwiseSumItems(sum, x, inner)
		n := float64(len(x) / inner)
		for j, s := range sum {
			mean[j] = float64(s) / n
		}
		varItems(variance, x, mean, ddof)
		for j, v := range variance {
			out[r*inner+j] = T(v)
		}
	}
}

// varItems computes Σ(x-mean)² corrected by (Σ(x-mean))²/n, which cancels the
// rounding error of the mean (T. Chan, G. Golub, R. LeVeque, "Algorithms for
// computing the sample variance", 1983), divided by n-ddof.
func varItems[T dtype.Real](out []float64, x []T, mean []float64, ddof int) {
	inner := len(mean)
	n := len(x) / inner
	divisor := float64(max(n-ddof, 0))
	for j := range inner {
		var squares, rest float64
		for i := j; i < len(x); i += inner {
			d := float64(x[i]) - mean[j]
			squares += d * d
			rest += d
		}
		out[j] = (squares - rest*rest/float64(n)) / divisor
	}
}
