package segment

import "github.com/tenonml/tenon/dtype"

// Cumulation says how cumulative operations run along a row. The zero value is
// from the first value on, each result including its own value.
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
	c.columns(splits, inner, func(first, step, n int) {
		var acc T
		if c.Exclusive {
			for i := first; n > 0; i, n = i+step, n-1 {
				v := values[i]
				out[i] = acc
				acc += v
			}
			return
		}
		for i := first; n > 0; i, n = i+step, n-1 {
			acc += values[i]
			out[i] = acc
		}
	})
}

// CumProd writes the running products of each row to out, which has the length of
// values and may be values. Integers wrap.
func CumProd[T dtype.Number](out, values []T, splits []int64, inner int, c Cumulation) {
	if w, ok := widen(values); ok {
		CumProd(w, w, splits, inner, c)
		narrow(out, w)
		return
	}
	c.columns(splits, inner, func(first, step, n int) {
		acc := T(1)
		if c.Exclusive {
			for i := first; n > 0; i, n = i+step, n-1 {
				v := values[i]
				out[i] = acc
				acc *= v
			}
			return
		}
		for i := first; n > 0; i, n = i+step, n-1 {
			acc *= values[i]
			out[i] = acc
		}
	})
}

// columns calls f for each element of an item of each row, with the position of the
// first value to take, the distance to the next, and their number.
func (c Cumulation) columns(splits []int64, inner int, f func(first, step, n int)) {
	eachRows(splits, inner, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			n := int(splits[r+1] - splits[r])
			first, step := int(splits[r])*inner, inner
			if c.Reverse {
				first, step = (int(splits[r+1])-1)*inner, -inner
			}
			for j := range inner {
				f(first+j, step, n)
			}
		}
	})
}
