package segment

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// ArgMax writes to out, which has rows*inner elements, the position of each row's largest value
// within the row. Of equal values the first counts; the first NaN wins if there is one; an empty
// row gives -1.
func ArgMax[T dtype.Real](out []int64, values []T, splits []int64, inner int) {
	argExtremes(true, out, values, splits, inner)
}

// ArgMin writes to out, which has rows*inner elements, the position of each row's smallest value
// within the row. Of equal values the first counts; the first NaN wins if there is one; an empty
// row gives -1.
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

// argOf returns the position of the first NaN among x[j], x[j+inner], …, or else of the first
// largest or smallest, or -1 if there are none. Updates of the position compile to conditional
// moves rather than branches.
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

// argsVectorised writes the positions for rows of inner size 1 if there are kernels for the element
// type, and reports whether there are.
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

// positionOf returns the position in x of the first element equal to m, the extreme of x. If m is
// NaN it returns the position of the first NaN, and for an empty x it returns -1.
func positionOf[T lanes](m T, x []T) int64 {
	if i := slices.Index(x, m); i >= 0 {
		return int64(i)
	}
	return int64(slices.IndexFunc(x, func(v T) bool { return v != v }))
}
