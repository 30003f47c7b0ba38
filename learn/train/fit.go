package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenonml/tenon"
)

// A Source gives batches by position: position k·Batches + i is batch i of epoch k. The same
// position must give the same batch, so that a resumed run sees the batches that it would have
// seen. Batches are made in advance by another goroutine; if At panics, Fit returns a
// [dataset.ElementError] with the stack.
type Source[B any] struct {
	Batches int // in an epoch
	At      func(ctx context.Context, position int) (B, error)
}

// FitOptions are the options of [Fit].
type FitOptions[P, B any] struct {
	Options

	Data   Source[B]
	Epochs int // passes over the data; 0 stands for 1
	Steps  int // stop after this many batches, if it is not 0, whatever Epochs is

	// Validate scores the parameters, or their average if there is one, after every ValidateEvery
	// batches (0: each epoch). The parameters with the best score are the result: with the lowest
	// score, or with the highest if Greater is set. A score that is NaN is worse than any other; a
	// run whose scores are all NaN is an error. Validate must not keep the parameters' tensors,
	// and it is completed even if ctx is done.
	Validate      func(ctx context.Context, params P) (float64, error)
	ValidateEvery int
	Greater       bool

	// Patience, if it is not 0, stops the run early: when this many scores in a row have not
	// improved the best one by at least MinDelta.
	Patience int
	MinDelta float64

	// Plateau, if it is not nil, observes each score. It must be the schedule of the optimizer.
	Plateau *Plateau

	// Checkpoint, if it is not empty, names a file in which the whole state is kept. It is
	// written after every CheckpointEvery batches (0: each epoch), at the end, when ctx is done,
	// and when a batch or a step fails. A run that finds the file continues from it, with the
	// same bits as if it had never stopped. Run describes the run: a checkpoint with another
	// description is an error.
	Checkpoint      string
	CheckpointEvery int
	Run             string

	// Keep, if it is not 0, keeps this many of the latest checkpoints in addition to the last
	// one. The step is appended to the name, as in run-1200.safetensors.
	Keep int

	// Log, if it is not empty, names a folder for a record of the run: settings, commit, seed and, for
	// each step, the loss, the rate of the first trained parameter, the norm of the gradients, scores
	// and times. Package runs reads it. A run that resumes from a checkpoint continues its record; a
	// new run needs another folder. Settings, anything that encoding/json writes, are recorded together
	// with those of Fit.
	Log      string
	Settings any

	// OnStep is called after each step; an error stops the run and is returned. A resumed run
	// does not repeat calls.
	OnStep []func(Event) error
}

// An Event describes a step.
type Event struct {
	Step, Steps  int // batches seen, and the maximum number of batches
	Epoch        int // counted from 0
	Loss         float64
	Scored       bool     // the parameters were validated after the step
	Score        float64  // if Scored
	Best         bool     // if Scored: it is the best score so far
	Rate, Norm   *float64 // of the first parameter, and of the gradients; nil without FitOptions.Log
	Elapsed      time.Duration
	Remaining    time.Duration // expected
	Checkpointed bool
}

// A Record holds the course of a run.
type Record struct {
	Losses []float64 // of each batch, before its step
	Scores []Score   // of each validation
}

// A Score is the score of the parameters after a step.
type Score struct {
	Step  int
	Score float64
}

// A Reason says why a run stopped.
type Reason string

// The reasons.
const (
	Finished    Reason = "finished"
	Early       Reason = "early"       // the score no longer improved
	Interrupted Reason = "interrupted" // the context was done
	Failed      Reason = "failed"
)

// A Fitted model is the result of [Fit].
type Fitted[P any] struct {
	Params P // the best-scored ones; without validation, or if all scores are NaN, the last ones or their average
	State  State[P]
	Record Record
	Best   Score // of Params; Step is 0 if there is no score
	Reason Reason
	From   int // the step from which the run was resumed
}

// Fit minimizes the mean of a loss over the data. If ctx is done, for instance by an interrupt,
// Fit completes the current step, writes the checkpoint, and returns a valid result together
// with the context's error.
//
//	fit, err := train.Fit(ctx, model, loss, train.FitOptions[Model, Batch]{
//		Options: train.Options{Optimizer: train.AdamW(1e-3)},
//		Data:    data, Epochs: 10, Checkpoint: "run.safetensors",
//	})
func Fit[P, B any](ctx context.Context, params P, loss Loss[P, B], o FitOptions[P, B]) (*Fitted[P], error) {
	if loss == nil {
		return nil, noLoss("train.Fit")
	}
	return fitted(ctx, params, loss.course(), o)
}

func fitted[P, B any](ctx context.Context, params P, loss lossOf[P, B], o FitOptions[P, B]) (*Fitted[P], error) {
	if o.Data.Batches < 1 || o.Data.At == nil {
		return nil, tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("the source has %d batches; want at least 1, and a function At", o.Data.Batches))
	}
	if i := slices.IndexFunc(o.OnStep, func(f func(Event) error) bool { return f == nil }); i >= 0 {
		return nil, tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("OnStep[%d] is nil, want a function", i))
	}
	for name, n := range map[string]int{"Epochs": o.Epochs, "Steps": o.Steps, "ValidateEvery": o.ValidateEvery, "Patience": o.Patience, "CheckpointEvery": o.CheckpointEvery, "Keep": o.Keep} {
		if n < 0 {
			return nil, tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("%s is %d, want 0 or more", name, n))
		}
	}
	if o.Plateau != nil {
		if o.Validate == nil {
			e := tenon.NewError(tenon.ErrInvalid, "train.Fit", "the rate of Plateau would never change: Validate is nil, so there are no scores")
			e.Hint = "set FitOptions.Validate"
			return nil, e
		}
		if err := o.Plateau.restart(); err != nil {
			return nil, err
		}
	}
	o.measured = o.Log != ""
	if err := o.Ranks.check(); err != nil {
		return nil, err
	}
	trainer, err := newTrainer(params, loss, o.Options)
	if err != nil {
		return nil, err
	}
	r := &run[P, B]{FitOptions: o, trainer: trainer, initial: params, best: params, started: time.Now()}
	r.steps = max(1, o.Epochs) * o.Data.Batches
	if o.Steps > 0 {
		r.steps = o.Steps
	}
	if err := r.resume(); err != nil {
		return nil, o.Ranks.fail(err)
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err := r.openLog(); err != nil {
		return nil, o.Ranks.fail(err)
	}
	if err = r.loop(ctx); err == nil {
		err = r.unscored()
	}
	if e := r.closeLog(); e != nil {
		err = errors.Join(err, e)
	}
	whole := r.trainer.State()
	if r.Ranks.active() && r.Ranks.Mesh.Comm().Err() == nil {
		var e error
		if whole, e = r.trainer.Whole(context.WithoutCancel(ctx)); e != nil {
			err = errors.Join(err, e)
		}
	}
	return r.result(whole), err
}

// errStopped means that another rank was interrupted.
var errStopped = errors.New("train: another rank was interrupted")
