package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The names of attention_named.
type (
	batchDim  struct{ named.Dim[batchDim] }
	headDim   struct{ named.Dim[headDim] }
	seqDim    struct{ named.Dim[seqDim] }
	keySeqDim struct{ named.Dim[keySeqDim] }
	repDim    struct{ named.Dim[repDim] }
	kqDim     struct{ named.Dim[kqDim] }
	valDim    struct{ named.Dim[valDim] }
)

func init() {
	register("attention_named", func(r *runner) {
		attentionNamed(r, "head", 1, 1, 0)
		if r.size != "tiny" {
			attentionNamed(r, "multihead", 8, 4, 8)
		}
	})
	register("eager_overhead", namedAdd)
}

const (
	attentionSeq = 512
	attentionRep = 256
	attentionKq  = 64
)

// attentionWeights are what attention is differentiated with respect to.
type attentionWeights struct{ X, Query, Key, Value *named.Tensor }

// apply is self-attention with names: softmax over the keys of queries·keys/8, times
// values. The factor goes to the queries, of which there are fewer numbers than scores.
func (w attentionWeights) apply() *named.Tensor {
	queries := named.Mul(named.Contract[repDim](w.X, w.Query), 0.125)
	keys := named.Rename[seqDim, keySeqDim](named.Contract[repDim](w.X, w.Key))
	values := named.Rename[seqDim, keySeqDim](named.Contract[repDim](w.X, w.Value))
	weights := named.Softmax[keySeqDim](named.Contract[kqDim](queries, keys))
	return named.Contract[keySeqDim](weights, values)
}

// plainAttention is the same without names.
func plainAttention(x, query, key, value tensor.Tensor) tensor.Tensor {
	q := ops.Mul(ops.Einsum("bsr,hrk->bhsk", x, query), 0.125)
	k := ops.Einsum("btr,hrk->bhtk", x, key)
	v := ops.Einsum("btr,hrv->bhtv", x, value)
	weights := ops.Softmax(ops.Einsum("bhsk,bhtk->bhst", q, k), -1)
	return ops.Einsum("bhst,bhtv->bhsv", weights, v)
}

// attentionNamed adds the cases of one size: traced, eager (_eager), and traced without
// names (_unnamed).
func attentionNamed(r *runner, name string, batch, heads, stream int) {
	b, h, s, rep := batchDim{}.Of(batch), headDim{}.Of(heads), seqDim{}.Of(attentionSeq), repDim{}.Of(attentionRep)
	input := func(k int, scale float32, dims ...named.Sized) *named.Tensor {
		names, sizes, n := make([]named.Name, len(dims)), make([]int, len(dims)), 1
		for i, d := range dims {
			names[i], sizes[i] = d.Name(), d.Size()
			n *= d.Size()
		}
		return named.Of(tensor.Of(inputs.Syms(9, stream+k, n, scale), sizes...), names...)
	}
	in := attentionWeights{
		input(0, 1, b, s, rep), input(1, 1.0/8, h, rep, kqDim{}.Of(attentionKq)), input(2, 1.0/8, h, rep, kqDim{}.Of(attentionKq)),
		input(3, 1.0/8, h, rep, valDim{}.Of(attentionKq)),
	}
	g := input(4, 1, b, h, s, valDim{}.Of(attentionKq))
	flops := float64(batch * heads * (2*attentionSeq*attentionRep*3*attentionKq + 4*attentionSeq*attentionSeq*attentionKq))

	out := func(x any) []float64 {
		return denseSum(named.Unnamed(x.(tenon.Value), batchDim{}, headDim{}, seqDim{}, valDim{}))
	}
	forward := attentionWeights.apply
	traced := function.New(forward)
	r.run(benchCase{name: name + "_fwd", flops: flops, check: out}, func() any { return traced.Call(in) })
	r.run(benchCase{name: name + "_fwd_eager", flops: flops, check: out}, func() any { return forward(in) })

	loss := func(w attentionWeights, g *named.Tensor) tensor.Tensor {
		return named.Unnamed(ops.Sum(named.Mul(w.apply(), g)).(*named.Tensor))
	}
	gradient := func(w attentionWeights, g *named.Tensor) attentionWeights {
		_, d := grad.ValueAndGrad(loss)(w, g)
		return d
	}
	all := func(x any) []float64 {
		d := x.(attentionWeights)
		var c inputs.Sum
		for _, t := range []tensor.Tensor{
			named.Unnamed(d.X, batchDim{}, seqDim{}, repDim{}), named.Unnamed(d.Query, headDim{}, repDim{}, kqDim{}),
			named.Unnamed(d.Key, headDim{}, repDim{}, kqDim{}), named.Unnamed(d.Value, headDim{}, repDim{}, valDim{}),
		} {
			inputs.Add(&c, tensor.Data[float32](t))
		}
		return c.Checksum()
	}
	tracedGradient := function.New(gradient)
	r.run(benchCase{name: name + "_fwdbwd", flops: 3 * flops, check: all}, func() any { return tracedGradient.Call(in, g) })
	r.run(benchCase{name: name + "_fwdbwd_eager", flops: 3 * flops, check: all}, func() any { return gradient(in, g) })

	plain := function.New(func(x, q, k, v tensor.Tensor) tensor.Tensor { return plainAttention(x, q, k, v) })
	x, q := named.Unnamed(in.X, batchDim{}, seqDim{}, repDim{}), named.Unnamed(in.Query, headDim{}, repDim{}, kqDim{})
	k, v := named.Unnamed(in.Key, headDim{}, repDim{}, kqDim{}), named.Unnamed(in.Value, headDim{}, repDim{}, valDim{})
	r.run(benchCase{name: name + "_fwd_unnamed", flops: flops, check: denseSum, note: "the same without names"}, func() any { return plain.Call(x, q, k, v) })
}

// namedAdd times a thousand times x = x + y with one named dimension.
func namedAdd(r *runner) {
	x0 := named.Of(make([]float32, 4), seqDim{})
	y := named.Of([]float32{1, 2, 3, 4}, seqDim{})
	check := func(x any) []float64 { return denseSum(named.Unnamed(x.(tenon.Value))) }
	r.run(benchCase{name: "named_add4", inner: repeats, check: check}, func() any {
		x := x0
		for range repeats {
			x = named.Add(x, y)
		}
		return x
	})
}
