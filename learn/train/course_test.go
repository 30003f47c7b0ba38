package train_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
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

func item(x tensor.Tensor) float64 { return tensor.Item[float64](ops.Cast(x, dtype.Float64)) }

// normed is a line through the output of a batch norm, whose statistics stand beside it.
type normed struct {
	Norm nn.BatchNorm
	W    tensor.Tensor
}

func normedLoss(m normed, r nn.Running, b points, _ tensor.Tensor) (tensor.Tensor, nn.Running) {
	x, r := m.Norm.Train(ops.Reshape(b.X, []int{-1, 1}), r)
	return ops.Mean(ops.Square(ops.Sub(ops.Mul(ops.Squeeze(x, 1), m.W), b.Y))), r
}

// What stands beside the parameters is what the batches made of it, is no parameter, and is
// in checkpoints.
func TestStateBesideParameters(t *testing.T) {
	norm, running := nn.NewBatchNorm(1)
	m := normed{norm, tensor.Scalar(float32(1))}
	var paths []string
	o := train.FitOptions[train.With[normed, nn.Running], points]{Data: pointsOf(nil), Epochs: 2}
	o.Optimizer, o.Average = train.SGD(0.05), 0.5
	o.For = func(path string) train.Optimizer { paths = append(paths, path); return nil }
	whole, err := train.FitWith(t.Context(), m, running, normedLoss, o)
	if err != nil {
		t.Fatal(err)
	}
	want := running
	for i := range 8 {
		b, _ := pointsOf(nil).At(nil, i)
		_, want = norm.Train(ops.Reshape(b.X, []int{-1, 1}), want)
	}
	got := whole.State.Params.Beside
	if e := math.Abs(item(ops.Squeeze(got.Mean, 0)) - item(ops.Squeeze(want.Mean, 0))); e > 1e-6 {
		t.Errorf("the running mean is %v, want %v", got.Mean, want.Mean)
	}
	if !tensor.Equal(whole.Params.Beside.Mean, got.Mean, tensor.EqualOptions{}) || item(whole.Params.Params.W) == item(whole.State.Params.Params.W) {
		t.Errorf("the average has the statistics %v and W %v", whole.Params.Beside, whole.Params.Params.W)
	}
	slices.Sort(paths)
	if p := slices.Compact(paths); !slices.Equal(p, []string{"Norm.Offset", "Norm.Scale", "W"}) {
		t.Errorf("the parameters are %q", p)
	}
	o.Checkpoint, o.Steps = filepath.Join(t.TempDir(), "run.safetensors"), 3
	if _, err := train.FitWith(t.Context(), m, running, normedLoss, o); err != nil {
		t.Fatal(err)
	}
	o.Steps = 0
	again, err := train.FitWith(t.Context(), m, running, normedLoss, o)
	if err != nil || again.From != 3 || !slices.Equal(bits(t, again.State), bits(t, whole.State)) {
		t.Errorf("resumed from %d: %v", again.From, err)
	}
}

// The loss is computed in bfloat16, and everything that is kept has 32 bits.
func TestMixedPrecision(t *testing.T) {
	o := lineOptions(train.SGD(0.05))
	o.Compute = dtype.BFloat16
	var in []dtype.DType
	fit, err := train.Fit(t.Context(), newLine(), func(m line, b points, k tensor.Tensor) tensor.Tensor {
		in = []dtype.DType{m.W.DType(), b.X.DType(), lineLoss(m, b, k).DType()}
		return lineLoss(m, b, k)
	}, o)
	if err != nil || !slices.Equal(in, []dtype.DType{dtype.BFloat16, dtype.BFloat16, dtype.BFloat16}) {
		t.Fatalf("computed in %v, %v", in, err)
	}
	if fit.Params.W.DType() != dtype.Float32 {
		t.Errorf("the parameters are %v", fit.Params.W.DType())
	}
	full, err := train.Fit(t.Context(), newLine(), lineLoss, lineOptions(train.SGD(0.05)))
	if err != nil || math.Abs(item(fit.Params.W)-item(full.Params.W)) > 0.02 {
		t.Errorf("W is %v, in full precision %v", fit.Params.W, full.Params.W)
	}
}

