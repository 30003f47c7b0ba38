package optable

import (
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
)

// Windows along axes of positions.

func init() {
	type setting struct {
		dims                                  []int
		axis                                  int
		size, stride, dilation, before, after []int
		same                                  bool
	}
	settings := []setting{
		{[]int{2, 5, 2}, 1, []int{3}, []int{1}, []int{1}, []int{0}, []int{0}, false},
		{[]int{5, 1}, 0, []int{2}, []int{2}, []int{2}, []int{1}, []int{2}, false},
		{[]int{2, 3, 4, 1}, -3, []int{2, 3}, []int{1, 2}, []int{2, 1}, []int{1, 1}, []int{0, 1}, false},
		{[]int{4, 3}, 0, []int{3, 2}, []int{3, 2}, []int{1, 1}, []int{0, 0}, []int{0, 0}, true},
	}
	list := func(x []int) any { return x }
	// sliding returns the windows along each axis, and where the first one starts.
	sliding := func(s setting) (windows, before []int) {
		at := s.axis
		if at < 0 {
			at += len(s.dims)
		}
		for i, k := range s.size {
			n, reach := s.dims[at+i], (k-1)*s.dilation[i]+1
			if s.same {
				o := (n + s.stride[i] - 1) / s.stride[i]
				windows, before = append(windows, o), append(before, max(0, (o-1)*s.stride[i]+reach-n)/2)
			} else {
				windows, before = append(windows, (n+s.before[i]+s.after[i]-reach)/s.stride[i]+1), append(before, s.before[i])
			}
		}
		return windows, before
	}
	// visit calls f for each element of each window with its position in the positions, nil
	// where there is none, and in the windows.
	visit := func(s setting, f func(position, element []int)) (dims []int) {
		at, n := s.axis, len(s.size)
		if at < 0 {
			at += len(s.dims)
		}
		windows, before := sliding(s)
		dims = slices.Concat(s.dims[:at], windows, s.size, s.dims[at+n:])
		Indices(dims, func(_ int, e []int) {
			p := slices.Concat(e[:at], make([]int, n), e[at+2*n:])
			for i := range n {
				p[at+i] = e[at+i]*s.stride[i] + e[at+n+i]*s.dilation[i] - before[i]
				if p[at+i] < 0 || p[at+i] >= s.dims[at+i] {
					f(nil, e)
					return
				}
			}
			f(p, e)
		})
		return dims
	}
	of := func(a []any, at int, dims []int) setting {
		return setting{dims, a[at].(int), a[at+1].([]int), a[at+2].([]int), a[at+3].([]int), a[at+4].([]int), a[at+5].([]int), a[at+6].(bool)}
	}
	numbers := slices.DeleteFunc(slices.Clone(dtype.All()), func(d dtype.DType) bool { return !d.IsNumeric() })
	reals := slices.DeleteFunc(slices.Clone(dtype.All()), func(d dtype.DType) bool { return !d.IsReal() })
	// reached calls f for each element of each window that is at a position, with its offsets in x and in
	// values of windows, and returns the shape of the latter.
	reached := func(s setting, f func(x, y int)) []int {
		at, n := s.axis, len(s.size)
		if at < 0 {
			at += len(s.dims)
		}
		windows, _ := sliding(s)
		dims := slices.Concat(s.dims[:at], windows, s.dims[at+n:])
		visit(s, func(p, e []int) {
			if p != nil {
				f(Offset(s.dims, p), Offset(dims, slices.Concat(e[:at+n], e[at+2*n:])))
			}
		})
		return dims
	}
	greatest := func(x Array, s setting) Array {
		dims := reached(s, func(_, _ int) {})
		y := slices.Repeat([]float64{math.Inf(-1)}, Size(dims))
		reached(s, func(xi, yi int) { y[yi] = max(y[yi], real(x.X[xi])) })
		return Real(dims, y)
	}
	Add(
		Row{Op: "max_windows", Smooth: true, Calls: EachType(reals, func(d dtype.DType) (calls []Call) {
			for _, s := range settings {
				calls = append(calls, Args(Sample(d, s.dims...), s.axis, s.size, list(s.stride), list(s.dilation), list(s.before), list(s.after), s.same))
			}
			return append(calls, Args(Sample(d, 0, 3), 1, []int{2}, []int{1}, []int{1}, []int{0}, []int{0}, false))
		}), Ref: func(a []any) []Array { return []Array{greatest(a[0].(Array), of(a, 1, a[0].(Array).Shape))} }},
		Row{Op: "max_windows_grad", Smooth: true, Tol: 8, Calls: EachType(Floats, func(d dtype.DType) (calls []Call) {
			for _, s := range settings {
				x := ops.Floor(Sample(d, s.dims...)) // some are equal
				y := greatest(ArrayOf(x), s)
				c := Args(x, ops.Cast(ops.Reshape(y.Floats(), y.Shape), d), SampleSeed(d, 2, y.Shape...), s.axis, s.size, list(s.stride), list(s.dilation), list(s.before), list(s.after), s.same)
				c.Grad = []int{2} // it is linear in the cotangents only
				calls = append(calls, c)
			}
			return append(calls, Args(Sample(d, 0, 3), Sample(d, 0, 2), Sample(d, 0, 2), 1, []int{2}, []int{1}, []int{1}, []int{0}, []int{0}, false))
		}), Ref: func(a []any) []Array {
			x, y, ct := a[0].(Array), a[1].(Array), a[2].(Array)
			s := of(a, 3, x.Shape)
			out, count := Array{Shape: x.Shape, X: make([]complex128, x.Len())}, make([]complex128, y.Len())
			reached(s, func(xi, yi int) {
				if x.X[xi] == y.X[yi] {
					count[yi]++
				}
			})
			reached(s, func(xi, yi int) {
				if x.X[xi] == y.X[yi] {
					out.X[xi] += ct.X[yi] / count[yi]
				}
			})
			return []Array{out}
		}},
		Row{Op: "windows", Smooth: true, Calls: EachType(numbers, func(d dtype.DType) (calls []Call) {
			for i, s := range settings {
				calls = append(calls, Args(Sample(d, s.dims...), s.axis, s.size, list(s.stride), list(s.dilation), list(s.before), list(s.after), s.same, float64(i%2)))
			}
			return append(calls, Args(Sample(d, 0, 3), 1, []int{2}), Args(Sample(d, 2, 0), 1, []int{2}, []int{1}, []int{1}, []int{2}, []int{0}))
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			for i, missing := range []any{nil, nil, []int{1}, []int{1}, []int{0}, []int{0}, false, 0.0} {
				if i >= 2 && i+1 > len(a)-1 {
					a = append(a, missing)
				}
			}
			s := of(a, 1, x.Shape)
			var out Array
			dims := visit(s, func(p, e []int) {
				v := complex(a[8].(float64), 0)
				if p != nil {
					v = x.X[Offset(x.Shape, p)]
				}
				out.X = append(out.X, v)
			})
			out.Shape = dims
			return []Array{out}
		}},
		Row{Op: "fold_windows", Smooth: true, Calls: EachType(numbers, func(d dtype.DType) (calls []Call) {
			for _, s := range settings {
				dims := visit(s, func(_, _ []int) {})
				at, n := s.axis, len(s.size)
				if at < 0 {
					at += len(s.dims)
				}
				axis := at
				if s.axis < 0 {
					axis = at - len(dims)
				}
				calls = append(calls, Args(Sample(d, dims...), Int(s.dims[at:at+n]...), axis, s.size, list(s.stride), list(s.dilation), list(s.before), list(s.after), s.same))
			}
			calls = append(calls, Args(Sample(d, 2, 2), Int(3), 0, []int{2}, []int{1}, []int{1}, []int{0}, []int{0}, false))
			return append(calls, Args(Sample(d, 2, 2, 2, 1), Int(5), 1, []int{2}, []int{1}, []int{1}, []int{0}, []int{0}, false))
		}), Ref: func(a []any) []Array {
			x, sizes := a[0].(Array), Positions(a[1])
			s := of(a, 2, nil)
			n, at := len(s.size), s.axis
			if at < 0 {
				at += len(x.Shape)
			}
			s.axis = at
			s.dims = slices.Concat(x.Shape[:at], sizes, x.Shape[at+2*n:])
			out := Array{Shape: s.dims, X: make([]complex128, Size(s.dims))}
			visit(s, func(p, e []int) {
				for i := range n {
					if e[at+i] >= x.Shape[at+i] { // fewer windows than fit
						return
					}
				}
				if p != nil {
					out.X[Offset(s.dims, p)] += x.X[Offset(x.Shape, e)]
				}
			})
			return []Array{out}
		}},
	)
}
