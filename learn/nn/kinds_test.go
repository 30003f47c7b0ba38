package nn_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// layersOfRows are layers that keep the positions of rows of four features.
func layersOfRows(d dtype.DType) map[string]func(x tensor.Tensor) tensor.Tensor {
	k := ops.RandomKeys(ops.RandomKey(5), 8)
	names := nn.Names{In: rep{}, Along: seq{}}
	group := nn.NewGroupNorm(4, 2, nn.NormOptions{DType: d, Names: names})
	group.Scale, group.Offset = ops.Cast(wave(1, 4), d), ops.Cast(wave(2, 4), d)
	stack := nn.NewStack(k[0], 2, 4, 4, false, func(key tensor.Tensor, in int, reverse bool) nn.LSTM {
		return nn.NewLSTM(key, in, 4, nn.RecurrentOptions{Reverse: reverse, DType: d, Names: names})
	})
	rnn := nn.NewRNN(k[1], 4, 4, nn.RecurrentOptions{DType: d, Names: names})
	block := nn.NewEncoderBlock(k[2], 4, 2, nn.BlockOptions{Attention: nn.AttentionOptions{DType: d, Names: names, KeyHeads: 1, Rotary: 100}})
	last := nn.NewEncoderBlock(k[3], 4, 4, nn.BlockOptions{NormLast: true, Attention: nn.AttentionOptions{DType: d, Names: names, Sight: nn.Sight{Causal: true, ALiBi: true}}})
	both := nn.NewEncoderBlock(k[6], 4, 2, nn.BlockOptions{Attention: nn.AttentionOptions{DType: d, Names: names, Sight: nn.Sight{ALiBi: true, Window: 2}}})
	decoder := nn.NewDecoderBlock(k[4], 4, 2, nn.BlockOptions{Attention: nn.AttentionOptions{DType: d, Names: names}})
	experts := nn.NewExperts(k[5], 3, 4, 5, nn.ExpertOptions{DType: d, Names: names})
	same := nn.ConvOptions{Windows: nn.Windows{Padding: nn.Same, Dilation: []int{2}}, Groups: 2, DType: d, Names: names}
	conv, depthwise := nn.NewConv(k[7], []int{3}, 4, 4, same), nn.NewDepthwiseConv(k[7], []int{2}, 4, 1, same)
	back := nn.NewConvTranspose(k[7], []int{3}, 4, 4, nn.ConvOptions{DType: d, Windows: nn.Windows{Pads: [][2]int{{1, 1}}}, Names: names})
	pool := nn.Pool{Kind: nn.MeanPool, Size: []int{3}, Windows: nn.Windows{Stride: []int{1}, Padding: nn.Same}, Names: names}
	greatest := pool
	greatest.Kind = nn.MaxPool
	return map[string]func(x tensor.Tensor) tensor.Tensor{
		"conv":            conv.Apply,
		"depthwise conv":  depthwise.Apply,
		"transposed conv": back.Apply,
		"mean pool":       pool.Apply,
		"max pool":        greatest.Apply,
		"group norm":      group.Apply,
		"stack":           func(x tensor.Tensor) tensor.Tensor { y, _ := stack.Apply(x); return y },
		"rnn":             func(x tensor.Tensor) tensor.Tensor { y, _ := rnn.Apply(x); return y },
		"block":           block.Apply,
		"slanted block":   last.Apply,
		"windowed block":  both.Apply,
		"decoder":         func(x tensor.Tensor) tensor.Tensor { return decoder.Apply(x, x, nil) },
		"experts":         experts.Apply,
		"without dropout": func(x tensor.Tensor) tensor.Tensor { return block.Train(nil, x) },
	}
}

// A row gives the same by itself, among rows of other lengths, and with names, whether it is
// computed at once or as a traced function of unknown sizes.
func TestLayersTakeEveryKind(t *testing.T) {
	lengths := []int64{3, 0, 5, 1}
	rows := tensorOf(ragged.FromRowLengths(ops.Cast(wave(3, 9, 4), dtype.Float64), lengths))
	for name, f := range layersOfRows(dtype.Float64) {
		y := f(rows).(*ragged.Tensor)
		traced := function.New(f, function.Options{RelaxAfter: 1})
		traced.Call(tensorOf(ragged.FromRowLengths(ops.Cast(wave(3, 2, 4), dtype.Float64), []int64{2})))
		if err := tensor.AllClose(traced.Call(rows).(*ragged.Tensor).FlatValues(), y.FlatValues()); err != nil {
			t.Errorf("%s: traced: %v", name, err)
		}
		for i, n := range lengths {
			x := ops.ExpandDims(ops.Index(rows, i), 0)
			want := ops.Index(y, i)
			if n == 0 {
				if s := want.Shape(); s.Dim(0) != 0 || s.Dim(1) != 4 {
					t.Errorf("%s: an empty row gives %v", name, s)
				}
				continue
			}
			if err := tensor.AllClose(ops.Index(f(x), 0), want); err != nil {
				t.Errorf("%s: row %d: %v", name, i, err)
			}
			u := f(named.Of(ops.SwapAxes(x, 1, 2), batch{}, rep{}, seq{}))
			if err := tensor.AllClose(ops.Index(named.Unnamed(u, batch{}, seq{}, rep{}), 0), want); err != nil {
				t.Errorf("%s: row %d with names: %v", name, i, err)
			}
		}
	}
}

