package segment

import "github.com/tenonml/tenon/dtype"

// Var writes the variance of each row to out, which has rows*inner elements: the sum of the squared
// distances from the row's mean, divided by length-ddof. It makes two passes. The divisor is at
// least 0, so a row of at most ddof values gives NaN, or +∞ if its values differ.
func Var[T Float](out, values []T, splits []int64, inner, ddof int) {
	if w, ok := widen(values); ok {
		o := make([]float32, rowsOf(splits)*inner)
		Var(o, w, splits, inner, ddof)
		narrow(out, o)
		return
	}
	switch out := any(out).(type) {
	case []float32:
		variances(out, any(values).([]float32), splits, inner, ddof)
	case []float64:
		variances(out, any(values).([]float64), splits, inner, ddof)
	}
}

// VarInt is [Var] for integers, with float64 results.
func VarInt[T dtype.Integer](out []float64, values []T, splits []int64, inner, ddof int) {
	variances(out, values, splits, inner, ddof)
}

func variances[O float32 | float64, T dtype.Real](out []O, values []T, splits []int64, inner, ddof int) {
	if inner == 1 && variancesVectorised(out, values, splits, ddof) {
		return
	}
	if inner == 1 && isShort(splits, inner) {
		var sum, mean [1]float64
		varRange(out, values, splits, sum[:], mean[:], ddof, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		varRange(out, values, splits, make([]float64, inner), make([]float64, inner), ddof, lo, hi)
	})
}

// varRange processes the rows [lo, hi); sums and mean have room for one item.
func varRange[O float32 | float64, T dtype.Real](out []O, values []T, splits []int64, sums, mean []float64, ddof, lo, hi int) {
	inner := len(mean)
	for r := lo; r < hi; r++ {
		x := row(values, splits, r, inner)
		meanItems(mean, x, inner)
		distances(sums, x, mean)
		divisor := float64(max(len(x)/inner-ddof, 0))
		for j, s := range sums {
			out[r*inner+j] = O(s / divisor)
		}
	}
}

// distances computes Σ(x-mean)², corrected by (Σ(x-mean))²/n, which cancels the rounding error of
// the mean (T. Chan, G. Golub, R. LeVeque, "Algorithms for computing the sample variance", 1983).
func distances[T dtype.Real](out []float64, x []T, mean []float64) {
	inner := len(mean)
	n := len(x) / inner
	for j := range inner {
		var squares, rest float64
		for i := j; i < len(x); i += inner {
			d := float64(x[i]) - mean[j]
			squares += d * d
			rest += d
		}
		out[j] = squares - rest*rest/float64(n)
	}
}

// variancesVectorised computes the variances of rows of inner size 1 if there are kernels for the
// element type, and reports whether there are.
func variancesVectorised[O float32 | float64, T dtype.Real](out []O, values []T, splits []int64, ddof int) bool {
	if len(values) < worthVectors {
		return false
	}
	switch x := any(values).(type) {
	case []float32:
		return varianceRows(out, x, splits, ddof)
	case []float64:
		return varianceRows(out, x, splits, ddof)
	case []int32:
		return varianceRows(out, x, splits, ddof)
	case []int64:
		return varianceRows(out, x, splits, ddof)
	}
	return false
}

func varianceRows[O float32 | float64, T lanes](out []O, x []T, splits []int64, ddof int) bool {
	k := kernelsFor[T]()
	if k == nil || k.distances.kernel == nil {
		return false
	}
	if isShort(splits, 1) {
		varianceBlocks(k, out, x, splits, ddof, 0, rowsOf(splits))
		return true
	}
	eachRows(splits, 1, func(lo, hi int) { varianceBlocks(k, out, x, splits, ddof, lo, hi) })
	return true
}

// varianceBlocks processes the rows [lo, hi) in blocks whose intermediate sums stay in cache.
func varianceBlocks[O float32 | float64, T lanes](k *rowKernels[T], out []O, x []T, splits []int64, ddof, lo, hi int) {
	ws := workspaces.Get().(*workspace)
	for lo < hi {
		end := min(lo+blockRows, hi)
		sums, rows := view[float64](ws.row1[:])[:end-lo], splits[lo:end+1]
		k.distances.run(ws, sums, x, rows, 0, func(i int) {
			var mean [1]float64
			v := x[rows[i]:rows[i+1]]
			meanItems(mean[:], v, 1)
			distances(sums[i:i+1], v, mean[:])
		})
		for i, s := range sums {
			out[lo+i] = O(s / float64(max(int(rows[i+1]-rows[i])-ddof, 0)))
		}
		lo = end
	}
	workspaces.Put(ws)
}
