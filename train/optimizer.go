package train

import (
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// An Optimizer turns gradients into new parameters. It is a pure function of
// tensors, so that it can be part of a traced training step.
type Optimizer interface {
	// Slots returns the initial tensors kept for one parameter.
	Slots(param tensor.Tensor) []tensor.Tensor

	// Update returns the new parameter and slots. t is the number of this update,
	// from 1 on, as a float scalar of the parameter's type, and rate the learning rate
	// of the schedule, likewise.
	Update(param, grad tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor)

	// Rate returns the schedule of the learning rate.
	Rate() Schedule
}

func orConstant(s Schedule) Schedule {
	if s == nil {
		return Constant(1e-3)
	}
	return s
}

// A Decayed optimizer shrinks parameters, and there is the same without that.
type Decayed interface {
	Optimizer

	// WithoutDecay returns the optimizer with no weight decay.
	WithoutDecay() Optimizer
}

func zeros(like tensor.Tensor) tensor.Tensor { return ops.ZerosLike(like) }

func scaled(x any, k float64) tensor.Tensor { return ops.Mul(x, k) }

// SGD is gradient descent with momentum:
//
//	v ← μ v + g;  p ← p − η v            (Nesterov: p ← p − η (g + μ v))
//
// I. Sutskever et al., "On the importance of initialization and momentum in deep
// learning", ICML 2013.
type SGD struct {
	Schedule    Schedule // nil stands for Constant(1e-3)
	Momentum    float64
	Nesterov    bool
	WeightDecay float64 // decoupled: p loses η λ p besides
}

// WithoutDecay returns the optimizer with no weight decay.
func (o SGD) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// Rate returns the schedule.
func (o SGD) Rate() Schedule { return orConstant(o.Schedule) }

// Slots returns the velocity, if there is momentum.
func (o SGD) Slots(p tensor.Tensor) []tensor.Tensor {
	if o.Momentum == 0 {
		return nil
	}
	return []tensor.Tensor{zeros(p)}
}

// Update does one step.
func (o SGD) Update(p, g tensor.Tensor, slots []tensor.Tensor, _, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	decayed := func(dir tensor.Tensor) tensor.Tensor {
		if o.WeightDecay != 0 {
			dir = ops.Add(dir, scaled(p, o.WeightDecay))
		}
		return ops.Sub(p, ops.Mul(rate, dir))
	}
	if o.Momentum == 0 {
		return decayed(g), nil
	}
	v := ops.Add(scaled(slots[0], o.Momentum), g)
	dir := v
	if o.Nesterov {
		dir = ops.Add(g, scaled(v, o.Momentum))
	}
	return decayed(dir), []tensor.Tensor{v}
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

// Adagrad divides by the root of the sum of squared gradients:
//
//	s ← s + g²;  p ← p − η g/(√s + ε)
//
// J. Duchi, E. Hazan and Y. Singer, JMLR 12, 2011.
type Adagrad struct {
	Schedule Schedule
	Initial  float64 // of the sums
	Epsilon  float64 // 0 stands for 1e-10
}

// Rate returns the schedule.
func (o Adagrad) Rate() Schedule { return orConstant(o.Schedule) }

// Slots returns the sum of squares.
func (o Adagrad) Slots(p tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{ops.Add(zeros(p), o.Initial)}
}

// Update does one step.
func (o Adagrad) Update(p, g tensor.Tensor, slots []tensor.Tensor, _, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	s := ops.Add(slots[0], ops.Mul(g, g))
	return ops.Sub(p, ops.Div(ops.Mul(rate, g), ops.Add(ops.Sqrt(s), orDefault(o.Epsilon, 1e-10)))), []tensor.Tensor{s}
}

// Lion steps by the sign of an interpolated momentum:
//
//	p ← p − η (sign(β₁ m + (1−β₁) g) + λ p);  m ← β₂ m + (1−β₂) g
//
// X. Chen et al., "Symbolic discovery of optimization algorithms", 2023. The zero
// values of Beta1 and Beta2 stand for 0.9 and 0.99.
type Lion struct {
	Schedule     Schedule
	Beta1, Beta2 float64
	WeightDecay  float64
}

// WithoutDecay returns the optimizer with no weight decay.
func (o Lion) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// Rate returns the schedule.
func (o Lion) Rate() Schedule { return orConstant(o.Schedule) }

// Slots returns the momentum.
func (o Lion) Slots(p tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{zeros(p)} }

// Update does one step.
func (o Lion) Update(p, g tensor.Tensor, slots []tensor.Tensor, _, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	b1, b2 := orDefault(o.Beta1, 0.9), orDefault(o.Beta2, 0.99)
	m := slots[0]
	dir := ops.Sign(ops.Add(scaled(m, b1), scaled(g, 1-b1)))
	if o.WeightDecay != 0 {
		dir = ops.Add(dir, scaled(p, o.WeightDecay))
	}
	return ops.Sub(p, ops.Mul(rate, dir)), []tensor.Tensor{ops.Add(scaled(m, b2), scaled(g, 1-b2))}
}

// LAMB is Adam whose step is scaled, for each parameter tensor, to the ratio of
// the norms of parameter and step. Y. You et al., "Large batch optimization for
// deep learning", ICLR 2020. Zero values stand for 0.9, 0.999 and 1e-6.
type LAMB struct {
	Schedule     Schedule
	Beta1, Beta2 float64
	Epsilon      float64
	WeightDecay  float64
}

// WithoutDecay returns the optimizer with no weight decay.
func (o LAMB) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// Rate returns the schedule.
func (o LAMB) Rate() Schedule { return orConstant(o.Schedule) }

// Slots returns the two moments.
func (o LAMB) Slots(p tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{zeros(p), zeros(p)} }

// Update does one step.
func (o LAMB) Update(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	b1, b2 := orDefault(o.Beta1, 0.9), orDefault(o.Beta2, 0.999)
	m := ops.Add(scaled(slots[0], b1), scaled(g, 1-b1))
	v := ops.Add(scaled(slots[1], b2), scaled(ops.Mul(g, g), 1-b2))
	mh := ops.Div(m, ops.Sub(1.0, ops.Pow(like(b1, t), t)))
	vh := ops.Div(v, ops.Sub(1.0, ops.Pow(like(b2, t), t)))
	r := ops.Div(mh, ops.Add(ops.Sqrt(vh), orDefault(o.Epsilon, 1e-6)))
	if o.WeightDecay != 0 {
		r = ops.Add(r, scaled(p, o.WeightDecay))
	}
	pn, rn := ops.Sqrt(ops.Sum(ops.Mul(p, p))), ops.Sqrt(ops.Sum(ops.Mul(r, r)))
	ratio := ops.Where(ops.LogicalAnd(ops.Greater(pn, 0.0), ops.Greater(rn, 0.0)), ops.Div(pn, rn), ops.OnesLike(pn))
	return ops.Sub(p, ops.Mul(ops.Mul(rate, ratio), r)), []tensor.Tensor{m, v}
}

// Frozen leaves parameters as they are.
type Frozen struct{}

// Rate returns a schedule that is 0.
func (Frozen) Rate() Schedule { return Constant(0) }

// Slots returns none.
func (Frozen) Slots(tensor.Tensor) []tensor.Tensor { return nil }

// Update returns the parameter.
func (Frozen) Update(p, _ tensor.Tensor, slots []tensor.Tensor, _, _ tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	return p, slots
}

// Sparse is an optimizer that leaves rows of a parameter, slices along its first axis, as
// they are where the gradient is 0 in all of their elements, and its slots too: for a table
// of embeddings of which a step reads few rows. [Adam] does that by itself, in one pass.
type Sparse struct{ Optimizer }

// WithoutDecay returns the optimizer with no weight decay.
func (o Sparse) WithoutDecay() Optimizer {
	if d, ok := o.Optimizer.(Decayed); ok {
		return Sparse{d.WithoutDecay()}
	}
	return o
}

// Update does one step.
func (o Sparse) Update(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	next, after := o.Optimizer.Update(p, g, slots, t, rate)
	return onlyTouched(g, p, next, slots, after)
}

// onlyTouched takes the new rows of parameter and slots where the gradient is not 0, and
// the old ones elsewhere.
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
		out[i] = ops.Where(touched, after[i], slots[i])
	}
	return ops.Where(touched, next, p), out
}
