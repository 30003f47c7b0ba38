package optable

import (
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// Attention among the items of rows.
func init() {
	floats := []dtype.DType{dtype.Float32, dtype.Float64}
	// splitsA has rows of 8 values; these have as many rows of other lengths.
	more := Int(0, 2, 3, 6, 9)
	calls := func(d dtype.DType) []Call {
		q, k, v := UniformSeed(d, []int{8, 4}, -1, 1, 1), UniformSeed(d, []int{9, 4}, -1, 1, 2), UniformSeed(d, []int{9, 6}, -1, 1, 3)
		own, values := UniformSeed(d, []int{8, 4}, -1, 1, 4), UniformSeed(d, []int{8, 6}, -1, 1, 5)
		var out []Call
		for _, causal := range []bool{false, true} {
			out = append(out,
				Args(q, own, values, splitsA, splitsA, 1, 0.0, causal), Args(q, own, values, splitsA, splitsB, 2, 0.3, causal),
				Args(q, k, v, splitsA, more, 2, 0.0, causal), Args(k, q, values, more, splitsA, 1, 0.0, causal))
		}
		return append(out, Args(Uniform(d, []int{0, 4}, -1, 1), Uniform(d, []int{0, 4}, -1, 1), Uniform(d, []int{0, 2}, -1, 1), noRows, noRows, 2, 0.0, false))
	}
	Add(
		Row{Op: "ragged.attention", Tol: 64, Smooth: true, Calls: EachType(floats, calls), Ref: func(a []any) []Array {
			out, _ := rowAttention(a[0].(Array), a[1].(Array), a[2].(Array), a[3], a[4], a[5].(int), a[6].(float64), a[7].(bool))
			return []Array{out}
		}},
		Row{Op: "ragged.attention_grad", Tol: 256, Smooth: true, Calls: EachType(floats, func(d dtype.DType) []Call {
			var out []Call
			for i, c := range calls(d) {
				n := c.Args[0].(tensor.Tensor).Shape().Dim(0)
				width := c.Args[2].(tensor.Tensor).Shape().Dim(1)
				args := append(slices.Clone(c.Args[:3]), UniformSeed(d, []int{n, width}, -1, 1, uint64(20+i)))
				out = append(out, Args(append(args, c.Args[3:]...)...))
			}
			return out
		}), Ref: func(a []any) []Array {
			q, k, v, ct := a[0].(Array), a[1].(Array), a[2].(Array), a[3].(Array)
			heads, scale := a[6].(int), a[7].(float64)
			_, w := rowAttention(q, k, v, a[4], a[5], heads, scale, a[8].(bool))
			d, e := q.Shape[1]/heads, v.Shape[1]/heads
			if scale == 0 {
				scale = 1 / math.Sqrt(float64(max(1, d)))
			}
			dq, dk, dv := zerosLike(q), zerosLike(k), zerosLike(v)
			for _, one := range w {
				g := func(t int) complex128 { return ct.X[one.query*v.Shape[1]+one.head*e+t] }
				dp := make([]complex128, len(one.keys))
				var mean complex128
				for j, key := range one.keys {
					for t := range e {
						at := key*v.Shape[1] + one.head*e + t
						dp[j] += g(t) * v.X[at]
						dv.X[at] += complex(one.weights[j], 0) * g(t)
					}
					mean += complex(one.weights[j], 0) * dp[j]
				}
				for j, key := range one.keys {
					ds := complex(one.weights[j]*scale, 0) * (dp[j] - mean)
					for t := range d {
						x, y := one.query*q.Shape[1]+one.head*d+t, key*q.Shape[1]+one.head*d+t
						dq.X[x] += ds * k.X[y]
						dk.X[y] += ds * q.X[x]
					}
				}
			}
			return []Array{dq, dk, dv}
		}},
	)
}

func zerosLike(a Array) Array { return Array{Shape: a.Shape, X: make([]complex128, len(a.X))} }

// attentionWeights are those of one query and head.
type attentionWeights struct {
	query, head int
	keys        []int
	weights     []float64
}

func rowAttention(q, k, v Array, querySplits, keySplits any, heads int, scale float64, causal bool) (out Array, all []attentionWeights) {
	d, e, n := q.Shape[1]/heads, v.Shape[1]/heads, q.Shape[0]
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(max(1, d)))
	}
	out = Array{Shape: []int{n, v.Shape[1]}, X: make([]complex128, n*v.Shape[1])}
	keys := cells(keySplits)
	for r, queries := range cells(querySplits) {
		for pos, i := range queries {
			for h := range heads {
				one := attentionWeights{query: i, head: h}
				var scores []float64
				for j, key := range keys[r] {
					if causal && j > pos+len(keys[r])-len(queries) {
						continue
					}
					s := 0.0
					for t := range d {
						s += real(q.X[i*q.Shape[1]+h*d+t]) * real(k.X[key*q.Shape[1]+h*d+t])
					}
					one.keys, scores = append(one.keys, key), append(scores, s*scale)
				}
				if len(scores) == 0 {
					continue
				}
				one.weights = softmaxOf(scores)
				for j, key := range one.keys {
					for t := range e {
						out.X[i*v.Shape[1]+h*e+t] += complex(one.weights[j], 0) * v.X[key*v.Shape[1]+h*e+t]
					}
				}
				all = append(all, one)
			}
		}
	}
	return out, all
}
