package train

import (
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// SGDOptions are the options of [SGD]. The zero value is the default.
type SGDOptions struct {
	Momentum    float64 // μ
	Dampening   float64 // of the gradients in the momentum, except the first
	Nesterov    bool
	WeightDecay float64 // λp is added to the gradient
}

// SGD is gradient descent with momentum:
//
//	v ← μ v + (1−dampening) g, at first g;  p ← p − η v            (Nesterov: p ← p − η (g + μ v))
//
// I. Sutskever et al., "On the importance of initialization and momentum in deep
// learning", ICML 2013.
func SGD[R Rate](rate R, o ...SGDOptions) Optimizer { return sgd{at(rate), option(o)} }

type sgd struct {
	scheduled
	SGDOptions
}

// WithoutDecay returns the optimizer with no weight decay.
func (o sgd) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// Slots returns the velocity, if there is momentum.
func (o sgd) Slots(p tensor.Tensor) []tensor.Tensor {
	if o.Momentum == 0 {
		return nil
	}
	return []tensor.Tensor{zeros(p)}
}

// Update does one step.
func (o sgd) Update(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	g = decayed(g, p, o.WeightDecay)
	if o.Momentum == 0 {
		return ops.Sub(p, ops.Mul(rate, g)), nil
	}
	add := g
	if o.Dampening != 0 {
		add = ops.Where(ops.LessEqual(t, 1.0), g, scaled(g, 1-o.Dampening))
	}
	v := ops.Add(scaled(slots[0], o.Momentum), add)
	step := v
	if o.Nesterov {
		step = ops.Add(g, scaled(v, o.Momentum))
	}
	return ops.Sub(p, ops.Mul(rate, step)), []tensor.Tensor{v}
}

// AdagradOptions are the options of [Adagrad]. The zero value is the default.
type AdagradOptions struct {
	Initial     float64 // value of the sums
	Epsilon     float64 // 0 stands for 1e-10
	Decay       float64 // of the rate: η/(1 + (t−1)·Decay)
	WeightDecay float64 // λp is added to the gradient
}

// Adagrad divides by the root of the sum of squared gradients:
//
//	s ← s + g²;  p ← p − η g/(√s + ε)
//
// J. Duchi, E. Hazan and Y. Singer, JMLR 12, 2011.
func Adagrad[R Rate](rate R, o ...AdagradOptions) Optimizer { return adagrad{at(rate), option(o)} }

type adagrad struct {
	scheduled
	AdagradOptions
}

// WithoutDecay returns the optimizer with no weight decay.
func (o adagrad) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// Slots returns the sum of squares.
func (o adagrad) Slots(p tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{ops.Add(zeros(p), o.Initial)}
}

// Update does one step.
func (o adagrad) Update(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	g = decayed(g, p, o.WeightDecay)
	s := ops.Add(slots[0], ops.Mul(g, g))
	if o.Decay != 0 {
		rate = ops.Div(rate, ops.Add(scaled(ops.Sub(t, 1.0), o.Decay), 1.0))
	}
	return ops.Sub(p, ops.Div(ops.Mul(rate, g), ops.Add(ops.Sqrt(s), orDefault(o.Epsilon, 1e-10)))), []tensor.Tensor{s}
}

// AdadeltaOptions are the options of [Adadelta]. The zero value is the default.
type AdadeltaOptions struct {
	Rho         float64 // 0 stands for 0.9
	Epsilon     float64 // 0 stands for 1e-6
	WeightDecay float64 // λp is added to the gradient
}

// Adadelta scales the gradient by the ratio of the root mean squares of steps and gradients:
//
//	s ← ρ s + (1−ρ) g²;  Δ = √(d + ε)/√(s + ε) g;  d ← ρ d + (1−ρ) Δ²;  p ← p − η Δ
//
// M. Zeiler, arXiv:1212.5701, where the rate is 1.
func Adadelta[R Rate](rate R, o ...AdadeltaOptions) Optimizer { return adadelta{at(rate), option(o)} }

type adadelta struct {
	scheduled
	AdadeltaOptions
}

// WithoutDecay returns the optimizer with no weight decay.
func (o adadelta) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// Slots returns the means of the squares of gradients and steps.
func (o adadelta) Slots(p tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{zeros(p), zeros(p)}
}

// Update does one step.
func (o adadelta) Update(p, g tensor.Tensor, slots []tensor.Tensor, _, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	rho, eps := orDefault(o.Rho, 0.9), orDefault(o.Epsilon, 1e-6)
	g = decayed(g, p, o.WeightDecay)
	s := mixed(slots[0], ops.Mul(g, g), rho)
	step := ops.Mul(ops.Div(ops.Sqrt(ops.Add(slots[1], eps)), ops.Sqrt(ops.Add(s, eps))), g)
	return ops.Sub(p, ops.Mul(rate, step)), []tensor.Tensor{s, mixed(slots[1], ops.Mul(step, step), rho)}
}

// RMSPropOptions are the options of [RMSProp]. The zero value is the default.
type RMSPropOptions struct {
	Alpha       float64 // 0 stands for 0.99
	Epsilon     float64 // added to the root; 0 stands for 1e-8
	Momentum    float64
	Centered    bool    // uses the variance in place of the mean square
	WeightDecay float64 // λp is added to the gradient
}

// RMSProp divides by the root of a moving average of squared gradients:
//
//	s ← α s + (1−α) g²;  p ← p − η g/(√s + ε)
//
// T. Tieleman and G. Hinton, Coursera lecture 6.5, 2012; centered: A. Graves, arXiv:1308.0850.
func RMSProp[R Rate](rate R, o ...RMSPropOptions) Optimizer { return rmsProp{at(rate), option(o)} }

type rmsProp struct {
	scheduled
	RMSPropOptions
}

// WithoutDecay returns the optimizer with no weight decay.
func (o rmsProp) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// Slots returns the mean square, the momentum and the mean, if they are needed.
func (o rmsProp) Slots(p tensor.Tensor) []tensor.Tensor {
	s := []tensor.Tensor{zeros(p)}
	if o.Momentum != 0 {
		s = append(s, zeros(p))
	}
	if o.Centered {
		s = append(s, zeros(p))
	}
	return s
}

// Update does one step.
func (o rmsProp) Update(p, g tensor.Tensor, slots []tensor.Tensor, _, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	alpha := orDefault(o.Alpha, 0.99)
	g = decayed(g, p, o.WeightDecay)
	s := mixed(slots[0], ops.Mul(g, g), alpha)
	after := append([]tensor.Tensor{s}, slots[1:]...)
	if o.Centered {
		mean := mixed(slots[len(slots)-1], g, alpha)
		after[len(after)-1] = mean
		s = ops.Sub(s, ops.Mul(mean, mean))
	}
	step := ops.Div(g, ops.Add(ops.Sqrt(s), orDefault(o.Epsilon, 1e-8)))
	if o.Momentum != 0 {
		step = ops.Add(scaled(slots[1], o.Momentum), step)
		after[1] = step
	}
	return ops.Sub(p, ops.Mul(rate, step)), after
}

// LionOptions are the options of [Lion]. The zero value is the default.
type LionOptions struct {
	Beta1, Beta2 float64 // 0 stands for 0.9 and 0.99
	WeightDecay  float64 // decoupled: ηλp is subtracted from p
}

// Lion steps by the sign of an interpolated momentum:
//
//	p ← p − η (sign(β₁ m + (1−β₁) g) + λ p);  m ← β₂ m + (1−β₂) g
//
// X. Chen et al., "Symbolic discovery of optimization algorithms", 2023.
func Lion[R Rate](rate R, o ...LionOptions) Optimizer { return lion{at(rate), option(o)} }

type lion struct {
	scheduled
	LionOptions
}

// WithoutDecay returns the optimizer with no weight decay.
func (o lion) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// Slots returns the momentum.
func (o lion) Slots(p tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{zeros(p)} }

// Update does one step.
func (o lion) Update(p, g tensor.Tensor, slots []tensor.Tensor, _, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	step := decayed(ops.Sign(mixed(slots[0], g, orDefault(o.Beta1, 0.9))), p, o.WeightDecay)
	return ops.Sub(p, ops.Mul(rate, step)), []tensor.Tensor{mixed(slots[0], g, orDefault(o.Beta2, 0.99))}
}
