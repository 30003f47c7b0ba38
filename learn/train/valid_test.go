package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type line struct{ W, B tensor.Tensor }

type points struct{ X, Y tensor.Tensor }

func newLine() line {
	return line{tensor.Scalar(float32(0)), tensor.Scalar(float32(0))}
}

func lineLoss(m line, b points, _ tensor.Tensor) tensor.Tensor {
	return ops.Mean(ops.Square(ops.Sub(ops.Add(ops.Mul(b.X, m.W), m.B), b.Y)))
}

// pointsOf are four batches of y = 2x + 1.
func pointsOf(bad map[int]float32) train.Source[points] {
	return train.Source[points]{Batches: 4, At: func(_ context.Context, i int) (points, error) {
		x := []float32{float32(i % 4), 1, -1, 2}
		y := make([]float32, len(x))
		for k := range x {
			y[k] = 2*x[k] + 1
		}
		if v, ok := bad[i]; ok {
			x[2] = v
		}
		return points{tensor.Of(x), tensor.Of(y)}, nil
	}}
}

func lineOptions(o train.Optimizer) train.FitOptions[line, points] {
	return train.FitOptions[line, points]{Options: train.Options{Optimizer: o}, Data: pointsOf(nil), Epochs: 5}
}

func lossAt(m line) float64 {
	b, _ := pointsOf(nil).At(nil, 1)
	return float64(tensor.Item[float32](lineLoss(m, b, nil)))
}

func TestScoresThatAreNoNumbers(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		scores []float64
		best   int // its step; 0: none
	}{
		"the first":             {[]float64{nan, 3, 2, 4, 5}, 12},
		"the first is infinite": {[]float64{math.Inf(1), 3, 2, 4, 5}, 12},
		"in between":            {[]float64{3, nan, 1, nan, nan}, 12},
		"all":                   {[]float64{nan, nan, nan, nan, nan}, 0},
	} {
		o := lineOptions(train.SGD(0.05))
		o.Checkpoint = filepath.Join(t.TempDir(), "run.safetensors")
		n := 0
		o.Validate = func(context.Context, line) (float64, error) { n++; return c.scores[n-1], nil }
		fit, err := train.Fit(context.Background(), newLine(), lineLoss, o)
		if (err == nil) != (c.best > 0) || fit == nil || fit.Best.Step != c.best || len(fit.Record.Scores) != 5 {
			t.Errorf("%s: got %+v, %v", name, fit, err)
			continue
		}
		if got := lossAt(fit.Params); got > 1 {
			t.Errorf("%s: the parameters are those of the beginning: loss %v", name, got)
		}
		again, err := train.Fit(context.Background(), newLine(), lineLoss, o)
		if again == nil || again.From != 20 || again.Best.Step != c.best || !tensor.Equal(again.Params.W, fit.Params.W, tensor.EqualOptions{}) {
			t.Errorf("%s: resumed: %+v, %v", name, again, err)
		}
	}
}

func TestInterruptedBeforeTheFirstValidation(t *testing.T) {
	o := lineOptions(train.SGD(0.05))
	o.ValidateEvery = 100
	o.Checkpoint = filepath.Join(t.TempDir(), "run.safetensors")
	o.Validate = func(_ context.Context, m line) (float64, error) { return lossAt(m), nil }
	ctx, cancel := context.WithCancel(context.Background())
	o.OnStep = []func(train.Event) error{func(e train.Event) error {
		if e.Step == 10 {
			cancel()
		}
		return nil
	}}
	fit, err := train.Fit(ctx, newLine(), lineLoss, o)
	if !errors.Is(err, context.Canceled) || fit == nil || fit.Reason != train.Interrupted {
		t.Fatalf("got %+v, %v", fit, err)
	}
	if fit.Best.Step != 0 || !tensor.Equal(fit.Params.W, fit.State.Params.W, tensor.EqualOptions{}) || lossAt(fit.Params) > 1 {
		t.Errorf("the parameters are %v, those of the state %v", fit.Params, fit.State.Params)
	}
	o.OnStep = nil
	fit, err = train.Fit(context.Background(), newLine(), lineLoss, o)
	if err != nil || fit.From != 10 || fit.Best.Step != 20 {
		t.Errorf("resumed: %+v, %v", fit, err)
	}
}

