package nn

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// pairwise applies f to the items of two values of the same shape.
func pairwise(fn string, x, y tensor.Tensor, f func(x, y tensor.Tensor) tensor.Tensor) tensor.Tensor {
	return onItems(fn, func(v []tensor.Tensor) tensor.Tensor { return f(v[0], v[1]) }, of(x), of(y))
}

// positive rejects a setting that is not above 0.
func positive(fn, name string, x float64) {
	if !(x > 0) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("%s is %v, want more than 0", name, x)))
	}
}

// SquaredError returns the squared difference of prediction and target.
func SquaredError(prediction, target tensor.Tensor) tensor.Tensor {
	return pairwise("nn.SquaredError", prediction, target, func(x, y tensor.Tensor) tensor.Tensor { return ops.SquaredDifference(x, y) })
}

// AbsoluteError returns the absolute difference of prediction and target.
func AbsoluteError(prediction, target tensor.Tensor) tensor.Tensor {
	return pairwise("nn.AbsoluteError", prediction, target, func(x, y tensor.Tensor) tensor.Tensor { return ops.Abs(ops.Sub(x, y)) })
}

// Huber returns d²/2 if the absolute difference d of prediction and target is at most delta,
// and delta·(d - delta/2) otherwise (P. Huber, Annals of Mathematical Statistics 35, 1964).
func Huber(prediction, target tensor.Tensor, delta float64) tensor.Tensor {
	positive("nn.Huber", "delta", delta)
	return pairwise("nn.Huber", prediction, target, func(x, y tensor.Tensor) tensor.Tensor {
		d := ops.Abs(ops.Sub(x, y))
		near := ops.Minimum(d, delta)
		return ops.Mul(near, ops.Sub(d, ops.Mul(near, 0.5)))
	})
}

// SmoothL1 returns d²/(2·beta) if the absolute difference d of prediction and target is at most
// beta, and d - beta/2 otherwise (R. Girshick, ICCV 2015): [Huber] divided by beta.
func SmoothL1(prediction, target tensor.Tensor, beta float64) tensor.Tensor {
	positive("nn.SmoothL1", "beta", beta)
	return ops.Mul(Huber(prediction, target, beta), 1/beta)
}

// KLDivergence returns p·(log p - log q), the terms of the divergence of the prediction q
// from the target p; their sum over the events is the divergence. A target of 0 gives 0.
//
//	logs: [..., events] log q, target: [..., events] p → the same
func KLDivergence(logs, target tensor.Tensor) tensor.Tensor {
	return pairwise("nn.KLDivergence", logs, target, func(x, y tensor.Tensor) tensor.Tensor {
		some := ops.Greater(y, 0.0)
		return ops.Where(some, ops.Mul(y, ops.Sub(ops.Log(ops.Where(some, y, ops.OnesLike(y))), x)), 0.0)
	})
}

// LogKLDivergence is [KLDivergence] of a target that is given as log p.
func LogKLDivergence(logs, target tensor.Tensor) tensor.Tensor {
	return pairwise("nn.LogKLDivergence", logs, target, func(x, y tensor.Tensor) tensor.Tensor { return ops.Mul(ops.Exp(y), ops.Sub(y, x)) })
}

// Poisson returns e^x - y·x, the negative log-likelihood of counts y, where x is the logarithm
// of the mean, without the term that depends on y only.
func Poisson(logs, counts tensor.Tensor) tensor.Tensor {
	return pairwise("nn.Poisson", logs, counts, func(x, y tensor.Tensor) tensor.Tensor {
		return ops.Sub(ops.Exp(x), ops.Mul(ops.Cast(y, x.DType()), x))
	})
}

// GaussianOptions are the options of [Gaussian]. The zero value is the default.
type GaussianOptions struct {
	Epsilon float64 // the smallest variance; 0 means 1e-6
	Full    bool    // with the constant log(2π)/2
}

// Gaussian returns log(v)/2 + (x - y)²/(2v), the negative log-likelihood of y under a normal
// distribution of mean x and variance v. A variance below Epsilon is replaced by Epsilon and
// has its gradient.
func Gaussian(mean, target, variance tensor.Tensor, options ...GaussianOptions) tensor.Tensor {
	const fn = "nn.Gaussian"
	o := option(options)
	if o.Epsilon == 0 {
		o.Epsilon = 1e-6
	}
	positive(fn, "Epsilon", o.Epsilon)
	return onItems(fn, func(x []tensor.Tensor) tensor.Tensor {
		v := ops.Maximum(x[2], o.Epsilon)
		loss := ops.Mul(ops.Add(ops.Log(v), ops.Div(ops.SquaredDifference(x[0], x[1]), v)), 0.5)
		if o.Full {
			loss = ops.Add(loss, math.Log(2*math.Pi)/2)
		}
		return loss
	}, of(mean), of(target), of(variance))
}

// Hinge returns max(0, 1 - score·sign) for signs 1 and -1.
func Hinge(score, sign tensor.Tensor) tensor.Tensor {
	return pairwise("nn.Hinge", score, sign, func(x, y tensor.Tensor) tensor.Tensor {
		return ops.Relu(ops.Sub(1.0, ops.Mul(x, ops.Cast(y, x.DType()))))
	})
}

// SquaredHinge is the square of [Hinge].
func SquaredHinge(score, sign tensor.Tensor) tensor.Tensor { return ops.Square(Hinge(score, sign)) }

// MultiMargin returns the sum of max(0, margin - s[label] + s[class]) over all classes except
// the label, divided by the number of classes.
//
//	scores: [..., classes], labels: [...] int32 or int64 → [...]
func MultiMargin(scores, labels tensor.Tensor, margin float64) tensor.Tensor {
	return ofClasses("nn.MultiMargin", scores, labels, nil, func(x, y tensor.Tensor) tensor.Tensor {
		above := ops.Add(ops.Sub(x, ops.TakeAlongAxis(x, ops.ExpandDims(y, -1), -1)), margin)
		// The sum below includes the label itself, which adds the margin.
		own := ops.Div(max(0, margin), ops.Cast(ops.Index(ops.Shape(x), -1), x.DType()))
		return ops.Sub(ops.Mean(ops.Relu(above), -1), own)
	})
}

// MarginRanking returns max(0, -sign·(a - b) + margin): with sign 1, a should exceed b by the
// margin; with sign -1, b should exceed a.
func MarginRanking(a, b, sign tensor.Tensor, margin float64) tensor.Tensor {
	return onItems("nn.MarginRanking", func(x []tensor.Tensor) tensor.Tensor {
		return ops.Relu(ops.Add(ops.Mul(ops.Sub(x[1], x[0]), ops.Cast(x[2], x[0].DType())), margin))
	}, of(a), of(b), of(sign))
}

// BPR returns log(1 + e^(other - chosen)) for the scores of an item that was chosen and of one
// that was not (S. Rendle et al., UAI 2009).
func BPR(chosen, other tensor.Tensor) tensor.Tensor {
	return pairwise("nn.BPR", chosen, other, func(x, y tensor.Tensor) tensor.Tensor { return ops.Softplus(ops.Sub(y, x)) })
}
