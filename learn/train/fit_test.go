package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// model is small, and its loss uses rows of different lengths and random numbers.
type model struct {
	Words nn.Embedding
	Out   nn.MLP
}

type examples struct {
	Rows   *ragged.Tensor
	Labels tensor.Tensor
}

func newModel() model {
	k := ops.RandomKeys(ops.RandomKey(1), 2)
	return model{nn.NewEmbedding(k[0], 20, 8, nn.EmbeddingOptions{}), nn.NewMLP(k[1], []int{8, 6, 2}, nn.MLPOptions{})}
}

func loss(m model, b examples, key tensor.Tensor) tensor.Tensor {
	x := m.Words.Bag(b.Rows, nil, nn.BagMean)
	x = nn.Dropout{Rate: 0.2}.Apply(key, x)
	return ops.Mean(nn.SoftmaxCrossEntropy(m.Out.Apply(x), b.Labels, nn.CrossEntropyOptions{}))
}

// at makes the batch of a position: rows with an even number of words below 10 have label 1.
func at(_ context.Context, position int) (examples, error) {
	var rows [][]int64
	var labels []int64
	for r := range 5 {
		var row []int64
		label := int64(1)
		for w := range 1 + (position*7+r*3)%6 {
			word := int64((position*13 + r*5 + w*11) % 20)
			if row = append(row, word); word < 10 {
				label = 1 - label
			}
		}
		rows, labels = append(rows, row), append(labels, label)
	}
	return examples{ragged.FromSlices(rows), tensor.Of(labels)}, nil
}

func fitOptions() train.FitOptions[model, examples] {
	return train.FitOptions[model, examples]{
		Options: train.Options{
			Optimizer: train.AdamW(train.Cosine(0.05, 24)), NoDecay: train.NotMatrices,
			ClipNorm: 1, Accumulate: 2, Average: 0.9, Seed: 5,
			For: func(path string) train.Optimizer {
				if strings.HasPrefix(path, "Words") {
					return train.Adam(0.1, train.AdamOptions{Sparse: true})
				}
				return nil
			},
		},
		Data: train.Source[examples]{Batches: 8, At: at}, Epochs: 3,
		Validate: func(ctx context.Context, m model) (float64, error) {
			b, err := at(ctx, 1000)
			return float64(tensor.Item[float32](loss(m, b, nil))), err
		},
		ValidateEvery: 4, CheckpointEvery: 3, Run: "test",
	}
}