func TestScoresInJSON(t *testing.T) {
	for _, x := range []float64{1.5, math.NaN(), math.Inf(1), math.Inf(-1)} {
		b, err := json.Marshal(train.Record{Scores: []train.Score{{Step: 3, Score: x}}})
		var back train.Record
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || len(back.Scores) != 1 || back.Scores[0].Step != 3 || back.Scores[0].Score != x && !(x != x && math.IsNaN(back.Scores[0].Score)) {
			t.Errorf("%v: %s, %v, %v", x, b, back, err)
		}
	}
}

func TestLossesThatAreNoNumbers(t *testing.T) {
	nan := float32(math.NaN())
	fit := func(m line, loss train.Loss[line, points], change func(*train.FitOptions[line, points])) error {
		o := lineOptions(train.SGD(0.05))
		if change != nil {
			change(&o)
		}
		_, err := train.Fit(context.Background(), m, loss, o)
		return err
	}
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"no loss": {fit(newLine(), nil, nil), []string{"the loss is nil"}},
		"in the first batch": {fit(newLine(), lineLoss, func(o *train.FitOptions[line, points]) { o.Data = pointsOf(map[int]float32{0: nan}) }),
			[]string{"X: the loss of step 0", "batch 0 of epoch 0 has NaN in 1 of 4 elements", "remove such values from the data"}},
		"in a later batch": {fit(newLine(), lineLoss, func(o *train.FitOptions[line, points]) { o.Data = pointsOf(map[int]float32{6: float32(math.Inf(1))}) }),
			[]string{"X: the loss of step 6", "batch 2 of epoch 1 has infinite numbers in 1 of 4 elements"}},
		"in the parameters": {fit(line{tensor.Scalar(nan), tensor.Scalar(float32(0))}, lineLoss, nil), []string{"W: ", "before any training", "the initial parameters have NaN"}},
		"of the loss": {fit(newLine(), func(m line, b points, k tensor.Tensor) tensor.Tensor { return ops.Log(ops.Neg(lineLoss(m, b, k))) }, nil),
			[]string{"the loss of step 0 is NaN, before any training", "CheckNumerics"}},
		"diverged": {fit(newLine(), lineLoss, func(o *train.FitOptions[line, points]) { o.Optimizer, o.Epochs = train.SGD(1e10), 50 }), []string{"lower the learning rate"}},
	} {
		for _, w := range c.want {
			if !errors.Is(c.err, tenon.ErrInvalid) || !strings.Contains(c.err.Error(), w) {
				t.Errorf("%s: got %v, want %q", name, c.err, w)
			}
		}
	}
}

func TestCheckpointOfSomethingElse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.safetensors")
	o := lineOptions(train.SGD(0.05))
	o.Checkpoint = file
	if _, err := train.Fit(context.Background(), newLine(), lineLoss, o); err != nil {
		t.Fatal(err)
	}
	type other struct{ W, B, C tensor.Tensor }
	wide := train.FitOptions[other, points]{Data: pointsOf(nil), Options: train.Options{Optimizer: train.SGD(0.05)}, Checkpoint: file}
	_, model := train.Fit(context.Background(), other{tensor.Scalar(float32(0)), tensor.Scalar(float32(0)), tensor.Scalar(float32(0))}, func(m other, b points, k tensor.Tensor) tensor.Tensor {
		return ops.Add(lineLoss(line{m.W, m.B}, b, k), m.C)
	}, wide)
	o.Optimizer = train.Adam(0.1)
	_, optimizer := train.Fit(context.Background(), newLine(), lineLoss, o)
	o.Optimizer, o.Data.Batches = train.SGD(0.05), 3
	_, data := train.Fit(context.Background(), newLine(), lineLoss, o)
	o.Data.Batches, o.Run = 4, "b"
	_, run := train.Fit(context.Background(), newLine(), lineLoss, o)
	for name, c := range map[string]struct {
		err  error
		text string
	}{
		"model": {model, "another model"}, "optimizer": {optimizer, "optimizer"},
		"data": {data, "its epochs had 4 batches, now they have 3"}, "run": {run, "another run"},
	} {
		if !errors.Is(c.err, tenon.ErrInvalid) || !strings.Contains(c.err.Error(), c.text) || !strings.Contains(c.err.Error(), "FitOptions.Checkpoint") || strings.Contains(c.err.Error(), "ReadOptions") {
			t.Errorf("another %s: got %v", name, c.err)
		}
	}
}

