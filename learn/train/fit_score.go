package train

import (
	"context"
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// validate returns the score, and the parameters that have it, whose memory the next step takes.
func (r *run[P, B]) validate(ctx context.Context) (score float64, params P, err error) {
	if params, err = r.trainer.averaged(ctx); err != nil {
		return 0, params, err
	}
	err = caught(func() (err error) {
		score, err = r.Validate(ctx, params)
		return err
	})
	if err != nil || !r.Ranks.active() {
		return score, params, r.Ranks.fail(err)
	}
	first, err := r.Ranks.Mesh.Comm().Broadcast(ctx, tensor.Scalar(score), 0) // so that all decide alike
	if err != nil {
		return 0, params, err
	}
	return tensor.Item[float64](first), params, nil
}

func (r *run[P, B]) better(score float64) bool {
	switch {
	case math.IsNaN(score):
		return false
	case r.score.Step == 0:
		return true // the first one that is not NaN
	case r.Greater:
		return score > r.score.Score+r.MinDelta
	}
	return score < r.score.Score-r.MinDelta
}

// unscored returns the error of a run whose scores are all NaN, so that no parameters are the
// best.
func (r *run[P, B]) unscored() error {
	if r.Validate == nil || r.score.Step > 0 || len(r.record.Scores) == 0 {
		return nil
	}
	r.reason = Failed
	e := tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("no score of the %d validations is a number", len(r.record.Scores)))
	e.Hint = "check what Validate computes; Params are the parameters after the last step"
	return e
}

func (r *run[P, B]) plateau(score float64) error {
	if r.Plateau == nil {
		return nil
	}
	_, err := r.Plateau.Observe(score)
	return err
}

// diverged returns the error for a loss that is not finite. It names the cause: the batch, the
// parameters that training began with, or training itself.
func (r *run[P, B]) diverged(step int, value float64, batch B) error {
	e := tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("the loss of step %d is %v%s", step, value, sick(r.trainer.losses)))
	if path, what := notFinite(batch); what != "" {
		e.Msg += fmt.Sprintf(": batch %d of epoch %d has %s", step%r.Data.Batches, step/r.Data.Batches, what)
		e.Where, e.Hint = path, "remove such values from the data, or replace them"
		return e
	}
	if step == r.from {
		e.Msg += ", before any training"
		e.Hint = "look for logarithms, roots and divisions of 0 in the loss: function.RunOptions.CheckNumerics names the operation"
		if path, what := notFinite(r.initial); what != "" {
			e.Where, e.Hint = path, "the initial parameters have "+what
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
