package train

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// MomentOptions are the options of [LAMB], [Adamax], [NAdam] and [RAdam], which keep two moments
// like [Adam]. The zero value is the default.
type MomentOptions struct {
	Beta1, Beta2 float64 // 0 stands for 0.9 and 0.999
	Epsilon      float64 // 0 stands for 1e-8, for LAMB 1e-6
	WeightDecay  float64 // λp is added to the gradient; for LAMB, to the step
}

// moments are the optimizers with two moments.
type moments struct {
	scheduled
	MomentOptions
	step func(o moments, p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor)
	more bool // with an additional scalar
}

func momentsAt[R Rate](rate R, o []MomentOptions) moments {
	m := moments{scheduled: at(rate), MomentOptions: option(o)}
	m.Beta1, m.Beta2 = orDefault(m.Beta1, 0.9), orDefault(m.Beta2, 0.999)
	m.Epsilon = orDefault(m.Epsilon, 1e-8)
	return m
}

// WithoutDecay returns the optimizer with no weight decay.
func (o moments) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// Slots returns the two moments.
func (o moments) Slots(p tensor.Tensor) []tensor.Tensor {
	s := []tensor.Tensor{zeros(p), zeros(p)}
	if o.more {
		one, _ := tensor.ScalarLike(1.0, p.DType())
		s = append(s, one)
	}
	return s
}

// Update does one step.
func (o moments) Update(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	return o.step(o, p, g, slots, t, rate)
}

// both returns the new moments.
func (o moments) both(g tensor.Tensor, slots []tensor.Tensor) (m, v tensor.Tensor) {
	return mixed(slots[0], g, o.Beta1), mixed(slots[1], ops.Mul(g, g), o.Beta2)
}

// LAMB is Adam with a step that is scaled, for each parameter tensor, by the ratio of the norms
// of the parameter and the step, or by 1 if either is 0. Y. You et al., "Large batch
// optimization for deep learning", ICLR 2020.
func LAMB[R Rate](rate R, o ...MomentOptions) Optimizer {
	m := momentsAt(rate, o)
	m.Epsilon = orDefault(option(o).Epsilon, 1e-6)
	m.step = func(o moments, p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
		m, v := o.both(g, slots)
		r := ops.Div(corrected(m, o.Beta1, t), ops.Add(ops.Sqrt(corrected(v, o.Beta2, t)), o.Epsilon))
		r = decayed(r, p, o.WeightDecay)
		pn, rn := ops.Sqrt(ops.Sum(ops.Mul(p, p))), ops.Sqrt(ops.Sum(ops.Mul(r, r)))
		ratio := ops.Where(ops.LogicalAnd(ops.Greater(pn, 0.0), ops.Greater(rn, 0.0)), ops.Div(pn, rn), ops.OnesLike(pn))
		return ops.Sub(p, ops.Mul(ops.Mul(rate, ratio), r)), []tensor.Tensor{m, v}
	}
	return m
}

// Adamax is Adam with an exponentially decaying maximum of gradients in place of the root of
// the second moment:
//
//	u ← max(β₂ u, |g| + ε);  p ← p − η m̂/u
//
// D. Kingma and J. Ba, "Adam", ICLR 2015, section 7.
func Adamax[R Rate](rate R, o ...MomentOptions) Optimizer {
	m := momentsAt(rate, o)
	m.step = func(o moments, p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
		g = decayed(g, p, o.WeightDecay)
		m := mixed(slots[0], g, o.Beta1)
		u := ops.Maximum(scaled(slots[1], o.Beta2), ops.Add(ops.Abs(g), o.Epsilon))
		return ops.Sub(p, ops.Div(ops.Mul(rate, corrected(m, o.Beta1, t)), u)), []tensor.Tensor{m, u}
	}
	return m
}

// NAdam is Adam with Nesterov's momentum, whose coefficients grow as
// μₜ = β₁(1 − 0.96^(0.004t)/2). T. Dozat, ICLR workshop 2016.
func NAdam[R Rate](rate R, o ...MomentOptions) Optimizer {
	m := momentsAt(rate, o)
	m.more = true
	m.step = func(o moments, p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
		g = decayed(g, p, o.WeightDecay)
		m, v := o.both(g, slots)
		mu := func(t tensor.Tensor) tensor.Tensor {
			return ops.Mul(ops.Sub(1.0, ops.Mul(ops.Pow(like(0.96, t), ops.Mul(t, 0.004)), 0.5)), o.Beta1)
		}
		now, next := mu(t), mu(ops.Add(t, 1.0))
		all := ops.Mul(slots[2], now)
		own := ops.Div(ops.Mul(ops.Sub(1.0, now), g), ops.Sub(1.0, all))
		ahead := ops.Div(ops.Mul(next, m), ops.Sub(1.0, ops.Mul(all, next)))
		step := ops.Div(ops.Add(own, ahead), ops.Add(ops.Sqrt(corrected(v, o.Beta2, t)), o.Epsilon))
		return ops.Sub(p, ops.Mul(rate, step)), []tensor.Tensor{m, v, all}
	}
	return m
}

