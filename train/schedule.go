package train

import (
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Schedule gives the learning rate of a step. step is a float scalar that
// counts from 0; the result has its element type.
type Schedule func(step tensor.Tensor) tensor.Tensor

// Constant is the same rate for every step.
func Constant(rate float64) Schedule {
	return func(step tensor.Tensor) tensor.Tensor { return like(rate, step) }
}

// Linear goes from one rate to another in a number of steps and stays there.
func Linear(from, to float64, steps int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		return ops.Add(ops.Mul(fraction(step, steps), to-from), from)
	}
}

// Cosine goes from a rate to 0 along half a cosine wave (I. Loshchilov and F.
// Hutter, "SGDR", ICLR 2017) in a number of steps and stays there.
func Cosine(rate float64, steps int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		const pi = 3.14159265358979323846
		return ops.Mul(ops.Add(ops.Cos(ops.Mul(fraction(step, steps), pi)), 1.0), rate/2)
	}
}

// Warmup multiplies a schedule by a ramp from 0 to 1 over the first steps: step s has
// the factor min(1, (s+1)/steps).
func Warmup(steps int, s Schedule) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		return ops.Mul(s(step), ops.Minimum(ops.Div(ops.Add(step, 1.0), float64(max(1, steps))), 1.0))
	}
}

// Decay multiplies a rate by factor every given number of steps, continuously.
func Decay(rate, factor float64, steps int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		return ops.Mul(ops.Pow(like(factor, step), ops.Div(step, float64(max(1, steps)))), rate)
	}
}

func fraction(step tensor.Tensor, steps int) tensor.Tensor {
	return ops.Minimum(ops.Div(step, float64(max(1, steps))), 1.0)
}

// Steps multiplies a rate by factor at each of the given steps.
func Steps(rate, factor float64, at ...int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		out := like(rate, step)
		for _, s := range at {
			out = ops.Where(ops.GreaterEqual(step, float64(s)), ops.Mul(out, factor), out)
		}
		return out
	}
}

// InverseSqrt is the rate up to a step, and falls with the root of the steps from there on
// (A. Vaswani et al., arXiv:1706.03762); see [Warmup].
func InverseSqrt(rate float64, steps int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		n := float64(max(1, steps))
		return ops.Mul(ops.Sqrt(ops.Div(n, ops.Maximum(step, n))), rate)
	}
}

// OneCycle rises from rate/25 to rate in the steps up to peak and falls to 0 in those up
// to steps, both linearly (L. Smith and N. Topin, arXiv:1708.07120).
func OneCycle(rate float64, peak, steps int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		up := ops.Add(ops.Mul(fraction(step, peak), rate*24/25), rate/25)
		left := ops.Maximum(ops.Sub(float64(steps), step), 0.0)
		down := ops.Mul(ops.Div(left, float64(max(1, steps-peak))), rate)
		return ops.Where(ops.Less(step, float64(peak)), up, down)
	}
}
