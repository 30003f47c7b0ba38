package segment

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// ArgMax writes the position in its row of each row's largest value to out, which
// has rows*inner elements: the first of equal ones, the first NaN where there is
// one, -1 for an empty row.
func ArgMax[T dtype.Real](out []int64, values []T, splits []int64, inner int) {
	argExtremes(true, out, values, splits, inner)
}

// ArgMin writes the position in its row of each row's smallest value to out, which
// has rows*inner elements: the first of equal ones, the first NaN where there is
// one, -1 for an empty row.
func ArgMin[T dtype.Real](out []int64, values []T, splits []int64, inner int) {
	argExtremes(false, out, values, splits, inner)
}

func argExtremes[T dtype.Real](largest bool, out []int64, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		argExtremes(largest, out, w, splits, inner)
		return
	}
	if inner == 1 && argsVectorised(largest, out, values, splits) {
		return
	}
	if isShort(splits, inner) {
		argRange(largest, out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		argRange(largest, out, values, splits, inner, lo, hi)
	})
}

func argRange[T dtype.Real](largest bool, out []int64, values []T, splits []int64, inner, lo, hi int) {
	for r := lo; r < hi; r++ {
		x := row(values, splits, r, inner)
		for j := range inner {
			out[r*inner+j] = argOf(largest, x, j, inner)
		}
	}
}

// argOf returns the position of the first largest or smallest of x[j], x[j+inner], …, of
// the first NaN, or -1. Nothing branches on where it is.
func argOf[T dtype.Real](largest bool, x []T, j, inner int) int64 {
	if len(x) == 0 {
		return -1
	}
	best, at := x[j], j
	for i := j; i < len(x); i += inner {
		v := x[i]
		if v != v {
			return int64(i / inner)
		}
		if largest {
			if v > best {
				at = i
			}
			best = max(best, v)
		} else {
			if v < best {
				at = i
			}
			best = min(best, v)
		}
	}
	return int64(at / inner)
}

// argsVectorised writes positions of rows of inner size 1 where there are kernels for those
// values, and reports whether there are.
func argsVectorised[T any](largest bool, out []int64, values []T, splits []int64) bool {
	if len(values) < worthVectors {
		return false
	}
	switch x := any(values).(type) {
	case []float32:
		return argRows(largest, out, x, splits)
	case []float64:
		return argRows(largest, out, x, splits)
	case []int32:
		return argRows(largest, out, x, splits)
	case []int64:
		return argRows(largest, out, x, splits)
	}
	return false
}

func argRows[T lanes](largest bool, out []int64, x []T, splits []int64) bool {
	k := kernelsFor[T]()
	if k == nil {
		return false
	}
	arg, extreme := &k.args[0], reduceMin
	if largest {
		arg, extreme = &k.args[1], reduceMax
	}
	arg.over(out, x, splits, func(r int) {
		v := x[splits[r]:splits[r+1]]
		if len(v) > pieceLen {
			out[r] = positionOf(k.reduce(extreme, v), v)
		} else {
			out[r] = argOf(largest, v, 0, 1)
		}
	})
	return true
}

// positionOf returns the position of the first m, which is the extreme of x, of the
// first NaN where there is one, or -1 for no elements.
func positionOf[T lanes](m T, x []T) int64 {
	if i := slices.Index(x, m); i >= 0 {
		return int64(i)
	}
	return int64(slices.IndexFunc(x, func(v T) bool { return v != v }))
}