// A checkpoint of the version that knew no scale of the loss, after 8 of 20 steps, goes on as if nothing had been. With a
// scale it is refused, by name, and the other way round.
func TestCheckpointWithoutScale(t *testing.T) {
	old, err := os.ReadFile(filepath.Join("testdata", "without-scale.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	o := lineOptions(train.Adam(0.05))
	o.Validate = func(context.Context, line) (float64, error) { return 1, nil }
	want, err := train.Fit(t.Context(), newLine(), lineLoss, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Checkpoint = filepath.Join(t.TempDir(), "run.safetensors")
	if err := os.WriteFile(o.Checkpoint, old, 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := train.Fit(t.Context(), newLine(), lineLoss, o)
	if err != nil || got.From != 8 {
		t.Fatalf("it goes on from step %d: %v", got.From, err)
	}
	for _, c := range [][2]tensor.Tensor{{got.State.Params.W, want.State.Params.W}, {got.State.Params.B, want.State.Params.B}} {
		if err := tensor.AllClose(c[0], c[1]); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(o.Checkpoint, old, 0o666); err != nil {
		t.Fatal(err)
	}
	o.LossScale.Start = 1024
	_, err = train.Fit(t.Context(), newLine(), lineLoss, o)
	if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "LossScale") {
		t.Errorf("with a scale: %v", err)
	}
	o.Checkpoint += ".scaled"
	if _, err := train.Fit(t.Context(), newLine(), lineLoss, o); err != nil {
		t.Fatal(err)
	}
	o.LossScale.Start = 0
	_, err = train.Fit(t.Context(), newLine(), lineLoss, o)
	if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "LossScale") {
		t.Errorf("without the scale that was: %v", err)
	}
}

func TestHiddenFieldsAreNotTrained(t *testing.T) {
	type hidden struct {
		W tensor.Tensor
		b tensor.Tensor
	}
	m := hidden{tensor.Scalar(float32(0)), tensor.Scalar(float32(0))}
	_, err := train.Fit(context.Background(), m, func(m hidden, b points, k tensor.Tensor) tensor.Tensor {
		return lineLoss(line{m.W, m.b}, b, k)
	}, train.FitOptions[hidden, points]{Data: pointsOf(nil)})
	if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "b: the field is not exported") {
		t.Errorf("got %v", err)
	}
}

// A source that panics, in the goroutine that makes batches ahead, is an error with the place.
func TestSourcesThatPanic(t *testing.T) {
	o := lineOptions(train.SGD(0.1))
	good := o.Data.At
	o.Data.At = func(ctx context.Context, i int) (points, error) {
		if i == 5 {
			var none []points
			return none[i], nil
		}
		return good(ctx, i)
	}
	_, err := train.Fit(t.Context(), newLine(), lineLoss, o)
	var e *dataset.ElementError
	if !errors.As(err, &e) || e.Index != 5 || !strings.Contains(e.Error(), "index out of range") || !strings.Contains(e.Stack, "valid_test.go") {
		t.Errorf("got %v", err)
	}
}

func TestPlateauLowersTheRate(t *testing.T) {
	p, err := train.NewPlateau(0.05, train.PlateauOptions{Factor: 0.5, Patience: 1})
	if err != nil {
		t.Fatal(err)
	}
	o := lineOptions(train.SGD(p.Schedule()))
	o.Checkpoint, o.Plateau = filepath.Join(t.TempDir(), "run.safetensors"), p
	o.Validate = func(context.Context, line) (float64, error) { return 1, nil }
	if _, err := train.Fit(context.Background(), newLine(), lineLoss, o); err != nil || p.Rate() != 0.0125 {
		t.Errorf("the rate is %v, %v", p.Rate(), err)
	}
	again, _ := train.NewPlateau(0.05, train.PlateauOptions{Factor: 0.5, Patience: 1})
	for name, p := range map[string]*train.Plateau{"another one": again, "the same": p} {
		o.Plateau = p
		if _, err := train.Fit(context.Background(), newLine(), lineLoss, o); err != nil || p.Rate() != 0.0125 {
			t.Errorf("resumed with %s: the rate is %v, %v", name, p.Rate(), err)
		}
	}
	o.Checkpoint, o.Plateau = "", p
	var first float64
	o.OnStep = append(o.OnStep, func(e train.Event) error {
		if e.Step == 1 {
			first = p.Rate()
		}
		return nil
	})
	if _, err := train.Fit(context.Background(), newLine(), lineLoss, o); err != nil || first != 0.05 || p.Rate() != 0.0125 {
		t.Errorf("a new run begins at the rate %v and ends at %v, %v", first, p.Rate(), err)
	}
}
