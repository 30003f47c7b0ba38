package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/half"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Losses return one number for each item; [Reduction.Of] or ops.Mean reduces them to one. They
// take dense tensors, ragged ones with rows of the same lengths, masked and named ones.
// Prediction and target must have the same shape: nothing is broadcast.

// A Reduction says how the losses of all items are combined.
type Reduction string

// How losses are combined.
const (
	EachLoss Reduction = ""      // not at all
	MeanLoss Reduction = "mean"  // their sum divided by the sum of their weights
	SumLoss  Reduction = "sum"   // their sum
	RowMeans Reduction = "means" // of ragged losses: the mean over the means of the rows that are not empty
)

// Of reduces losses. Each has the weight by which it was multiplied before; nil means weights
// of 1. The mean is NaN if the weights are all 0.
//
//	losses: any shape, weights: the same, or nil → a scalar, or the losses
func (r Reduction) Of(losses, weights tensor.Tensor) tensor.Tensor {
	const fn = "nn.Reduction"
	switch r {
	case EachLoss:
		return losses
	case SumLoss:
		return ops.Sum(losses)
	case MeanLoss:
		if weights == nil {
			return ops.Mean(losses)
		}
		wide := half.Wide(losses) // 16 bits do not hold many sums
		return ops.Cast(ops.Div(ops.Sum(wide), ops.Sum(inPlaceOf(half.Wide(weights), wide))), losses.DType())
	case RowMeans:
		if _, ok := losses.(rowed); !ok {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("%s has no rows of different lengths", tenon.String(losses.Spec()))))
		}
		wide := half.Wide(losses)
		if weights == nil {
			weights = onesOf(wide)
		}
		sum, count := ops.Sum(wide, -1), ops.Sum(inPlaceOf(half.Wide(weights), wide), -1)
		some := ops.NotEqual(count, 0.0)
		mean := ops.Where(some, ops.Div(sum, ops.Where(some, count, 1.0)), 0.0)
		return ops.Cast(ops.Div(ops.Sum(mean), ops.Sum(ops.Cast(some, wide.DType()))), losses.DType())
	}
	e := tenon.NewError(tenon.ErrNotFound, fn, fmt.Sprintf("there is no reduction %q", string(r)))
	e.Hint = `there are "", "mean", "sum" and "means"`
	tenon.Throw(e)
	return nil
}

// inPlaceOf returns the weights with 0 for missing losses.
func inPlaceOf(weights, losses tensor.Tensor) tensor.Tensor {
	return ops.Mul(weights, onesOf(losses))
}

// Weighted multiplies losses by weights of the same shape.
func Weighted(losses, weights tensor.Tensor) tensor.Tensor {
	return onItems("nn.Weighted", func(x []tensor.Tensor) tensor.Tensor { return ops.Mul(x[0], ops.Cast(x[1], x[0].DType())) }, of(losses), of(weights))
}

// CrossEntropyOptions are the options of [SoftmaxCrossEntropy]. The zero value is the default.
type CrossEntropyOptions struct {
	// Smoothing is the share of the probability that is spread evenly over all classes (C.
	// Szegedy et al., CVPR 2016).
	Smoothing float64

	// Weights [classes] are the weights of the labels of each class: losses are multiplied by
	// them, and means are divided by their sum. nil means weights of 1.
	Weights tensor.Tensor

	// Ignore lists labels to ignore, such as that of padding: their loss is 0. They need not be
	// classes.
	Ignore []int64

	// Classes is the dimension of the classes of named logits.
	Classes named.Name

	Reduction Reduction
}

// SoftmaxCrossEntropy returns -log softmax(logits)[label] for labels that are class
// numbers, and -Σ p·log softmax(logits) for distributions p.
//
//	logits: [..., classes]; labels: [...] int32 or int64, or [..., classes] floating → [...]
func SoftmaxCrossEntropy(logits, labels tensor.Tensor, options ...CrossEntropyOptions) tensor.Tensor {
	const fn = "nn.SoftmaxCrossEntropy"
	o := option(options)
	if !(o.Smoothing >= 0 && o.Smoothing < 1) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the smoothing is %v, want at least 0 and below 1", o.Smoothing)))
	}
	return o.Reduction.Of(ofClasses(fn, logits, labels, o.Classes, o.each), o.counts(fn, logits, labels))
}