// Gradients that are too large for 16 bits leave an update out and halve the scale, until they
// are not.
func TestLossScale(t *testing.T) {
	o := train.Options{Optimizer: train.SGD(0.05), Compute: dtype.Float16, LossScale: train.LossScale{Start: 1 << 17, Grow: 3}, Average: 0.5}
	trainer, err := train.NewTrainer(newLine(), lineLoss, o)
	if err != nil {
		t.Fatal(err)
	}
	var scales []float64
	moved := -1
	for i := range 12 {
		b, _ := pointsOf(nil).At(nil, i)
		if _, err := trainer.Step(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		s := trainer.State()
		scales = append(scales, item(s.Scale[0]))
		if moved < 0 && item(s.Params.W) != 0 {
			moved = i
		}
		if w := item(s.Params.W); math.IsNaN(w) || math.IsInf(w, 0) {
			t.Fatalf("step %d: W is %v", i, w)
		}
	}
	if scales[0] != 1<<16 || moved < 1 || moved > 6 || slices.Max(scales[moved:]) <= slices.Min(scales) {
		t.Errorf("scales %v, first update at %d", scales, moved)
	}
	// With a scale the same numbers are learned, where nothing overflows.
	plain := lineOptions(train.SGD(0.05))
	scaled := lineOptions(train.SGD(0.05))
	scaled.LossScale, scaled.ClipNorm, plain.ClipNorm = train.LossScale{Start: 1024}, 0.5, 0.5
	a, err1 := train.Fit(t.Context(), newLine(), lineLoss, plain)
	b, err2 := train.Fit(t.Context(), newLine(), lineLoss, scaled)
	if err1 != nil || err2 != nil || math.Abs(item(a.Params.W)-item(b.Params.W)) > 1e-6 || a.Record.Losses[3] != b.Record.Losses[3] {
		t.Errorf("W %v and %v, %v %v", a.Params.W, b.Params.W, err1, err2)
	}
}

func TestAverages(t *testing.T) {
	history := func(o train.Options) (ws []float64, mean float64) {
		o.Optimizer = train.SGD(0.05)
		trainer, err := train.NewTrainer(newLine(), lineLoss, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 9 {
			b, _ := pointsOf(nil).At(nil, i)
			if _, err := trainer.Step(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			ws = append(ws, item(trainer.State().Params.W))
		}
		return ws, item(trainer.State().Averaged().W)
	}
	ws, mean := history(train.Options{AverageEvery: 2, AverageFrom: 3})
	if want := (ws[4] + ws[6] + ws[8]) / 3; math.Abs(mean-want) > 1e-6 {
		t.Errorf("the mean is %v, want %v", mean, want)
	}
	ws, mean = history(train.Options{Average: 0.75, AverageFrom: 6})
	want := ws[5]
	for _, w := range ws[6:] {
		want = 0.75*want + 0.25*w
	}
	if math.Abs(mean-want) > 1e-6 {
		t.Errorf("the moving average is %v, want %v", mean, want)
	}
}

type pair struct {
	A, B *nn.Dense
	C    nn.Dense
}

func pairLoss(m pair, x tensor.Tensor, _ tensor.Tensor) tensor.Tensor {
	return ops.Mean(ops.Square(m.C.Apply(m.B.Apply(m.A.Apply(x)))))
}

// A pointer that occurs twice is one layer: it gets the sum of gradients, one set of slots, and
// stays one. Tensors are no pointers.
func TestSharedParts(t *testing.T) {
	k := ops.RandomKeys(ops.RandomKey(3), 2)
	one, out := nn.NewDense(k[0], 3, 3), nn.NewDense(k[1], 3, 3)
	out.Bias = one.Bias
	x := ops.RandomNormal(ops.RandomKey(1), []int{4, 3}, dtype.Float32)
	m := pair{&one, &one, out}
	if got := train.Shared(m); len(got) != 1 || !slices.Equal(got[0], []string{"A", "B"}) {
		t.Fatalf("shared are %q", got)
	}
	trainer, err := train.NewTrainer(m, pairLoss, train.Options{Optimizer: train.SGD(0.1, train.SGDOptions{Momentum: 0.9})})
	if err != nil {
		t.Fatal(err)
	}
	type alone struct{ A, C nn.Dense }
	same, err := train.NewTrainer(alone{one, out}, func(m alone, x, k tensor.Tensor) tensor.Tensor {
		return pairLoss(pair{&m.A, &m.A, m.C}, x, k)
	}, train.Options{Optimizer: train.SGD(0.1, train.SGDOptions{Momentum: 0.9})})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		a, err := trainer.Step(t.Context(), x)
		b, err2 := same.Step(t.Context(), x)
		if err != nil || err2 != nil || math.Abs(a-b) > 1e-6 {
			t.Fatalf("losses %v, want %v; %v %v", a, b, err, err2)
		}
	}
	s := trainer.State()
	if len(s.Slots) != 4 || !tensor.Equal(s.Params.A.Kernel, s.Params.B.Kernel, tensor.EqualOptions{}) || tensor.Equal(s.Params.A.Bias, s.Params.C.Bias, tensor.EqualOptions{}) {
		t.Errorf("%d parameters; A %v, B %v, C %v", len(s.Slots), s.Params.A.Bias, s.Params.B.Bias, s.Params.C.Bias)
	}
	// By their paths, too.
	o := train.Options{Optimizer: train.SGD(0.1), Shared: [][]string{{"A", "C"}}}
	byPath, err := train.NewTrainer(pair{&one, nil, one}, func(m pair, x, _ tensor.Tensor) tensor.Tensor {
		return ops.Mean(ops.Square(m.C.Apply(m.A.Apply(x))))
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := byPath.Step(t.Context(), x); err != nil || len(byPath.State().Slots) != 2 || !tensor.Equal(byPath.State().Params.A.Kernel, byPath.State().Params.C.Kernel, tensor.EqualOptions{}) {
		t.Errorf("by path: %v", err)
	}
	for want, groups := range map[string][][]string{
		"D: there is no parameter":                       {{"A", "D"}},
		"C.Bias: it is shared with A.Kernel":             {{"A.Kernel", "C.Bias"}},
		"C.Kernel: it is shared with A.Bias.Kernel, whi": {{"A.Bias", "C"}},
	} {
		_, err := train.NewTrainer(m, pairLoss, train.Options{Shared: groups})
		if err == nil || !strings.Contains(err.Error(), strings.SplitN(want, ": ", 2)[1]) {
			t.Errorf("%q: got %v", groups, err)
		}
	}
}

// Groups have rates and decays of their own; frozen parameters count in no norm.
func TestGroups(t *testing.T) {
	type two struct{ W, B, Huge tensor.Tensor }
	m := two{tensor.Scalar(float32(1)), tensor.Scalar(float32(1)), tensor.Scalar(float32(1))}
	loss := func(m two, b points, _ tensor.Tensor) tensor.Tensor {
		return ops.Add(ops.Add(m.W, m.B), ops.Mul(m.Huge, 1e6))
	}
	o := train.Options{Optimizer: train.SGD(0.1), ClipNorm: 2, For: train.Groups(
		train.Group{Path: "Huge", Optimizer: train.Fixed()},
		train.Group{Path: "B|X", Optimizer: train.SGD(0.5, train.SGDOptions{WeightDecay: 0.5})})}
	trainer, err := train.NewTrainer(m, loss, o)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := pointsOf(nil).At(nil, 0)
	if _, err := trainer.Step(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	s := trainer.State()
	if w, b, h := item(s.Params.W), item(s.Params.B), item(s.Params.Huge); math.Abs(w-0.9) > 1e-6 || math.Abs(b-0.25) > 1e-6 || h != 1 || len(s.Slots) != 2 {
		t.Errorf("W %v, want 0.9; B %v, want 0.25; the frozen one %v; %d trained", w, b, h, len(s.Slots))
	}
	if _, err := tenon.Try(func() any { return train.Groups(train.Group{Path: "("}) }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("no regular expression: %v", err)
	}
	o.For = func(string) train.Optimizer { return train.Fixed() }
	if _, err := train.NewTrainer(m, loss, o); err == nil || !strings.Contains(err.Error(), "all 3 parameters") {
		t.Errorf("all frozen: %v", err)
	}
}

// Some of the latest checkpoints are kept, each whole.
func TestKeptCheckpoints(t *testing.T) {
	dir := t.TempDir()
	o := lineOptions(train.SGD(0.05))
	o.Checkpoint, o.Keep, o.CheckpointEvery = filepath.Join(dir, "run.safetensors"), 3, 4
	if err := os.WriteFile(filepath.Join(dir, "run-old.safetensors"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := train.Fit(t.Context(), newLine(), lineLoss, o)
	if err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for i, n := range names {
		names[i] = filepath.Base(n)
	}
	if want := []string{"run-12.safetensors", "run-16.safetensors", "run-20.safetensors", "run-old.safetensors", "run.safetensors"}; !slices.Equal(names, want) {
		t.Errorf("kept are %q", names)
	}
	o.Checkpoint, o.Keep = filepath.Join(dir, "run-12.safetensors"), 0
	if again, err := train.Fit(t.Context(), newLine(), lineLoss, o); err != nil || again.From != 12 || !slices.Equal(bits(t, again.Params), bits(t, whole.Params)) {
		t.Errorf("resumed from %+v, %v", again, err)
	}
}

func TestFindRate(t *testing.T) {
	m := newLine()
	c, err := train.FindRate(t.Context(), m, lineLoss, pointsOf(nil), train.Options{Optimizer: train.SGD(1)}, train.RateOptions{From: 1e-4, To: 10, Steps: 60})
	if err != nil || c.Best < 3e-3 || c.Best > 0.5 || len(c.Rates) != len(c.Losses) || len(c.Rates) == 60 || math.Abs(c.Rates[0]-1e-4) > 1e-12 {
		t.Errorf("rate %v after %d steps, %v", c.Best, len(c.Rates), err)
	}
	if item(m.W) != 0 {
		t.Error("the parameters moved")
	}
	if _, err := train.FindRate(t.Context(), m, lineLoss, pointsOf(nil), train.Options{}, train.RateOptions{From: 1, To: 0.1}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("no range: %v", err)
	}
	for loss, want := range map[float64]string{1: "after 100 steps it is", math.NaN(): "between the rates 1e-07 and 10: after 0 steps it is NaN"} {
		same := func(m line, _ points, _ tensor.Tensor) tensor.Tensor { return ops.Add(ops.Mul(m.W, 0.0), loss) }
		if _, err := train.FindRate(t.Context(), m, same, pointsOf(nil), train.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a loss of %v: %v, want %q", loss, err, want)
		}
	}
	norm, running := nn.NewBatchNorm(1)
	b, err := train.FindRateWith(t.Context(), normed{norm, tensor.Scalar(float32(1))}, running, normedLoss, pointsOf(nil), train.Options{Optimizer: train.SGD(1)}, train.RateOptions{From: 1e-4, Steps: 60})
	if err != nil || b.Best < 1e-3 || b.Best > 1 {
		t.Errorf("with running statistics: rate %v, %v", b.Best, err)
	}
}

func TestLogs(t *testing.T) {
	var text, lines bytes.Buffer
	o := lineOptions(train.SGD(0.05))
	scores := []float64{3, math.NaN(), math.Inf(1), 2, 1}
	o.Validate = func(context.Context, line) (float64, error) { scores = scores[1:]; return append(scores, 0)[0], nil }
	o.OnStep = []func(train.Event) error{train.LogJSON(&text), train.Log(slog.New(slog.NewTextHandler(&lines, nil)))}
	if _, err := train.Fit(t.Context(), newLine(), lineLoss, o); err != nil {
		t.Fatal(err)
	}
	events := strings.Split(strings.TrimSpace(text.String()), "\n")
	var e struct {
		Step, Steps int
		Loss        float64
		Score       any
	}
	if len(events) != 20 || json.Unmarshal([]byte(events[3]), &e) != nil || e.Step != 4 || e.Steps != 20 || e.Loss <= 0 || e.Score != "NaN" {
		t.Errorf("%d events, the fourth %s", len(events), events[3])
	}
	if n := strings.Count(lines.String(), "msg=validated"); n != 5 || !strings.Contains(lines.String(), "score=+Inf") {
		t.Errorf("%d lines: %s", n, lines.String())
	}
}
