package nn

import (
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Sample is classes drawn at random, for [SampledSoftmax].
type Sample struct {
	Classes  tensor.Tensor // int64[n]
	Expected tensor.Tensor // [n]: how often each is expected in the sample
	Size     int           `tenon:"static"` // number of classes of the distribution
	Log      bool          `tenon:"static"` // log-uniform, otherwise uniform
}

// UniformSample draws n classes below size, each equally likely, with repetition.
func UniformSample(key tensor.Tensor, n, size int, d dtype.DType) Sample {
	s := Sample{Classes: ops.RandomInt(key, []int{n}, 0, size, dtype.Int64), Size: size}
	s.Expected = s.expected(s.Classes, n, d)
	return s
}

// LogUniformSample draws n classes below size, with repetition, class k with probability
// log((k+2)/(k+1))/log(size+1): Zipf's law, for classes sorted by decreasing frequency.
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

// SampledOptions are the options of [SampledSoftmax]. The zero value is the default.
type SampledOptions struct {
	KeepHits bool // keep a sampled class that is an item's label among the item's wrong answers
}

// SampledSoftmax returns the cross entropy of each item's label against a sample of the classes
// instead of all of them, with logits corrected for the probability that each class was drawn (S.
// Jean et al., ACL 2015). Only the rows of the weights for labels and sampled classes are read.
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
