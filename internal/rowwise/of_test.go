package rowwise_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/rowwise"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Each function is told by its statements, and what is said to answer rows by themselves does so when
// it is tried.
func TestFunctions(t *testing.T) {
	w := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	table := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	seed := ops.RandomKey(1)
	matrix := tensor.NewSpec(dtype.Float32, shape.Of(-1, 2))
	any2 := tensor.NewSpec(dtype.Float32, shape.Of(-1, -1))
	seq := tensor.NewSpec(dtype.Float32, shape.Of(-1, 5, 2))
	seqany := tensor.NewSpec(dtype.Float32, shape.Of(-1, -1, 2))
	img := tensor.NewSpec(dtype.Float32, shape.Of(-1, 8, 8, 2))
	lists := tenon.Must(ragged.NewSpec(dtype.Float32, shape.Of(-1, -1), 1, dtype.Int64))
	rseq := tenon.Must(ragged.NewSpec(dtype.Float32, shape.Of(-1, -1, 2), 1, dtype.Int64))
	ids := tenon.Must(ragged.NewSpec(dtype.Int64, shape.Of(-1, -1), 1, dtype.Int64))
	pairs := tenon.Must(ragged.NewSpec(dtype.Bool, shape.Of(-1, -1, -1), 2, dtype.Int64))
	deep := tenon.Must(ragged.NewSpec(dtype.Float32, shape.Of(-1, -1, -1), 2, dtype.Int64))
	dense := nn.NewDense(seed, 2, 2)
	lstm := nn.NewLSTM(seed, 2, 2)
	gru := nn.NewGRU(seed, 2, 2)
	back := nn.NewLSTM(seed, 2, 2, nn.RecurrentOptions{Reverse: true})
	padded := func(f func(dense, live tensor.Tensor) tensor.Tensor) saved.Traced {
		return function.New(func(x *ragged.Tensor) (tensor.Tensor, error) {
			s := x.RowSplits()
			width := rows.MaxLength(s)
			dense := rows.ToDense(x.FlatValues(), s, width, nil)
			return x.WithFlatValues(rows.FromDense(f(dense, ops.SequenceMask(rows.Lengths(s), width)), s))
		})
	}
	along := func(f func(c, x, live tensor.Tensor) tensor.Tensor) func(dense, live tensor.Tensor) tensor.Tensor {
		return func(dense, live tensor.Tensor) tensor.Tensor {
			type turn struct{ X, Live tensor.Tensor }
			zero := ops.Sum(ops.Slice(dense, []int{0, 0, 0}, []int{-1, 0, -1}), 1)
			_, y := control.Scan(func(c tensor.Tensor, t turn) (tensor.Tensor, tensor.Tensor) { c = f(c, t.X, t.Live); return c, c },
				zero, turn{ops.Transpose(dense, 1, 0, 2), ops.ExpandDims(ops.Transpose(live, 1, 0), -1)})
			return ops.Transpose(y, 1, 0, 2)
		}
	}
	mha := nn.NewMultiHeadAttention(seed, 2, 1)
	emb := nn.NewEmbedding(seed, 10, 2)
	conv := nn.NewConv(seed, []int{3, 3}, 2, 4)
	ln := nn.NewLayerNorm(2)
	for _, c := range []struct {
		name string
		f    saved.Traced
		spec any
		by   string // what rows depend on one another by; of what cannot be told without "mixed"
	}{
		{"layers", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Softmax(ops.Relu(ops.MatMul(x, w)), -1) }), matrix, ""},
		{"any2", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Softmax(x, -1), 1) }), any2, ""},
		{"ragmean", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Mean(x, 1) }), lists, ""},
		{"less mean", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Sub(x, ops.ExpandDims(ops.Mean(x, 1), 1)) }), lists, ""},
		{"norm", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Div(x, ops.ExpandDims(ops.Sum(x, 1), 1)) }), lists, ""},
		{"emb", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Mean(ops.Gather(table, x, 0), 1) }), ids, ""},
		{"softmax", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Softmax(x, 1) }), lists, ""},
		{"sort", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Sort(x, 1, ops.SortOptions{}) }), lists, ""},
		{"cumsum", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.CumSum(x, 1, ops.CumOptions{}) }), lists, ""},
		{"argmax", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.ArgMax(x, 1) }), lists, ""},
		{"deep sum", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Sum(ops.Sum(x, 2), 1) }), deep, ""},
		{"deep softmax", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Softmax(x, 2) }), deep, ""},
		{"flatten", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Reshape(x, []int{-1, 4}) }), tensor.NewSpec(dtype.Float32, shape.Of(-1, 2, 2)), ""},
		{"expand0", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.ExpandDims(x, 0) }), any2, "a result that is not made of rows"},
		{"concat", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Concat([]any{x, x}, 1) }), lists, ""},
		{"concat0", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Concat([]any{x, x}, 0) }), any2, "mixed concat"},
		{"argmaxgather", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Gather(table, ops.ArgMax(x, 1), 0) }), matrix, ""},
		{"ragged times 2", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Mul(x, 2.0) }), lists, ""},
		{"ragged x[:, :2]", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Index(x, key.All, key.To(2)) }), lists, ""},
		{"positive", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.BooleanMask(x, ops.Greater(x, 0.0), 0) }), lists, ""},
		{"positions", function.New(func(x tensor.Tensor) tensor.Tensor {
			return ops.Gather(x, ops.Mod(ops.Add(ops.Range(0, ops.Index(ops.Shape(x), 0), 1), 1), ops.Index(ops.Shape(x), 0)), 0)
		}), matrix, "mod"},
		{"next row", function.New(func(x tensor.Tensor) tensor.Tensor {
			return ops.Gather(x, ops.Minimum(ops.Add(ops.Range(0, ops.Index(ops.Shape(x), 0), 1), 1), ops.Sub(ops.Index(ops.Shape(x), 0), 1)), 0)
		}), matrix, "minimum"},
		{"by argmax over rows", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Gather(x, ops.ArgMax(x, 1), 0) }), matrix, "mixed gather"},
		{"dense", function.New(dense.Apply), matrix, ""},
		{"dense ragged", function.New(func(x *ragged.Tensor) tensor.Tensor { return dense.Apply(x) }), rseq, ""},
		{"lstm", function.New(func(x tensor.Tensor) tensor.Tensor { y, _, _ := lstm.Apply(x); return y }), seq, ""},
		{"lstm any", function.New(func(x tensor.Tensor) tensor.Tensor { y, _, _ := lstm.Apply(x); return y }), seqany, ""},
		{"lstm ragged", function.New(func(x *ragged.Tensor) tensor.Tensor { y, _, _ := lstm.Apply(x); return y }), rseq, ""},
		{"gru ragged", function.New(func(x *ragged.Tensor) tensor.Tensor { y, _ := gru.Apply(x); return y }), rseq, ""},
		{"lstm ragged, last states", function.New(func(x *ragged.Tensor) (tensor.Tensor, tensor.Tensor) { _, h, c := lstm.Apply(x); return h, c }), rseq, ""},
		{"lstm ragged, both ways", function.New(func(x *ragged.Tensor) tensor.Tensor {
			a, _, _ := lstm.Apply(x)
			b, _, _ := back.Apply(x)
			return ops.Concat([]any{a, b}, -1)
		}), rseq, ""},
		{"padded", function.New(func(x *ragged.Tensor) tensor.Tensor {
			return ops.Tanh(rows.ToDense(x.FlatValues(), x.RowSplits(), rows.MaxLength(x.RowSplits()), nil))
		}), rseq, "a result that is not made of rows"},
		{"padded and taken out", padded(func(dense, live tensor.Tensor) tensor.Tensor { return ops.Tanh(ops.Mul(dense, 2.0)) }), rseq, ""},
		{"padded, masked, taken out", padded(func(dense, live tensor.Tensor) tensor.Tensor {
			return ops.Where(ops.ExpandDims(live, -1), ops.Neg(dense), 0.0)
		}), rseq, ""},
		{"padded, softmax of positions", padded(func(dense, live tensor.Tensor) tensor.Tensor { return ops.Softmax(dense, 1) }), rseq, "softmax"},
		{"padded, less the mean of positions", padded(func(dense, live tensor.Tensor) tensor.Tensor { return ops.Sub(dense, ops.MeanKeep(dense, 1)) }), rseq, "reduce_mean"},
		{"padded, turned round", padded(func(dense, live tensor.Tensor) tensor.Tensor { return ops.Reverse(dense, 1) }), rseq, "reverse"},
		{"padded, the rows change places", padded(func(dense, live tensor.Tensor) tensor.Tensor {
			return ops.Transpose(ops.Transpose(dense, 1, 0, 2), 1, 0, 2)
		}), rseq, ""},
		{"padded, a sum without a mask", padded(along(func(c, x, live tensor.Tensor) tensor.Tensor { return ops.Add(c, x) })), rseq, "control.scan"},
		{"padded, a sum with a mask", padded(along(func(c, x, live tensor.Tensor) tensor.Tensor { return ops.Where(live, ops.Add(c, x), c) })), rseq, ""},
		{"padded, a sum with the mask turned round", padded(along(func(c, x, live tensor.Tensor) tensor.Tensor { return ops.Where(live, c, ops.Add(c, x)) })), rseq, "control.scan"},
		{"padded, a sum with another mask", padded(along(func(c, x, live tensor.Tensor) tensor.Tensor { return ops.Where(ops.LogicalNot(live), ops.Add(c, x), c) })), rseq, "control.scan"},
		{"padded, a sum that starts again", padded(along(func(c, x, live tensor.Tensor) tensor.Tensor { return ops.Where(live, ops.Add(c, x), ops.Neg(c)) })), rseq, "control.scan"},
		{"times the longest", function.New(func(x *ragged.Tensor) tensor.Tensor {
			return ops.Mul(x, ops.Cast(rows.MaxLength(x.RowSplits()), dtype.Float32))
		}), rseq, "mixed ragged.max_length"},
		{"mha", function.New(func(x tensor.Tensor) tensor.Tensor { return mha.Apply(x) }), seq, ""},
		{"causal", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Attention(x, x, x, ops.AttentionOptions{Causal: true}) }), seq, ""},
		{"causal any", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Attention(x, x, x, ops.AttentionOptions{Causal: true}) }), seqany, ""},
		{"causal along rows", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Attention(x, x, x, ops.AttentionOptions{Causal: true}) }), matrix, "mixed attention"},
		{"mha any", function.New(func(x tensor.Tensor) tensor.Tensor { return mha.Apply(x) }), seqany, ""},
		{"mha ragged", function.New(func(x *ragged.Tensor) tensor.Tensor { return mha.Apply(x) }), rseq, ""},
		{"attention with a mask of pairs", function.New(func(x *ragged.Tensor, m *ragged.Tensor) tensor.Tensor {
			return ops.Attention(x, x, x, ops.AttentionOptions{Mask: m})
		}), []any{rseq, pairs}, ""},
		{"attention with a mask of the program", function.New(func(x *ragged.Tensor) tensor.Tensor {
			y := ops.Sum(x, 2)
			return ops.Attention(x, x, x, ops.AttentionOptions{Mask: ops.Less(ops.ExpandDims(y, 2), ops.ExpandDims(y, 1))})
		}), rseq, ""},
		{"attention with a flat mask of pairs", function.New(func(x *ragged.Tensor) tensor.Tensor {
			s, flat := x.RowSplits(), x.FlatValues()
			mask := ops.Greater(ops.Sum(rows.Repeat(flat, rows.FromLengths(rows.Repeat(rows.Lengths(s), s, -1)), -1), 1), float32(0))
			l := ops.AttentionLabels{Query: []int{0, 2}, Key: []int{1, 2}, Value: []int{1, 3}, Mask: []int{0}, Result: []int{0, 3}}
			return tenon.Must(x.WithFlatValues(ops.Attend(flat, flat, flat, l, ops.AttentionOptions{Mask: mask, QuerySplits: s, KeySplits: s})))
		}), rseq, ""},
		{"attention with a mask of as many as nobody knows", function.New(func(x *ragged.Tensor, m *ragged.Tensor) tensor.Tensor {
			s, flat := x.RowSplits(), x.FlatValues()
			l := ops.AttentionLabels{Query: []int{0, 2}, Key: []int{1, 2}, Value: []int{1, 3}, Mask: []int{0}, Result: []int{0, 3}}
			return tenon.Must(x.WithFlatValues(ops.Attend(flat, flat, flat, l, ops.AttentionOptions{Mask: m.FlatValues(), QuerySplits: s, KeySplits: s})))
		}), []any{rseq, pairs}, "attention"},
		{"rows as long as those around", function.New(func(x *ragged.Tensor) tensor.Tensor {
			s := x.RowSplits()
			wide := rows.FromLengths(ops.Gather(rows.Lengths(s), rows.RowIDs(s, -1), 0))
			return tenon.Must(x.WithFlatValues(rows.Sum(rows.Repeat(x.FlatValues(), wide, -1), wide)))
		}), rseq, ""},
		{"embedding", function.New(func(x *ragged.Tensor) tensor.Tensor { return emb.Apply(x) }), ids, ""},
		{"bag", function.New(func(x *ragged.Tensor) tensor.Tensor { return emb.Bag(x, nil, nn.BagMean) }), ids, ""},
		{"conv", function.New(func(x tensor.Tensor) tensor.Tensor { return conv.Apply(x) }), img, ""},
		{"ln", function.New(func(x tensor.Tensor) tensor.Tensor { return ln.Apply(x) }), matrix, ""},
		{"ln ragged", function.New(func(x *ragged.Tensor) tensor.Tensor { return ln.Apply(x) }), rseq, ""},
		{"scan over rows", function.New(func(x tensor.Tensor) tensor.Tensor {
			_, y := control.Scan(func(c, r tensor.Tensor) (tensor.Tensor, tensor.Tensor) { c = ops.Add(c, r); return c, c }, tensor.Tensor(tensor.Of([]float32{0, 0})), x)
			return y
		}), matrix, "mixed control.scan"},
		{"while fixed", function.New(func(x tensor.Tensor) tensor.Tensor {
			type vars struct{ I, Y tensor.Tensor }
			return control.While(func(v vars) tensor.Tensor { return ops.Less(v.I, int64(3)) }, func(v vars) vars { return vars{ops.Add(v.I, int64(1)), ops.Tanh(v.Y)} }, vars{tensor.Scalar(int64(0)), x}).Y
		}), matrix, ""},
		{"while all", function.New(func(x tensor.Tensor) tensor.Tensor {
			return control.While(func(v tensor.Tensor) tensor.Tensor { return ops.Less(ops.Max(v), float32(3)) }, func(v tensor.Tensor) tensor.Tensor { return ops.Mul(v, 2.0) }, x)
		}), matrix, "mixed reduce_max"},
		{"cond max", function.New(func(x tensor.Tensor) tensor.Tensor {
			return control.Cond(ops.Greater(ops.Max(x), float32(1)), func() tensor.Tensor { return ops.Neg(x) }, func() tensor.Tensor { return x })
		}), matrix, "mixed reduce_max"},
		{"cond many", function.New(func(x tensor.Tensor) tensor.Tensor {
			return control.Cond(ops.Greater(ops.Index(ops.Shape(x), 0), int64(5)), func() tensor.Tensor { return ops.Neg(x) }, func() tensor.Tensor { return x })
		}), matrix, "greater"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := saved.NewModel()
			specs, ok := c.spec.([]any)
			if !ok {
				specs = []any{c.spec}
			}
			if err := m.Add("f", c.f, specs...); err != nil {
				t.Fatal(err)
			}
			f := m.Functions()[0]
			fn := serve.Func{Name: "f", Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return f.CallFlat(a) }}
			var args, results []rowwise.Arg
			for _, l := range f.Args(0) {
				fn.Args, args = append(fn.Args, serve.Arg{Name: fmt.Sprint("x", len(fn.Args)), Spec: l.Spec}), append(args, rowwise.Arg{Spec: l.Spec})
			}
			for _, l := range f.Results(0) {
				fn.Results, results = append(fn.Results, serve.Arg{Name: "y", Spec: l.Spec}), append(results, rowwise.Arg{Spec: l.Spec})
			}
			got := rowwise.Of(f.Graph(0), args, results)
			by, mixed := strings.CutPrefix(c.by, "mixed ")
			if got.Rows != (c.by == "") || got.Mixes != mixed || got.By != by {
				t.Fatalf("found %+v, want %q\n%v", got, c.by, f.Graph(0))
			}
			if got.Rows && !ok && !fn.Independent(t.Context()) { // made-up arguments do not fit one another
				t.Errorf("made-up rows are answered otherwise together than apart\n%v", f.Graph(0))
			}
		})
	}
}
