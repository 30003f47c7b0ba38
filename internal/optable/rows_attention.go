package optable

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

func init() { Add(attentionRow()) }

func attentionRow() Row {
	r := Row{Op: "attention", Smooth: true, Tol: 32, Ref: func(a []any) []Array {
		q, k, v := a[0].(Array), a[1].(Array), a[2].(Array)
		mask, masked := a[3].(Array)
		scale, causal := a[4].(float64), a[5].(bool)
		lead := func(x Array) []int { return x.Shape[:len(x.Shape)-2] }
		batch := BroadcastDims(lead(q), lead(k), lead(v))
		q, k, v = stretch(q, batch, 2), stretch(k, batch, 2), stretch(v, batch, 2)
		b := len(batch)
		n, d, m, e := q.Shape[b], q.Shape[b+1], k.Shape[b], v.Shape[b+1]
		if scale == 0 {
			scale = 1 / math.Sqrt(float64(d))
		}
		out := Array{Shape: append(append([]int{}, batch...), n, e), X: make([]complex128, Size(batch)*n*e)}
		Indices(append(append([]int{}, batch...), n), func(i int, at []int) {
			row := at[b]
			o := i / max(n, 1)
			var weights []float64
			var seen []int
			for j := range m {
				if causal && j > row+m-n {
					continue
				}
				if masked && mask.X[mask.At(append(append([]int{}, at...), j))] == 0 {
					continue
				}
				s := 0.0
				for t := range d {
					s += real(q.X[(o*n+row)*d+t]) * real(k.X[(o*m+j)*d+t])
				}
				weights, seen = append(weights, s*scale), append(seen, j)
			}
			if len(seen) == 0 {
				return
			}
			for p, w := range softmaxOf(weights) {
				for t := range e {
					out.X[(o*n+row)*e+t] += complex(w, 0) * v.X[(o*m+seen[p])*e+t]
				}
			}
		})
		return []Array{out}
	}}
	for _, d := range Floats {
		for _, s := range []struct{ q, k, v, mask []int }{
			{[]int{3, 4}, []int{5, 4}, []int{5, 2}, []int{3, 5}},
			{[]int{2, 3, 4}, []int{2, 5, 4}, []int{2, 5, 3}, []int{5}},
			{[]int{2, 3, 3, 4}, []int{3, 5, 4}, []int{2, 1, 5, 4}, []int{2, 1, 3, 5}},
			{[]int{70, 4}, []int{70, 4}, []int{70, 3}, []int{70, 70}},
			{[]int{0, 4}, []int{5, 4}, []int{5, 2}, []int{0, 5}},
			{[]int{3, 4}, []int{0, 4}, []int{0, 2}, []int{3, 0}},
		} {
			q, k, v := UniformSeed(d, s.q, -1, 1, 1), UniformSeed(d, s.k, -1, 1, 2), UniformSeed(d, s.v, -1, 1, 3)
			mask := UniformSeed(dtype.Bool, s.mask, 0, 1, 6)
			for _, causal := range []bool{false, true} {
				for _, m := range []any{nil, mask} {
					r.Calls = append(r.Calls, Args(q, k, v, m, 0.0, causal))
				}
			}
			r.Calls = append(r.Calls, Args(q, k, v, nil, 0.3, false))
		}
		// A query that sees no key.
		r.Calls = append(r.Calls, Args(UniformSeed(d, []int{2, 3}, -1, 1, 1), UniformSeed(d, []int{2, 3}, -1, 1, 2), UniformSeed(d, []int{2, 3}, -1, 1, 3),
			Shaped(dtype.Bool, []int{2, 2}, 0, 0, 1, 0), 0.0, false))
	}
	return r
}