// bits returns all numbers of a structure.
func bits(t *testing.T, x any) (out []uint32) {
	t.Helper()
	leaves, err := nest.Flatten(x, nest.Options{Expand: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leaves {
		if d, ok := l.(tensor.Tensor); ok && d.DType().IsFloat() {
			for _, v := range tensor.Data[float32](d) {
				out = append(out, math.Float32bits(v))
			}
		}
	}
	return out
}

func TestFit(t *testing.T) {
	f, err := train.Fit(t.Context(), newModel(), loss, fitOptions())
	if err != nil {
		t.Fatal(err)
	}
	if f.Reason != train.Finished || len(f.Record.Losses) != 24 || len(f.Record.Scores) != 6 || f.From != 0 {
		t.Errorf("%s after %d losses and %d scores, from %d", f.Reason, len(f.Record.Losses), len(f.Record.Scores), f.From)
	}
	best := slices.MinFunc(f.Record.Scores, func(a, b train.Score) int {
		if a.Score < b.Score {
			return -1
		}
		return 1
	})
	if best != f.Best {
		t.Errorf("the best score is %v, the result has %v", best, f.Best)
	}
	if f.Best.Score >= f.Record.Scores[0].Score {
		t.Errorf("nothing was learned: %v", f.Record.Scores)
	}
}

// A run that is interrupted after any step, and one that is killed, goes on with the same
// bits as if it had never stopped.
func TestResume(t *testing.T) {
	whole, err := train.Fit(t.Context(), newModel(), loss, fitOptions())
	if err != nil {
		t.Fatal(err)
	}
	want := bits(t, []any{whole.Params, whole.State})
	for _, stop := range []int{1, 2, 3, 7, 8, 12, 23} {
		for _, kill := range []bool{false, true} {
			o := fitOptions()
			o.Checkpoint = filepath.Join(t.TempDir(), "run.safetensors")
			ctx, cancel := context.WithCancel(t.Context())
			killed := errors.New("killed")
			o.OnStep = append(o.OnStep, func(e train.Event) error {
				if e.Step != stop {
					return nil
				}
				if kill {
					return killed
				}
				cancel()
				return nil
			})
			f, err := train.Fit(ctx, newModel(), loss, o)
			cancel()
			if kill && err != killed || !kill && !errors.Is(err, context.Canceled) {
				t.Fatalf("stopped after %d: %v", stop, err)
			}
			if !kill && (f.Reason != train.Interrupted || len(f.Record.Losses) != stop) {
				t.Errorf("stopped after %d: %s with %d losses", stop, f.Reason, len(f.Record.Losses))
			}
			o.OnStep = nil
			from := stop
			if kill {
				from = stop / 3 * 3
			}
			f, err = train.Fit(t.Context(), newModel(), loss, o)
			if err != nil {
				t.Fatalf("resumed at %d: %v", stop, err)
			}
			if f.From != from || !slices.Equal(f.Record.Losses, whole.Record.Losses) || !slices.Equal(f.Record.Scores, whole.Record.Scores) {
				t.Errorf("resumed at %d, want %d: losses %v, want %v", f.From, from, f.Record.Losses, whole.Record.Losses)
			}
			if !slices.Equal(bits(t, []any{f.Params, f.State}), want) {
				t.Errorf("resumed at %d: other bits", stop)
			}
			// A run that has finished stays finished.
			again, err := train.Fit(t.Context(), newModel(), loss, o)
			if err != nil || again.Reason != train.Finished || again.From != 24 || !slices.Equal(bits(t, again.Params), bits(t, f.Params)) {
				t.Errorf("run again: %v %v", again, err)
			}
		}
	}
}

func TestEarlyStopping(t *testing.T) {
	o := fitOptions()
	scores := []float64{3, 2, 2.5, 1.95, 1.99, 7, 1}
	n := 0
	o.Validate = func(context.Context, model) (float64, error) { n++; return scores[n-1], nil }
	o.ValidateEvery, o.Patience, o.MinDelta = 2, 3, 0.1
	f, err := train.Fit(t.Context(), newModel(), loss, o)
	if err != nil || f.Reason != train.Early || f.Best != (train.Score{Step: 4, Score: 2}) || len(f.Record.Losses) != 10 {
		t.Errorf("%v: %s, best %v after %d steps", err, f.Reason, f.Best, len(f.Record.Losses))
	}
	// What came after the best does not show in it.
	o = fitOptions()
	o.ValidateEvery, o.Steps = 2, 4
	o.Validate = func(context.Context, model) (float64, error) { return 0, nil }
	short, err := train.Fit(t.Context(), newModel(), loss, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(bits(t, f.Params), bits(t, short.State.Averaged())) {
		t.Error("the best parameters are not those of the best step")
	}
}

// Gradients of several batches together are the gradient of one that has all.
func TestAccumulate(t *testing.T) {
	two := func(_ context.Context, position int) (examples, error) {
		a, _ := at(context.Background(), 2*position)
		b, _ := at(context.Background(), 2*position+1)
		return examples{ops.Concat([]any{a.Rows, b.Rows}, 0).(*ragged.Tensor), ops.Concat([]any{a.Labels, b.Labels}, 0)}, nil
	}
	plain := func(m model, b examples, _ tensor.Tensor) tensor.Tensor { return loss(m, b, nil) }
	o := train.FitOptions[model, examples]{Options: train.Options{Optimizer: train.SGD(0.5)}}
	o.Data = train.Source[examples]{Batches: 4, At: two}
	big, err := train.Fit(t.Context(), newModel(), plain, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Data, o.Accumulate = train.Source[examples]{Batches: 8, At: at}, 2
	small, err := train.Fit(t.Context(), newModel(), plain, o)
	if err != nil {
		t.Fatal(err)
	}
	x, y := tensor.Data[float32](big.Params.Words.Table), tensor.Data[float32](small.Params.Words.Table)
	start := tensor.Data[float32](newModel().Words.Table)
	moved := 0.0
	for i := range x {
		if math.Abs(float64(x[i]-y[i])) > 1e-6 {
			t.Fatalf("element %d is %v, want %v", i, y[i], x[i])
		}
		moved += math.Abs(float64(x[i] - start[i]))
	}
	if moved < 0.01 {
		t.Errorf("the parameters hardly moved: %v", moved)
	}
}

func TestFrozenAndEvents(t *testing.T) {
	o := train.FitOptions[model, examples]{Data: train.Source[examples]{Batches: 3, At: at}, Epochs: 2}
	o.For = func(path string) train.Optimizer {
		if path == "Words.Table" {
			return train.Fixed()
		}
		return nil
	}
	var events []string
	o.OnStep = append(o.OnStep, func(e train.Event) error {
		events = append(events, fmt.Sprint(e.Step, "/", e.Steps, " ", e.Epoch, " ", e.Loss > 0))
		return nil
	})
	f, err := train.Fit(t.Context(), newModel(), loss, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(bits(t, f.Params.Words), bits(t, newModel().Words)) {
		t.Error("frozen parameters moved")
	}
	if slices.Equal(bits(t, f.Params.Out), bits(t, newModel().Out)) {
		t.Error("the others did not")
	}
	if want := []string{"1/6 0 true", "2/6 0 true", "3/6 0 true", "4/6 1 true", "5/6 1 true", "6/6 1 true"}; !slices.Equal(events, want) {
		t.Errorf("events %q", events)
	}
}

func TestFitErrors(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte("no checkpoint"), 0o600); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(dir, "written")
	o := fitOptions()
	o.Checkpoint, o.Steps = written, 2
	if _, err := train.Fit(t.Context(), newModel(), loss, o); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(o *train.FitOptions[model, examples])
		loss   train.Loss[model, examples]
		says   string
	}{
		"no data": {func(o *train.FitOptions[model, examples]) { o.Data = train.Source[examples]{} }, loss, "0 batches"},
		"batch": {func(o *train.FitOptions[model, examples]) {
			o.Data.At = func(_ context.Context, p int) (examples, error) {
				if p == 11 {
					return examples{}, errors.New("row 4711 is broken")
				}
				return at(context.Background(), p)
			}
		}, loss, "batch 3 of epoch 1: row 4711 is broken"},
		"thrown": {func(o *train.FitOptions[model, examples]) {
			o.Data.At = func(context.Context, int) (examples, error) {
				tenon.Throw(tenon.NewError(tenon.ErrShape, "f", "no such shape"))
				return examples{}, nil
			}
		}, loss, "batch 0 of epoch 0: f: no such shape"},
		"nan": {func(*train.FitOptions[model, examples]) {}, func(m model, b examples, k tensor.Tensor) tensor.Tensor {
			return ops.Mul(loss(m, b, k), math.NaN())
		}, "the loss of step 0 is NaN"},
		"garbage": {func(o *train.FitOptions[model, examples]) { o.Checkpoint = garbage }, loss, "garbage"},
		"folder":  {func(o *train.FitOptions[model, examples]) { o.Checkpoint = filepath.Join(dir, "none", "x") }, loss, "none"},
		"foreign": {func(o *train.FitOptions[model, examples]) { o.Checkpoint, o.Run = written, "other" }, loss, `another run: "test", not "other"`},
		"shorter": {func(o *train.FitOptions[model, examples]) { o.Checkpoint, o.Steps = written, 1 }, loss, "step 2 of 1"},
		"validation": {func(o *train.FitOptions[model, examples]) {
			o.Validate = func(context.Context, model) (float64, error) { return 0, errors.New("no such file") }
		}, loss, "validation after step 4: no such file"},
	} {
		o := fitOptions()
		c.change(&o)
		if _, err := train.Fit(t.Context(), newModel(), c.loss, o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", name, err, c.says)
		}
	}
	if _, err := train.Fit(t.Context(), struct{ N tensor.Tensor }{tensor.Scalar(int64(1))}, func(struct{ N tensor.Tensor }, examples, tensor.Tensor) tensor.Tensor { return nil },
		train.FitOptions[struct{ N tensor.Tensor }, examples]{Data: train.Source[examples]{Batches: 1, At: at}}); err == nil || !strings.Contains(err.Error(), "no floating-point tensor") {
		t.Errorf("nothing to train: error %v", err)
	}
}
