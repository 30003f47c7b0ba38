package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// The losses of this file give one number for each item; ops.Mean makes one of them. They
// take dense tensors, ragged ones with rows of the same lengths, masked and named ones.
// Prediction and target have to have one shape: nothing is broadcast.

// CrossEntropyOptions are those of [SoftmaxCrossEntropy]. The zero value is the default.
type CrossEntropyOptions struct {
	// Smoothing is the share of probability that is spread evenly over all classes (C.
	// Szegedy et al., CVPR 2016).
	Smoothing float64

	// Classes is the dimension of the classes of named logits.
	Classes named.Name
}

// SoftmaxCrossEntropy returns -log softmax(logits)[label] for labels that are class
// numbers.
//
//	logits: [..., classes], labels: [...] int32 or int64 → [...]
func SoftmaxCrossEntropy(logits, labels tensor.Tensor, options ...CrossEntropyOptions) tensor.Tensor {
	const fn = "nn.SoftmaxCrossEntropy"
	o := option(options)
	if !(o.Smoothing >= 0 && o.Smoothing < 1) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the smoothing is %v, want at least 0 and below 1", o.Smoothing)))
	}
	if t, ok := logits.(dimensioned); ok {
		if o.Classes == nil {
			e := tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("which dimension of {%v} is that of the classes is not said", t.Dims()))
			e.Hint = "set Classes"
			tenon.Throw(e)
		}
		d := named.By(o.Classes)
		loss := d.CrossEntropy(logits, labels)
		if o.Smoothing == 0 {
			return loss
		}
		return named.Add(named.Mul(loss, 1-o.Smoothing), named.Mul(d.Mean(named.Map(ops.Neg, d.LogSoftmax(logits))), o.Smoothing))
	}
	return onItems(fn, logits, labels, 1, func(x, y tensor.Tensor) tensor.Tensor {
		loss := ops.SoftmaxCrossEntropy(x, y)
		if o.Smoothing == 0 {
			return loss
		}
		return ops.Sub(ops.Mul(loss, 1-o.Smoothing), ops.Mul(ops.Mean(ops.LogSoftmax(x, -1), -1), o.Smoothing))
	})
}

// BinaryOptions are those of [BinaryCrossEntropy]. The zero value is the default.
type BinaryOptions struct {
	Positive float64 // factor of the loss where the target is 1; 0 stands for 1
}

// BinaryCrossEntropy returns -t·log σ(x)·Positive - (1-t)·log(1-σ(x)), computed without
// overflow.
//
//	logits: [...], targets: [...] between 0 and 1, or truth values → [...]
func BinaryCrossEntropy(logits, targets tensor.Tensor, options ...BinaryOptions) tensor.Tensor {
	o := option(options)
	return onItems("nn.BinaryCrossEntropy", logits, targets, 0, func(x, t tensor.Tensor) tensor.Tensor {
		t = ops.Cast(t, x.DType())
		if o.Positive == 0 || o.Positive == 1 {
			return ops.SigmoidCrossEntropy(x, t)
		}
		// log(1+e^-x) has the factor 1 + (Positive-1)·t.
		factor := ops.Add(ops.Mul(t, o.Positive-1), 1.0)
		return ops.Add(ops.Mul(ops.Sub(1.0, t), x), ops.Mul(factor, ops.Softplus(ops.Neg(x))))
	})
}

// Huber returns d²/2 where the distance d of prediction and target is at most delta, and
// delta·(d - delta/2) beyond (P. Huber, Annals of Mathematical Statistics 35, 1964).
func Huber(prediction, target tensor.Tensor, delta float64) tensor.Tensor {
	if !(delta > 0) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "nn.Huber", fmt.Sprintf("delta is %v, want more than 0", delta)))
	}
	return onItems("nn.Huber", prediction, target, 0, func(x, y tensor.Tensor) tensor.Tensor {
		d := ops.Abs(ops.Sub(x, y))
		near := ops.Minimum(d, delta)
		return ops.Mul(near, ops.Sub(d, ops.Mul(near, 0.5)))
	})
}

// SquaredError returns the squared distance of prediction and target.
func SquaredError(prediction, target tensor.Tensor) tensor.Tensor {
	return onItems("nn.SquaredError", prediction, target, 0, func(x, y tensor.Tensor) tensor.Tensor { return ops.SquaredDifference(x, y) })
}

// normEpsilon is added to squared norms, so that a zero vector has a direction, 0, and a
// gradient.
const normEpsilon = 1e-12

// Normalize divides vectors by their length: x/√(Σx² + 1e-12) over the features.
//
//	x: [..., features], dense or ragged → the same
func Normalize(x tensor.Tensor) tensor.Tensor {
	return onFeatures("nn.Normalize", x, Names{}, func(x tensor.Tensor) tensor.Tensor {
		return ops.Mul(x, ops.Rsqrt(ops.Add(ops.SumKeep(ops.Square(x), -1), normEpsilon)))
	})
}