// marked is a tensor of a type from outside that says what it is and nothing else.
type marked struct {
	X    tensor.Tensor
	Mark string
}

func (m marked) Spec() tenon.Spec   { return ext.SpecOf(m) }
func (m marked) DType() dtype.DType { return m.X.DType() }
func (m marked) Shape() shape.Shape { return m.X.Shape() }
func (m marked) Form() op.Form {
	return op.Form{Columns: []tensor.Tensor{m.X}, Type: mark(m.Mark)}
}

type mark string

func (m mark) Make(columns []tensor.Tensor) (tenon.Value, error) {
	return marked{columns[0], string(m)}, nil
}

func init() { ext.Register[marked]("tenon.test/nn.marked") }

// A type with a form goes through every layer, at once and in a trace, and keeps what it is.
func TestLayersTakeTypesWithAForm(t *testing.T) {
	x := ops.Cast(wave(3, 2, 5, 4), dtype.Float64)
	for name, f := range layersOfRows(dtype.Float64) {
		want := f(x)
		for how, f := range map[string]func(tensor.Tensor) tensor.Tensor{"at once": f, "traced": function.New(f).Call} {
			y, err := tenon.Try(func() tensor.Tensor { return f(marked{x, "attic"}) })
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
				continue
			}
			m, ok := y.(marked)
			if !ok || m.Mark != "attic" {
				t.Errorf("%s, %s: got %v", name, how, tenon.String(y.Spec()))
			} else if err := tensor.AllClose(m.X, want); err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
	gru := nn.NewGRU(ops.RandomKey(1), 4, 3, nn.RecurrentOptions{DType: dtype.Float64})
	y, last := gru.Apply(marked{ops.Zeros(dtype.Float64, []int{2, 0, 4}), "attic"})
	if got := fmt.Sprint(tenon.String(y.Spec()), tensor.Data[float64](last.(marked).X)); got != `marked{X: float64[2, 0, 3], Mark: "attic"}[0 0 0 0 0 0]` {
		t.Errorf("no positions: %s", got)
	}
}

// Statistics of a batch are those of the items that are there.
func TestBatchNormOfEveryKind(t *testing.T) {
	l, start := nn.NewBatchNorm(4, nn.BatchNormOptions{DType: dtype.Float64, Names: nn.Names{In: rep{}}})
	l.Scale = ops.Cast(wave(1, 4), dtype.Float64)
	x := ops.Cast(wave(3, 3, 2, 4), dtype.Float64)
	mask := tensor.Of([]bool{true, false, true, true, false, true}, 3, 2)
	kept := ops.Gather(ops.Reshape(x, []int{6, 4}), []int64{0, 2, 3, 5}, 0)
	want, r := l.Train(kept, start)
	for name, v := range map[string]tensor.Tensor{
		"masked": tenon.Must(masked.New(x, mask)),
		"ragged": tensorOf(ragged.FromRowLengths(kept, []int64{1, 0, 3})),
		"named":  named.Of(ops.Transpose(kept, 1, 0), rep{}, batch{}),
	} {
		y, got := l.Train(v, start)
		for i, p := range [][2]tensor.Tensor{{got.Mean, r.Mean}, {got.Variance, r.Variance}} {
			if err := tensor.AllClose(p[0], p[1]); err != nil {
				t.Errorf("%s: statistic %d: %v", name, i, err)
			}
		}
		switch v := y.(type) {
		case *masked.Tensor:
			y = ops.Gather(ops.Reshape(v.Values(), []int{6, 4}), []int64{0, 2, 3, 5}, 0)
		case *ragged.Tensor:
			y = v.FlatValues()
		case *named.Tensor:
			y = named.Unnamed(v, batch{}, rep{})
		}
		if err := tensor.AllClose(y, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Numbers of items that 16 bits do not hold.
	half, at := nn.NewBatchNorm(1)
	y, many := half.Train(ops.Cast(ops.BroadcastTo(tensor.Of([]float64{1, 3}, 1, 2, 1), []int{40_000, 2, 1}), dtype.Float16), at)
	if y.DType() != dtype.Float16 || many.Variance.DType() != dtype.Float32 {
		t.Errorf("in 16 bits: %v and %v", y.DType(), many.Variance.DType())
	}
	near(t, "mean of many", many.Mean, 0.2)
	near(t, "variance of many", many.Variance, 0.9+0.1*80_000./79_999)
	// In a traced step of any number of items, fewer than two change no statistics.
	step := function.New(func(x tensor.Tensor, r nn.Running) (tensor.Tensor, nn.Running) { return l.Train(x, r) }, function.Options{RelaxAfter: 1})
	for _, v := range []struct {
		x    tensor.Tensor
		same bool
	}{{named.Of(kept, batch{}, rep{}), false}, {named.Of(ops.Slice(kept, []int{0, 0}, []int{2, 4}), batch{}, rep{}), false}, {named.Of(ops.Slice(kept, []int{0, 0}, []int{1, 4}), batch{}, rep{}), true},
		{maskedOf(x, mask), false}, {maskedOf(x, ops.LogicalAnd(mask, false)), true}} {
		y, got := step.Call(v.x, start)
		if m, ok := y.(*masked.Tensor); ok {
			y = masked.Fill(m, 0.0)
		}
		if tensor.Equal(got.Mean, start.Mean) != v.same || tensor.Equal(got.Variance, start.Variance) != v.same || tensor.Item[bool](ops.Any(ops.IsNaN(y))) {
			t.Errorf("%v: %v and the statistics %v and %v", tenon.String(v.x.Spec()), y, got.Mean, got.Variance)
		}
	}
	near(t, "running mean", start.Mean, 0, 0, 0, 0)
	if _, err := tenon.Try(func() tensor.Tensor { y, _ := l.Train(wave(1, 1, 4), start); return y }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("one item: got %v", err)
	}
}

// A causal layer that is extended position by position gives what it gives all at once.
func TestAttentionIsExtended(t *testing.T) {
	for _, s := range []nn.Sight{{Causal: true}, {Causal: true, ALiBi: true}, {Causal: true, Window: 2}} {
		l := nn.NewMultiHeadAttention(ops.RandomKey(1), 8, 4, nn.AttentionOptions{KeyHeads: 2, Rotary: 100, Sight: s, DType: dtype.Float64, Names: nn.Names{In: rep{}, Along: seq{}}})
		x := ops.Cast(wave(1, 2, 5, 8), dtype.Float64)
		mask := tensor.Of([]bool{true, true, true, true, true, true, false, true, true, false}, 2, 5)
		some := maskedOf(x, mask)
		for kind, k := range map[string]struct {
			x    tensor.Tensor
			bare func(y tensor.Tensor) tensor.Tensor
		}{
			"dense":  {x, func(y tensor.Tensor) tensor.Tensor { return y }},
			"named":  {named.Of(x, batch{}, seq{}, rep{}), func(y tensor.Tensor) tensor.Tensor { return named.Unnamed(y, batch{}, seq{}, rep{}) }},
			"masked": {some, func(y tensor.Tensor) tensor.Tensor { return masked.Fill(y, 0.0) }},
			"named, masked": {named.Of(some, batch{}, seq{}, rep{}), func(y tensor.Tensor) tensor.Tensor {
				return masked.Fill(named.Unnamed(y, batch{}, seq{}, rep{}), 0.0)
			}},
		} {
			want := k.bare(l.Apply(k.x))
			if kind == "dense" || kind == "named" {
				want = l.Apply(x)
			}
			var c nn.Cache
			at := 0
			for _, n := range []int{2, 1, 2} {
				part := ops.Slice(x, []int{0, at, 0}, []int{2, n, 8})
				if kind == "masked" || kind == "named, masked" {
					part = maskedOf(part, ops.Slice(mask, []int{0, at}, []int{2, n}))
				}
				if kind == "named" || kind == "named, masked" {
					part = named.Of(part, batch{}, seq{}, rep{})
				}
				var y tensor.Tensor
				y, c = l.Extend(part, c)
				if err := tensor.AllClose(k.bare(y), ops.Slice(want, []int{0, at, 0}, []int{2, n, 8})); err != nil {
					t.Errorf("%+v, %s: positions from %d on: %v", s, kind, at, err)
				}
				at += n
			}
		}
	}
	if _, err := tenon.Try(func() tensor.Tensor {
		y, _ := nn.NewMultiHeadAttention(ops.RandomKey(1), 8, 4).Extend(wave(1, 1, 2, 8), nn.Cache{})
		return y
	}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a layer that is not causal: got %v", err)
	}
}
