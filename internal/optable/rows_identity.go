package optable

import (
	"errors"
	"math"

	"github.com/tenonml/tenon/dtype"
)

// The operations that return their operand, or something of its form.

func init() {
	Add(
		sameRow("identity", func(x Array) Array { return x }),
		sameRow("stop_gradient", func(x Array) Array { return x }),
		checkNumericsRow(),
		sameRow("zeros_like", func(x Array) Array {
			return Array{Shape: x.Shape, X: make([]complex128, len(x.X)), S: make([]string, len(x.S))}
		}),
		onesLikeRow(), castRow(), bitcastRow(),
	)
}

func sameRow(name string, f func(x Array) Array) Row {
	return Row{Op: name, Smooth: true,
		Calls: append(EachType(AllPlain, func(d dtype.DType) []Call {
			lo := -4.0
			if d.IsUnsigned() {
				lo = 0
			}
			return []Call{Args(Uniform(d, []int{}, lo, 4)), Args(Uniform(d, []int{2, 3}, lo, 4)), Args(Uniform(d, []int{0, 3}, lo, 4))}
		}), Args(Text([]int{2}, "a", "bc"))),
		Ref: func(a []any) []Array { return []Array{f(a[0].(Array))} },
	}
}

func onesLikeRow() Row {
	r := sameRow("ones_like", func(x Array) Array {
		out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
		for i := range out.X {
			out.X[i] = 1
		}
		return out
	})
	r.Calls = r.Calls[:len(r.Calls)-1] // strings have no one
	return r
}

func checkNumericsRow() Row {
	r := sameRow("check_numerics", func(x Array) Array { return x })
	for i := range r.Calls {
		r.Calls[i].Args = append(r.Calls[i].Args, "in a test")
	}
	return r
}

func castRow() Row {
	r := Row{Op: "cast", Smooth: true, Ref: func(a []any) []Array {
		x, to := a[0].(Array), a[1].(dtype.DType)
		out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
		for i, v := range x.X {
			switch {
			case to.IsComplex():
				out.X[i] = v
			case to == dtype.Bool:
				out.X[i] = complex(Truth(v != 0), 0)
			case to.IsInteger():
				t := math.Trunc(real(v))
				out.X[i] = complex(t, 0)
			default:
				out.X[i] = complex(real(v), 0)
			}
		}
		return []Array{out}
	}}
	for _, from := range AllPlain {
		for _, to := range AllPlain {
			x := Uniform(from, []int{2, 5}, 0, 9)
			if from.IsComplex() && !to.IsComplex() {
				r.Calls = append(r.Calls, NoGrad(x, to)) // drops what depends on the imaginary part
				continue
			}
			if to.IsDifferentiable() && to.Real().Size() >= 8 {
				r.Calls = append(r.Calls, Args(x, to))
			} else {
				r.Calls = append(r.Calls, NoGrad(x, to))
			}
		}
	}
	return r
}

func bitcastRow() Row {
	return Row{Op: "bitcast",
		Calls: []Call{
			Args(Values(dtype.Float32, 1, -2, 0.5), dtype.Uint32), Args(Values(dtype.Int32, 1, -1), dtype.Uint8),
			Args(Shaped(dtype.Uint8, []int{2, 4}, 1, 0, 0, 0, 255, 255, 255, 255), dtype.Int32),
			Args(Values(dtype.Int64, 3), dtype.Int64),
		},
		Check: func(args []any, out []Array) error {
			x, to := args[0].(Array), args[1].(dtype.DType)
			var want []complex128
			switch {
			case to == dtype.Uint32:
				want = []complex128{0x3f800000, 0xc0000000, 0x3f000000}
			case to == dtype.Uint8:
				want = []complex128{1, 0, 0, 0, 255, 255, 255, 255}
			case to == dtype.Int32:
				want = []complex128{1, -1}
			default:
				want = x.X
			}
			for i, v := range want {
				if out[0].X[i] != v {
					return errors.New("other bits")
				}
			}
			return nil
		},
	}
}