// Cosine returns 1 - cos of the angle between prediction and target.
//
//	[..., features] twice → [...], from 0 to 2
func Cosine(prediction, target tensor.Tensor) tensor.Tensor {
	return onItems("nn.Cosine", prediction, target, 0, func(x, y tensor.Tensor) tensor.Tensor {
		return ops.Sub(1.0, ops.Sum(ops.Mul(Normalize(x), Normalize(y)), -1))
	})
}

// ContrastiveOptions are those of [Contrastive]. The zero value is the default.
type ContrastiveOptions struct {
	Temperature float64 // that cosines are divided by; 0 stands for 0.05
	Symmetric   bool    // the mean of both directions: which key belongs to a query, which query to a key
}

// Contrastive returns the cross entropy of finding, for each query, its own key among
// those of all queries of the batch by cosine (A. van den Oord et al.,
// arXiv:1807.03748).
//
//	queries: [n, features], keys: [n, features] → [n]
func Contrastive(queries, keys tensor.Tensor, options ...ContrastiveOptions) tensor.Tensor {
	o := option(options)
	if o.Temperature == 0 {
		o.Temperature = 0.05
	}
	if !(o.Temperature > 0) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "nn.Contrastive", fmt.Sprintf("the temperature is %v, want more than 0", o.Temperature)))
	}
	logits := ops.Mul(ops.MatMulT(Normalize(queries), Normalize(keys), false, true), 1/o.Temperature)
	own := ops.Range(int64(0), ops.Index(ops.Cast(ops.Shape(logits), dtype.Int64), 0), int64(1))
	loss := ops.SoftmaxCrossEntropy(logits, own)
	if o.Symmetric {
		loss = ops.Mul(ops.Add(loss, ops.SoftmaxCrossEntropy(ops.Transpose(logits, 1, 0), own)), 0.5)
	}
	return loss
}

// A Sample is classes drawn at random, for [SampledSoftmax].
type Sample struct {
	Classes  tensor.Tensor // int64[n]
	Expected tensor.Tensor // [n]: how often each is expected among them
	Size     int           `tenon:"static"` // of the distribution: classes below it
	Log      bool          `tenon:"static"` // log-uniform, otherwise uniform
}

// UniformSample draws n classes below size, each equally likely, with repetition.
func UniformSample(key tensor.Tensor, n, size int, d dtype.DType) Sample {
	s := Sample{Classes: ops.RandomInt(key, []int{n}, 0, size, dtype.Int64), Size: size}
	s.Expected = s.expected(s.Classes, n, d)
	return s
}

// LogUniformSample draws n classes below size, with repetition, class k with probability
// log((k+2)/(k+1))/log(size+1): Zipf's law, for classes in the order of how frequent they
// are.
func LogUniformSample(key tensor.Tensor, n, size int, d dtype.DType) Sample {
	u := ops.RandomUniform(key, []int{n}, dtype.Float64)
	k := ops.Cast(ops.Floor(ops.Sub(ops.Exp(ops.Mul(u, math.Log(float64(size)+1))), 1.0)), dtype.Int64)
	s := Sample{Classes: ops.Clip(k, int64(0), int64(size-1)), Size: size, Log: true}
	s.Expected = s.expected(s.Classes, n, d)
	return s
}

// expected returns how often classes are expected among n draws.
func (s Sample) expected(classes tensor.Tensor, n int, d dtype.DType) tensor.Tensor {
	if !s.Log {
		return ops.Mul(ops.OnesLike(ops.Cast(classes, d)), float64(n)/float64(s.Size))
	}
	k := ops.Cast(classes, dtype.Float64)
	p := ops.Mul(ops.Sub(ops.Log(ops.Add(k, 2.0)), ops.Log(ops.Add(k, 1.0))), float64(n)/math.Log(float64(s.Size)+1))
	return ops.Cast(p, d)
}

// SampledOptions are those of [SampledSoftmax]. The zero value is the default.
type SampledOptions struct {
	KeepHits bool // leave a sampled class that is an item's label among its wrong answers
}

// SampledSoftmax returns the cross entropy of each item's label against a sample of the
// classes instead of all, with logits that are corrected for how likely each was drawn
// (S. Jean et al., ACL 2015). Only the sampled rows of the weights are touched.
//
//	weights: [classes, features], bias: [classes] or nil, x: [n, features], labels: [n] int64 → [n]
func SampledSoftmax(weights, bias, x, labels tensor.Tensor, s Sample, options ...SampledOptions) tensor.Tensor {
	o := option(options)
	n, d := s.Classes.Shape().Dim(0), x.DType()
	own := ops.Sum(ops.Mul(x, ops.Gather(weights, labels, 0)), -1)
	other := ops.MatMulT(x, ops.Gather(weights, s.Classes, 0), false, true)
	if bias != nil {
		own, other = ops.Add(own, ops.Gather(bias, labels, 0)), ops.Add(other, ops.Gather(bias, s.Classes, 0))
	}
	own = ops.Sub(own, ops.Log(s.expected(labels, n, d)))
	other = ops.Sub(other, ops.Log(s.Expected))
	if !o.KeepHits {
		hit := ops.Equal(ops.ExpandDims(labels, -1), s.Classes)
		other = ops.Where(hit, -math.MaxFloat32, other)
	}
	logits := ops.Concat([]any{ops.ExpandDims(own, -1), other}, -1)
	return ops.Neg(ops.Squeeze(ops.Slice(ops.LogSoftmax(logits, -1), []int{0, 0}, []int{-1, 1}), -1))
}