// ofClasses applies f to scores, with the classes last, and labels, which are class numbers
// with one axis less, or distributions.
func ofClasses(fn string, logits, labels tensor.Tensor, classes named.Name, f func(x, y tensor.Tensor) tensor.Tensor) tensor.Tensor {
	less := 1
	if labels.DType().IsFloat() {
		less = 0
	}
	return onVectors(fn, "Classes", classes, func(x []tensor.Tensor) tensor.Tensor { return f(x[0], x[1]) }, of(logits), operand{labels, less})
}

// each returns the loss of each item of dense logits.
func (o CrossEntropyOptions) each(x, y tensor.Tensor) tensor.Tensor {
	w := o.weights(x)
	if y.DType().IsFloat() {
		logs := ops.LogSoftmax(x, -1)
		if w != nil {
			logs = ops.Mul(logs, w)
		}
		loss := ops.Sum(ops.Mul(ops.Cast(y, x.DType()), logs), -1)
		return ops.Neg(o.smooth(loss, logs))
	}
	at, ignored := o.classes(y)
	loss := ops.Neg(ops.SoftmaxCrossEntropy(x, at))
	if w != nil {
		loss = ops.Mul(loss, ops.Gather(w, at, 0))
	}
	if o.Smoothing != 0 {
		logs := ops.LogSoftmax(x, -1)
		if w != nil {
			logs = ops.Mul(logs, w)
		}
		loss = o.smooth(loss, logs)
	}
	if loss = ops.Neg(loss); ignored != nil {
		loss = ops.Where(ignored, 0.0, loss)
	}
	return loss
}

// smooth spreads a share of the probability over all classes.
func (o CrossEntropyOptions) smooth(own, logs tensor.Tensor) tensor.Tensor {
	if o.Smoothing == 0 {
		return own
	}
	return ops.Add(ops.Mul(own, 1-o.Smoothing), ops.Mul(ops.Mean(logs, -1), o.Smoothing))
}

// classes returns the labels with 0 in place of ignored ones, and a mask of the ignored ones.
func (o CrossEntropyOptions) classes(labels tensor.Tensor) (at, ignored tensor.Tensor) {
	for _, id := range o.Ignore {
		if is := ops.Equal(labels, id); ignored == nil {
			ignored = is
		} else {
			ignored = ops.LogicalOr(ignored, is)
		}
	}
	if ignored == nil {
		return labels, nil
	}
	return ops.Where(ignored, ops.ZerosLike(labels), labels), ignored
}

// weights returns the weights of the classes in the type of the logits.
func (o CrossEntropyOptions) weights(logits tensor.Tensor) tensor.Tensor {
	if o.Weights == nil {
		return nil
	}
	if s := o.Weights.Shape(); !s.CompatibleWith(lastAxis(logits)) {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.SoftmaxCrossEntropy", fmt.Sprintf("the weights have the shape %v, the scores %v: want a weight for each class", s, logits.Shape())))
	}
	return ops.Cast(o.Weights, logits.DType())
}

// lastAxis returns the shape of the last axis of x.
func lastAxis(x tensor.Tensor) shape.Shape {
	s := x.Shape()
	if !s.HasRank() {
		return shape.OfRank(1)
	}
	return s.Slice(max(0, s.Rank()-1), s.Rank())
}

// counts returns the weight of each label, or nil if all are 1.
func (o CrossEntropyOptions) counts(fn string, logits, labels tensor.Tensor) tensor.Tensor {
	if o.Reduction == EachLoss || o.Weights == nil && o.Ignore == nil || labels.DType().IsFloat() {
		return nil
	}
	return ofClasses(fn, logits, labels, o.Classes, func(x, y tensor.Tensor) tensor.Tensor {
		at, ignored := o.classes(y)
		w := ops.Cast(ops.OnesLike(at), x.DType())
		if o.Weights != nil {
			w = ops.Gather(o.weights(x), at, 0)
		}
		if ignored != nil {
			w = ops.Where(ignored, 0.0, w)
		}
		return w
	})
}

