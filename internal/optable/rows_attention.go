package optable

import (
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// Attention: queries see keys, as matrices, along labelled axes, and within rows.
func init() {
	forward := EachType(Floats, func(d dtype.DType) []Call {
		return slices.Concat(attendMatrices(d), attendLabels(d), attendRows(d))
	})
	var backward []Call
	for i, c := range forward {
		a, d := newAttending(c.Args, 3), c.Args[0].(tensor.Tensor).DType()
		if d.Size() < 4 || a.size[0] > 9 { // these take the same way, and long
			continue
		}
		ct := UniformSeed(d, a.dims(a.labels[4]), -1, 1, uint64(20+i))
		backward = append(backward, Args(slices.Concat(c.Args[:3], []any{ct}, c.Args[3:])...))
	}
	Add(
		Row{Op: "attention", Smooth: true, Tol: 64, Calls: forward, Ref: func(list []any) []Array {
			a := newAttending(list, 3)
			out, v := a.zeros(4), list[2].(Array)
			a.each(list, func(at map[int]int, keys []int, weights []float64) {
				for j, key := range keys {
					at[1] = key
					a.over(a.width, at, func() { out.X[a.at(out, 4, at)] += complex(weights[j], 0) * v.X[a.at(v, 2, at)] })
				}
			})
			return []Array{out}
		}},
		Row{Op: "attention_grad", Smooth: true, Tol: 256, Calls: backward, Ref: func(list []any) []Array {
			a := newAttending(list, 4)
			q, k, v, ct := list[0].(Array), list[1].(Array), list[2].(Array), list[3].(Array)
			dq, dk, dv := zerosLike(q), zerosLike(k), zerosLike(v)
			a.each(list, func(at map[int]int, keys []int, weights []float64) {
				dp, mean := make([]complex128, len(keys)), complex128(0)
				for j, key := range keys {
					at[1] = key
					a.over(a.width, at, func() {
						g := ct.X[a.at(ct, 4, at)]
						dp[j] += g * v.X[a.at(v, 2, at)]
						dv.X[a.at(v, 2, at)] += complex(weights[j], 0) * g
					})
					mean += complex(weights[j], 0) * dp[j]
				}
				for j, key := range keys {
					at[1] = key
					ds := complex(weights[j]*a.scale, 0) * (dp[j] - mean)
					a.over(a.depth, at, func() {
						x, y := a.at(q, 0, at), a.at(k, 1, at)
						dq.X[x] += ds * k.X[y]
						dk.X[y] += ds * q.X[x]
					})
				}
			})
			return []Array{dq, dk, dv}
		}},
	)
}

// attendCall is a call with the sizes of q, k, v and the mask, which may be left out.
func attendCall(d dtype.DType, sizes [4][]int, splits [2]any, labels [5][]int, scale float64, causal bool) Call {
	var args [4]any
	for i := range 3 {
		args[i] = UniformSeed(d, sizes[i], -1, 1, uint64(i+1))
	}
	if sizes[3] != nil {
		args[3] = UniformSeed(dtype.Bool, sizes[3], 0, 1, 6)
	}
	list := append(args[:], splits[0], splits[1])
	for _, l := range labels {
		list = append(list, l)
	}
	return Args(append(list, scale, causal)...)
}

func attendMatrices(d dtype.DType) (calls []Call) {
	for _, s := range [][4][]int{
		{{3, 4}, {5, 4}, {5, 2}, {3, 5}},
		{{2, 3, 4}, {2, 5, 4}, {2, 5, 3}, {5}},
		{{2, 3, 3, 4}, {3, 5, 4}, {2, 1, 5, 4}, {2, 1, 3, 5}},
		{{70, 4}, {70, 4}, {70, 3}, {70, 70}},
		{{0, 4}, {5, 4}, {5, 2}, {0, 5}},
		{{3, 4}, {0, 4}, {0, 2}, {3, 0}},
	} {
		plain := s
		plain[3] = nil
		for _, causal := range []bool{false, true} {
			calls = append(calls, attendCall(d, plain, [2]any{}, [5][]int{}, 0, causal), attendCall(d, s, [2]any{}, [5][]int{}, 0, causal))
		}
		calls = append(calls, attendCall(d, plain, [2]any{}, [5][]int{}, 0.3, false))
	}
	blind := attendCall(d, [4][]int{{2, 3}, {2, 3}, {2, 3}}, [2]any{}, [5][]int{}, 0, false)
	blind.Args[3] = Shaped(dtype.Bool, []int{2, 2}, 0, 0, 1, 0) // a query that sees no key
	return append(calls, blind)
}

func attendLabels(d dtype.DType) (calls []Call) {
	sizes := []int{3, 4, 2, 5, 2, 3, 2} // of queries, keys, features of both and of values, and others
	of := func(l [5][]int) (dims [4][]int) {
		for i, list := range l[:4] {
			for _, x := range list {
				dims[i] = append(dims[i], sizes[x])
			}
		}
		return dims
	}
	labels := [][5][]int{
		{{0, 2}, {1, 2}, {1, 3}, nil, {0, 3}},
		{{4, 0, 5, 2}, {4, 1, 5, 2}, {5, 1, 4, 3}, nil, {4, 5, 0, 3}},
		{{2, 4, 0}, {4, 2, 1}, {3, 1, 4}, {1, 4, 0}, {3, 0, 4}}, // whose rows are not consecutive
		{{0, 5, 2, 6}, {1, 2, 6}, {4, 3, 1}, {0, 1}, {5, 0, 4, 3}},
		{{0}, {1}, {1}, {5, 1}, {5, 0}}, // without features
	}
	for i, l := range labels {
		for _, causal := range []bool{false, true} {
			calls = append(calls, attendCall(d, of(l), [2]any{}, l, []float64{1, 0.5, -2, 0, 0}[i], causal))
		}
	}
	one := of(labels[3])
	one[0][1] = 1 // one entry for all of a batch that the result has
	calls = append(calls, attendCall(d, one, [2]any{}, labels[3], 1, false))
	sizes[0] = 5 // the first query sees no key
	return append(calls, attendCall(d, of(labels[1]), [2]any{}, labels[1], 1, true))
}

func attendRows(d dtype.DType) (calls []Call) {
	more := Int(0, 2, 3, 6, 9) // as many rows as splitsA, which divide 8, of other lengths
	heads := [5][]int{{0, 4, 2}, {1, 4, 2}, {1, 4, 3}, nil, {0, 4, 3}}
	ofKeys, ofPairs := heads, heads
	ofKeys[3], ofPairs[3] = []int{4, 1}, []int{0}
	const pairs = 3*2 + 0*1 + 1*3 + 4*3
	for _, causal := range []bool{false, true} {
		calls = append(calls,
			attendCall(d, [4][]int{{8, 4}, {8, 4}, {8, 6}}, [2]any{splitsA, splitsA}, [5][]int{}, 0, causal),
			attendCall(d, [4][]int{{8, 2, 2}, {8, 2, 2}, {8, 2, 3}}, [2]any{splitsA, splitsB}, heads, 0.3, causal),
			attendCall(d, [4][]int{{8, 2, 2}, {9, 2, 2}, {9, 2, 3}}, [2]any{splitsA, more}, heads, 0, causal),
			attendCall(d, [4][]int{{9, 4}, {8, 4}, {8, 6}, {8}}, [2]any{more, splitsA}, [5][]int{}, 0, causal),
			attendCall(d, [4][]int{{8, 2, 2}, {9, 2, 2}, {9, 2, 3}, {2, 9}}, [2]any{splitsA, more}, ofKeys, 0, causal),
			attendCall(d, [4][]int{{8, 2, 2}, {9, 2, 2}, {9, 2, 3}, {pairs}}, [2]any{splitsA, more}, ofPairs, 0, causal))
	}
	return append(calls, attendCall(d, [4][]int{{0, 2, 2}, {0, 2, 2}, {0, 2, 1}}, [2]any{noRows, noRows}, heads, 0, false))
}

// An attending is a call of attention: which label is what, and the sizes of axes.
type attending struct {
	labels              [5][]int // of query, key, value, mask and result
	size                map[int]int
	batch, depth, width []int
	scale               float64
	causal              bool
	mask                int // which argument it is
}

// newAttending works a call out whose mask is argument at.
func newAttending(list []any, at int) *attending {
	dims := func(i int) []int {
		switch x := list[i].(type) {
		case Array:
			return x.Shape
		case tensor.Tensor:
			return x.Shape().Dims()
		}
		return nil
	}
	a := &attending{size: map[int]int{}, scale: list[at+8].(float64), causal: list[at+9].(bool), mask: at}
	for i := range a.labels {
		a.labels[i], _ = list[at+3+i].([]int)
	}
	where := []int{0, 1, 2, at}
	if a.labels[4] == nil { // matrices
		most := 0
		for i, own := range [][]int{{0, 2}, {1, 2}, {1, 3}, {0, 1}} {
			rank := len(dims(where[i]))
			for l := rank; l > 2; l-- {
				a.labels[i] = append(a.labels[i], l+1)
			}
			a.labels[i] = append(a.labels[i], own[2-min(rank, 2):]...)
			most = max(most, rank)
		}
		for l := most; l > 2; l-- {
			a.labels[4] = append(a.labels[4], l+1)
		}
		a.labels[4] = append(a.labels[4], 0, 3)
	}
	for i, w := range where {
		for k, n := range dims(w) {
			if l := a.labels[i][k]; i < 3 || l > 1 {
				a.size[l] = max(a.size[l], n)
				if n == 0 {
					a.size[l] = 0
				}
			}
		}
	}
	values := 1.0
	for _, l := range a.labels[0] {
		if l > 1 && !slices.Contains(a.labels[4], l) {
			a.depth = append(a.depth, l)
			values *= float64(a.size[l])
		}
	}
	for _, l := range a.labels[4] {
		only := slices.Contains(a.labels[2], l) && !slices.Contains(slices.Concat(a.labels[0], a.labels[1], a.labels[3]), l)
		switch {
		case only:
			a.width = append(a.width, l)
		case l > 0:
			a.batch = append(a.batch, l)
		}
	}
	if a.scale == 0 {
		a.scale = 1 / math.Sqrt(values)
	}
	return a
}

func (a *attending) dims(labels []int) (dims []int) {
	for _, l := range labels {
		dims = append(dims, a.size[l])
	}
	return dims
}

func (a *attending) zeros(which int) Array {
	dims := a.dims(a.labels[which])
	return Array{Shape: dims, X: make([]complex128, Size(dims))}
}

// at returns the place of an element of an operand, in which an axis of one entry stands for all.
func (a *attending) at(x Array, which int, at map[int]int) (i int) {
	for k, l := range a.labels[which] {
		if i *= x.Shape[k]; x.Shape[k] > 1 {
			i += at[l]
		}
	}
	return i
}

// over calls f for all indices of some labels.
func (a *attending) over(labels []int, at map[int]int, f func()) {
	Indices(a.dims(labels), func(_ int, index []int) {
		for k, l := range labels {
			at[l] = index[k]
		}
		f()
	})
}

// each calls f for each query of each part of the batch with the keys that it sees.
func (a *attending) each(list []any, f func(at map[int]int, keys []int, weights []float64)) {
	q, k := list[0].(Array), list[1].(Array)
	mask, masked := list[a.mask].(Array)
	queries, keys := [][]int{upto(a.size[0])}, [][]int{upto(a.size[1])}
	divided := list[a.mask+1] != nil
	if divided {
		queries, keys = cells(list[a.mask+1]), cells(list[a.mask+2])
	}
	at := map[int]int{}
	a.over(a.batch, at, func() {
		pair := -1
		for r, row := range queries {
			for pos, query := range row {
				var seen []int
				var scores []float64
				for j, key := range keys[r] {
					pair++
					if a.causal && j > pos+len(keys[r])-len(row) {
						continue
					}
					at[0], at[1] = query, key
					if divided && slices.Contains(a.labels[3], 0) {
						at[0] = pair
					}
					if masked && mask.X[a.at(mask, 3, at)] == 0 {
						continue
					}
					at[0] = query
					s := 0.0
					a.over(a.depth, at, func() { s += real(q.X[a.at(q, 0, at)]) * real(k.X[a.at(k, 1, at)]) })
					seen, scores = append(seen, key), append(scores, s*a.scale)
				}
				if at[0] = query; len(seen) > 0 {
					f(at, seen, softmaxOf(scores))
				}
			}
		}
	})
}

func upto(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func zerosLike(a Array) Array { return Array{Shape: a.Shape, X: make([]complex128, len(a.X))} }
