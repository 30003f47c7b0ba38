package optable

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

func init() {
	Add(crossEntropyRow(), crossEntropyGradRow(), crossEntropyDenseRow(),
		func() Row {
			r := smooth(Binary("sigmoid_cross_entropy", Floats, 0.1, 0.9, func(x, z float64) float64 {
				return math.Max(x, 0) - x*z + math.Log1p(math.Exp(-math.Abs(x)))
			}))
			return add(r, Args(Values(dtype.Float64, -50, 3, 50), Values(dtype.Float64, 0, 0.25, 1)))
		}(),
	)
}

var labelShapes = []struct{ x, l []int }{{[]int{4}, []int{}}, {[]int{3, 4}, []int{3}}, {[]int{2, 3, 4}, []int{2, 3}}, {[]int{0, 4}, []int{0}}}

// losses is the reference of a function of each row of x and its label.
func losses(a []any, f func(x []float64, label int) float64) []Array {
	x, l := a[0].(Array), a[1].(Array)
	out := Array{Shape: l.Shape, X: make([]complex128, len(l.X))}
	n := x.Shape[len(x.Shape)-1]
	for i := range out.X {
		out.X[i] = complex(f(Array{X: x.X[i*n : (i+1)*n]}.Floats(), int(real(l.X[i]))), 0)
	}
	return []Array{out}
}

func crossEntropyRow() Row {
	r := Row{Op: "softmax_cross_entropy", Smooth: true, Tol: 8, Ref: func(a []any) []Array {
		return losses(a, func(x []float64, l int) float64 { return -math.Log(softmaxOf(x)[l]) })
	}}
	for _, d := range Floats {
		for _, s := range labelShapes {
			r.Calls = append(r.Calls, Args(Uniform(d, s.x, -3, 3), Uniform(dtype.Int64, s.l, 0, 4)), Args(Uniform(d, s.x, -3, 3), Uniform(dtype.Int32, s.l, 0, 4)))
		}
	}
	return r
}

func crossEntropyGradRow() Row {
	r := Row{Op: "softmax_cross_entropy_grad", Smooth: true, Tol: 8, Ref: func(a []any) []Array {
		x, l, ct := a[0].(Array), a[1].(Array), a[2].(Array)
		n := x.Shape[len(x.Shape)-1]
		out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
		for i := range l.X {
			p := softmaxOf(Array{X: x.X[i*n : (i+1)*n]}.Floats())
			for k := range p {
				out.X[i*n+k] = ct.X[i] * complex(p[k]-Truth(k == int(real(l.X[i]))), 0)
			}
		}
		return []Array{out}
	}}
	for _, d := range Floats {
		for _, s := range labelShapes {
			r.Calls = append(r.Calls, Args(Uniform(d, s.x, -3, 3), Uniform(dtype.Int64, s.l, 0, 4), UniformSeed(d, s.l, -1, 1, 4)))
		}
	}
	return r
}

func crossEntropyDenseRow() Row {
	r := Row{Op: "softmax_cross_entropy_dense", Smooth: true, Tol: 16, Ref: func(a []any) []Array {
		x, z := a[0].(Array), a[1].(Array)
		n := x.Shape[len(x.Shape)-1]
		out := Array{Shape: x.Shape[:len(x.Shape)-1], X: make([]complex128, len(x.X)/n)}
		for i := range out.X {
			p := softmaxOf(Array{X: x.X[i*n : (i+1)*n]}.Floats())
			for k, q := range p {
				if t := z.X[i*n+k]; t != 0 {
					out.X[i] -= t * complex(math.Log(q), 0)
				}
			}
		}
		return []Array{out}
	}}
	for _, d := range Floats {
		for _, s := range labelShapes {
			r.Calls = append(r.Calls, Args(Uniform(d, s.x, -3, 3), UniformSeed(d, s.x, 0.1, 1, 4)))
		}
	}
	r.Calls = append(r.Calls, NoGrad(Values(dtype.Float64, 0, -Inf, 1), Values(dtype.Float64, 0.5, 0, 0.5)))
	return r
}
