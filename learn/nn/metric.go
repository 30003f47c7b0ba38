package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
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

// Scores says what the numbers are that a metric gets.
type Scores string

const (
	Classes       Scores = ""              // one for each class, logits or probabilities
	Probabilities Scores = "probabilities" // of the one class, between 0 and 1
	Logits        Scores = "logits"        // of the one class: log p/(1-p)
)

// numbers returns scores, or throws an error where one is no number, when that is known. For
// probabilities it also is where one is not between 0 and 1.
func (s Scores) numbers(fn string, x tensor.Tensor) tensor.Tensor {
	if !x.DType().IsFloat() {
		return x
	}
	bad, msg := ops.IsNaN(x), fn+": a score is not a number"
	if s == Probabilities {
		bad = ops.LogicalNot(ops.LogicalAnd(ops.GreaterEqual(x, 0.0), ops.LessEqual(x, 1.0)))
		msg = fn + ": a score is no probability: what is not between 0 and 1 may be a logit, nn.Logits"
	}
	zero := ops.ZerosLike(x)
	return ops.Add(ops.Where(bad, zero, x), ops.CheckNumerics(ops.Where(bad, ops.Log(ops.Sub(zero, 1.0)), zero), msg))
}

// Accuracy is the share of items whose label has the highest score.
type Accuracy struct {
	Hits, Count tensor.Tensor
	Scores      Scores `tenon:"static"`
}

// NewAccuracy returns a metric that has seen nothing. It takes a score for each class, if
// nothing else is said.
func NewAccuracy(of ...Scores) Accuracy { return Accuracy{zero(), zero(), option(of)} }

// Update counts items. Of classes that tie, the first is the answer; of one class the answer
// is yes from probability 1/2 on. A score that is NaN is an error.
//
//	scores: [..., classes], labels: [...] integers
//	scores: [...] of one class, labels: [...] truth values, or 0 and 1
func (m Accuracy) Update(scores, labels tensor.Tensor) Accuracy {
	const fn = "nn.Accuracy"
	var hit tensor.Tensor
	switch m.Scores {
	case Classes:
		hit = ops.Equal(best(fn, m.Scores.numbers(fn, scores), labels), ops.Cast(labels, dtype.Int64))
	default:
		sameShapes(fn, scores, labels, 0)
		least := 0.5
		if m.Scores == Logits {
			least = 0
		}
		hit = ops.Equal(ops.GreaterEqual(m.Scores.numbers(fn, scores), least), ops.NotEqual(ops.Cast(labels, dtype.Int64), int64(0)))
	}
	return Accuracy{ops.Add(m.Hits, total(hit)), ops.Add(m.Count, total(ops.OnesLike(hit))), m.Scores}
}

// best returns the class with the highest score: of named scores, along the dimension that the
// labels lack.
func best(fn string, scores, labels tensor.Tensor) tensor.Tensor {
	x, ok := scores.(dimensioned)
	if !ok {
		sameShapes(fn, scores, labels, 1)
		return ops.ArgMax(scores, -1)
	}
	var classes []named.Name
	if y, ok := labels.(dimensioned); ok {
		have := named.From(y)
		for _, n := range x.Dims().Names() {
			if !have.Has(n) {
				classes = append(classes, n)
			}
		}
	}
	if len(classes) != 1 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the classes are along the one dimension that the labels lack, got %s and %s", tenon.String(scores.Spec()), tenon.String(labels.Spec()))))
	}
	return named.By(classes...).ArgMax(x)
}

// Merge returns the metric of both streams.
func (m Accuracy) Merge(o Accuracy) Accuracy {
	return Accuracy{ops.Add(m.Hits, o.Hits), ops.Add(m.Count, o.Count), m.Scores}
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
// positive item scores above a negative one. Scores are sorted into bins of probability,
// and items of one bin tie, so the error is at most half the share of pairs in one bin.
type AUC struct {
	Positive, Negative tensor.Tensor // [bins]
	Scores             Scores        `tenon:"static"`
}

// NewAUC returns a metric with a number of bins that has seen nothing. 0 bins stands for 512.
// It takes [Probabilities], if nothing else is said.
func NewAUC(bins int, of ...Scores) AUC {
	if bins <= 0 {
		bins = 512
	}
	z := ops.Zeros(dtype.Float64, []int{bins})
	m := AUC{z, z, option(of)}
	if m.Scores == Classes {
		m.Scores = Probabilities
	}
	return m
}

// Update counts items. A score that is NaN, and one that is no probability where it should
// be, is an error.
//
//	scores: [...], labels: [...] truth values, or 0 and 1
func (m AUC) Update(scores, labels tensor.Tensor) AUC {
	const fn = "nn.AUC"
	sameShapes(fn, scores, labels, 0)
	bins := m.Positive.Shape().Dim(0)
	p := ops.Reshape(m.Scores.numbers(fn, ops.Cast(scores, dtype.Float64)), []int{-1})
	if m.Scores == Logits {
		p = ops.Sigmoid(p)
	}
	at := ops.Cast(ops.Clip(ops.Floor(ops.Mul(p, float64(bins))), 0.0, float64(bins-1)), dtype.Int64)
	y := ops.Cast(ops.NotEqual(ops.Reshape(ops.Cast(labels, dtype.Float64), []int{-1}), 0.0), dtype.Float64)
	return AUC{
		ops.Add(m.Positive, ops.SegmentSum(y, at, bins)),
		ops.Add(m.Negative, ops.SegmentSum(ops.Sub(1.0, y), at, bins)),
		m.Scores,
	}
}

// Merge returns the metric of both streams, which have as many bins.
func (m AUC) Merge(o AUC) AUC {
	return AUC{ops.Add(m.Positive, o.Positive), ops.Add(m.Negative, o.Negative), m.Scores}
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
