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
	cumulate(out, values, splits, inner, c, 0, func(a, b T) T { return a + b }, CumSum[float32])
}

// CumProd writes the running products of each row to out, which has the length of
// values and may be values. Integers wrap.
func CumProd[T dtype.Number](out, values []T, splits []int64, inner int, c Cumulation) {
	cumulate(out, values, splits, inner, c, 1, func(a, b T) T { return a * b }, CumProd[float32])
}

func cumulate[T dtype.Number](out, values []T, splits []int64, inner int, c Cumulation, identity T, combine func(a, b T) T,
	wide func(out, values []float32, splits []int64, inner int, c Cumulation)) {
	if w, ok := widen(values); ok {
		wide(w, w, splits, inner, c)
		narrow(out, w)
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			o, x := row(out, splits, r, inner), row(values, splits, r, inner)
			for j := range inner {
				first, step := j, inner
				if c.Reverse {
					first, step = len(x)-inner+j, -inner
				}
				acc := identity
				for i := first; i >= 0 && i < len(x); i += step {
					next := combine(acc, x[i])
					if c.Exclusive {
						o[i] = acc
					} else {
						o[i] = next
					}
					acc = next
				}
			}
		}
	})
}
