package optable

import (
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

func reductionRow(name string, types []dtype.DType, lo, hi float64, f func(x []float64) float64, more ...any) Row {
	return Row{Op: name, Smooth: true, Calls: ReductionCalls(types, lo, hi, more...), Ref: func(a []any) []Array { return Reduce(a, f) }}
}

// add appends calls to a row.
func add(r Row, calls ...Call) Row {
	r.Calls = append(r.Calls, calls...)
	return r
}

func sumOf(x []float64) float64 {
	return Fold(x, 0, func(a, b float64) float64 { return a + b })
}
func meanOf(x []float64) float64 { return sumOf(x) / float64(len(x)) }

func varianceOf(x []float64, ddof float64) float64 {
	m := meanOf(x)
	return Fold(x, 0, func(a, b float64) float64 { return a + (b-m)*(b-m) }) / math.Max(0, float64(len(x))-ddof)
}

func first(x []float64, better func(a, b float64) bool) float64 {
	at := 0
	for i, v := range x {
		if v != v {
			return float64(i)
		}
		if better(v, x[at]) {
			at = i
		}
	}
	return float64(at)
}

func init() {
	withBool := append(append([]dtype.DType{}, arithmeticTypes...), dtype.Bool)
	sumLarge := []Call{
		NoGrad(Uniform(dtype.Float32, Large, 0, 1), nil, false), NoGrad(Uniform(dtype.Float32, Large, 0, 1), []int{0, 2}, false),
		NoGrad(Uniform(dtype.Float32, Large, 0, 1), []int{1}, true),
	}
	Add(
		add(reductionRow("reduce_sum", withBool, -2, 2, sumOf), sumLarge...),
		add(reductionRow("reduce_mean", withBool, -2, 2, meanOf), sumLarge...),
		add(reductionRow("reduce_prod", append(append([]dtype.DType{}, Floats...), dtype.Int64), -1.5, 2, func(x []float64) float64 {
			return Fold(x, 1, func(a, b float64) float64 { return a * b })
		}),
			// The gradient is right where elements are 0.
			Args(Shaped(dtype.Float64, []int{2, 3}, 2, 0, 3, 0, 5, 0), []int{1}, false),
			Args(Shaped(dtype.Float64, []int{2, 2, 2}, 2, 0, 3, 1, 5, 0, 0, 4), []int{0, 2}, true)),
		add(reductionRow("reduce_max", withoutEmpty, -4, 4, func(x []float64) float64 { return Fold(x, -Inf, math.Max) }), sumLarge...),
		reductionRow("reduce_min", withoutEmpty, -4, 4, func(x []float64) float64 { return Fold(x, Inf, math.Min) }),
		reductionRow("reduce_any", Bools, 0, 1, func(x []float64) float64 { return Fold(x, 0, math.Max) }),
		reductionRow("reduce_all", Bools, 0, 1, func(x []float64) float64 { return Fold(x, 1, math.Min) }),
		reductionRow("count_nonzero", AllPlain, -2, 2, func(x []float64) float64 {
			return Fold(x, 0, func(a, b float64) float64 { return a + Truth(b != 0) })
		}),
		add(reductionRow("logsumexp", Floats, -3, 3, func(x []float64) float64 {
			m := Fold(x, -Inf, math.Max)
			if math.IsInf(m, 0) {
				return m
			}
			return m + math.Log(Fold(x, 0, func(a, b float64) float64 { return a + math.Exp(b-m) }))
		}), NoGrad(Values(dtype.Float64, -Inf, -Inf), nil, false), NoGrad(Values(dtype.Float32, 1000, 1001), nil, false)),
		variancesRow("reduce_variance", func(x float64) float64 { return x }),
		variancesRow("reduce_std", math.Sqrt),
		normRow(),
		positionRow("argmax", func(a, b float64) bool { return a > b }),
		positionRow("argmin", func(a, b float64) bool { return a < b }),
		spreadRow(), sumToRow(),
	)
	Add(
		tol(16, cumulativeRow("cumsum", Numbers, 0, func(a, b float64) float64 { return a + b })),
		tol(32, cumulativeRow("cumprod", append(append([]dtype.DType{}, Floats...), dtype.Int64), 1, func(a, b float64) float64 { return a * b })),
		cumulativeRow("cummax", Floats, -Inf, math.Max),
		cumulativeRow("cummin", Floats, Inf, math.Min),
		tol(16, cumulativeRow("logcumsumexp", Floats, -Inf, func(a, b float64) float64 {
			m := math.Max(a, b)
			if math.IsInf(m, -1) {
				return m
			}
			return m + math.Log(math.Exp(a-m)+math.Exp(b-m))
		})),
		linearScanRow(), shiftRow(),
	)
}

// withoutEmpty are the types of whose greatest and least values for no elements
// the reference knows: infinite ones.
var withoutEmpty = Floats

func variancesRow(name string, f func(float64) float64) Row {
	types := append(append([]dtype.DType{}, Floats...), dtype.Int32)
	r := Row{Op: name, Smooth: true, Tol: 8, Ref: func(a []any) []Array {
		ddof, _ := a[3].(int)
		return Reduce(a, func(x []float64) float64 { return f(varianceOf(x, float64(ddof))) })
	}}
	for _, c := range Cat(ReductionCalls(types, -3, 3, 0), ReductionCalls(Wide, -3, 3, 1)) {
		x := c.Args[0].(tensor.Tensor)
		if axes, ok := c.Args[1].([]int); x.Shape().Size() == 1 || ok && len(axes) == 0 {
			c.Grad = []int{} // a standard deviation of 0 has a kink
		}
		r.Calls = append(r.Calls, c)
	}
	return r
}

func normRow() Row {
	r := Row{Op: "norm", Smooth: true, Tol: 8, Ref: func(a []any) []Array {
		p := a[3].(float64)
		return Reduce(a, func(x []float64) float64 {
			if math.IsInf(p, 1) {
				return Fold(x, 0, func(a, b float64) float64 { return math.Max(a, math.Abs(b)) })
			}
			return math.Pow(Fold(x, 0, func(a, b float64) float64 { return a + math.Pow(math.Abs(b), p) }), 1/p)
		})
	}}
	for _, p := range []float64{1, 2, 3.5, Inf} {
		r.Calls = append(r.Calls, ReductionCalls(append(append([]dtype.DType{}, Wide...), dtype.Int32), 0.3, 4, p)...)
		r.Calls = append(r.Calls, ReductionCalls(Wide, -4, -0.2, p)...)
	}
	return r
}

func positionRow(name string, better func(a, b float64) bool) Row {
	r := Row{Op: name, Ref: func(a []any) []Array {
		return Reduce(a, func(x []float64) float64 { return first(x, better) })
	}}
	for _, d := range append(append([]dtype.DType{}, Reals...), dtype.Bool) {
		lo := -3.0
		if d.IsUnsigned() {
			lo = 0
		}
		for axis := -3; axis < 3; axis++ {
			r.Calls = append(r.Calls, Args(Uniform(d, []int{2, 3, 4}, lo, 3), axis, axis%2 == 0))
		}
		r.Calls = append(r.Calls, Args(Uniform(d, []int{5}, lo, 3), nil, false), Args(Uniform(d, []int{3, 0}, lo, 3), 0, false))
	}
	r.Calls = append(r.Calls, Args(Values(dtype.Float32, 1, NaN, 3, NaN), 0, false))
	plain := r.Ref
	r.Ref = func(a []any) []Array {
		if axis, ok := a[1].(int); ok {
			a[1] = []int{axis}
		}
		return plain(a)
	}
	return r
}

func spreadRow() Row {
	return Row{Op: "spread", Smooth: true,
		Calls: EachType(Numbers, func(d dtype.DType) []Call {
			return []Call{
				Args(Uniform(d, []int{}, 0, 3), []int{2, 3}, nil, false),
				Args(Uniform(d, []int{1, 1}, 0, 3), []int{2, 3}, nil, true),
				Args(Uniform(d, []int{3}, 0, 3), []int{2, 3}, []int{0}, false),
				Args(Uniform(d, []int{2, 1, 4}, 0, 3), []int{2, 3, 4}, []int{-2}, true),
				Args(Uniform(d, []int{3}, 0, 3), []int{2, 3, 0}, []int{0, 2}, false),
			}
		}),
		Ref: func(a []any) []Array {
			y, dims := a[0].(Array), a[1].([]int)
			axes, given := a[2].([]int)
			keep := a[3].(bool)
			out := Array{Shape: dims, X: make([]complex128, Size(dims))}
			Indices(dims, func(i int, at []int) {
				o, k := 0, 0
				for p, v := range at {
					reduced := !given
					for _, x := range axes {
						reduced = reduced || (x+len(dims))%len(dims) == p
					}
					if !reduced {
						o = o*y.Shape[k] + v
					}
					if !reduced || keep {
						k++
					}
				}
				out.X[i] = y.X[o]
			})
			return []Array{out}
		},
	}
}

func sumToRow() Row {
	return Row{Op: "sum_to", Smooth: true, Tol: 16,
		Calls: EachType([]dtype.DType{dtype.Float64, dtype.Float32, dtype.Int64, dtype.Complex128}, func(d dtype.DType) []Call {
			return []Call{
				Args(Uniform(d, []int{2, 3}, 0, 3), []int{}), Args(Uniform(d, []int{2, 3}, 0, 3), []int{2, 3}),
				Args(Uniform(d, []int{2, 3}, 0, 3), []int{3}), Args(Uniform(d, []int{2, 3}, 0, 3), []int{2, 1}),
				Args(Uniform(d, []int{2, 3, 4}, 0, 3), []int{1, 3, 1}), Args(Uniform(d, []int{2, 3, 4}, 0, 3), []int{1, 4}),
				Args(Uniform(d, []int{0, 3}, 0, 3), []int{1, 3}),
			}
		}),
		Ref: func(a []any) []Array {
			x, dims := a[0].(Array), a[1].([]int)
			out := Array{Shape: dims, X: make([]complex128, Size(dims))}
			Indices(x.Shape, func(i int, at []int) { out.X[out.At(at)] += x.X[i] })
			return []Array{out}
		},
	}
}

func cumulativeRow(name string, types []dtype.DType, start float64, f func(a, b float64) float64) Row {
	r := Row{Op: name, Smooth: true, Ref: func(a []any) []Array {
		exclusive, reverse := a[2].(bool), a[3].(bool)
		part := func(g func(complex128) float64) Array {
			x := a[0].(Array)
			y := Array{Shape: x.Shape}
			for _, v := range x.X {
				y.X = append(y.X, complex(g(v), 0))
			}
			return Lines(y, a[1].(int), func(x []float64) []float64 {
				out := make([]float64, len(x))
				acc := start
				for k := range x {
					i := k
					if reverse {
						i = len(x) - 1 - k
					}
					next := f(acc, x[i])
					out[i] = next
					if exclusive {
						out[i] = acc
					}
					acc = next
				}
				return out
			})
		}
		out := part(func(v complex128) float64 { return real(v) })
		for i, v := range part(func(v complex128) float64 { return imag(v) }).X {
			if name == "cumsum" {
				out.X[i] += v * 1i
			}
		}
		return []Array{out}
	}}
	for _, d := range types {
		lo := -2.0
		if d.IsUnsigned() {
			lo = 0
		}
		for i := range 4 {
			exclusive, reverse := i&1 == 1, i&2 == 2
			r.Calls = append(r.Calls,
				Args(Uniform(d, []int{6}, lo, 2), 0, exclusive, reverse), Args(Uniform(d, []int{2, 3, 4}, lo, 2), 1, exclusive, reverse),
				Args(Uniform(d, []int{2, 3}, lo, 2), -1, exclusive, reverse), Args(Uniform(d, []int{0, 3}, lo, 2), 0, exclusive, reverse),
				Args(Uniform(d, []int{1}, lo, 2), 0, exclusive, reverse))
			if name == "cumprod" && d == dtype.Float64 {
				r.Calls = append(r.Calls, Args(Values(d, 2, 0, 3, 0, 5), 0, exclusive, reverse))
			}
		}
	}
	return r
}

func linearScanRow() Row {
	r := Row{Op: "linear_scan", Smooth: true, Tol: 16, Ref: func(args []any) []Array {
		a, b, axis, reverse := args[0].(Array), args[1].(Array), args[2].(int), args[3].(bool)
		axis = (axis + len(a.Shape)) % len(a.Shape)
		n, inner := a.Shape[axis], Size(a.Shape[axis+1:])
		out := Array{Shape: a.Shape, X: make([]complex128, len(a.X))}
		step := 1
		if reverse {
			step = -1
		}
		for k := range a.X {
			i := k
			if reverse {
				i = len(a.X) - 1 - k
			}
			out.X[i] = b.X[i]
			if t := i / inner % n; t-step >= 0 && t-step < n {
				out.X[i] += a.X[i] * out.X[i-step*inner]
			}
		}
		return []Array{out}
	}}
	for _, d := range append(append([]dtype.DType{}, Floats...), Complex...) {
		for _, reverse := range []bool{false, true} {
			for _, s := range []struct {
				dims []int
				axis int
			}{{[]int{5}, 0}, {[]int{2, 3, 4}, 1}, {[]int{3, 2}, -1}, {[]int{3, 2}, 0}, {[]int{0, 2}, 0}} {
				r.Calls = append(r.Calls, Args(UniformSeed(d, s.dims, -1, 1, 1), UniformSeed(d, s.dims, -1, 1, 2), s.axis, reverse))
			}
		}
	}
	return r
}

func shiftRow() Row {
	r := Row{Op: "shift", Smooth: true, Ref: func(a []any) []Array {
		return []Array{Lines(a[0].(Array), a[2].(int), func(x []float64) []float64 {
			out := make([]float64, len(x))
			for i := range x {
				if k := i - a[1].(int); k >= 0 && k < len(x) {
					out[i] = x[k]
				}
			}
			return out
		})}
	}}
	for _, d := range append(append([]dtype.DType{}, Reals...), dtype.Bool) {
		for by := -4; by < 5; by += 2 {
			r.Calls = append(r.Calls, Args(Uniform(d, []int{5}, 0, 4), by, 0), Args(Uniform(d, []int{2, 3, 4}, 0, 4), by, 1), Args(Uniform(d, []int{2, 3}, 0, 4), by, -1))
		}
	}
	return r
}
