package segment

import "github.com/tenonml/tenon/dtype"

// Cumulation says how cumulative operations run along a row. The zero value starts at the first
// value, and each result includes its own value.
type Cumulation struct {
	Exclusive bool // each result leaves out its own value; the first is the identity
	Reverse   bool // from the last value to the first
}

// CumSum writes the running sums of each row to out, which has the length of values
// and may be values. Integers wrap.
func CumSum[T dtype.Number](out, values []T, splits []int64, inner int, c Cumulation) {
	if w, ok := widen(values); ok {
		CumSum(w, w, splits, inner, c)
		narrow(out, w)
		return
	}
	if isShort(splits, inner) {
		cumSumRange(out, values, splits, inner, c, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		cumSumRange(out, values, splits, inner, c, lo, hi)
	})
}

func cumSumRange[T dtype.Number](out, values []T, splits []int64, inner int, c Cumulation, lo, hi int) {
	for r := lo; r < hi; r++ {
		begin, step, count := c.row(splits, r, inner)
		for first := begin; first < begin+inner; first++ {
			var acc T
			if c.Exclusive {
				for i, n := first, count; n > 0; i, n = i+step, n-1 {
					v := values[i]
					out[i] = acc
					acc += v
				}
				continue
			}
			for i, n := first, count; n > 0; i, n = i+step, n-1 {
				acc += values[i]
				out[i] = acc
			}
		}
	}
}

// CumProd writes the running products of each row to out, which has the length of
// values and may be values. Integers wrap.
func CumProd[T dtype.Number](out, values []T, splits []int64, inner int, c Cumulation) {
	if w, ok := widen(values); ok {
		CumProd(w, w, splits, inner, c)
		narrow(out, w)
		return
	}
	if isShort(splits, inner) {
		cumProdRange(out, values, splits, inner, c, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		cumProdRange(out, values, splits, inner, c, lo, hi)
	})
}

func cumProdRange[T dtype.Number](out, values []T, splits []int64, inner int, c Cumulation, lo, hi int) {
	for r := lo; r < hi; r++ {
		begin, step, count := c.row(splits, r, inner)
		for first := begin; first < begin+inner; first++ {
			acc := T(1)
			if c.Exclusive {
				for i, n := first, count; n > 0; i, n = i+step, n-1 {
					v := values[i]
					out[i] = acc
					acc *= v
				}
				continue
			}
			for i, n := first, count; n > 0; i, n = i+step, n-1 {
				acc *= values[i]
				out[i] = acc
			}
		}
	}
}

// row returns the index at which row r starts, the step from one item to the next, and the number
// of items.
func (c Cumulation) row(splits []int64, r, inner int) (first, step, n int) {
	if n = int(splits[r+1] - splits[r]); c.Reverse {
		return (int(splits[r+1]) - 1) * inner, -inner, n
	}
	return int(splits[r]) * inner, inner, n
}
