package named_test

import (
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Values may have one dimension of their own or two: both see the same keys, a query that sees
// none gets zeros, and the gradients are numbers. So it is where no size is known before the
// program runs.
func TestValuesOfAttention(t *testing.T) {
	mask := named.Of([][]bool{{false, false, false}, {true, false, true}, {true, true, true}, {false, true, false}, {false, false, false}}, Seq{}, KeySeq{})
	for _, tt := range []struct {
		name    string
		queries int
		o       named.AttentionOptions
	}{
		{"plain", 5, named.AttentionOptions{}},
		{"scaled", 5, named.AttentionOptions{Scale: 0.3}},
		{"causal, more queries", 5, named.AttentionOptions{Causal: true}},
		{"causal, as many", 3, named.AttentionOptions{Causal: true}},
		{"causal, fewer", 2, named.AttentionOptions{Causal: true}},
		{"masked", 5, named.AttentionOptions{Mask: mask}},
		{"masked and causal", 5, named.AttentionOptions{Mask: mask, Causal: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, k := wave(Seq{}.Of(tt.queries), Batch{}.Of(2), Rep{}.Of(4)), wave(Batch{}.Of(2), KeySeq{}.Of(3), Rep{}.Of(4))
			v := wave(KeySeq{}.Of(3), Val{}.Of(6))
			attend := func(q, k, v T) T { return named.Attention[KeySeq, Rep](q, k, v, tt.o) }
			apart := func(x T) T { return named.Split[Val](x, Kq{}.Of(3), Foo{}.Of(-1)) }
			want := attend(q, k, v)
			wantNear(t, apart(want), attend(q, k, apart(v)))
			loss := func(v func(T) T) func(x []T) T {
				return func(x []T) T { return named.From(ops.Sum(ops.Square(attend(x[0], x[1], v(x[2]))))) }
			}
			one := grad.Of(loss(func(x T) T { return x }))([]T{q, k, v})
			two := grad.Of(loss(apart))([]T{q, k, v})
			for i := range one {
				wantNear(t, one[i], two[i])
				if tensor.Item[bool](named.Unnamed(named.From(ops.Any(ops.IsNaN(two[i]))))) {
					t.Errorf("gradient %d is no number", i)
				}
			}
			specs := make([]any, 3)
			for i, x := range []T{q, k, v} {
				specs[i] = tenon.Must(named.NewSpec(tensor.NewSpec(x.DType(), shape.OfRank(x.Shape().Rank())), x.Dims()))
			}
			for _, f := range []func(q, k, v T) T{attend, func(q, k, v T) T { return attend(q, k, apart(v)) }} {
				wantNear(t, f(q, k, v), function.New(f, function.Options{Signature: specs}).Call(q, k, v))
			}
		})
	}
	half := func(x T) T { return named.Cast(x, dtype.Float16) }
	q, k, v := wave(Seq{}.Of(2), Rep{}.Of(4)), wave(KeySeq{}.Of(3), Rep{}.Of(4)), wave(KeySeq{}.Of(3), Val{}.Of(2), Kq{}.Of(1))
	got := named.Attention[KeySeq, Rep](half(q), half(k), half(v), named.AttentionOptions{Causal: true})
	want := named.Attention[KeySeq, Rep](q, k, v, named.AttentionOptions{Causal: true})
	if d := tensor.Item[float64](named.Unnamed(named.From(ops.Max(ops.Abs(named.Sub(named.Cast(got, dtype.Float64), want)))))); !(d < 0.01) || math.IsNaN(d) {
		t.Errorf("halves differ by %v", d)
	}
}
