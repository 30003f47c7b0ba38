package train

import (
	"math"

	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Schedule gives the learning rate of a step. step is a floating-point scalar that counts
// from 0; the result has its element type.
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
func Cosine(rate float64, steps int) Schedule { return CosineTo(rate, 0, steps) }

// CosineTo is like [Cosine], but ends at another rate than 0.
func CosineTo(from, to float64, steps int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor { return wave(from, to, fraction(step, steps)) }
}

// wave goes from one rate to another along half a cosine wave.
func wave(from, to float64, share tensor.Tensor) tensor.Tensor {
	return ops.Add(ops.Mul(ops.Add(ops.Cos(ops.Mul(share, math.Pi)), 1.0), (from-to)/2), to)
}

// Restarts repeats [CosineTo]: first in the given number of steps, then each time in factor
// times as many.
func Restarts(from, to float64, steps, factor int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		n := float64(max(1, steps))
		if factor <= 1 {
			return wave(from, to, ops.Div(ops.Mod(step, n), n))
		}
		// Period k begins at n(fᵏ-1)/(f-1) and has n·fᵏ steps. The constant added makes up for
		// rounding of the logarithm at the beginning of a period.
		f := float64(factor)
		k := ops.Floor(ops.Add(ops.Div(ops.Log(ops.Add(ops.Mul(step, (f-1)/n), 1.0)), math.Log(f)), 1e-6))
		long := ops.Mul(ops.Pow(like(f, step), k), n)
		return wave(from, to, ops.Div(ops.Sub(step, ops.Div(ops.Sub(long, n), f-1)), long))
	}
}

// Polynomial goes from one rate to another, with the difference proportional to a power of the
// share of the remaining steps, and stays there.
func Polynomial(from, to float64, steps int, power float64) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		left := ops.Sub(1.0, fraction(step, steps))
		return ops.Add(ops.Mul(ops.Pow(left, power), from-to), to)
	}
}

// Then is one schedule for a number of steps, followed by another, which counts from 0.
func Then(first Schedule, steps int, next Schedule) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		n := float64(steps)
		return ops.Where(ops.Less(step, n), first(step), next(ops.Maximum(ops.Sub(step, n), 0.0)))
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

// InverseSqrt is constant up to a step, and proportional to 1/√step from there on (A. Vaswani
// et al., arXiv:1706.03762); see [Warmup].
func InverseSqrt(rate float64, steps int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		n := float64(max(1, steps))
		return ops.Mul(ops.Sqrt(ops.Div(n, ops.Maximum(step, n))), rate)
	}
}

// Staircase multiplies a rate by factor after every given number of steps.
func Staircase(rate, factor float64, every int) Schedule {
	return func(step tensor.Tensor) tensor.Tensor {
		return ops.Mul(ops.Pow(like(factor, step), ops.Floor(ops.Div(step, float64(max(1, every))))), rate)
	}
}

// OneCycleOptions are the options of [OneCycle]. The zero value is the default.
type OneCycleOptions struct {
	Share    float64 // of the steps during which the rate rises; 0 stands for 0.3
	Div      float64 // the first rate is peak/Div; 0 stands for 25
	FinalDiv float64 // the last rate is the first one divided by FinalDiv; 0 stands for 1e4
	Linear   bool    // linearly; otherwise along cosine waves
}

// OneCycle rises to the peak rate, which it reaches at step Share·steps - 1, and falls to
// nearly 0 at the last step (L. Smith and N. Topin, arXiv:1708.07120).
func OneCycle(peak float64, steps int, o ...OneCycleOptions) Schedule {
	c := option(o)
	first := peak / orDefault(c.Div, 25)
	last := first / orDefault(c.FinalDiv, 1e4)
	top := orDefault(c.Share, 0.3)*float64(steps) - 1
	phase := func(from, to float64, share tensor.Tensor) tensor.Tensor {
		share = ops.Clip(share, 0.0, 1.0)
		if c.Linear {
			return ops.Add(ops.Mul(share, to-from), from)
		}
		return wave(from, to, share)
	}
	return func(step tensor.Tensor) tensor.Tensor {
		up := phase(first, peak, ops.Div(step, math.Max(top, 1e-9)))
		down := phase(peak, last, ops.Div(ops.Sub(step, top), math.Max(float64(steps-1)-top, 1e-9)))
		return ops.Where(ops.LessEqual(step, top), up, down)
	}
}
