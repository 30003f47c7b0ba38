package train

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/tensor"
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

// run is a call of Fit.
type run[P, B any] struct {
	FitOptions[P, B]
	trainer *Trainer[P, B]
	steps   int
	from    int
	record  Record
	initial P
	best    P     // the parameters with that score, where there is one
	score   Score // Step is 0 where there is none yet
	since   int   // scores since best
	reason  Reason
	written int // the step of the checkpoint
	started time.Time
	log     *runs.Writer // nil: none
}

func (r *run[P, B]) loop(ctx context.Context) (err error) {
	r.reason = Failed
	if r.done() {
		return nil
	}
	for batch, err := range r.batches(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err = r.together(ctx, batch, err); err != nil {
			return r.stopped(ctx, err)
		}
		step := r.trainer.Steps()
		// What was begun is finished, validation included: then the state is whole.
		whole := context.WithoutCancel(ctx)
		value, err := r.trainer.step(whole, batch, false)
		if err != nil {
			return r.saved(fmt.Errorf("step %d (batch %d of epoch %d): %w", step, step%r.Data.Batches, step/r.Data.Batches, err))
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return r.saved(r.diverged(step, value, batch))
		}
		if err := r.after(whole, step, value); err != nil {
			return err
		}
		if r.done() {
			return r.checkpoint()
		}
	}
	return r.stopped(ctx, ctx.Err())
}

// done reports whether there is no step left to do, and why.
func (r *run[P, B]) done() bool {
	switch {
	case r.Patience > 0 && r.since >= r.Patience:
		r.reason = Early
	case r.trainer.Steps() >= r.steps:
		r.reason = Finished
	default:
		return false
	}
	return true
}

