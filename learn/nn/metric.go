package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// The metrics of this file are streaming: a metric is a value that accumulates items. Update
// returns the metric with one more batch, Merge combines those of two streams, and Result
// returns the number, NaN if there are no items. Metrics are nests of Values, so they can be
// part of a traced evaluation step and of a checkpoint. Counts and sums are float64, exact up
// to 2^53 items.

func zero() tensor.Tensor { return tensor.Scalar(0.0) }

func total(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Cast(x, dtype.Float64)) }

func number(x tensor.Tensor) float64 { return tensor.Item[float64](x) }

// Mean is the mean of numbers, such as losses.
type Mean struct{ Sum, Count tensor.Tensor }

// NewMean returns an empty mean.
func NewMean() Mean { return Mean{zero(), zero()} }

// Update adds all elements of x, weighted by weights, which have the shape of x; nil means 1.
func (m Mean) Update(x, weights tensor.Tensor) Mean {
	x = ops.Cast(x, dtype.Float64)
	w := onesOf(x)
	if weights != nil {
		w = ops.Mul(w, ops.Cast(weights, dtype.Float64))
		x = ops.Mul(x, w)
	}
	return Mean{ops.Add(m.Sum, ops.Sum(x)), ops.Add(m.Count, ops.Sum(w))}
}

// Merge returns the mean of both streams.
func (m Mean) Merge(o Mean) Mean { return Mean{ops.Add(m.Sum, o.Sum), ops.Add(m.Count, o.Count)} }

// Result returns the mean.
func (m Mean) Result() float64 { return number(m.Sum) / number(m.Count) }

// Scores says what kind of scores a metric gets.
type Scores string

const (
	Classes       Scores = ""              // one for each class, logits or probabilities
	Probabilities Scores = "probabilities" // of the positive class, between 0 and 1
	Logits        Scores = "logits"        // of the positive class: log p/(1-p)
)

// numbers returns the scores. It throws an error if they are known and one is NaN or, for
// probabilities, not between 0 and 1.
func (s Scores) numbers(fn string, x tensor.Tensor) tensor.Tensor {
	if !x.DType().IsFloat() {
		return x
	}
	bad, msg := ops.IsNaN(x), fn+": a score is not a number"
	if s == Probabilities {
		bad = ops.LogicalNot(ops.LogicalAnd(ops.GreaterEqual(x, 0.0), ops.LessEqual(x, 1.0)))
		msg = fn + ": a score is not a probability between 0 and 1; if scores are logits, use nn.Logits"
	}
	zero := ops.ZerosLike(x)
	return ops.Add(ops.Where(bad, zero, x), ops.CheckNumerics(ops.Where(bad, ops.Log(ops.Sub(zero, 1.0)), zero), msg))
}

// Accuracy is the share of items whose label has the highest score.
type Accuracy struct {
	Hits, Count tensor.Tensor
	Scores      Scores `tenon:"static"`
}

// NewAccuracy returns an empty metric. By default it takes a score for each class.
func NewAccuracy(of ...Scores) Accuracy { return Accuracy{zero(), zero(), option(of)} }

// Update adds items. The answer is the class with the highest score, the first one of a tie;
// with scores of one class, it is yes if the probability is at least 1/2. A score that is NaN
// and a label that is no class are errors.
//
//	scores: [..., classes], labels: [...] integers
//	scores: [...] of one class, labels: [...] booleans, or 0 and 1
func (m Accuracy) Update(scores, labels tensor.Tensor) Accuracy {
	const fn = "nn.Accuracy"
	var hit tensor.Tensor
	switch m.Scores {
	case Classes:
		hit = onVectors(fn, "Classes", classesOf(fn, scores, labels), func(x []tensor.Tensor) tensor.Tensor {
			classes := ops.Range(int64(0), size(x[0], -1), int64(1)) // a label that is none of them is an error
			return ops.Equal(ops.ArgMax(m.Scores.numbers(fn, x[0]), -1), ops.Gather(classes, ops.Cast(x[1], dtype.Int64), 0))
		}, of(scores), operand{labels, 1})
	default:
		least := 0.5
		if m.Scores == Logits {
			least = 0
		}
		hit = onItems(fn, func(x []tensor.Tensor) tensor.Tensor {
			return ops.Equal(ops.GreaterEqual(m.Scores.numbers(fn, x[0]), least), ops.NotEqual(ops.Cast(x[1], dtype.Int64), int64(0)))
		}, of(scores), of(labels))
	}
	return Accuracy{ops.Add(m.Hits, total(hit)), ops.Add(m.Count, total(onesOf(hit))), m.Scores}
}