// onItems applies f to the items of two values of one kind: of ragged tensors, to their flat
// values, once their rows are known to have the same lengths. x has so many axes more than y.
func onItems(fn string, x, y tensor.Tensor, more int, f func(x, y tensor.Tensor) tensor.Tensor) tensor.Tensor {
	switch t := x.(type) {
	case dimensioned:
		u, ok := y.(dimensioned)
		if !ok {
			break
		}
		sameNames(fn, t, u)
		return named.Map2(func(a, b any) tensor.Tensor { return f(a.(tensor.Tensor), b.(tensor.Tensor)) }, t, u)
	case rowed:
		u, ok := y.(rowed)
		if !ok || u.RaggedRank() != t.RaggedRank() {
			break
		}
		sameRows(t, u)
		items, _ := t.Carried()
		other, _ := u.Carried()
		return tenon.Must(t.Carry(onItems(fn, items, other, more, f)))
	default:
		switch y.(type) {
		case dimensioned, rowed:
		default:
			return onMasked(fn, x, y, more, f)
		}
	}
	tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("want two values of one kind, got %s and %s", tenon.String(x.Spec()), tenon.String(y.Spec()))))
	return nil
}

// onMasked is onItems for values without rows and names: an item is missing that is missing in
// either.
func onMasked(fn string, x, y tensor.Tensor, more int, f func(x, y tensor.Tensor) tensor.Tensor) tensor.Tensor {
	sameShapes(fn, x, y, more)
	for _, c := range []struct {
		of   tensor.Tensor
		rest func(tensor.Tensor) tensor.Tensor
	}{
		{x, func(items tensor.Tensor) tensor.Tensor { return onMasked(fn, items, y, more, f) }},
		{y, func(items tensor.Tensor) tensor.Tensor { return onMasked(fn, x, items, more, f) }},
	} {
		if t, ok := c.of.(tensor.Carrier); ok {
			items, _ := t.Carried()
			return tenon.Must(t.Carry(c.rest(items)))
		}
	}
	return f(x, y)
}

func sameRows(x, y rowed) {
	rows.AssertSame(x.RowSplits(), y.RowSplits())
	a, ok := x.Values().(rowed)
	b, ok2 := y.Values().(rowed)
	if ok && ok2 {
		sameRows(a, b)
	}
}

func sameNames(fn string, x, y dimensioned) {
	a, b := x.Dims().Names(), y.Dims().Names()
	for _, n := range a {
		if !slices.ContainsFunc(b, func(m named.Name) bool { return named.Path(n) == named.Path(m) }) || len(a) != len(b) {
			e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the prediction is {%v}, the target {%v}: one would be repeated along the dimensions of the other", x.Dims(), y.Dims()))
			e.Hint = "give both the same dimensions"
			tenon.Throw(e)
		}
	}
}

// sameShapes fails where a prediction and a target would be broadcast against each other.
func sameShapes(fn string, x, y tensor.Tensor, more int) {
	a, b := x.Shape(), y.Shape()
	if !a.HasRank() || !b.HasRank() || a.Rank() >= more && a.Slice(0, a.Rank()-more).CompatibleWith(b) {
		return
	}
	e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the prediction has the shape %v, the target %v", a, b))
	switch {
	case more > 0:
		e.Msg = fmt.Sprintf("the scores have the shape %v, the labels %v", a, b)
		if e.Hint = "a score for each class, and one label for all of them: [..., classes] and [...]"; a.Rank() == b.Rank() && b.Rank() > 0 && b.Dim(-1) == 1 {
			e.Hint = "drop the last axis of the labels: ops.Squeeze(labels, -1)"
		}
	case a.Rank() == b.Rank()+1 && a.Dim(-1) == 1:
		e.Hint = "drop the last axis of the prediction: ops.Squeeze(prediction, -1)"
	case b.Rank() == a.Rank()+1 && b.Dim(-1) == 1:
		e.Hint = "drop the last axis of the target: ops.Squeeze(target, -1)"
	default:
		e.Hint = "nothing is broadcast in a loss; where that is meant, use ops.BroadcastTo first"
	}
	tenon.Throw(e)
}
