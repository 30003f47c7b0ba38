package metric

import (
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ragged"
)

// The functions of this file evaluate each row of a ragged tensor, such as the answers to a
// question: relevance and scores have the same rows. They return a number for each row.

// rowsOf returns the rows of relevance and scores.
func rowsOf(fn string, relevance, score *ragged.Tensor) (rel, s [][]float64, err error) {
	cut := func(what string, t *ragged.Tensor) ([][]float64, error) {
		if t.RaggedRank() != 1 || t.FlatValues().Shape().Rank() != 1 {
			return nil, tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the %s is %s, want rows of numbers", what, tenon.String(t.Spec())))
		}
		x, err := floats(fn, what, t.FlatValues())
		if err != nil {
			return nil, err
		}
		ends, ok := t.Partition().Splits64()
		if !ok {
			return nil, invalid(fn, "the rows are not known while a function is traced")
		}
		rows := make([][]float64, len(ends)-1)
		for i := range rows {
			rows[i] = x[ends[i]:ends[i+1]]
		}
		return rows, nil
	}
	if rel, err = cut("relevance", relevance); err != nil {
		return nil, nil, err
	}
	if s, err = cut("score", score); err != nil {
		return nil, nil, err
	}
	if len(rel) != len(s) {
		return nil, nil, tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("there are %d rows of relevance and %d of scores", len(rel), len(s)))
	}
	for i := range rel {
		if len(rel[i]) != len(s[i]) {
			return nil, nil, tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("row %d has %d items with a relevance and %d with a score", i, len(rel[i]), len(s[i])))
		}
	}
	return rel, s, nil
}

// descending returns the indices of numbers in descending order; equal numbers keep their
// order.
func descending(x []float64) []int {
	at := make([]int, len(x))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		switch {
		case x[a] > x[b]:
			return -1
		case x[a] < x[b]:
			return 1
		}
		return 0
	})
	return at
}

// gain is the discounted cumulative gain of a row up to rank k (0: all): relevance divided by
// log₂(1 + rank), where items with equal scores share their mean.
func gain(rel, s []float64, k int) float64 {
	order, total := descending(s), 0.0
	for from := 0; from < len(order); {
		to, mean, discount := from, 0.0, 0.0
		for ; to < len(order) && s[order[to]] == s[order[from]]; to++ {
			mean += rel[order[to]]
			if k <= 0 || to < k {
				discount += 1 / math.Log2(float64(to)+2)
			}
		}
		total += mean / float64(to-from) * discount
		from = to
	}
	return total
}

// DCG is the discounted cumulative gain up to rank k, 0 for all: Σ relevance/log₂(1 + rank).
// Items with equal scores share their mean relevance.
func DCG(relevance, score *ragged.Tensor, k int) ([]float64, error) {
	return byRow("DCG", relevance, score, func(rel, s []float64) float64 { return gain(rel, s, k) })
}

// NDCG is [DCG] divided by that of the ideal order; 0 if nothing is relevant. Relevance must not be negative.
func NDCG(relevance, score *ragged.Tensor, k int) ([]float64, error) {
	rel, _, err := rowsOf("NDCG", relevance, score)
	if err != nil {
		return nil, err
	}
	for i, row := range rel {
		for place, r := range row {
			if r < 0 {
				return nil, invalid("NDCG", "the relevance of item %d of row %d is %v, want at least 0", place, i, r)
			}
		}
	}
	return byRow("NDCG", relevance, score, func(rel, s []float64) float64 {
		best := 0.0
		for place, i := range descending(rel) {
			if k <= 0 || place < k {
				best += rel[i] / math.Log2(float64(place)+2)
			}
		}
		return ratio(gain(rel, s, k), best)
	})
}

// ReciprocalRank is 1 divided by the rank of the first item whose relevance is not 0, and 0 if
// there is none. Items with equal scores keep their order.
func ReciprocalRank(relevance, score *ragged.Tensor) ([]float64, error) {
	return byRow("ReciprocalRank", relevance, score, func(rel, s []float64) float64 {
		for place, i := range descending(s) {
			if rel[i] != 0 {
				return 1 / float64(place+1)
			}
		}
		return 0
	})
}

// AveragePrecision is [Curve.AveragePrecision] of each row, whose relevance is 0 or 1.
func AveragePrecision(relevance, score *ragged.Tensor) ([]float64, error) {
	return byRow("AveragePrecision", relevance, score, func(rel, s []float64) float64 {
		t, w := make([]int, len(rel)), make([]float64, len(rel))
		for i, r := range rel {
			if w[i] = 1; r != 0 {
				t[i] = 1
			}
		}
		return curve(t, s, w).AveragePrecision()
	})
}

func byRow(fn string, relevance, score *ragged.Tensor, f func(rel, s []float64) float64) ([]float64, error) {
	rel, s, err := rowsOf(fn, relevance, score)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(rel))
	for i := range rel {
		out[i] = f(rel[i], s[i])
	}
	return out, nil
}

// Mean is the mean over rows, and 0 if there are none.
func Mean(rows []float64) float64 { return ratio(sum(rows), float64(len(rows))) }

// A RunningMean is the mean of numbers that arrive batch by batch, or from several machines, such as results of this
// package for rows or batches. The zero value is empty.
//
//	m.Update(ndcg, nil)                                          // of rows
//	m.Update([]float64{loss}, []float64{float64(len(batch))})    // of batches, weighted by their items
type RunningMean struct{ Sum, Weight float64 }

// Update adds numbers with weights; nil means weights of 1.
func (m *RunningMean) Update(x, weights []float64) error {
	if weights != nil && len(weights) != len(x) {
		return tenon.NewError(tenon.ErrShape, "metric.RunningMean", fmt.Sprintf("there are %d numbers and %d weights", len(x), len(weights)))
	}
	for i, v := range x {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		if math.IsNaN(v) || !(w >= 0) {
			return invalid("RunningMean", "number %d is %v, and its weight %v", i, v, w)
		}
	}
	for i, v := range x {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		m.Sum, m.Weight = m.Sum+w*v, m.Weight+w
	}
	return nil
}

// Merge adds the numbers of another one.
func (m *RunningMean) Merge(o RunningMean) { m.Sum, m.Weight = m.Sum+o.Sum, m.Weight+o.Weight }

// Result returns the mean, and 0 if there are no numbers.
func (m RunningMean) Result() float64 { return ratio(m.Sum, m.Weight) }