// stopped keeps what was reached when the context is done.
func (r *run[P, B]) stopped(ctx context.Context, err error) error {
	if !errors.Is(err, errStopped) && (ctx.Err() == nil || !errors.Is(err, ctx.Err())) {
		return r.saved(err)
	}
	r.reason = Interrupted
	if e := r.checkpoint(); e != nil {
		return e
	}
	if ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// saved writes what was reached before an error to the checkpoint, so that nothing is lost
// once its reason is mended, unless there are numbers in it that nobody could go on with.
func (r *run[P, B]) saved(err error) error {
	if r.Ranks.active() && r.Ranks.Mesh.Comm().Err() != nil {
		return err
	}
	whole, e := r.trainer.Whole(context.Background())
	if e != nil {
		return errors.Join(err, e)
	}
	if path, _ := notFinite(whole.Params); path != "" {
		return err
	}
	return errors.Join(err, r.checkpoint())
}

// after does what is due after a step.
func (r *run[P, B]) after(ctx context.Context, step int, value float64) error {
	r.record.Losses = append(r.record.Losses, value)
	n := step + 1
	e := Event{Step: n, Steps: r.steps, Epoch: step / r.Data.Batches, Loss: value}
	if r.Validate != nil && due(n, r.ValidateEvery, r.Data.Batches, r.steps) {
		score, err := r.validate(ctx)
		if err != nil {
			return fmt.Errorf("validation after step %d: %w", n, err)
		}
		r.record.Scores = append(r.record.Scores, Score{n, score})
		if err := r.plateau(score); err != nil {
			return err
		}
		e.Scored, e.Score, e.Best = true, score, r.better(score)
		if e.Best {
			whole, err := r.trainer.Whole(ctx)
			if err != nil {
				return err
			}
			r.best, r.score, r.since = whole.Averaged(), Score{n, score}, 0
		} else {
			r.since++
		}
	}
	if r.Checkpoint != "" && due(n, r.CheckpointEvery, r.Data.Batches, r.steps) {
		if err := r.checkpoint(); err != nil {
			return err
		}
		e.Checkpointed = true
	}
	e.Elapsed = time.Since(r.started)
	e.Remaining = time.Duration(float64(e.Elapsed) / float64(n-r.from) * float64(r.steps-n))
	e.Rate, e.Norm = r.trainer.rate, r.trainer.norm
	if r.log != nil {
		if err := r.log.Add(e.logged()); err != nil {
			return err
		}
	}
	for _, f := range r.OnStep {
		if err := caught(func() error { return f(e) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *run[P, B]) validate(ctx context.Context) (score float64, err error) {
	whole := r.trainer.state
	if r.Ranks.active() {
		if whole, err = r.trainer.Whole(ctx); err != nil {
			return 0, err
		}
	}
	err = caught(func() (err error) {
		score, err = r.Validate(ctx, whole.Averaged())
		return err
	})
	if err != nil || !r.Ranks.active() {
		return score, r.Ranks.fail(err)
	}
	first, err := r.Ranks.Mesh.Comm().Broadcast(ctx, tensor.Scalar(score), 0) // so that all decide alike
	if err != nil {
		return 0, err
	}
	return tensor.Item[float64](first), nil
}

// begin is an error where ranks are not about to do the same.
func (r *run[P, B]) begin(ctx context.Context) error {
	if !r.Ranks.active() {
		return nil
	}
	c := r.Ranks.Mesh.Comm()
	flat, err := flatten(r.initial, r.Options)
	if err != nil {
		return r.Ranks.fail(err)
	}
	params, optimizers := "", ""
	h := fnv.New64a()
	for i, t := range flat.all() {
		params += fmt.Sprintf("%s %v; ", flat.paths[i], t.Spec())
	}
	now, err := flatten(r.trainer.state.Params, r.Options) // with what a checkpoint has brought
	if err != nil {
		return r.Ranks.fail(err)
	}
	for _, t := range now.all() {
		if d, ok := t.(*tensor.Dense); ok {
			h.Write(tensor.Contiguous(d).Bytes())
		}
	}
	for _, o := range flat.optimizers {
		optimizers += fmt.Sprint(optimizerSettings(o), " ")
	}
	for _, x := range [][2]string{
		{"the course", fmt.Sprintf("%d batches in an epoch, %d steps from %d on, accumulating %d", r.Data.Batches, r.steps, r.trainer.Steps(), r.Accumulate)},
		{"the parameters", params},
		{"the values of parameters", fmt.Sprintf("digest %x", h.Sum64())},
		{"the optimizers", optimizers},
		{"the options", fmt.Sprint(r.ClipNorm, r.ClipValue, r.Average, r.AverageEvery, r.AverageFrom, r.Options.Compute, r.LossScale, r.Seed, r.ValidateEvery, r.Patience, r.MinDelta, r.CheckpointEvery, r.Checkpoint != "", r.Run)},
		{"how work is shared", fmt.Sprint(r.Ranks.Data, r.Ranks.Stored, r.Ranks.Slots, r.Ranks.Compute, r.Ranks.ByElements, r.trainer.layout)},
	} {
		if err := c.Agree(ctx, x[0], x[1]); err != nil {
			return err
		}
	}
	return nil
}

// errStopped says that another rank is to stop.
var errStopped = errors.New("train: another rank was interrupted")

// together is an error where a rank cannot go on with a batch, for all of them.
func (r *run[P, B]) together(ctx context.Context, batch B, err error) error {
	if !r.Ranks.active() {
		return err
	}
	stop := err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err())
	if err != nil && !stop {
		return r.Ranks.fail(err)
	}
	if !stop && r.Ranks.Compute == nil {
		if _, _, e := countRows(batch); e != nil {
			return r.Ranks.fail(e)
		}
	}
	some, e := r.Ranks.agree(context.WithoutCancel(ctx), r.trainer.Steps(), batch, stop)
	switch {
	case e != nil:
		return e
	case some && !stop:
		return errStopped
	}
	return err
}

// caught returns the error of f, or the one that it throws.
func caught(f func() error) error {
	err, thrown := tenon.Try(f)
	if thrown != nil {
		return thrown
	}
	return err
}

func (r *run[P, B]) better(score float64) bool {
	switch {
	case math.IsNaN(score):
		return false
	case r.score.Step == 0:
		return true // the first that is a number
	case r.Greater:
		return score > r.score.Score+r.MinDelta
	}
	return score < r.score.Score-r.MinDelta
}

// due reports whether something that happens every so many steps, or each epoch, and at
// the end, happens after step n.
func due(n, every, epoch, last int) bool {
	if every <= 0 {
		every = epoch
	}
	return n%every == 0 || n == last
}

func (r *run[P, B]) result(whole State[P]) *Fitted[P] {
	f := &Fitted[P]{Params: r.best, State: whole, Record: r.record, Best: r.score, Reason: r.reason, From: r.from}
	if r.score.Step == 0 {
		f.Params = f.State.Averaged()
	}
	return f
}

// unscored is the error of a run whose scores are no numbers, so that none of its parameters
// are the best.
func (r *run[P, B]) unscored() error {
	if r.Validate == nil || r.score.Step > 0 || len(r.record.Scores) == 0 {
		return nil
	}
	r.reason = Failed
	e := tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("no score of the %d validations is a number", len(r.record.Scores)))
	e.Hint = "look at what Validate computes; Params are the last ones"
	return e
}

func (r *run[P, B]) plateau(score float64) error {
	if r.Plateau == nil {
		return nil
	}
	_, err := r.Plateau.Observe(score)
	return err
}

// diverged is the error of a loss that is not a number, by what made it: the batch, the model
// that training began with, or training.
func (r *run[P, B]) diverged(step int, value float64, batch B) error {
	e := tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("the loss of step %d is %v%s", step, value, sick(r.trainer.losses)))
	if path, what := notFinite(batch); what != "" {
		e.Msg += fmt.Sprintf(": batch %d of epoch %d has %s", step%r.Data.Batches, step/r.Data.Batches, what)
		e.Where, e.Hint = path, "take it out of the data, or fill it in"
		return e
	}
	if step == r.from {
		e.Msg += ", before any training"
		e.Hint = "look for logarithms, roots and divisions of 0 in the loss: function.RunOptions.CheckNumerics names the operation"
		if path, what := notFinite(r.initial); what != "" {
			e.Where, e.Hint = path, "the parameters that training begins with have "+what
		}
		return e
	}
	e.Hint = "lower the learning rate, or clip the gradients; the parameters are those before the step"
	if path, what := notFinite(r.trainer.state.Params); what != "" {
		e.Where, e.Msg = path, e.Msg+": the parameters have "+what
		e.Hint = "lower the learning rate, or clip the gradients"
	}
	return e
}

// batches yields those that are left, made one ahead.
func (r *run[P, B]) batches(ctx context.Context) iter.Seq2[B, error] {
	type made struct {
		batch B
		err   error
	}
	return func(yield func(B, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		ahead, first := make(chan made, 1), r.trainer.Steps()
		go func() {
			defer close(ahead)
			for at := first; at < r.steps && ctx.Err() == nil; at++ {
				b, err := r.make(ctx, at)
				select {
				case ahead <- made{b, err}:
				case <-ctx.Done():
					return
				}
				if err != nil {
					return
				}
			}
		}()
		defer func() {
			cancel()
			for range ahead { // the goroutine has ended when the channel is closed
			}
		}()
		for {
			select {
			case m, ok := <-ahead:
				if !ok || !yield(m.batch, m.err) {
					return
				}
			case <-ctx.Done():
				var none B
				yield(none, ctx.Err())
				return
			}
		}
	}
}

// make makes one batch. An error says which, and so does a panic of the source: nobody could
// recover it from the goroutine that it runs in.
func (r *run[P, B]) make(ctx context.Context, at int) (b B, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &dataset.ElementError{Index: int64(at), Err: fmt.Errorf("the source of batches panics: %v", p), Stack: string(debug.Stack())}
		}
	}()
	b, err = tenon.Try(func() B {
		b, err := r.Data.At(ctx, at)
		tenon.Throw(err)
		return b
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("batch %d of epoch %d: %w", at%r.Data.Batches, at/r.Data.Batches, err)
	}
	return b, err
}
