package optable

import "github.com/tenonml/tenon/dtype"

// Attention of tensors whose axes have labels, in the orders that contractions have.
func init() {
	// queries 0, keys 1, sizes of both 2, of values 3; batches 4 and 5
	sizes := []int{3, 4, 2, 5, 2, 3}
	labels := [][4][]int{
		{{0, 2}, {1, 2}, {1, 3}, {0, 3}},
		{{4, 0, 5, 2}, {4, 1, 5, 2}, {5, 1, 4, 3}, {4, 5, 0, 3}},
		{{2, 4, 0}, {4, 2, 1}, {3, 1, 4}, {3, 0, 4}}, // whose rows are not consecutive
	}
	call := func(l [4][]int, scale float64, causal bool, operands int) Call {
		var args []any
		for i := range operands {
			dims := make([]int, len(l[i]))
			for k, x := range l[i] {
				dims[k] = sizes[x]
			}
			args = append(args, UniformSeed(dtype.Float32, dims, -1, 1, uint64(i)))
		}
		return Args(append(args, l[0], l[1], l[2], l[3], scale, causal)...)
	}
	var forward, backward []Call
	for i, l := range labels {
		scale := []float64{1, 0.5, -2}[i]
		for _, causal := range []bool{false, true} {
			forward = append(forward, call(l, scale, causal, 3))
			backward = append(backward, call(l, scale, causal, 4))
		}
	}
	sizes[0] = 5 // the first query sees no key
	forward, backward = append(forward, call(labels[1], 1, true, 3)), append(backward, call(labels[1], 1, true, 4))
	sizes[1] = 0
	forward = append(forward, call(labels[0], 1, false, 3))
	Add(
		Row{Op: "attend", Smooth: true, Tol: 64, SizesKnown: true, Calls: forward, Ref: func(a []any) []Array {
			w := newAttendReference(a, 3)
			return []Array{sums([]string{w.scores, w.terms[2]}, w.terms[3], []Array{w.p, a[2].(Array)})}
		}},
		Row{Op: "attend_grad", Smooth: true, Tol: 256, SizesKnown: true, Calls: backward, Ref: func(a []any) []Array {
			w := newAttendReference(a, 4)
			q, k, v, ct := a[0].(Array), a[1].(Array), a[2].(Array), a[3].(Array)
			dp := sums([]string{w.terms[3], w.terms[2]}, w.scores, []Array{ct, v})
			ds := zerosLike(dp)
			keys := dp.Shape[len(dp.Shape)-1]
			for i := 0; i < len(dp.X); i += keys {
				var mean complex128
				for j := range keys {
					mean += w.p.X[i+j] * dp.X[i+j]
				}
				for j := range keys {
					ds.X[i+j] = w.p.X[i+j] * (dp.X[i+j] - mean) * complex(w.scale, 0)
				}
			}
			return []Array{
				sums([]string{w.scores, w.terms[1]}, w.terms[0], []Array{ds, k}), sums([]string{w.scores, w.terms[0]}, w.terms[1], []Array{ds, q}),
				sums([]string{w.scores, w.terms[3]}, w.terms[2], []Array{w.p, ct}),
			}
		}},
	)
}

// attendReference is the weights of a call, with labels as letters.
type attendReference struct {
	terms  [4]string
	scores string
	p      Array
	scale  float64
}

// newAttendReference computes the weights; at is the first argument with labels.
func newAttendReference(a []any, at int) attendReference {
	w := attendReference{scale: a[at+4].(float64)}
	for i := range w.terms {
		for _, l := range a[at+i].([]int) {
			w.terms[i] += string(rune('a' + l))
		}
	}
	for _, r := range w.terms[3] { // those of the result but for the values' own, and the keys
		if r != 'd' {
			w.scores += string(r)
		}
	}
	w.scores += "b"
	s := sums([]string{w.terms[0], w.terms[1]}, w.scores, []Array{a[0].(Array), a[1].(Array)})
	for i := range s.X {
		s.X[i] *= complex(w.scale, 0)
	}
	if !a[at+5].(bool) {
		w.p = Lines(s, -1, softmaxOf)
		return w
	}
	queries, keys := len(w.scores)-2, s.Shape[len(s.Shape)-1]
	for i, r := range w.scores {
		if r == 'a' {
			queries = i
		}
	}
	below := 1
	for _, n := range s.Shape[queries+1:] {
		below *= n
	}
	w.p = zerosLike(s)
	for i := 0; i < len(s.X); i += keys {
		query := i / below % s.Shape[queries]
		if seen := query + 1 + keys - s.Shape[queries]; seen > 0 {
			row := Array{Shape: []int{seen}, X: s.X[i : i+seen]}
			copy(w.p.X[i:], Lines(row, -1, softmaxOf).X)
		}
	}
	return w
}
