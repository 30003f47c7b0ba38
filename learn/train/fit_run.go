package train

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/tensor"
)

// run is a call of Fit.
type run[P, B any] struct {
	FitOptions[P, B]
	trainer *Trainer[P, B]
	steps   int
	from    int
	record  Record
	initial P
	best    P     // the parameters with that score, if there is one
	score   Score // Step is 0 if there is none yet
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
		// A step that has begun is completed, with its validation, so that the state is
		// consistent.
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

// done reports whether no step is left, and records why.
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

// stopped saves the state when the context is done.
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

// saved writes the state before an error to the checkpoint, so that nothing is lost once the
// cause has been removed, unless the state has numbers that nobody could continue from.
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
		score, params, err := r.validate(ctx)
		if err != nil {
			return fmt.Errorf("validation after step %d: %w", n, err)
		}
		r.record.Scores = append(r.record.Scores, Score{n, score})
		if err := r.plateau(score); err != nil {
			return err
		}
		e.Scored, e.Score, e.Best = true, score, r.better(score)
		if e.Best {
			r.trainer.share()
			r.best, r.score, r.since = params, Score{n, score}, 0
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

// begin returns an error if the ranks are not about to do the same.
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
		params += fmt.Sprintf("%s %v\n", flat.paths[i], t.Spec())
	}
	now, err := flatten(r.trainer.state.Params, r.Options) // after a checkpoint has been read
	if err != nil {
		return r.Ranks.fail(err)
	}
	for _, t := range now.all() {
		if d, ok := t.(*tensor.Dense); ok {
			h.Write(tensor.Contiguous(d).Bytes())
		}
	}
	for _, o := range flat.optimizers {
		optimizers += fmt.Sprintln(optimizerSettings(o))
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

// together returns an error, on all ranks, if any of them cannot continue with a batch.
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

// caught returns the error that f returns or throws.
func caught(f func() error) error {
	err, thrown := tenon.Try(f)
	if thrown != nil {
		return thrown
	}
	return err
}

// due reports whether something that happens after every so many steps, or after each epoch,
// and at the end, happens after step n.
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
