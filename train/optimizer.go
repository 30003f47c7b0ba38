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

func zeros(like tensor.Tensor) tensor.Tensor { return ops.ZerosLike(like) }

func scaled(x any, k float64) tensor.Tensor { return ops.Mul(x, k) }

// SGD is gradient descent with momentum:
//
//	v ← μ v + g;  p ← p − η v            (Nesterov: p ← p − η (g + μ v))
//
// I. Sutskever et al., "On the importance of initialization and momentum in deep
// learning", ICML 2013.
type SGD struct {
	Schedule Schedule
	Momentum float64
	Nesterov bool
}

// Rate returns the schedule.
func (o SGD) Rate() Schedule { return o.Schedule }

// Slots returns the velocity, if there is momentum.
func (o SGD) Slots(p tensor.Tensor) []tensor.Tensor {
	if o.Momentum == 0 {
		return nil
	}
	return []tensor.Tensor{zeros(p)}
}

// Update does one step.
func (o SGD) Update(p, g tensor.Tensor, slots []tensor.Tensor, _, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	if o.Momentum == 0 {
		return ops.Sub(p, ops.Mul(rate, g)), nil
	}
	v := ops.Add(scaled(slots[0], o.Momentum), g)
	dir := v
	if o.Nesterov {
		dir = ops.Add(g, scaled(v, o.Momentum))
	}
	return ops.Sub(p, ops.Mul(rate, dir)), []tensor.Tensor{v}
}

// Adam is adaptive moment estimation:
//
//	m ← β₁ m + (1−β₁) g;  v ← β₂ v + (1−β₂) g²
//	p ← p − η √(1−β₂ᵗ)/(1−β₁ᵗ) m/(√v + ε) − η λ p
//
// with the root of the bias correction outside of ε. WeightDecay λ is decoupled
// (AdamW) where it is not 0. The zero values of Beta1, Beta2 and Epsilon stand
// for 0.9, 0.999 and 1e-8.
//
// D. Kingma and J. Ba, "Adam", ICLR 2015; I. Loshchilov and F. Hutter, "Decoupled
// weight decay regularization", ICLR 2019.
type Adam struct {
	Schedule     Schedule
	Beta1, Beta2 float64
	Epsilon      float64
	WeightDecay  float64
}

func orDefault(x, d float64) float64 {
	if x == 0 {
		return d
	}
	return x
}

// Rate returns the schedule.
func (o Adam) Rate() Schedule { return o.Schedule }

// Slots returns the two moments.
func (o Adam) Slots(p tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{zeros(p), zeros(p)} }

// Update does one step.
func (o Adam) Update(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	b1, b2 := orDefault(o.Beta1, 0.9), orDefault(o.Beta2, 0.999)
	m := ops.Add(scaled(slots[0], b1), scaled(g, 1-b1))
	v := ops.Add(scaled(slots[1], b2), scaled(ops.Mul(g, g), 1-b2))
	correction := ops.Div(ops.Sqrt(ops.Sub(1.0, ops.Pow(like(b2, t), t))), ops.Sub(1.0, ops.Pow(like(b1, t), t)))
	step := ops.Mul(rate, correction)
	next := ops.Sub(p, ops.Div(ops.Mul(m, step), ops.Add(ops.Sqrt(v), orDefault(o.Epsilon, 1e-8))))
	if o.WeightDecay != 0 {
		next = ops.Sub(next, ops.Mul(p, scaled(rate, o.WeightDecay)))
	}
	return next, []tensor.Tensor{m, v}
}

// like returns a constant as a scalar of t's element type.
func like(x float64, t tensor.Tensor) tensor.Tensor {
	s, _ := tensor.ScalarLike(x, t.DType())
	return s
}

// AdamW is Adam with decoupled weight decay of 0.01.
func AdamW(rate float64) Adam { return Adam{Schedule: Constant(rate), WeightDecay: 0.01} }

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
func (o Adagrad) Rate() Schedule { return o.Schedule }

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

// Rate returns the schedule.
func (o Lion) Rate() Schedule { return o.Schedule }

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

// Rate returns the schedule.
func (o LAMB) Rate() Schedule { return o.Schedule }

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
