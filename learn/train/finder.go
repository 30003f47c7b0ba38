package train

import (
	"context"
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// RateOptions are the options of [FindRate]. The zero value is the default.
type RateOptions struct {
	From, To float64 // 0 stands for 1e-7 and 10
	Steps    int     // 0 stands for 100
	Smooth   float64 // the decay of the moving average of losses; 0 stands for 0.9
}

// A RateCurve is the result of [FindRate].
type RateCurve struct {
	Rates  []float64 // of each step
	Losses []float64 // smoothed
	Best   float64   // the rate at which the loss fell fastest
}

// FindRate trains for a few steps with a learning rate that grows exponentially, until the loss
// is four times its minimum, and proposes the rate at which the loss fell fastest (L. Smith,
// "Cyclical learning rates", WACV 2017). The parameters do not change. The optimizer's own
// schedule is ignored.
func FindRate[P, B any](ctx context.Context, params P, loss Loss[P, B], data Source[B], o Options, options ...RateOptions) (RateCurve, error) {
	if loss == nil {
		return RateCurve{}, noLoss("train.FindRate")
	}
	return foundRate(ctx, params, loss.course(), data, o, option(options))
}

// FindRateWith is [FindRate] for a loss that changes state besides the parameters.
func FindRateWith[P, S, B any](ctx context.Context, params P, beside S, loss LossWith[P, S, B], data Source[B], o Options, options ...RateOptions) (RateCurve, error) {
	if loss == nil {
		return RateCurve{}, noLoss("train.FindRateWith")
	}
	return foundRate(ctx, With[P, S]{params, beside}, loss.course(), data, o, option(options))
}

func foundRate[P, B any](ctx context.Context, params P, loss lossOf[P, B], data Source[B], o Options, r RateOptions) (RateCurve, error) {
	r.From, r.To = orDefault(r.From, 1e-7), orDefault(r.To, 10)
	if r.Steps == 0 {
		r.Steps = 100
	}
	if !(r.From > 0 && r.To > r.From) || r.Steps < 3 {
		return RateCurve{}, tenon.NewError(tenon.ErrInvalid, "train.FindRate", fmt.Sprintf("%d steps from a rate of %v to %v; want at least 3 steps to a greater rate", r.Steps, r.From, r.To))
	}
	growing := func(step tensor.Tensor) tensor.Tensor {
		return ops.Mul(ops.Exp(ops.Mul(step, math.Log(r.To/r.From)/float64(r.Steps-1))), r.From)
	}
	found := o
	found.Accumulate, found.Average, found.AverageEvery = 0, 0, 0
	found.NoDecay = nil
	found.For = func(path string) Optimizer {
		none := Options{Optimizer: o.Optimizer, For: o.For}
		if chosen := none.optimizer(path, nil); chosen != (fixed{}) {
			return rated{chosen, growing}
		}
		return fixed{}
	}
	trainer, err := newTrainer(params, loss, found)
	if err != nil {
		return RateCurve{}, err
	}
	return trainer.rates(ctx, data, growing, r)
}

func (t *Trainer[P, B]) rates(ctx context.Context, data Source[B], growing Schedule, r RateOptions) (RateCurve, error) {
	var c RateCurve
	if data.Batches < 1 || data.At == nil {
		return c, tenon.NewError(tenon.ErrInvalid, "train.FindRate", "the source has no batches")
	}
	decay, mean, least, smooth := orDefault(r.Smooth, 0.9), 0.0, math.Inf(1), math.NaN()
	for i := range r.Steps {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		batch, err := data.At(ctx, i)
		if err != nil {
			return c, fmt.Errorf("batch %d: %w", i, err)
		}
		value, err := t.Step(ctx, batch)
		if err != nil {
			return c, fmt.Errorf("step %d: %w", i, err)
		}
		mean = decay*mean + (1-decay)*value
		smooth = mean / (1 - math.Pow(decay, float64(i+1)))
		if math.IsNaN(smooth) || smooth > 4*least && least > 0 {
			break
		}
		least = min(least, smooth)
		c.Rates = append(c.Rates, tensor.Item[float64](growing(tensor.Scalar(float64(i)))))
		c.Losses = append(c.Losses, smooth)
	}
	// Slopes are taken over a tenth of the steps on either side, where rates differ more than
	// batches.
	steepest, w := 1e-9*math.Abs(least), max(1, len(c.Rates)/10) // less is rounding
	for i := w; i+w < len(c.Rates); i++ {
		if fall := c.Losses[i-w] - c.Losses[i+w]; fall > steepest {
			steepest, c.Best = fall, c.Rates[i]
		}
	}
	if c.Best == 0 {
		e := tenon.NewError(tenon.ErrInvalid, "train.FindRate", fmt.Sprintf("the loss never fell between the rates %v and %v: after %d steps it is %v", r.From, r.To, len(c.Rates), smooth))
		e.Hint = "check the curve and the loss"
		return c, e
	}
	return c, nil
}

// rated is an optimizer with another schedule.
type rated struct {
	Optimizer
	schedule Schedule
}

// Rate returns the schedule.
func (o rated) Rate() Schedule { return o.schedule }
