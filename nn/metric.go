package nn

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The metrics of this file are streaming: a value that counts what was seen. Update
// returns the value that has seen a batch more, Merge that of two streams, and Result the
// number itself, NaN where nothing was seen. They are nests of Values, so they may be part
// of a traced evaluation step and of a checkpoint. Counts and sums are float64, exact up to
// 2^53 items.

func zero() tensor.Tensor { return tensor.Scalar(0.0) }

func total(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Cast(x, dtype.Float64)) }

func number(x tensor.Tensor) float64 { return tensor.Item[float64](x) }

// Mean is the mean of numbers, of losses for instance.
type Mean struct{ Sum, Count tensor.Tensor }

// NewMean returns a mean of nothing.
func NewMean() Mean { return Mean{zero(), zero()} }

// Update counts all elements of x, with weights, which have its shape, or nil for 1.
func (m Mean) Update(x, weights tensor.Tensor) Mean {
	x = ops.Cast(x, dtype.Float64)
	w := ops.OnesLike(x)
	if weights != nil {
		w = ops.Cast(weights, dtype.Float64)
		x = ops.Mul(x, w)
	}
	return Mean{ops.Add(m.Sum, ops.Sum(x)), ops.Add(m.Count, ops.Sum(w))}
}

// Merge returns the mean of both streams.
func (m Mean) Merge(o Mean) Mean { return Mean{ops.Add(m.Sum, o.Sum), ops.Add(m.Count, o.Count)} }

// Result returns the mean.
func (m Mean) Result() float64 { return number(m.Sum) / number(m.Count) }

// Accuracy is the share of items whose label has the highest score.
type Accuracy struct{ Hits, Count tensor.Tensor }

// NewAccuracy returns a metric that has seen nothing.
func NewAccuracy() Accuracy { return Accuracy{zero(), zero()} }

// Update counts items. Of classes that tie, the first is the answer.
//
//	logits: [..., classes], labels: [...] integers
func (m Accuracy) Update(logits, labels tensor.Tensor) Accuracy {
	hit := ops.Equal(ops.ArgMax(logits, -1), ops.Cast(labels, dtype.Int64))
	return Accuracy{ops.Add(m.Hits, total(hit)), ops.Add(m.Count, total(ops.OnesLike(hit)))}
}

// Merge returns the metric of both streams.
func (m Accuracy) Merge(o Accuracy) Accuracy {
	return Accuracy{ops.Add(m.Hits, o.Hits), ops.Add(m.Count, o.Count)}
}

// Result returns the share.
func (m Accuracy) Result() float64 { return number(m.Hits) / number(m.Count) }

// ranks returns how many scores of each row are above that of its label, and how many tie
// with it, itself included. A score that is not a number ranks last.
func ranks(scores, labels tensor.Tensor) (above, tied tensor.Tensor) {
	x := ops.Where(ops.IsNaN(scores), negInf(scores), scores)
	own := ops.TakeAlongAxis(x, ops.ExpandDims(ops.Cast(labels, dtype.Int64), -1), -1)
	count := func(b tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Cast(b, dtype.Float64), -1) }
	return count(ops.Greater(x, own)), count(ops.Equal(x, own))
}

func negInf(like tensor.Tensor) tensor.Tensor {
	return ops.Cast(ops.Log(0.0), like.DType())
}

// MRR is the mean reciprocal rank of the right answer. Answers that tie count as in a
// random order among them.
type MRR struct{ Sum, Count tensor.Tensor }

// NewMRR returns a metric that has seen nothing.
func NewMRR() MRR { return MRR{zero(), zero()} }

