package optable

import (
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// Size returns the number of elements of a shape.
func Size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Indices calls f with the coordinates of each element of a shape, in row-major order.
// f must not keep them.
func Indices(dims []int, f func(i int, at []int)) {
	n := Size(dims)
	at := make([]int, len(dims))
	for i := range n {
		f(i, at)
		for a := len(dims) - 1; a >= 0; a-- {
			if at[a]++; at[a] < dims[a] {
				break
			}
			at[a] = 0
		}
	}
}

// Offset returns the position of the element at some coordinates.
func Offset(dims, at []int) int {
	o := 0
	for a, d := range dims {
		o = o*d + at[a]
	}
	return o
}

// BroadcastDims returns the shape to which shapes broadcast.
func BroadcastDims(shapes ...[]int) []int {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := slices.Repeat([]int{1}, rank)
	for _, s := range shapes {
		for i, d := range s {
			if d != 1 {
				out[rank-len(s)+i] = d
			}
		}
	}
	return out
}

// At returns the element of an array that broadcasting puts at some coordinates of a
// larger shape.
func (a Array) At(at []int) int {
	o := 0
	for i, d := range a.Shape {
		o *= d
		if d != 1 {
			o += at[len(at)-len(a.Shape)+i]
		}
	}
	return o
}

// Map applies a function of real numbers to each element, in place of broadcast
// arguments that are arrays.
func Map(f func(x []float64) float64, args ...Array) Array {
	shapes := make([][]int, len(args))
	for i, a := range args {
		shapes[i] = a.Shape
	}
	dims := BroadcastDims(shapes...)
	out := Array{Shape: dims, X: make([]complex128, Size(dims))}
	x := make([]float64, len(args))
	Indices(dims, func(i int, at []int) {
		for k, a := range args {
			x[k] = real(a.X[a.At(at)])
		}
		out.X[i] = complex(f(x), 0)
	})
	return out
}

// Truth is 1 for true and 0 for false.
func Truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Unary makes the row of an elementwise operation of one tensor, with samples
// between lo and hi.
func Unary(name string, types []dtype.DType, lo, hi float64, f func(x float64) float64) Row {
	calls := EachType(types, func(d dtype.DType) []Call {
		lo := lo
		if d.IsUnsigned() {
			lo = max(lo, 0)
		}
		var out []Call
		for _, s := range Shapes {
			out = append(out, Args(Uniform(d, s, lo, hi)))
		}
		if d == dtype.Float32 {
			out = append(out, NoGrad(Uniform(d, Large, lo, hi)))
		}
		return out
	})
	return Row{Op: name, Calls: calls, Ref: func(a []any) []Array {
		return []Array{Map(func(x []float64) float64 { return f(x[0]) }, a[0].(Array))}
	}}
}

// Pairs are shapes that broadcast against each other: equal ones, a scalar, rows,
// columns, both stretched, empty ones.
var Pairs = [][2][]int{
	{{}, {}}, {{4}, {4}}, {{2, 3}, {}}, {{}, {2, 3}}, {{2, 3}, {3}}, {{3}, {2, 3}}, {{2, 3}, {2, 1}}, {{2, 1}, {1, 3}},
	{{0, 3}, {3}}, {{2, 1, 3}, {4, 1}}, {{3, 70}, {70}}, {{3, 70}, {3, 1}}, {{2, 3, 5}, {2, 1, 5}},
}

// LargePairs are pairs of shapes that are divided among workers.
var LargePairs = [][2][]int{{{3, 41, 700}, {3, 41, 700}}, {{90, 999}, {999}}, {{9999, 7}, {7}}, {{9999, 7}, {9999, 1}}, {{90, 999}, {}}}

// Binary makes the row of an elementwise operation of two tensors, with samples
// between lo and hi.
func Binary(name string, types []dtype.DType, lo, hi float64, f func(x, y float64) float64) Row {
	return Row{
		Op: name,
		Calls: EachType(types, func(d dtype.DType) []Call {
			return PairCalls(d, lo, hi)
		}),
		Ref: func(a []any) []Array {
			return []Array{Map(func(x []float64) float64 { return f(x[0], x[1]) }, a[0].(Array), a[1].(Array))}
		},
	}
}

// PairCalls are the calls of an operation of two broadcast tensors of one type.
func PairCalls(d dtype.DType, lo, hi float64) []Call {
	if d.IsUnsigned() {
		lo = max(lo, 0)
	}
	var out []Call
	for i, p := range Pairs {
		out = append(out, Args(UniformSeed(d, p[0], lo, hi, uint64(i)), UniformSeed(d, p[1], lo, hi, uint64(i)+100)))
	}
	if d == dtype.Float32 {
		for i, p := range LargePairs {
			out = append(out, NoGrad(UniformSeed(d, p[0], lo, hi, uint64(i)), UniformSeed(d, p[1], lo, hi, uint64(i)+100)))
		}
	}
	return out
}

// ReductionCalls are calls of a reduction over various axes: x, axis, keepdims,
// and further attributes.
func ReductionCalls(types []dtype.DType, lo, hi float64, more ...any) []Call {
	return EachType(types, func(d dtype.DType) []Call {
		if d.IsUnsigned() {
			lo = max(lo, 0)
		}
		var out []Call
		add := func(dims []int, axis any, keep bool) {
			args := append([]any{UniformSeed(d, dims, lo, hi, uint64(len(out))), axis, keep}, more...)
			out = append(out, Args(args...))
		}
		add([]int{}, nil, false)
		add([]int{5}, nil, false)
		add([]int{5}, []int{0}, true)
		add([]int{2, 3, 4}, nil, true)
		add([]int{2, 3, 4}, []int{-1}, false)
		add([]int{2, 3, 4}, []int{1}, true)
		add([]int{2, 3, 4}, []int{0}, false)
		add([]int{2, 3, 4}, []int{2, 0}, false)
		add([]int{2, 3, 4}, []int{0, 1}, true)
		add([]int{2, 3, 4}, []int{}, false)
		add([]int{3, 0}, []int{0}, false)
		add([]int{1, 3, 1, 2}, []int{0, 3}, false)
		return out
	})
}

// Reduce is the reference of a reduction whose arguments are x, axis, keepdims: f
// gets the elements that are reduced to one.
func Reduce(a []any, f func(x []float64) float64) []Array {
	x := a[0].(Array)
	axes, _ := a[1].([]int)
	keep, _ := a[2].(bool)
	reduced := make([]bool, len(x.Shape))
	for i := range reduced {
		reduced[i] = a[1] == nil || axes == nil
	}
	for _, k := range axes {
		reduced[(k+len(x.Shape))%len(x.Shape)] = true
	}
	var dims, kept []int
	for i, d := range x.Shape {
		switch {
		case !reduced[i]:
			dims, kept = append(dims, d), append(kept, d)
		case keep:
			dims = append(dims, 1)
		}
	}
	groups := make([][]float64, Size(kept))
	Indices(x.Shape, func(i int, at []int) {
		o := 0
		for k, p := range at {
			if !reduced[k] {
				o = o*x.Shape[k] + p
			}
		}
		groups[o] = append(groups[o], real(x.X[i]))
	})
	out := Array{Shape: append([]int{}, dims...), X: make([]complex128, len(groups))}
	for i, g := range groups {
		out.X[i] = complex(f(g), 0)
	}
	return []Array{out}
}

// Lines is the reference of an operation on the lines of x along an axis, which may
// count from the end: f maps a line to one of equal length.
func Lines(x Array, axis int, f func(x []float64) []float64) Array {
	axis = (axis + len(x.Shape)) % len(x.Shape)
	outer, n, inner := Size(x.Shape[:axis]), x.Shape[axis], Size(x.Shape[axis+1:])
	out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
	line := make([]float64, n)
	for o := range outer {
		for i := range inner {
			for k := range n {
				line[k] = real(x.X[(o*n+k)*inner+i])
			}
			for k, v := range f(line) {
				out.X[(o*n+k)*inner+i] = complex(v, 0)
			}
		}
	}
	return out
}

// Fold combines numbers from the left.
func Fold(x []float64, start float64, f func(a, b float64) float64) float64 {
	for _, v := range x {
		start = f(start, v)
	}
	return start
}

// Inf and NaN, for references.
var (
	Inf = math.Inf(1)
	NaN = math.NaN()
)
