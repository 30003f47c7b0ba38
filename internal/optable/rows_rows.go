package optable

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

// Operations on whole rows: softmax, normalisation, losses.

func softmaxOf(x []float64) []float64 {
	m := Fold(x, -Inf, math.Max)
	out := make([]float64, len(x))
	s := 0.0
	for i, v := range x {
		out[i] = math.Exp(v - m)
		s += out[i]
	}
	for i := range out {
		out[i] /= s
	}
	return out
}

func dotOf(x, y []float64) float64 {
	s := 0.0
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

// alongCalls are calls of an operation on n tensors of one shape along an axis.
func alongCalls(types []dtype.DType, n int, lo, hi float64) []Call {
	return EachType(types, func(d dtype.DType) []Call {
		var out []Call
		for _, s := range []struct {
			dims []int
			axis int
		}{{[]int{5}, 0}, {[]int{2, 3, 4}, -1}, {[]int{2, 3, 4}, 1}, {[]int{2, 3, 4}, 0}, {[]int{0, 3}, 1}, {[]int{3, 0}, 1}, {[]int{40, 33}, 0}} {
			var args []any
			for i := range n {
				args = append(args, UniformSeed(d, s.dims, lo, hi, uint64(i)))
			}
			c := Args(append(args, s.axis)...)
			if Size(s.dims) > 100 {
				c.Grad = []int{}
			}
			out = append(out, c)
		}
		return out
	})
}

// alongPair is the reference of a function of two lines.
func alongPair(a []any, f func(x, y []float64) []float64) []Array {
	x, y := a[0].(Array), a[1].(Array)
	var xs [][]float64
	Lines(x, a[2].(int), func(l []float64) []float64 { xs = append(xs, append([]float64{}, l...)); return l })
	k := 0
	return []Array{Lines(y, a[2].(int), func(l []float64) []float64 { k++; return f(xs[k-1], l) })}
}

func init() {
	Add(
		Row{Op: "softmax", Smooth: true, Tol: 8, Calls: alongCalls(floatsAndInt, 1, -3, 3), Ref: func(a []any) []Array {
			return []Array{Lines(a[0].(Array), a[1].(int), softmaxOf)}
		}},
		Row{Op: "log_softmax", Smooth: true, Tol: 8, Calls: alongCalls(floatsAndInt, 1, -3, 3), Ref: func(a []any) []Array {
			return []Array{Lines(a[0].(Array), a[1].(int), func(x []float64) []float64 {
				out := softmaxOf(x)
				for i := range out {
					out[i] = math.Log(out[i])
				}
				return out
			})}
		}},
		Row{Op: "softmax_grad", Smooth: true, Tol: 8, Calls: alongCalls(Floats, 2, -1, 1), Ref: func(a []any) []Array {
			return alongPair(a, func(y, ct []float64) []float64 {
				out := make([]float64, len(y))
				for i := range y {
					out[i] = y[i] * (ct[i] - dotOf(y, ct))
				}
				return out
			})
		}},
		Row{Op: "log_softmax_grad", Smooth: true, Tol: 32, Calls: alongCalls(Floats, 2, -1, 1), Ref: func(a []any) []Array {
			return alongPair(a, func(y, ct []float64) []float64 {
				out := make([]float64, len(y))
				for i := range y {
					out[i] = ct[i] - math.Exp(y[i])*sumOf(ct)
				}
				return out
			})
		}},
		normalizeRow("layer_norm", 3), normalizeRow("rms_norm", 2), normGradRow("layer_norm_grad", true), normGradRow("rms_norm_grad", false),
	)
}

// groupsOf gives the elements that are normalised together, in place.
func groupsOf(x Array, axes []int, f func(at []int)) {
	if axes == nil {
		for i := range x.Shape {
			axes = append(axes, i)
		}
	}
	in := make([]bool, len(x.Shape))
	for _, a := range axes {
		in[(a+len(in))%len(in)] = true
	}
	groups := map[int][]int{}
	var order []int
	Indices(x.Shape, func(i int, at []int) {
		key := 0
		for k, p := range at {
			key *= x.Shape[k]
			if !in[k] {
				key += p
			}
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	})
	for _, k := range order {
		f(groups[k])
	}
}

var normAxes = []struct {
	dims, axes, scale []int
}{
	{[]int{3, 4}, []int{-1}, []int{4}}, {[]int{5}, nil, []int{5}}, {[]int{2, 3, 4}, []int{1, 2}, []int{3, 4}}, {[]int{2, 3, 4}, []int{1}, []int{3}},
	{[]int{2, 3, 4}, []int{0, 2}, []int{2, 4}}, {[]int{0, 3}, []int{1}, []int{3}},
}

func normalizeRow(name string, operands int) Row {
	centred := operands == 3
	r := Row{Op: name, Smooth: true, Tol: 16, Ref: func(a []any) []Array {
		x := a[0].(Array)
		axes, _ := a[operands].([]int)
		eps := a[operands+1].(float64)
		out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
		groupsOf(x, axes, func(at []int) {
			v := make([]float64, len(at))
			for k, i := range at {
				v[k] = real(x.X[i])
			}
			m := 0.0
			if centred {
				m = meanOf(v)
			}
			q := Fold(v, 0, func(a, b float64) float64 { return a + (b-m)*(b-m) }) / float64(len(v))
			for k, i := range at {
				y := (v[k] - m) / math.Sqrt(q+eps)
				if s, ok := a[1].(Array); ok {
					y *= real(s.X[k])
				}
				if operands == 3 {
					if o, ok := a[2].(Array); ok {
						y += real(o.X[k])
					}
				}
				out.X[i] = complex(y, 0)
			}
		})
		return []Array{out}
	}}
	for _, d := range Floats {
		for _, s := range normAxes {
			x := Uniform(d, s.dims, -2, 2)
			scale, offset := UniformSeed(d, s.scale, 0.5, 2, 2), UniformSeed(d, s.scale, -1, 1, 3)
			var axes any
			if s.axes != nil {
				axes = s.axes
			}
			if operands == 3 {
				r.Calls = append(r.Calls, Args(x, scale, offset, axes, 1e-3), Args(x, nil, nil, axes, 1e-3), Args(x, nil, offset, axes, 1e-3))
			} else {
				r.Calls = append(r.Calls, Args(x, scale, axes, 1e-3), Args(x, nil, axes, 1e-3))
			}
		}
	}
	return r
}

func normGradRow(name string, centred bool) Row {
	r := Row{Op: name, Smooth: true, Tol: 64, Ref: func(a []any) []Array {
		x, g := a[0].(Array), a[1].(Array)
		axes, _ := a[2].([]int)
		eps := a[3].(float64)
		out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
		groupsOf(x, axes, func(at []int) {
			h, gs := make([]float64, len(at)), make([]float64, len(at))
			for k, i := range at {
				h[k], gs[k] = real(x.X[i]), real(g.X[i])
			}
			m, mg := 0.0, 0.0
			if centred {
				m, mg = meanOf(h), meanOf(gs)
			}
			q := Fold(h, 0, func(a, b float64) float64 { return a + (b-m)*(b-m) }) / float64(len(h))
			s := 1 / math.Sqrt(q+eps)
			for k := range h {
				h[k] = (h[k] - m) * s
			}
			mgh := dotOf(h, gs) / float64(len(h))
			for k, i := range at {
				out.X[i] = complex(s*(gs[k]-mg-h[k]*mgh), 0)
			}
		})
		return []Array{out}
	}}
	for _, d := range Floats {
		for _, s := range normAxes {
			var axes any
			if s.axes != nil {
				axes = s.axes
			}
			r.Calls = append(r.Calls, Args(Uniform(d, s.dims, -2, 2), UniformSeed(d, s.dims, -1, 1, 5), axes, 1e-3))
		}
	}
	return r
}
