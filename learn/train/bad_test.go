package train_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type labelled struct{ X, Label tensor.Tensor }

// What is wrong with a batch, a loss or an option is said with the thing and the way out.
func TestBadInput(t *testing.T) {
	dense := nn.NewDense(ops.RandomKey(1), 2, 3)
	classify := func(m nn.Dense, b labelled, _ tensor.Tensor) tensor.Tensor {
		return ops.Mean(nn.SoftmaxCrossEntropy(m.Apply(b.X), b.Label, nn.CrossEntropyOptions{}))
	}
	data := func(change func(i int, b *labelled)) train.Source[labelled] {
		return train.Source[labelled]{Batches: 4, At: func(_ context.Context, i int) (labelled, error) {
			b := labelled{ops.Ones(dtype.Float32, []int{3, 2}), tensor.Of([]int64{0, 1, 2})}
			change(i, &b)
			return b, nil
		}}
	}
	fit := func(loss train.Loss[nn.Dense, labelled], s train.Source[labelled], change func(*train.FitOptions[nn.Dense, labelled])) error {
		o := train.FitOptions[nn.Dense, labelled]{Data: s, Epochs: 2}
		if change != nil {
			change(&o)
		}
		_, err := train.Fit(t.Context(), dense, loss, o)
		return err
	}
	none := func(int, *labelled) {}
	at := func(n int, f func(b *labelled)) func(int, *labelled) {
		return func(i int, b *labelled) {
			if i == n {
				f(b)
			}
		}
	}
	option := func(change func(*train.FitOptions[nn.Dense, labelled])) error {
		return fit(classify, data(none), change)
	}
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"label out of range": {fit(classify, data(at(2, func(b *labelled) { b.Label = tensor.Of([]int64{0, 3, 2}) })), nil),
			[]string{"batch 2 of epoch 0", "3", "[1]"}},
		"label below 0": {fit(classify, data(at(5, func(b *labelled) { b.Label = tensor.Of([]int64{0, 1, -1}) })), nil),
			[]string{"batch 1 of epoch 1", "-1", "[2]"}},
		"other element type": {fit(classify, data(at(1, func(b *labelled) { b.X = ops.Cast(b.X, dtype.Float64) })), nil),
			[]string{"batch 1 of epoch 0", "X: ", "float64[3, 2]", "float32[3, 2]", "give all batches"}},
		"other rank": {fit(classify, data(at(1, func(b *labelled) { b.X = ops.ExpandDims(b.X, 0) })), nil),
			[]string{"batch 1 of epoch 0", "X: ", "float32[1, 3, 2]"}},
		"other width": {fit(classify, data(at(1, func(b *labelled) { b.X = ops.Ones(dtype.Float32, []int{3, 5}) })), nil),
			[]string{"batch 1 of epoch 0", "5", "2"}},
		"nothing": {fit(classify, data(at(1, func(b *labelled) { b.X = nil })), nil), []string{"batch 1 of epoch 0"}},
		"loss of a batch": {fit(func(m nn.Dense, b labelled, _ tensor.Tensor) tensor.Tensor {
			return nn.SoftmaxCrossEntropy(m.Apply(b.X), b.Label, nn.CrossEntropyOptions{})
		}, data(none), nil), []string{"not a floating-point scalar", "ops.Mean"}},
		"whole loss":     {fit(func(m nn.Dense, b labelled, _ tensor.Tensor) tensor.Tensor { return tensor.Scalar(int64(1)) }, data(none), nil), []string{"not a floating-point scalar"}},
		"no loss at all": {fit(func(m nn.Dense, b labelled, _ tensor.Tensor) tensor.Tensor { return nil }, data(none), nil), []string{"not a floating-point scalar"}},
		"nil loss":       {fit(nil, data(none), nil), []string{"the loss is nil"}},
		"nil callback":   {option(func(o *train.FitOptions[nn.Dense, labelled]) { o.OnStep = append(o.OnStep, nil) }), []string{"OnStep[0] is nil"}},
		"nil source":     {option(func(o *train.FitOptions[nn.Dense, labelled]) { o.Data.At = nil }), []string{"and a function At"}},
		"plateau alone":  {option(func(o *train.FitOptions[nn.Dense, labelled]) { o.Plateau = new(train.Plateau) }), []string{"Validate is nil"}},
		"epochs":         {option(func(o *train.FitOptions[nn.Dense, labelled]) { o.Epochs = -1 }), []string{"Epochs is -1"}},
		"empty plateau": {option(func(o *train.FitOptions[nn.Dense, labelled]) {
			o.Plateau, o.Validate = new(train.Plateau), func(context.Context, nn.Dense) (float64, error) { return 0, nil }
		}), []string{"NewPlateau"}},
		"clip":    {option(func(o *train.FitOptions[nn.Dense, labelled]) { o.ClipNorm = math.NaN() }), []string{"ClipNorm is NaN"}},
		"average": {option(func(o *train.FitOptions[nn.Dense, labelled]) { o.Average = 1 }), []string{"Average is 1"}},
		"compute": {option(func(o *train.FitOptions[nn.Dense, labelled]) { o.Compute = dtype.Int64 }), []string{"Compute is int64"}},
		"thrown by Validate": {option(func(o *train.FitOptions[nn.Dense, labelled]) {
			o.Validate = func(context.Context, nn.Dense) (float64, error) {
				return 0, nil0(ops.Add(tensor.Of([]int64{1, 2}), tensor.Of([]int64{1, 2, 3})))
			}
		}), []string{"validation after step 4"}},
	} {
		for _, w := range c.want {
			if c.err == nil || !strings.Contains(c.err.Error()+detail(c.err), w) {
				t.Errorf("%s: got %v, want %q", name, c.err, w)
			}
		}
	}
	var s train.Schedule
	if _, err := tenon.Try(func() train.Optimizer { return train.Adam(s) }); err == nil || !strings.Contains(err.Error(), "schedule of an optimizer is nil") {
		t.Errorf("nil schedule: %v", err)
	}
}

