package optable

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

// runningFloats makes the row of a running operation on rows of floating numbers.
func runningFloats(name string, start float64, f func(a, b float64) float64) Row {
	g := running(complex(start, 0), func(a, b complex128) complex128 { return complex(f(real(a), real(b)), 0) })
	r := alongRow(name, Floats, -4, g, false, false)
	for _, flags := range [][2]bool{{true, false}, {false, true}, {true, true}} {
		r.Calls = append(r.Calls, raggedCalls([]dtype.DType{dtype.Float64, dtype.Float32}, -4, 4, flags[0], flags[1])...)
	}
	return r
}

func init() {
	Add(
		runningFloats("ragged.cummax", -Inf, math.Max),
		runningFloats("ragged.cummin", Inf, math.Min),
		tol(16, runningFloats("ragged.logcumsumexp", -Inf, func(a, b float64) float64 {
			m := math.Max(a, b)
			if math.IsInf(m, -1) {
				return m
			}
			return m + math.Log(math.Exp(a-m)+math.Exp(b-m))
		})),
	)
}
