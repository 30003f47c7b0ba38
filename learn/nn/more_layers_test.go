package nn_test

import (
	"errors"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func TestPositions(t *testing.T) {
	d := dtype.Float64
	x := ops.Cast(wave(2, 2, 3, 4), d)
	rows := tenon.Must(ragged.FromRowLengths(ops.Cast(wave(3, 5, 4), d), []int64{3, 0, 2}))
	for name, l := range map[string]nn.Positions{
		"learned":    nn.NewPositions(ops.RandomKey(1), 9, 4, nn.EmbeddingOptions{DType: d, Names: nn.Names{In: rep{}, Along: seq{}}}),
		"sinusoidal": {Names: nn.Names{In: rep{}, Along: seq{}}},
	} {
		table := l.Table
		if table == nil {
			table = nn.Sinusoidal(9, 4, d)
		}
		part := func(from, n int) tensor.Tensor { return ops.Slice(table, []int{from, 0}, []int{n, -1}) }
		same := func(what string, got, want tensor.Tensor) {
			t.Helper()
			if err := tensor.AllClose(got, want); err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		same("dense", l.Apply(x), ops.Add(x, part(0, 3)))
		same("dense from 5", l.ApplyFrom(x, tensor.Scalar(int64(5))), ops.Add(x, part(5, 3)))
		same("each from its own", l.ApplyFrom(x, tensor.Of([]int32{1, 4})), ops.Add(x, ops.Stack([]any{part(1, 3), part(4, 3)}, 0)))
		want := ops.Add(rows.FlatValues(), ops.Concat([]any{part(0, 3), part(0, 2)}, 0))
		same("ragged", l.Apply(rows).(*ragged.Tensor).FlatValues(), want)
		want = ops.Add(rows.FlatValues(), ops.Concat([]any{part(2, 3), part(6, 2)}, 0))
		same("ragged from", l.ApplyFrom(rows, tensor.Of([]int64{2, 0, 6})).(*ragged.Tensor).FlatValues(), want)
		y := l.Apply(named.Of(ops.Transpose(x, 1, 0, 2), seq{}, batch{}, rep{}))
		same("named", named.Unnamed(y, batch{}, seq{}, rep{}), l.Apply(x))
		mask := tensor.Of([]bool{true, true, false, true, false, false}, 2, 3)
		y = l.Apply(tenon.Must(masked.New(x, mask)))
		same("masked", ops.Where(ops.ExpandDims(mask, -1), y.(*masked.Tensor).Values(), 0.0), ops.Where(ops.ExpandDims(mask, -1), l.Apply(x), 0.0))
	}
	if _, err := tenon.Try(func() tensor.Tensor {
		return nn.NewPositions(ops.RandomKey(1), 2, 4, nn.EmbeddingOptions{DType: d}).Apply(x)
	}); err == nil {
		t.Error("three positions of two are taken")
	}
}

// What is dropped together is 0 together, the others are scaled, and nothing is where there is no key.
func TestKindsOfDropout(t *testing.T) {
	const n, positions, features = 40, 6, 10
	x := ops.Ones(dtype.Float64, []int{n, positions, features})
	flat := ops.Ones(dtype.Float64, []int{n * positions, features})
	rows := tenon.Must(ragged.FromUniformRowLength(flat, positions, nil))
	divided := tenon.Must(ragged.FromRowSplits(flat, rows.RowSplits()))
	key := ops.RandomKey(3)
	for kind, axes := range map[nn.Dropping][]int{nn.DropFeatures: {1}, nn.DropItems: {2}, nn.DropRows: {1, 2}} {
		l := nn.Dropout{Rate: 0.25, Kind: kind, Names: nn.Names{In: rep{}, Along: seq{}}}
		for name, y := range map[string]tensor.Tensor{
			"dense":  l.Apply(key, x),
			"ragged": ops.Reshape(l.Apply(key, divided).(*ragged.Tensor).FlatValues(), []int{n, positions, features}),
			"named":  named.Unnamed(l.Apply(key, named.Of(x, batch{}, seq{}, rep{})), batch{}, seq{}, rep{}),
		} {
			if least, most := ops.Min(y, axes...), ops.Max(y, axes...); !tensor.Equal(least, most) {
				t.Errorf("%q, %s: what belongs together is dropped in part", kind, name)
			}
			dropped := 0
			for _, v := range tensor.Data[float64](y) {
				if v == 0 {
					dropped++
				} else if math.Abs(v-1/0.75) > 1e-12 {
					t.Fatalf("%q, %s: %v is neither 0 nor scaled", kind, name, v)
				}
			}
			if share := float64(dropped) / (n * positions * features); share < 0.05 || share > 0.5 {
				t.Errorf("%q, %s: %v dropped of a quarter", kind, name, share)
			}
		}
		if l.Apply(nil, x) != x {
			t.Errorf("%q drops without a key", kind)
		}
	}
	// Alpha and Gaussian dropout keep mean and variance of what is like a normal number.
	z := ops.RandomNormal(ops.RandomKey(1), []int{200_000}, dtype.Float64)
	for kind, variance := range map[nn.Dropping]float64{nn.DropAlpha: 1, nn.DropGaussian: 1 + 0.25/0.75} {
		y := nn.Dropout{Rate: 0.25, Kind: kind}.Apply(key, z)
		if m, v := tensor.Item[float64](ops.Mean(y)), tensor.Item[float64](ops.Variance(y)); math.Abs(m) > 0.02 || math.Abs(v-variance) > 0.03 {
			t.Errorf("%q: mean %v, variance %v, want 0 and %v", kind, m, v, variance)
		}
	}
	for _, l := range []nn.Dropout{{Rate: 1}, {Rate: -0.1}, {Rate: math.NaN()}, {Rate: 0.5, Kind: "everything"}} {
		if _, err := tenon.Try(func() tensor.Tensor { return l.Apply(key, x) }); err == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}

// Edges 0→1, 0→2, 1→2, 2→2; node 3 has none.
func TestGraphLayers(t *testing.T) {
	d := dtype.Float64
	x := tensor.Of([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2)
	source, target := tensor.Of([]int64{0, 0, 1, 2}), tensor.Of([]int64{1, 2, 2, 2})
	eye, zero := ops.Eye(d, 2, 2), ops.Zeros(d, []int{2, 2})
	r := func(n float64) float64 { return math.Sqrt(n) }
	for how, want := range map[nn.Gathering][]float64{
		nn.MeanOf: {0, 0, 1, 2, 3, 4, 0, 0},
		nn.SumOf:  {0, 0, 1, 2, 9, 12, 0, 0},
		nn.MaxOf:  {0, 0, 1, 2, 5, 6, 0, 0},
		// out degrees with itself 3, 2, 2, 1; in degrees 1, 2, 4, 1
		nn.Normalized: {1 / r(3), 2 / r(3), (1/r(3) + 3/r(2)) / r(2), (2/r(3) + 4/r(2)) / r(2),
			(1/r(3) + 3/r(2) + 2*5/r(2)) / 2, (2/r(3) + 4/r(2) + 2*6/r(2)) / 2, 7, 8},
	} {
		l := nn.NewGraphConv(ops.RandomKey(1), 2, 2, nn.GraphOptions{Gather: how, DType: d})
		l.Neighbours = eye
		if l.Self != nil {
			l.Self = zero
		}
		if err := tensor.AllClose(l.Apply(x, source, target), tensor.Of(want, 4, 2)); err != nil {
			t.Errorf("%q: %v", how, err)
		}
		l = nn.NewGraphConv(ops.RandomKey(2), 2, 1, nn.GraphOptions{Gather: how, DType: d, Activation: nn.Tanh})
		graphGradient(t, string(how), l, func(l nn.GraphConv) tensor.Tensor { return l.Apply(x, source, target) })
	}
	a := nn.NewGraphAttention(ops.RandomKey(3), 2, 4, 2, nn.GraphOptions{DType: d})
	graphGradient(t, "attention", a, func(l nn.GraphAttention) tensor.Tensor { return l.Apply(x, source, target) })
	v := ops.Reshape(ops.MatMul(x, a.Kernel), []int{4, 2, 2})
	y := ops.Reshape(a.Apply(x, source, target), []int{4, 2, 2})
	if err := tensor.AllClose(ops.Index(y, 3), ops.Index(v, 3)); err != nil {
		t.Errorf("a node without edges attends to itself alone: %v", err)
	}
	e := ops.LeakyRelu(ops.Add(ops.Sum(ops.Mul(ops.Slice(v, []int{0, 0, 0}, []int{2, -1, -1}), a.Source), -1), ops.Sum(ops.Mul(ops.Index(v, 1), a.Target), -1)), 0.2)
	w := ops.Softmax(e, 0) // of 0 and 1 at 1
	if err := tensor.AllClose(ops.Index(y, 1), ops.Sum(ops.Mul(ops.Slice(v, []int{0, 0, 0}, []int{2, -1, -1}), ops.ExpandDims(w, -1)), 0)); err != nil {
		t.Errorf("a node with one edge: %v", err)
	}
	traced := function.New(a.Apply, function.Options{RelaxAfter: 1})
	traced.Call(ops.Slice(x, []int{0, 0}, []int{2, 2}), tensor.Of([]int64{0}), tensor.Of([]int64{1}))
	if err := tensor.AllClose(traced.Call(x, source, target), a.Apply(x, source, target)); err != nil {
		t.Errorf("traced: %v", err)
	}
	for _, n := range []int64{4, -1} {
		for name, f := range map[string]func(x, source, target tensor.Tensor) tensor.Tensor{"attention": a.Apply, "convolution": nn.NewGraphConv(ops.RandomKey(1), 2, 2, nn.GraphOptions{DType: d}).Apply} {
			if _, err := tenon.Try(func() tensor.Tensor { return f(x, source, tensor.Of([]int64{0, 1, 2, n})) }); err == nil {
				t.Errorf("%s: an edge to node %d, which is not there, is taken", name, n)
			}
		}
	}
	if _, err := tenon.Try(func() nn.GraphConv { return nn.NewGraphConv(ops.RandomKey(1), 2, 2, nn.GraphOptions{Gather: "most"}) }); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("a gathering that is not there: %v", err)
	}
}

// graphGradient compares a gradient with finite differences along itself.
func graphGradient[L any](t *testing.T, name string, l L, f func(L) tensor.Tensor) {
	t.Helper()
	loss := func(l L) tensor.Tensor { return ops.Sum(ops.Square(f(l))) }
	_, g := grad.ValueAndGrad(func(l L, _ tensor.Tensor) tensor.Tensor { return loss(l) })(l, tensor.Scalar(0.0))
	at := func(h float64) float64 {
		return tensor.Item[float64](loss(tenon.Must(nest.Map(func(leaves []any) (any, error) {
			return ops.Add(leaves[0], ops.Mul(leaves[1], h)), nil
		}, nest.Options{}, l, g))))
	}
	want := 0.0
	for _, leaf := range tenon.Must(nest.Flatten(g, nest.Options{})) {
		want += tensor.Item[float64](ops.Sum(ops.Square(leaf)))
	}
	const h = 1e-7
	if got := (at(h) - at(-h)) / (2 * h); math.Abs(got-want) > 1e-4*math.Max(1, want) {
		t.Errorf("%s: along its gradient the loss grows by %v, want %v", name, got, want)
	}
}

// A causal layer over rows of different lengths is extended by as many positions as each has.
func TestRowsAreExtended(t *testing.T) {
	lengths := [][]int64{{2, 1, 3}, {1, 0, 2}, {0, 3, 1}}
	total := []int64{3, 4, 6}
	x := tenon.Must(ragged.FromRowLengths(ops.Cast(wave(1, 13, 8), dtype.Float64), total))
	for _, s := range []nn.Sight{{Causal: true}, {Causal: true, ALiBi: true}, {Causal: true, Window: 2}} {
		o := nn.AttentionOptions{KeyHeads: 2, Rotary: 100, Sight: s, DType: dtype.Float64}
		b := nn.NewEncoderBlock(ops.RandomKey(1), 8, 4, nn.BlockOptions{Attention: o})
		d := nn.NewDecoderBlock(ops.RandomKey(2), 8, 4, nn.BlockOptions{Attention: nn.AttentionOptions{DType: dtype.Float64}})
		z := tenon.Must(ragged.FromRowLengths(ops.Cast(wave(4, 6, 8), dtype.Float64), []int64{1, 3, 2}))
		for name, run := range map[string]struct {
			all    func(x tensor.Tensor) tensor.Tensor
			extend func(x tensor.Tensor, c nn.Cache) (tensor.Tensor, nn.Cache)
		}{
			"encoder": {b.Apply, b.Extend},
			"decoder": {func(x tensor.Tensor) tensor.Tensor { return d.Apply(x, z, nil) },
				func(x tensor.Tensor, c nn.Cache) (tensor.Tensor, nn.Cache) { return d.Extend(x, z, nil, c) }},
		} {
			want := run.all(x)
			var c nn.Cache
			from := []int64{0, 0, 0}
			for step, n := range lengths {
				to := []int64{from[0] + n[0], from[1] + n[1], from[2] + n[2]}
				part := func(x tensor.Tensor) tensor.Tensor {
					var parts []any
					for i := range n {
						parts = append(parts, ops.Slice(ops.Index(x, i), []int{int(from[i]), 0}, []int{int(n[i]), 8}))
					}
					return tenon.Must(ragged.FromRowLengths(ops.Concat(parts, 0), n))
				}
				var y tensor.Tensor
				y, c = run.extend(part(x), c)
				if err := tensor.AllClose(y.(*ragged.Tensor).FlatValues(), part(want).(*ragged.Tensor).FlatValues()); err != nil {
					t.Errorf("%s, %+v, step %d: %v", name, s, step, err)
				}
				from = to
			}
		}
	}
}