// BinaryOptions are the options of [BinaryCrossEntropy]. The zero value is the default.
type BinaryOptions struct {
	Positive any // factor of the loss where the target is 1: a number, or a tensor [last axis]; nil means 1
}

// BinaryCrossEntropy returns -t·log σ(x)·Positive - (1-t)·log(1-σ(x)), computed without
// overflow.
//
//	logits: [...], targets: [...] between 0 and 1, or booleans → [...]
func BinaryCrossEntropy(logits, targets tensor.Tensor, options ...BinaryOptions) tensor.Tensor {
	const fn = "nn.BinaryCrossEntropy"
	o := option(options)
	return onItems(fn, func(v []tensor.Tensor) tensor.Tensor {
		x, t := v[0], ops.Cast(v[1], v[0].DType())
		if o.Positive == nil {
			return ops.SigmoidCrossEntropy(x, t)
		}
		if p, ok := o.Positive.(tensor.Tensor); ok {
			if s := p.Shape(); s.Rank() != 0 && !s.CompatibleWith(lastAxis(x)) {
				tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the factors of positive targets have the shape %v, the scores %v: want one for each entry of the last axis", s, x.Shape())))
			}
			o.Positive = ops.Cast(p, x.DType())
		}
		// log(1+e^-x) has the factor 1 + (Positive-1)·t.
		factor := ops.Add(ops.Mul(t, ops.Sub(o.Positive, ops.OnesLike(x))), 1.0)
		return ops.Add(ops.Mul(ops.Sub(1.0, t), x), ops.Mul(factor, ops.Softplus(ops.Neg(x))))
	}, of(logits), of(targets))
}

// FocalOptions are the options of [Focal]. The zero value is the default.
type FocalOptions struct {
	Alpha   float64    // the factor for targets of 1, with 1-Alpha for the others; 0: no factors
	Classes named.Name // the dimension of the classes of named logits
}

// Focal returns the cross entropy times (1-p)^gamma, where p is the probability of the target,
// so that items that are predicted well count little (T. Lin et al., ICCV 2017). Targets of the
// shape of the logits are binary; integer targets with one axis less are class numbers.
//
//	logits: [...], targets: [...] 0 or 1 floating, or booleans → [...]
//	logits: [..., classes], targets: [...] int32 or int64 → [...]
func Focal(logits, targets tensor.Tensor, gamma float64, options ...FocalOptions) tensor.Tensor {
	const fn = "nn.Focal"
	o := option(options)
	if !(gamma >= 0) || !(o.Alpha >= 0 && o.Alpha <= 1) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("gamma is %v and alpha %v, want at least 0, and from 0 to 1", gamma, o.Alpha)))
	}
	if targets.DType().IsInteger() {
		return ofClasses(fn, logits, targets, o.Classes, func(x, y tensor.Tensor) tensor.Tensor {
			loss := ops.SoftmaxCrossEntropy(x, y)
			return ops.Mul(ops.Pow(ops.Neg(ops.Expm1(ops.Neg(loss))), gamma), loss)
		})
	}
	return onItems(fn, func(v []tensor.Tensor) tensor.Tensor {
		x, t := v[0], ops.Cast(v[1], v[0].DType())
		// 1-p, with p = σ(x) for ones and σ(-x) for zeros, is σ with the opposite sign, which
		// avoids subtracting numbers that are nearly equal.
		wrong := ops.LogSigmoid(ops.Mul(x, ops.Sub(1.0, ops.Mul(t, 2.0))))
		loss := ops.Mul(ops.Exp(ops.Mul(wrong, gamma)), ops.SigmoidCrossEntropy(x, t))
		if o.Alpha != 0 {
			loss = ops.Mul(loss, ops.Add(ops.Mul(t, 2*o.Alpha-1), 1-o.Alpha))
		}
		return loss
	}, of(logits), of(targets))
}
