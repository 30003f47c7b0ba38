package train_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A record has the losses, rates, norms and scores of the run, and a run that is resumed goes on
// with it: it has the same numbers as one that was never stopped.
func TestRecordsOfRuns(t *testing.T) {
	var all [2]*runs.Run
	for i, stop := range []int{0, 10} {
		dir := t.TempDir()
		o := fitOptions()
		o.Log, o.Settings = filepath.Join(dir, "run"), map[string]any{"width": 8}
		if o.Optimizer, o.For = train.AdamW(train.Cosine(0.05, 24)), nil; stop > 0 {
			o.Checkpoint = filepath.Join(dir, "checkpoint.safetensors")
			ctx, cancel := context.WithCancel(t.Context())
			first := o
			first.OnStep = []func(train.Event) error{func(e train.Event) error {
				if e.Step == stop {
					cancel()
				}
				return nil
			}}
			if _, err := train.Fit(ctx, newModel(), loss, first); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		fit, err := train.Fit(t.Context(), newModel(), loss, o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := runs.Read(o.Log)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = r
		if r.End != "finished" || r.Seed != 5 || r.Parameters != 20*8+8*6+6+6*2+2 || len(r.Events) != 24 || stop > 0 && len(r.Resumed) != 1 {
			t.Errorf("got %+v, %d events, resumed at %v", r.Info, len(r.Events), r.Resumed)
		}
		scores := 0
		for k, e := range r.Events {
			if e.Step != k+1 || e.Epoch != k/8 || e.Loss != fit.Record.Losses[k] {
				t.Errorf("event %d is %+v, the loss was %v", k, e, fit.Record.Losses[k])
			}
			updated := e.Step%2 == 0
			if (e.Rate != nil) != updated || (e.Norm != nil) != updated || updated && *e.Norm <= 0 {
				t.Errorf("event %d has the rate %v and the norm %v", k, e.Rate, e.Norm)
			}
			if updated {
				want := 0.025 * (1 + math.Cos(math.Pi*float64(k/2)/24))
				if math.Abs(*e.Rate-want) > 1e-12 {
					t.Errorf("event %d has the rate %v, want %v", k, *e.Rate, want)
				}
			}
			if e.Score != nil {
				if *e.Score != fit.Record.Scores[scores].Score || e.Step != fit.Record.Scores[scores].Step {
					t.Errorf("event %d has the score %v", k, *e.Score)
				}
				scores++
			}
		}
		if best, ok := r.Best(); !ok || best.Step != fit.Best.Step || scores != 6 {
			t.Errorf("the best is %+v of %d, want %+v", best, scores, fit.Best)
		}
	}
	for k, e := range all[0].Events {
		if f := all[1].Events[k]; e.Loss != f.Loss || e.Norm != nil && *e.Norm != *f.Norm {
			t.Errorf("event %d: %v, and %v where the run was stopped", k, e, f)
		}
	}
	settings := strings.Join(paths(runs.Differences(all[0], all[1])), " ")
	if settings != "settings.checkpoint" {
		t.Errorf("the runs differ in %s", settings)
	}
}

func paths(list []runs.Difference) (out []string) {
	for _, d := range list {
		out = append(out, d.Path)
	}
	return out
}

// The norm is that of the gradients before they are clipped.
func TestNormOfARecord(t *testing.T) {
	type point struct{ X tensor.Tensor }
	o := train.FitOptions[point, tensor.Tensor]{
		Options: train.Options{Optimizer: train.SGD(0.1), ClipNorm: 1},
		Data:    train.Source[tensor.Tensor]{Batches: 1, At: func(context.Context, int) (tensor.Tensor, error) { return tensor.Of([]float32{3, 4}), nil }},
		Log:     t.TempDir(),
	}
	dot := func(p point, b, _ tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(p.X, b)) } // whose gradient is b
	if _, err := train.Fit(t.Context(), point{tensor.Of([]float32{1, 1})}, dot, o); err != nil {
		t.Fatal(err)
	}
	r, err := runs.Read(o.Log)
	if err != nil || len(r.Events) != 1 || *r.Events[0].Norm != 5 || *r.Events[0].Rate != 0.1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := train.Fit(t.Context(), point{tensor.Of([]float32{1, 1})}, dot, o); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "the folder already has the record of a run") {
		t.Errorf("a record is written over: %v", err)
	}
}