// RAdam is Adam that does not use the second moment while its variance is too large. L. Liu et
// al., "On the variance of the adaptive learning rate and beyond", ICLR 2020.
func RAdam[R Rate](rate R, o ...MomentOptions) Optimizer {
	m := momentsAt(rate, o)
	m.step = func(o moments, p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
		g = decayed(g, p, o.WeightDecay)
		m, v := o.both(g, slots)
		last := 2/(1-o.Beta2) - 1
		power := ops.Pow(like(o.Beta2, t), t)
		left := ops.Sub(1.0, power)
		length := ops.Sub(last, ops.Div(ops.Mul(ops.Mul(t, power), 2.0), left))
		sure := ops.Greater(length, 5.0)
		l := ops.Where(sure, length, ops.Mul(ops.OnesLike(length), 6.0)) // a value that is not used must be a number, too
		rect := ops.Sqrt(ops.Div(ops.Mul(ops.Mul(ops.Sub(l, 4.0), ops.Sub(l, 2.0)), last), ops.Mul(l, (last-4)*(last-2))))
		adaptive := ops.Div(ops.Mul(ops.Sqrt(left), rect), ops.Add(ops.Sqrt(v), o.Epsilon))
		step := ops.Mul(corrected(m, o.Beta1, t), ops.Where(sure, adaptive, ops.OnesLike(adaptive)))
		return ops.Sub(p, ops.Mul(rate, step)), []tensor.Tensor{m, v}
	}
	return m
}

// AdafactorOptions are the options of [Adafactor]. The zero value is the default.
type AdafactorOptions struct {
	MinSize     int     // both sides of a matrix must be at least this large for its moment to be factored; 0 stands for 128
	DecayRate   float64 // of the moment: β₂ = 1 − t^−DecayRate; 0 stands for 0.8
	Clip        float64 // the largest root mean square of a step; 0 stands for 1
	Epsilon     float64 // added to squared gradients; 0 stands for 1e-30
	Absolute    bool    // steps are not scaled by the root mean square of the parameter (at least 1e-3)
	WeightDecay float64 // decoupled: ηλp is subtracted from p
}

// Adafactor stores the second moment of a matrix as those of its rows and of its columns. N.
// Shazeer and M. Stern, ICML 2018.
func Adafactor[R Rate](rate R, o ...AdafactorOptions) Optimizer {
	f := adafactor{at(rate), option(o)}
	if f.MinSize == 0 {
		f.MinSize = 128
	}
	f.DecayRate, f.Clip, f.Epsilon = orDefault(f.DecayRate, 0.8), orDefault(f.Clip, 1), orDefault(f.Epsilon, 1e-30)
	return f
}

type adafactor struct {
	scheduled
	AdafactorOptions
}

// WithoutDecay returns the optimizer with no weight decay.
func (o adafactor) WithoutDecay() Optimizer {
	o.WeightDecay = 0
	return o
}

// factored returns the two largest axes of a parameter, the larger one second.
func (o adafactor) factored(p tensor.Tensor) (short, long int, ok bool) {
	s := p.Shape()
	if !s.IsFull() || s.Rank() < 2 {
		return 0, 0, false
	}
	axes := make([]int, s.Rank())
	for i := range axes {
		axes[i] = i
	}
	slices.SortStableFunc(axes, func(a, b int) int { return s.Dim(a) - s.Dim(b) })
	short, long = axes[len(axes)-2], axes[len(axes)-1]
	return short, long, s.Dim(short) >= o.MinSize
}

// Slots returns the moments of rows and columns, or of all elements.
func (o adafactor) Slots(p tensor.Tensor) []tensor.Tensor {
	if short, long, ok := o.factored(p); ok {
		return []tensor.Tensor{ops.Sum(zeros(p), long), ops.Sum(zeros(p), short)}
	}
	return []tensor.Tensor{zeros(p)}
}

// Update does one step.
func (o adafactor) Update(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	// The coefficient is a float32 for every type of parameter, as in the authors' program and in optax.
	decay := ops.Cast(ops.Sub(1.0, ops.Pow(ops.Cast(t, dtype.Float32), -o.DecayRate)), p.DType())
	mix := func(old, x tensor.Tensor) tensor.Tensor {
		return ops.Add(ops.Mul(decay, old), ops.Mul(ops.Sub(1.0, decay), x))
	}
	square := ops.Add(ops.Mul(g, g), o.Epsilon)
	var after []tensor.Tensor
	var step tensor.Tensor
	if short, long, ok := o.factored(p); ok {
		rows, columns := mix(slots[0], ops.Mean(square, long)), mix(slots[1], ops.Mean(square, short))
		inRows := short
		if short > long {
			inRows--
		}
		factor := ops.Rsqrt(ops.Div(rows, ops.MeanKeep(rows, inRows)))
		step = ops.Mul(ops.Mul(g, ops.ExpandDims(factor, long)), ops.ExpandDims(ops.Rsqrt(columns), short))
		after = []tensor.Tensor{rows, columns}
	} else {
		v := mix(slots[0], square)
		step, after = ops.Mul(g, ops.Rsqrt(v)), []tensor.Tensor{v}
	}
	step = ops.Div(step, ops.Maximum(ops.Div(rootMeanSquare(step), o.Clip), 1.0))
	if !o.Absolute {
		step = ops.Mul(step, ops.Maximum(rootMeanSquare(p), 1e-3))
	}
	return ops.Sub(p, ops.Mul(rate, decayed(step, p, o.WeightDecay))), after
}
