package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenonml/tenon"
)

// A Source gives batches by position: position k·Batches + i is batch i of epoch k. The
// same position gives the same batch, so that a run that is resumed sees what it would
// have seen. Batches are made ahead of the steps, by another goroutine; where At panics, Fit
// returns a [dataset.ElementError] with the stack.
type Source[B any] struct {
	Batches int // in an epoch
	At      func(ctx context.Context, position int) (B, error)
}

// FitOptions are those of [Fit].
type FitOptions[P, B any] struct {
	Options

	Data   Source[B]
	Epochs int // passes over the data; 0 stands for 1
	Steps  int // stop after as many batches, if it is not 0, whatever Epochs is

	// Validate scores parameters, the moving average where there is one, after every
	// ValidateEvery batches (0: each epoch). The best-scored ones are the result: the least score,
	// or the greatest where Greater is set. A score that is not a number is worse than any
	// other; a run that has no other is an error. Validate must not keep the parameters'
	// tensors, and is finished even when ctx is done.
	Validate      func(ctx context.Context, params P) (float64, error)
	ValidateEvery int
	Greater       bool

	// Patience, if it is not 0, stops early: when so many scores in a row were no better
	// than the best by at least MinDelta.
	Patience int
	MinDelta float64

	// Plateau, if it is not nil, is shown each score. It is the schedule of the optimizer.
	Plateau *Plateau

	// Checkpoint, if it is not empty, names a file that everything is kept in, after every
	// CheckpointEvery batches (0: each epoch), at the end, when ctx is done, and where a batch or
	// a step fails. A run finds
	// it there and goes on with the same bits as if it had never stopped. Run describes
	// the run: a checkpoint of another description is an error.
	Checkpoint      string
	CheckpointEvery int
	Run             string

	// Keep, if it is not 0, keeps so many of the latest checkpoints beside the last one, each
	// under the name of Checkpoint with a dash and the step behind it: run-1200.safetensors.
	Keep int

	// Log, if it is not empty, names a folder that a record of the run is kept in: settings, commit,
	// seed, and of each step the loss, the rate of the first parameter that is trained, the norm of the
	// gradients, scores and times. Package runs reads it. A run that goes on from a checkpoint goes on
	// with its record; one that begins anew needs another folder. Settings, anything that encoding/json
	// writes, are kept beside those of Fit.
	Log      string
	Settings any

	// OnStep is called after each step; an error stops the run and is returned. A run
	// that was resumed does not repeat calls.
	OnStep []func(Event) error
}

// An Event tells of a step.
type Event struct {
	Step, Steps  int // batches seen, and how many there will be at most
	Epoch        int // counted from 0
	Loss         float64
	Scored       bool     // the parameters were validated after the step
	Score        float64  // if so
	Best         bool     // and it is the best so far
	Rate, Norm   *float64 // of the first parameter, and of the gradients; nil where there is no FitOptions.Log
	Elapsed      time.Duration
	Remaining    time.Duration // expected
	Checkpointed bool
}

// A Record is what is kept of a run's course.
type Record struct {
	Losses []float64 // of each batch, before its step
	Scores []Score   // of each validation
}

// A Score is that of the parameters after a step.
type Score struct {
	Step  int
	Score float64
}

// Why a run stopped.
type Reason string

// The reasons.
const (
	Finished    Reason = "finished"
	Early       Reason = "early"       // the score did not improve any more
	Interrupted Reason = "interrupted" // the context is done
	Failed      Reason = "failed"
)

// A Fitted model is the result of [Fit].
type Fitted[P any] struct {
	Params P // the best-scored; without validation, or where no score is a number yet, the last, or their moving average
	State  State[P]
	Record Record
	Best   Score // of Params; Step is 0 where nothing has been scored
	Reason Reason
	From   int // the step that the run was resumed at
}

// Fit minimizes the mean of a loss over the data. Where ctx is done, by an interrupt for
// instance, the step at work is finished, the checkpoint written, and the error is that of
// the context, beside a result that is valid.
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
		return nil, tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("the source has %d batches, want at least 1 and a function that gives them", o.Data.Batches))
	}
	if i := slices.IndexFunc(o.OnStep, func(f func(Event) error) bool { return f == nil }); i >= 0 {
		return nil, tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("OnStep[%d] is nil, want a function", i))
	}
	if o.Validate == nil && o.Plateau != nil {
		e := tenon.NewError(tenon.ErrInvalid, "train.Fit", "the rate of Plateau would never change: Validate is nil, so there are no scores")
		e.Hint = "set FitOptions.Validate"
		return nil, e
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

// errStopped says that another rank is to stop.
var errStopped = errors.New("train: another rank was interrupted")