// Update counts questions.
//
//	scores: [questions, answers] floating, labels: [questions] integers: the right answers
func (m MRR) Update(scores, labels tensor.Tensor) MRR {
	above, tied := ranks(scores, labels)
	// The mean of 1/rank over ranks above+1 … above+tied is a difference of harmonic numbers.
	mean := ops.Div(ops.Sub(ops.Digamma(ops.Add(ops.Add(above, tied), 1.0)), ops.Digamma(ops.Add(above, 1.0))), tied)
	return MRR{ops.Add(m.Sum, ops.Sum(mean)), ops.Add(m.Count, ops.Sum(ops.OnesLike(mean)))}
}

// Merge returns the metric of both streams.
func (m MRR) Merge(o MRR) MRR { return MRR{ops.Add(m.Sum, o.Sum), ops.Add(m.Count, o.Count)} }

// Result returns the mean reciprocal rank.
func (m MRR) Result() float64 { return number(m.Sum) / number(m.Count) }

// Recall is the share of questions whose right answer is among the first K. Answers that
// tie count as in a random order among them.
type Recall struct {
	Sum, Count tensor.Tensor
	K          int `tenon:"static"`
}

// NewRecall returns a metric that has seen nothing.
func NewRecall(k int) Recall { return Recall{zero(), zero(), k} }

// Update counts questions.
//
//	scores: [questions, answers] floating, labels: [questions] integers: the right answers
func (m Recall) Update(scores, labels tensor.Tensor) Recall {
	above, tied := ranks(scores, labels)
	share := ops.Div(ops.Minimum(ops.Maximum(ops.Sub(float64(m.K), above), 0.0), tied), tied)
	return Recall{ops.Add(m.Sum, ops.Sum(share)), ops.Add(m.Count, ops.Sum(ops.OnesLike(share))), m.K}
}

// Merge returns the metric of both streams.
func (m Recall) Merge(o Recall) Recall {
	return Recall{ops.Add(m.Sum, o.Sum), ops.Add(m.Count, o.Count), m.K}
}

// Result returns the share.
func (m Recall) Result() float64 { return number(m.Sum) / number(m.Count) }

// AUC is the area under the receiver operating characteristic: the probability that a
// positive item scores above a negative one. Scores are sorted into bins between 0 and 1,
// and items of one bin tie, so the error is at most half the share of pairs in one bin.
type AUC struct{ Positive, Negative tensor.Tensor } // [bins]

// NewAUC returns a metric with a number of bins that has seen nothing. 0 bins stands for 512.
func NewAUC(bins int) AUC {
	if bins <= 0 {
		bins = 512
	}
	z := ops.Zeros(dtype.Float64, []int{bins})
	return AUC{z, z}
}

// Update counts items.
//
//	probabilities: [...] between 0 and 1, labels: [...] truth values, or 0 and 1
func (m AUC) Update(probabilities, labels tensor.Tensor) AUC {
	bins := m.Positive.Shape().Dim(0)
	p := ops.Reshape(ops.Cast(probabilities, dtype.Float64), []int{-1})
	at := ops.Cast(ops.Clip(ops.Floor(ops.Mul(p, float64(bins))), 0.0, float64(bins-1)), dtype.Int64)
	y := ops.Cast(ops.NotEqual(ops.Reshape(ops.Cast(labels, dtype.Float64), []int{-1}), 0.0), dtype.Float64)
	return AUC{
		ops.Add(m.Positive, ops.SegmentSum(y, at, bins)),
		ops.Add(m.Negative, ops.SegmentSum(ops.Sub(1.0, y), at, bins)),
	}
}

// Merge returns the metric of both streams, which have as many bins.
func (m AUC) Merge(o AUC) AUC {
	return AUC{ops.Add(m.Positive, o.Positive), ops.Add(m.Negative, o.Negative)}
}

// Result returns the area.
func (m AUC) Result() float64 {
	pos, neg := tensor.Data[float64](m.Positive), tensor.Data[float64](m.Negative)
	below, pairs, positives := 0.0, 0.0, 0.0
	for i := range pos {
		pairs += pos[i] * (below + neg[i]/2)
		below += neg[i]
		positives += pos[i]
	}
	return pairs / (positives * below)
}
