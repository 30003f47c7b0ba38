package named_test

import (
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// What names cost: each operation on 4×4 with names and without.
func BenchmarkOverhead(b *testing.B) {
	key := ops.RandomKey(1)
	x := named.Normal(key, dtype.Float32, 0, 1, Seq{}.Of(4), Rep{}.Of(4))
	w := named.Normal(key, dtype.Float32, 0, 1, Rep{}.Of(4), Kq{}.Of(4))
	y := named.Normal(key, dtype.Float32, 0, 1, Seq{}.Of(4), Rep{}.Of(4))
	r := named.Normal(key, dtype.Float32, 0, 1, Rep{}.Of(4))
	in := named.Bind[seqRep](x)
	px, pw, py, pr := named.Unnamed(x, Seq{}, Rep{}), named.Unnamed(w, Rep{}, Kq{}), named.Unnamed(y, Seq{}, Rep{}), named.Unnamed(r)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
	run("Add", func() { named.Add(x, y) })
	run("Add/unnamed", func() { ops.Add(px, py) })
	run("AddByOps", func() { ops.Add(x, y) })
	run("AddBroadcast", func() { named.Add(x, r) })
	run("AddBroadcast/unnamed", func() { ops.Add(px, pr) })
	run("Dot", func() { named.Dot[Rep](x, w) })
	run("Dot/unnamed", func() { ops.MatMul(px, pw) })
	run("Softmax", func() { named.Softmax[Rep](x) })
	run("Softmax/unnamed", func() { ops.Softmax(px, 1) })
	run("Sum", func() { named.Sum[Rep](x) })
	run("Sum/unnamed", func() { ops.Sum(px, 1) })
	run("Exp", func() { named.Map(ops.Exp, x) })
	run("ExpByOps", func() { ops.Exp(x) })
	run("Exp/unnamed", func() { ops.Exp(px) })
	run("Rename", func() { named.Rename[Seq, Foo](x) })
	run("Bind", func() { _ = named.Bind[seqRep](x) })
	run("Handle", func() { in.Rep.Size() })
}

func BenchmarkAttention(b *testing.B) {
	key := ops.RandomKey(1)
	const batch, heads, seq, rep, kq = 8, 4, 512, 256, 64
	x := named.Normal(key, dtype.Float32, 0, 1, Batch{}.Of(batch), Seq{}.Of(seq), Rep{}.Of(rep))
	weight := func() T {
		return named.Normal(key, dtype.Float32, 0, 1.0/16, Head{}.Of(heads), Rep{}.Of(rep), Kq{}.Of(kq))
	}
	wq, wk, wv := weight(), weight(), named.Rename[Kq, Val](weight())
	b.Run("named", func(b *testing.B) {
		for b.Loop() {
			queries := named.Contract[Rep](x, wq)
			keys := named.Rename[Seq, KeySeq](named.Contract[Rep](x, wk))
			values := named.Rename[Seq, KeySeq](named.Contract[Rep](x, wv))
			att := named.Softmax[KeySeq](named.Mul(named.Contract[Kq](queries, keys), 0.125))
			named.Contract[KeySeq](att, values)
		}
	})
	b.Run("keys first", func(b *testing.B) {
		for b.Loop() {
			queries := named.Contract[Rep](x, wq)
			keys := named.Rename[Seq, KeySeq](named.Contract[Rep](x, wk))
			values := named.Rename[Seq, KeySeq](named.Contract[Rep](x, wv))
			att := named.Softmax[KeySeq](named.Mul(named.Contract[Kq](keys, queries), 0.125))
			named.Contract[KeySeq](values, att)
		}
	})
	b.Run("fused", func(b *testing.B) {
		for b.Loop() {
			queries := named.Contract[Rep](x, wq)
			keys := named.Rename[Seq, KeySeq](named.Contract[Rep](x, wk))
			values := named.Rename[Seq, KeySeq](named.Contract[Rep](x, wv))
			named.Attention[KeySeq, Kq](queries, keys, values, named.AttentionOptions{})
		}
	})
	px, pq, pk, pv := named.Unnamed(x, Batch{}, Seq{}, Rep{}), named.Unnamed(wq, Head{}, Rep{}, Kq{}), named.Unnamed(wk, Head{}, Rep{}, Kq{}), named.Unnamed(wv, Head{}, Rep{}, Val{})
	b.Run("unnamed", func(b *testing.B) {
		for b.Loop() {
			e := ops.ExpandDims(px, 1)
			q, k, v := ops.MatMul(e, pq), ops.MatMul(e, pk), ops.MatMul(e, pv)
			att := ops.Softmax(ops.Mul(ops.MatMulT(q, k, false, true), 0.125), -1)
			ops.MatMul(att, v)
		}
	})
	_ = tensor.Slack
}
