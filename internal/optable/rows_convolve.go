package optable

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// Products of windows along axes with kernels.

func init() {
	type setting struct {
		dims                                  []int // of x
		size, stride, dilation, before, after []int
		same                                  bool
		groups, out                           int
	}
	settings := []setting{
		{[]int{2, 5, 4}, []int{3}, []int{1}, []int{1}, []int{0}, []int{0}, false, 2, 6},
		{[]int{5, 1}, []int{2}, []int{2}, []int{2}, []int{1}, []int{2}, false, 1, 3},
		{[]int{2, 3, 4, 3}, []int{2, 3}, []int{1, 2}, []int{2, 1}, []int{1, 1}, []int{0, 1}, false, 1, 2},
		{[]int{4, 3, 2}, []int{3, 2}, []int{3, 2}, []int{1, 1}, []int{0, 0}, []int{0, 0}, true, 2, 2},
		{[]int{3, 3, 16}, []int{2, 2}, []int{2, 1}, []int{1, 2}, []int{1, 2}, []int{1, 1}, false, 1, 1},
		{[]int{2, 3, 2, 5, 1}, []int{2, 1, 2}, []int{1, 1, 1}, []int{1, 1, 3}, []int{0, 0, 1}, []int{0, 0, 2}, false, 1, 2},
		{[]int{0, 3, 2}, []int{2}, []int{1}, []int{1}, []int{0}, []int{0}, false, 1, 2},
		{[]int{1, 3, 0}, []int{2}, []int{1}, []int{1}, []int{0}, []int{0}, false, 1, 2},
	}
	// shapes returns those of x, y and the kernel, and where the first window starts.
	shapes := func(s setting) (y, kernel, before []int) {
		n := len(s.size)
		at := len(s.dims) - 1 - n
		y = slices.Clone(s.dims[:at])
		for i, k := range s.size {
			p, reach := s.dims[at+i], (k-1)*s.dilation[i]+1
			if s.same {
				o := (p + s.stride[i] - 1) / s.stride[i]
				y, before = append(y, o), append(before, max(0, (o-1)*s.stride[i]+reach-p)/2)
			} else {
				y, before = append(y, (p+s.before[i]+s.after[i]-reach)/s.stride[i]+1), append(before, s.before[i])
			}
		}
		return append(y, s.out), slices.Concat(s.size, []int{s.dims[at+n] / s.groups, s.out}), before
	}
	// products calls f with the offsets of the factors and the sum of each product in x, y and the
	// kernel.
	products := func(s setting, windows []int, f func(x, y, kernel int)) {
		n := len(s.size)
		at := len(s.dims) - 1 - n
		y, kernel, before := shapes(s)
		if windows != nil {
			copy(y[at:], windows)
		}
		Indices(y, func(yi int, w []int) {
			o := w[at+n]
			Indices(kernel[:n+1], func(_ int, e []int) {
				p := slices.Clone(w)
				for i := range n {
					p[at+i] = w[at+i]*s.stride[i] + e[i]*s.dilation[i] - before[i]
					if p[at+i] < 0 || p[at+i] >= s.dims[at+i] {
						return
					}
				}
				p[at+n] = o/(s.out/s.groups)*kernel[n] + e[n]
				f(Offset(s.dims, p), yi, Offset(kernel, slices.Concat(e, []int{o})))
			})
		})
	}
	read := func(a []any, dims, size []int, out int) setting {
		return setting{dims, size, a[1].([]int), a[2].([]int), a[3].([]int), a[4].([]int), a[5].(bool), a[0].(int), out}
	}
	given := func(s setting) []any { return []any{s.groups, s.stride, s.dilation, s.before, s.after, s.same} }
	types := []dtype.DType{dtype.Float32, dtype.Float64, dtype.Int32, dtype.Complex64, dtype.BFloat16}
	calls := func(f func(d dtype.DType, s setting, y, kernel []int) []any) []Call {
		return EachType(types, func(d dtype.DType) (calls []Call) {
			for _, s := range settings {
				y, kernel, _ := shapes(s)
				calls = append(calls, Args(append(f(d, s, y, kernel), given(s)...)...))
			}
			return calls
		})
	}
	zeros := func(dims []int) Array { return Array{Shape: dims, X: make([]complex128, Size(dims))} }
	Add(
		Row{Op: "convolve", Smooth: true, Tol: 32, Calls: calls(func(d dtype.DType, s setting, _, kernel []int) []any {
			return []any{Sample(d, s.dims...), SampleSeed(d, 2, kernel...)}
		}), Ref: func(a []any) []Array {
			x, k := a[0].(Array), a[1].(Array)
			s := read(a[2:], x.Shape, k.Shape[:len(k.Shape)-2], k.Shape[len(k.Shape)-1])
			y, _, _ := shapes(s)
			out := zeros(y)
			products(s, nil, func(xi, yi, ki int) { out.X[yi] += x.X[xi] * k.X[ki] })
			return []Array{out}
		}},
		Row{Op: "convolve_transpose", Smooth: true, Tol: 32, Calls: append(calls(func(d dtype.DType, s setting, y, kernel []int) []any {
			return []any{Sample(d, y...), SampleSeed(d, 2, kernel...), Int(s.dims[len(s.dims)-1-len(s.size) : len(s.dims)-1]...)}
		}), Args(Sample(dtype.Float64, 2, 2, 3), SampleSeed(dtype.Float64, 2, 2, 1, 3), Int(7), 1, []int{2}, []int{1}, []int{0}, []int{0}, false)), Ref: func(a []any) []Array {
			y, k := a[0].(Array), a[1].(Array)
			n := len(k.Shape) - 2
			at := len(y.Shape) - 1 - n
			s := read(a[3:], slices.Concat(y.Shape[:at], Positions(a[2]), []int{k.Shape[n] * a[3].(int)}), k.Shape[:n], k.Shape[n+1])
			out := zeros(s.dims)
			products(s, y.Shape[at:at+n], func(xi, yi, ki int) { out.X[xi] += y.X[yi] * k.X[ki] })
			return []Array{out}
		}},
		Row{Op: "convolve_kernel", Smooth: true, Tol: 32, Calls: calls(func(d dtype.DType, s setting, y, _ []int) []any {
			return []any{Sample(d, s.dims...), SampleSeed(d, 2, y...), Int(s.size...)}
		}), Ref: func(a []any) []Array {
			x, y := a[0].(Array), a[1].(Array)
			s := read(a[3:], x.Shape, Positions(a[2]), y.Shape[len(y.Shape)-1])
			_, kernel, _ := shapes(s)
			out := zeros(kernel)
			products(s, nil, func(xi, yi, ki int) { out.X[ki] += x.X[xi] * y.X[yi] })
			return []Array{out}
		}},
	)
}
