package named_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// paired measures two ways to the same result in turn, so that what else the machine does falls on
// both, and reports the median of each and of the differences.
func paired(b *testing.B, per int, withNames, without func()) {
	const rounds = 301
	times := func(f func()) float64 {
		start := time.Now()
		for range per {
			f()
		}
		return float64(time.Since(start).Nanoseconds()) / float64(per)
	}
	for range b.N {
		var x, y, d [rounds]float64
		for i := range rounds {
			if i%2 == 0 {
				x[i], y[i] = times(withNames), times(without)
			} else {
				y[i], x[i] = times(without), times(withNames)
			}
			d[i] = x[i] - y[i]
		}
		slices.Sort(x[:])
		slices.Sort(y[:])
		slices.Sort(d[:])
		b.ReportMetric(x[rounds/2], "ns/named")
		b.ReportMetric(y[rounds/2], "ns/unnamed")
		b.ReportMetric(d[rounds/2], "ns/difference")
		b.ReportMetric(100*d[rounds/2]/y[rounds/2], "%difference")
	}
}

// BenchmarkNamesCost compares operations with names and without, pair by pair: on 4×4, where all is
// what a call costs, and the attention workload at a size that takes milliseconds.
func BenchmarkNamesCost(b *testing.B) {
	key := ops.RandomKey(1)
	x := named.Normal(key, dtype.Float32, 0, 1, Seq{}.Of(4), Rep{}.Of(4))
	y := named.Normal(key, dtype.Float32, 0, 1, Seq{}.Of(4), Rep{}.Of(4))
	w := named.Normal(key, dtype.Float32, 0, 1, Rep{}.Of(4), Kq{}.Of(4))
	px, py, pw := named.Unnamed(x, Seq{}, Rep{}), named.Unnamed(y, Seq{}, Rep{}), named.Unnamed(w, Rep{}, Kq{})
	for _, c := range []struct {
		name           string
		named, unnamed func()
	}{
		{"Add", func() { named.Add(x, y) }, func() { ops.Add(px, py) }},
		{"Dot", func() { named.Dot[Rep](x, w) }, func() { ops.MatMul(px, pw) }},
		{"Softmax", func() { named.Softmax[Rep](x) }, func() { ops.Softmax(px, 1) }},
		{"Sum", func() { named.Sum[Rep](x) }, func() { ops.Sum(px, 1) }},
		{"Map", func() { named.Map(ops.Exp, x) }, func() { ops.Exp(px) }},
	} {
		b.Run(c.name, func(b *testing.B) { paired(b, 2000, c.named, c.unnamed) })
	}

	const batch, heads, seq, rep, kq = 2, 4, 128, 256, 64
	in := named.Normal(key, dtype.Float32, 0, 1, Batch{}.Of(batch), Seq{}.Of(seq), Rep{}.Of(rep))
	weight := func() T {
		return named.Normal(key, dtype.Float32, 0, 1.0/16, Head{}.Of(heads), Rep{}.Of(rep), Kq{}.Of(kq))
	}
	wq, wk, wv := weight(), weight(), named.Rename[Kq, Val](weight())
	pi, pq, pk, pv := named.Unnamed(in, Batch{}, Seq{}, Rep{}), named.Unnamed(wq, Head{}, Rep{}, Kq{}), named.Unnamed(wk, Head{}, Rep{}, Kq{}), named.Unnamed(wv, Head{}, Rep{}, Val{})
	// The same contractions, with axes as labels: batch, seq, head, rep, kq, key and val.
	project := func(x, w tensor.Tensor) tensor.Tensor {
		return ops.Contract(x, w, []int{0, 1, 3}, []int{2, 3, 4}, []int{0, 1, 2, 4})
	}
	b.Run("Attention", func(b *testing.B) {
		paired(b, 1, func() {
			queries := named.Contract[Rep](in, wq)
			keys := named.Rename[Seq, KeySeq](named.Contract[Rep](in, wk))
			values := named.Rename[Seq, KeySeq](named.Contract[Rep](in, wv))
			att := named.Softmax[KeySeq](named.Mul(named.Contract[Kq](queries, keys), 0.125))
			named.Contract[KeySeq](att, values)
		}, func() {
			queries, keys, values := project(pi, pq), project(pi, pk), project(pi, pv)
			scores := ops.Contract(queries, keys, []int{0, 1, 2, 4}, []int{0, 5, 2, 4}, []int{0, 2, 1, 5})
			att := ops.Softmax(ops.Mul(scores, 0.125), -1)
			ops.Contract(att, values, []int{0, 2, 1, 5}, []int{0, 5, 2, 6}, []int{0, 2, 1, 6})
		})
	})
}