func nil0(tensor.Tensor) error { return nil }

func detail(err error) string {
	var e *tenon.Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// Where a batch fails, or a loss is no number, what was learned before is in the result and in
// the checkpoint, and the run goes on once the data are mended.
func TestNothingIsLost(t *testing.T) {
	whole, err := train.Fit(t.Context(), newLine(), lineLoss, lineOptions(train.SGD(0.05)))
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(p points) (points, error){
		"nan":   func(p points) (points, error) { p.X = ops.Mul(p.X, math.NaN()); return p, nil },
		"error": func(p points) (points, error) { return p, errors.New("the disk is gone") },
		"specs": func(p points) (points, error) { p.X = ops.Cast(p.X, dtype.Float64); return p, nil },
	} {
		o := lineOptions(train.SGD(0.05))
		o.Checkpoint, o.CheckpointEvery = filepath.Join(t.TempDir(), "run.safetensors"), 1000
		good := o.Data.At
		o.Data.At = func(ctx context.Context, i int) (points, error) {
			p, err := good(ctx, i)
			if i == 7 {
				return spoil(p)
			}
			return p, err
		}
		fit, err := train.Fit(t.Context(), newLine(), lineLoss, o)
		if err == nil || fit == nil || fit.Reason != train.Failed || len(fit.Record.Losses) != 7 || math.IsNaN(item(fit.Params.W)) || item(fit.Params.W) == 0 {
			t.Errorf("%s: %+v, %v", name, fit, err)
			continue
		}
		o.Data.At = good
		again, err := train.Fit(t.Context(), newLine(), lineLoss, o)
		if err != nil || again.From != 7 || !slices.Equal(bits(t, again.State), bits(t, whole.State)) {
			t.Errorf("%s: went on from %d: %v", name, again.From, err)
		}
	}
}
