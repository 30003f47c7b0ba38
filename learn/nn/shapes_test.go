package nn_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Losses and metrics refuse what would be broadcast by accident, and name both shapes and the
// repair.
func TestLossesAndMetricsRefuseOtherShapes(t *testing.T) {
	column, flat := wave(1, 4, 1), wave(2, 4)
	labels := tensor.Of([]int64{0, 1, 1, 0})
	batched := named.Of(flat, batch{})
	for name, c := range map[string]struct {
		f    func() any
		want []string
	}{
		"squared":       {func() any { return nn.SquaredError(column, flat) }, []string{"[4, 1]", "[4]", "ops.Squeeze(prediction, -1)"}},
		"binary":        {func() any { return nn.BinaryCrossEntropy(column, labels) }, []string{"[4, 1]", "[4]", "ops.Squeeze(prediction, -1)"}},
		"huber":         {func() any { return nn.Huber(flat, column, 1) }, []string{"[4]", "[4, 1]", "ops.Squeeze(target, -1)"}},
		"other sizes":   {func() any { return nn.SquaredError(flat, wave(1, 1)) }, []string{"[4]", "[1]", "ops.BroadcastTo"}},
		"cosine":        {func() any { return nn.Cosine(wave(1, 4, 3), wave(1, 3)) }, []string{"[4, 3]", "[3]"}},
		"softmax":       {func() any { return nn.SoftmaxCrossEntropy(wave(1, 4, 3), ops.ExpandDims(labels, -1)) }, []string{"[4, 3]", "[4, 1]", "ops.Squeeze(labels, -1)"}},
		"named":         {func() any { return nn.SquaredError(named.Of(column, batch{}, rep{}), batched) }, []string{"{batch, rep}", "{batch}"}},
		"accuracy":      {func() any { return nn.NewAccuracy().Update(flat, labels) }, []string{"the scores have the shape [4], the labels [4]"}},
		"accuracy, one": {func() any { return nn.NewAccuracy(nn.Logits).Update(column, labels) }, []string{"[4, 1]", "ops.Squeeze"}},
		"auc":           {func() any { return nn.NewAUC(0).Update(column, labels) }, []string{"[4, 1]", "[4]"}},
	} {
		_, err := tenon.Try(c.f)
		for _, w := range c.want {
			if !errors.Is(err, tenon.ErrShape) || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got %v, want %q", name, err, w)
			}
		}
	}
}

