package train

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/half"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// An Optimizer turns gradients into new parameters. It is a pure function of tensors, so that
// it can be part of a traced training step. The optimizers of this package are all made from a
// rate, which is a number or a [Schedule], and optional options:
//
//	train.Adam(1e-3)
//	train.SGD(train.Cosine(0.1, 1000), train.SGDOptions{Momentum: 0.9})
type Optimizer interface {
	// Slots returns the initial tensors kept for one parameter.
	Slots(param tensor.Tensor) []tensor.Tensor

	// Update returns the new parameter and slots. t is the number of this update, counting from
	// 1, and rate the learning rate of the schedule; both are scalars of the parameter's type.
	Update(param, grad tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor)

	// Rate returns the schedule of the learning rate.
	Rate() Schedule
}

// A Decayed optimizer has weight decay, and can return itself without it.
type Decayed interface {
	Optimizer

	// WithoutDecay returns the optimizer with no weight decay.
	WithoutDecay() Optimizer
}

// A Rate is a learning rate: a number, for all steps, or a schedule.
type Rate interface {
	int | float64 | Schedule | func(step tensor.Tensor) tensor.Tensor
}

// Update does one update of a parameter. done, an integer scalar, is the number of earlier
// updates of the optimizer. A parameter of 16 bits is updated in float32, because they are too few
// for small steps and for the decays of moments; its slots become float32, too. A gradient whose
// shape is not the parameter's is an error. Update throws errors.
func Update(o Optimizer, param, grad tensor.Tensor, slots []tensor.Tensor, done tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	if p, g := param.Shape(), grad.Shape(); !p.CompatibleWith(g) {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "train.Update", fmt.Sprintf("the gradient has the shape %v, the parameter %v", g, p)))
	}
	p, wide := half.Wide(param), make([]tensor.Tensor, len(slots))
	for i, s := range slots {
		wide[i] = half.Wide(s)
	}
	before := ops.Cast(done, p.DType())
	next, after := o.Update(p, half.Wide(grad), wide, ops.Add(before, 1.0), o.Rate()(before))
	return ops.Cast(next, param.DType()), after
}

// scheduled is the part of an optimizer that knows its rate.
type scheduled struct{ schedule Schedule }

// Rate returns the schedule.
func (s scheduled) Rate() Schedule { return s.schedule }

func at[R Rate](rate R) scheduled {
	none := func() {
		e := tenon.NewError(tenon.ErrInvalid, "train", "the schedule of an optimizer is nil")
		e.Hint = "give a rate, such as train.Adam(1e-3)"
		tenon.Throw(e)
	}
	switch r := any(rate).(type) {
	case int:
		return scheduled{Constant(float64(r))}
	case float64:
		return scheduled{Constant(r)}
	case func(tensor.Tensor) tensor.Tensor:
		if r == nil {
			none()
		}
		return scheduled{r}
	case Schedule:
		if r == nil {
			none()
		}
		return scheduled{r}
	}
	return scheduled{}
}

// option returns the options that were given, or the default.
func option[O any](o []O) (out O) {
	if len(o) > 0 {
		out = o[0]
	}
	return out
}

func zeros(like tensor.Tensor) tensor.Tensor { return ops.ZerosLike(like) }

func scaled(x any, k float64) tensor.Tensor { return ops.Mul(x, k) }

// mixed returns k·old + (1-k)·x.
func mixed(old, x tensor.Tensor, k float64) tensor.Tensor {
	return ops.Add(scaled(old, k), scaled(x, 1-k))
}

// corrected returns a moment without its bias toward 0: m/(1-kᵗ).
func corrected(m tensor.Tensor, k float64, t tensor.Tensor) tensor.Tensor {
	return ops.Div(m, ops.Sub(1.0, ops.Pow(like(k, t), t)))
}

// decayed returns a gradient with λp added.
func decayed(g, p tensor.Tensor, decay float64) tensor.Tensor {
	if decay == 0 {
		return g
	}
	return ops.Add(g, scaled(p, decay))
}

func orDefault(x, d float64) float64 {
	if x == 0 {
		return d
	}
	return x
}

// like returns a constant as a scalar of t's element type.
func like(x float64, t tensor.Tensor) tensor.Tensor {
	s, _ := tensor.ScalarLike(x, t.DType())
	return s
}

// rootMeanSquare returns √(mean x²) in a floating-point type, and 0 for a tensor without
// elements.
func rootMeanSquare(x tensor.Tensor) tensor.Tensor {
	n := ops.Maximum(ops.Cast(ops.Size(x), dtype.Float64), 1.0)
	return ops.Sqrt(ops.Div(ops.Sum(ops.Mul(x, x)), ops.Cast(n, x.DType())))
}

// Fixed returns an optimizer that does not change parameters.
func Fixed() Optimizer { return fixed{} }

type fixed struct{}

// Rate returns a schedule that is 0.
func (fixed) Rate() Schedule { return Constant(0) }

// Slots returns none.
func (fixed) Slots(tensor.Tensor) []tensor.Tensor { return nil }

// Update returns the parameter.
func (fixed) Update(p, _ tensor.Tensor, slots []tensor.Tensor, _, _ tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	return p, slots
}

// Sparse returns an optimizer that updates only the rows of a parameter, slices along its first
// axis, that have a nonzero gradient; the other rows and their slots do not change. It suits a
// table of embeddings of which a step reads few rows. [Adam] can do so itself, in one pass.
func Sparse(o Optimizer) Optimizer { return sparse{o} }

type sparse struct{ Optimizer }

// WithoutDecay returns the optimizer with no weight decay.
func (o sparse) WithoutDecay() Optimizer {
	if d, ok := o.Optimizer.(Decayed); ok {
		return sparse{d.WithoutDecay()}
	}
	return o
}

// Update does one step.
func (o sparse) Update(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	next, after := o.Optimizer.Update(p, g, slots, t, rate)
	return onlyTouched(g, p, next, slots, after)
}

// onlyTouched takes the new rows of parameter and slots where the gradient is not 0, and the
// old ones elsewhere. Slots whose shape is not the parameter's have no such rows and are always
// new.
func onlyTouched(g, p, next tensor.Tensor, slots, after []tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	touched := ops.NotEqual(g, 0.0)
	if n := g.Shape().Rank(); n > 1 {
		axes := make([]int, n-1)
		for i := range axes {
			axes[i] = i + 1
		}
		touched = ops.AnyKeep(touched, axes...)
	}
	out := make([]tensor.Tensor, len(slots))
	for i := range slots {
		if out[i] = after[i]; slots[i].Shape().CompatibleWith(p.Shape()) {
			out[i] = ops.Where(touched, after[i], slots[i])
		}
	}
	return ops.Where(touched, next, p), out
}