// classesOf returns the name of the classes of named scores: of the one dimension that the labels lack.
func classesOf(fn string, scores, labels tensor.Tensor) named.Name {
	x, ok := scores.(dimensioned)
	if !ok {
		return nil
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
	return classes[0]
}

// Merge returns the metric of both streams.
func (m Accuracy) Merge(o Accuracy) Accuracy {
	return Accuracy{ops.Add(m.Hits, o.Hits), ops.Add(m.Count, o.Count), m.Scores}
}

// Result returns the share.
func (m Accuracy) Result() float64 { return number(m.Hits) / number(m.Count) }

// ranks returns how many scores of each row are above that of the label, and how many are equal
// to it, including the label's own. A NaN ranks last.
func ranks(scores, labels tensor.Tensor) (above, tied tensor.Tensor) {
	x := ops.Where(ops.IsNaN(scores), negInf(scores), scores)
	own := ops.TakeAlongAxis(x, ops.ExpandDims(ops.Cast(labels, dtype.Int64), -1), -1)
	count := func(b tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Cast(b, dtype.Float64), -1) }
	return count(ops.Greater(x, own)), count(ops.Equal(x, own))
}

func negInf(like tensor.Tensor) tensor.Tensor {
	return ops.Cast(ops.Log(0.0), like.DType())
}

// MRR is the mean reciprocal rank of the right answer. Tied answers count as if in random
// order.
type MRR struct{ Sum, Count tensor.Tensor }

// NewMRR returns an empty metric.
func NewMRR() MRR { return MRR{zero(), zero()} }

// Update adds questions.
//
//	scores: [questions, answers] floating, labels: [questions] integers: the right answers
func (m MRR) Update(scores, labels tensor.Tensor) MRR {
	above, tied := ranks(scores, labels)
	// The mean of 1/rank over ranks above+1 … above+tied is a difference of harmonic numbers.
	mean := ops.Div(ops.Sub(ops.Digamma(ops.Add(ops.Add(above, tied), 1.0)), ops.Digamma(ops.Add(above, 1.0))), tied)
	return MRR{ops.Add(m.Sum, ops.Sum(mean)), ops.Add(m.Count, ops.Sum(onesOf(mean)))}
}

// Merge returns the metric of both streams.
func (m MRR) Merge(o MRR) MRR { return MRR{ops.Add(m.Sum, o.Sum), ops.Add(m.Count, o.Count)} }

// Result returns the mean reciprocal rank.
func (m MRR) Result() float64 { return number(m.Sum) / number(m.Count) }

// Recall is the share of questions whose right answer is among the first K. Tied answers count
// as if in random order.
type Recall struct {
	Sum, Count tensor.Tensor
	K          int `tenon:"static"`
}

// NewRecall returns an empty metric.
func NewRecall(k int) Recall { return Recall{zero(), zero(), k} }

// Update adds questions.
//
//	scores: [questions, answers] floating, labels: [questions] integers: the right answers
func (m Recall) Update(scores, labels tensor.Tensor) Recall {
	above, tied := ranks(scores, labels)
	share := ops.Div(ops.Minimum(ops.Maximum(ops.Sub(float64(m.K), above), 0.0), tied), tied)
	return Recall{ops.Add(m.Sum, ops.Sum(share)), ops.Add(m.Count, ops.Sum(onesOf(share))), m.K}
}

// Merge returns the metric of both streams.
func (m Recall) Merge(o Recall) Recall {
	return Recall{ops.Add(m.Sum, o.Sum), ops.Add(m.Count, o.Count), m.K}
}

// Result returns the share.
func (m Recall) Result() float64 { return number(m.Sum) / number(m.Count) }

// AUC is the area under the receiver operating characteristic: the probability that a positive
// item scores above a negative one. Scores are put into bins by probability, and items in one
// bin tie, so the error is at most half the share of pairs that are in the same bin.
type AUC struct {
	Positive, Negative tensor.Tensor // [bins]
	Scores             Scores        `tenon:"static"`
}

// NewAUC returns an empty metric with a number of bins; 0 means 512. By default it takes
// [Probabilities].
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

// Update adds items. A score that is NaN, or not between 0 and 1 where it is a probability, is
// an error.
//
//	scores: [...], labels: [...] booleans, or 0 and 1
func (m AUC) Update(scores, labels tensor.Tensor) AUC {
	const fn = "nn.AUC"
	bins := m.Positive.Shape().Dim(0)
	// The bin of an item is an even number, plus 1 for positive items.
	at := onItems(fn, func(x []tensor.Tensor) tensor.Tensor {
		p := m.Scores.numbers(fn, ops.Cast(x[0], dtype.Float64))
		if m.Scores == Logits {
			p = ops.Sigmoid(p)
		}
		bin := ops.Cast(ops.Clip(ops.Floor(ops.Mul(p, float64(bins))), 0.0, float64(bins-1)), dtype.Int64)
		return ops.Add(ops.Mul(bin, int64(2)), ops.Cast(ops.NotEqual(ops.Cast(x[1], dtype.Float64), 0.0), dtype.Int64))
	}, of(scores), of(labels))
	if t, ok := at.(dimensioned); ok {
		at = named.Unnamed(t, t.Dims().Names()...)
	}
	at = ops.Reshape(at, []int{-1})
	counts := ops.Reshape(ops.SegmentSum(ops.Ones(dtype.Float64, ops.Shape(at)), at, 2*bins), []int{bins, 2})
	return AUC{ops.Add(m.Positive, ops.Index(counts, key.All, 1)), ops.Add(m.Negative, ops.Index(counts, key.All, 0)), m.Scores}
}

// Merge returns the metric of both streams, which must have the same number of bins.
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