func TestMetricsOfProbabilitiesAndLogits(t *testing.T) {
	logits, labels := tensor.Of([]float64{-3, 0.2, 2, -0.5}), tensor.Of([]bool{false, true, true, true})
	p := ops.Sigmoid(logits)
	for _, got := range []float64{
		nn.NewAccuracy(nn.Logits).Update(logits, labels).Result(),
		nn.NewAccuracy(nn.Probabilities).Update(p, labels).Result(),
		nn.NewAccuracy().Update(ops.Stack([]any{ops.Neg(logits), logits}, -1), ops.Cast(labels, dtype.Int64)).Result(),
	} {
		if got != 0.75 {
			t.Errorf("the accuracy is %v", got)
		}
	}
	if a, b := nn.NewAUC(0, nn.Logits).Update(logits, labels).Result(), nn.NewAUC(0).Update(p, labels).Result(); a != 1 || b != 1 {
		t.Errorf("the areas are %v and %v", a, b)
	}
	nan := tensor.Of([]float64{0.1, math.NaN(), 0.2, 0.3})
	for name, c := range map[string]struct {
		f    func() any
		want string
	}{
		"NaN in the area":            {func() any { return nn.NewAUC(0).Update(nan, labels) }, "not a probability"},
		"NaN in the area of logits":  {func() any { return nn.NewAUC(0, nn.Logits).Update(nan, labels) }, "not a number"},
		"NaN in the accuracy":        {func() any { return nn.NewAccuracy(nn.Logits).Update(nan, labels) }, "not a number"},
		"logits in place of chances": {func() any { return nn.NewAUC(0).Update(logits, labels) }, "nn.Logits"},
	} {
		if _, err := tenon.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// A row's states do not depend on its padding, said by a mask, by lengths, or by a masked
// tensor: they are those of ragged rows.
func TestRecurrentLayersLeavePaddingOut(t *testing.T) {
	lengths := []int64{3, 0, 5, 1}
	x := ops.Cast(wave(3, 4, 5, 2), dtype.Float64)
	mask := ops.SequenceMask(tensor.Of(lengths), 5)
	rows := tenon.Must(ragged.FromDense(x, ragged.FromDenseOptions{Lengths: lengths}))
	for _, reverse := range []bool{false, true} {
		gru := nn.NewGRU(ops.RandomKey(1), 2, 3, nn.RecurrentOptions{DType: dtype.Float64, Reverse: reverse})
		lstm := nn.NewLSTM(ops.RandomKey(2), 2, 3, nn.RecurrentOptions{DType: dtype.Float64, Reverse: reverse})
		_, last := gru.Apply(rows)
		_, h, c := lstm.Apply(rows)
		for name, f := range map[string]func() (a, b, d tensor.Tensor){
			"lengths": func() (a, b, d tensor.Tensor) {
				a, b, d = from(gru, lstm, x, tensor.Of(lengths))
				return a, b, d
			},
			"mask": func() (a, b, d tensor.Tensor) {
				a, b, d = from(gru, lstm, x, mask)
				return a, b, d
			},
			"masked": func() (a, b, d tensor.Tensor) {
				m := tenon.Must(masked.New(x, mask))
				_, a = gru.Apply(m)
				_, b, d = lstm.Apply(m)
				return a, b, d
			},
			"named": func() (a, b, d tensor.Tensor) {
				names := nn.Names{In: rep{}, Along: seq{}}
				g, l := gru, lstm
				g.Names, l.Names = names, names
				n := named.Of(x, batch{}, seq{}, rep{})
				a, _, _ = from(g, l, n, tensor.Of(lengths))
				_, b, d = from(g, l, n, named.Of(lengths, batch{}))
				un := func(x tensor.Tensor) tensor.Tensor { return named.Unnamed(x, batch{}, rep{}) }
				return un(a), un(b), un(d)
			},
		} {
			a, b, d := f()
			for i, got := range []tensor.Tensor{a, b, d} {
				if err := tensor.AllClose(got, []tensor.Tensor{last, h, c}[i]); err != nil {
					t.Errorf("%s, reverse %v, state %d: %v", name, reverse, i, err)
				}
			}
		}
	}
	gru := nn.NewGRU(ops.RandomKey(1), 2, 3)
	if _, err := tenon.Try(func() tensor.Tensor {
		y, _ := gru.ApplyFrom(wave(1, 4, 5, 2), tensor.Of([]int64{1, 2}), nil)
		return y
	}); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("lengths of other rows: got %v", err)
	}
}

// from returns the last states of rows of which only some positions are there.
func from(gru nn.GRU, lstm nn.LSTM, x, there tensor.Tensor) (a, b, c tensor.Tensor) {
	_, g := gru.ApplyFrom(x, there, nil)
	_, l := lstm.ApplyFrom(x, there, nil)
	return g[0], l[0], l[1]
}

// stranger is a tensor of a type that the package does not know.
type stranger struct {
	tensor.Tensor
	unit string
}

func (s stranger) Carried() (tensor.Tensor, int) { return s.Tensor, s.Shape().Rank() - 1 }

func (s stranger) Carry(items tensor.Tensor) (tensor.Tensor, error) {
	return stranger{items, s.unit}, nil
}

// Types of tensors that say what they carry pass through layers and losses.
func TestStrangersPassThroughLayers(t *testing.T) {
	x := stranger{wave(1, 4, 3), "m"}
	layers := map[string]func(x tensor.Tensor) tensor.Tensor{
		"dense":   nn.NewDense(ops.RandomKey(1), 3, 2).Apply,
		"mlp":     nn.NewMLP(ops.RandomKey(1), []int{3, 4, 2}).Apply,
		"norm":    nn.NewLayerNorm(3).Apply,
		"rms":     nn.NewRMSNorm(3).Apply,
		"dropout": func(x tensor.Tensor) tensor.Tensor { return nn.Dropout{Rate: 0.5}.Apply(ops.RandomKey(2), x) },
		"loss":    func(x tensor.Tensor) tensor.Tensor { return nn.SquaredError(x, wave(2, 4, 3)) },
	}
	for name, f := range layers {
		y, err := tenon.Try(func() tensor.Tensor { return f(x) })
		s, ok := y.(stranger)
		if err != nil || !ok || s.unit != "m" {
			t.Errorf("%s: got %T, %v", name, y, err)
		} else if err := tensor.AllClose(s.Tensor, f(x.Tensor)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range layers {
		m := tenon.Must(masked.New(x.Tensor, []bool{true, false, true, true}))
		y, err := tenon.Try(func() tensor.Tensor { return f(m) })
		if got, ok := y.(*masked.Tensor); err != nil || !ok || !tensor.Equal(got.Mask(), m.Mask()) {
			t.Errorf("%s of masked rows: got %v, %v", name, y, err)
		}
	}
}

func TestLinearIsLinear(t *testing.T) {
	m := nn.NewMLP(ops.RandomKey(1), []int{3, 4, 2}, nn.MLPOptions{Activation: nn.Linear})
	x := wave(1, 5, 3)
	want := m.Layers[1].Apply(ops.MatMul(x, m.Layers[0].Kernel))
	if err := tensor.AllClose(m.Apply(x), want); err != nil {
		t.Error(err)
	}
	if a := nn.NewMLP(ops.RandomKey(1), []int{3, 4, 2}).Layers[0].Activation; a != nn.Relu {
		t.Errorf("nothing said: %q", a)
	}
}

func TestOrthogonal(t *testing.T) {
	for _, dims := range [][]int{{5, 3}, {3, 5}, {4, 4}, {2, 3, 4}, {1, 7}} {
		q := nn.Initialize(nn.Orthogonal, ops.RandomKey(3), dtype.Float64, dims...)
		rows, columns := 1, dims[len(dims)-1]
		for _, n := range dims[:len(dims)-1] {
			rows *= n
		}
		q = ops.Reshape(q, []int{rows, columns})
		gram := ops.MatMulT(q, q, false, true)
		if rows > columns {
			gram = ops.MatMulT(q, q, true, false)
		}
		n := min(rows, columns)
		if err := tensor.AllClose(gram, ops.Eye(dtype.Float64, n, n), tensor.CloseOptions{ATol: 1e-12}); err != nil {
			t.Errorf("%v: %v", dims, err)
		}
	}
}
