package segment

import "math"

// Softmax writes exp(x-m)/Σexp(x-m) to out for each row, where m is the largest value of the row.
// out has the length of values and may be values. A row that is all -∞ or contains NaN or +∞ gives
// NaN.
func Softmax[T Float](out, values []T, splits []int64, inner int) {
	if inner == 1 && normalizeVectorised(softmax, out, values, splits) {
		return
	}
	perRow(out, values, splits, inner, softmaxColumn[float32], softmaxColumn[float64])
}

// LogSoftmax writes x - logsumexp(row) to out, which has the length of values and
// may be values.
func LogSoftmax[T Float](out, values []T, splits []int64, inner int) {
	if inner == 1 && normalizeVectorised(logSoftmax, out, values, splits) {
		return
	}
	perRow(out, values, splits, inner, logSoftmaxColumn[float32], logSoftmaxColumn[float64])
}

// LogSumExp writes log Σ exp(x) of each row to out, which has rows*inner elements. Intermediate
// results do not overflow. An empty row gives -∞.
func LogSumExp[T Float](out, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		o := make([]float32, rowsOf(splits)*inner)
		LogSumExp(o, w, splits, inner)
		narrow(out, o)
		return
	}
	if inner == 1 && normalizeVectorised(logSumExp, out, values, splits) {
		return
	}
	switch out := any(out).(type) {
	case []float32:
		logSumExpRows(out, any(values).([]float32), splits, inner)
	case []float64:
		logSumExpRows(out, any(values).([]float64), splits, inner)
	}
}

func logSumExpRows[T float32 | float64](out, values []T, splits []int64, inner int) {
	if isShort(splits, inner*expCost) {
		logSumExpRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner*expCost, func(lo, hi int) {
		logSumExpRange(out, values, splits, inner, lo, hi)
	})
}

func logSumExpRange[T float32 | float64](out, values []T, splits []int64, inner, lo, hi int) {
	for r := lo; r < hi; r++ {
		x := row(values, splits, r, inner)
		for j := range inner {
			out[r*inner+j] = T(logSumExpOf(x, j, inner))
		}
	}
}

// expCost is the approximate cost of one exponential, relative to adding an element.
const expCost = 8

// perRow calls the function for T, f32 or f64, for each column of each row. Half-precision types
// are widened.
func perRow[T Float](out, values []T, splits []int64, inner int, f32 func(out, x []float32, j, inner int), f64 func(out, x []float64, j, inner int)) {
	if w, ok := widen(values); ok {
		o := make([]float32, len(values))
		perRow(o, w, splits, inner, f32, f64)
		narrow(out, o)
		return
	}
	switch out := any(out).(type) {
	case []float32:
		perColumn(out, any(values).([]float32), splits, inner, f32)
	case []float64:
		perColumn(out, any(values).([]float64), splits, inner, f64)
	}
}

func perColumn[T any](out, values []T, splits []int64, inner int, f func(out, x []T, j, inner int)) {
	if isShort(splits, inner*expCost) {
		columnRange(out, values, splits, inner, f, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner*expCost, func(lo, hi int) {
		columnRange(out, values, splits, inner, f, lo, hi)
	})
}

func columnRange[T any](out, values []T, splits []int64, inner int, f func(out, x []T, j, inner int), lo, hi int) {
	for r := lo; r < hi; r++ {
		o, x := row(out, splits, r, inner), row(values, splits, r, inner)
		for j := range inner {
			f(o, x, j, inner)
		}
	}
}

// largest returns the largest of x[j], x[j+inner], …, or NaN if there is one.
func largest[T float32 | float64](x []T, j, inner int) float64 {
	m := math.Inf(-1)
	for i := j; i < len(x); i += inner {
		m = max(m, float64(x[i]))
	}
	return m
}

func softmaxColumn[T float32 | float64](out, x []T, j, inner int) {
	m := largest(x, j, inner)
	sum := 0.0
	for i := j; i < len(x); i += inner {
		e := math.Exp(float64(x[i]) - m)
		sum += e
		out[i] = T(e)
	}
	for i := j; i < len(x); i += inner {
		out[i] = T(float64(out[i]) / sum)
	}
}

func logSoftmaxColumn[T float32 | float64](out, x []T, j, inner int) {
	m := largest(x, j, inner)
	sum := 0.0
	for i := j; i < len(x); i += inner {
		sum += math.Exp(float64(x[i]) - m)
	}
	log := math.Log(sum)
	for i := j; i < len(x); i += inner {
		out[i] = T(float64(x[i]) - m - log)
	}
}

func logSumExpOf[T float32 | float64](x []T, j, inner int) float64 {
	m := largest(x, j, inner)
	if math.IsInf(m, 0) || m != m {
		return m // empty, all -∞, some +∞, or NaN: m is the result, and m-m would be NaN
	}
	sum := 0.0
	for i := j; i < len(x); i += inner {
		sum += math.Exp(float64(x[i]) - m)
	}
	return m + math.Log(sum)
}
