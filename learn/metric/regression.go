package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A Regression compares numbers with predictions, batch by batch and on several machines. The
// zero value is empty. If items have several outputs, all count equally.
type Regression struct{ Outputs []Errors }

// Errors are weighted sums over the items of one output, with y for the truth and x for the
// prediction.
type Errors struct {
	Weight        float64
	Mean, Spread  float64 // mean of y, and Σ (y-mean)²
	Bias, Scatter float64 // mean of y-x, and Σ (y-x-bias)²
	Squares       float64 // Σ (y-x)²
	Absolute      float64 // Σ |y-x|
	Share         float64 // Σ |y-x|/|y|, where |y| is at least 2⁻⁵²
	Greatest      float64 // max |y-x|
}

// Update adds items.
//
//	truth, predicted: [items] or [items, outputs], dense, masked or in rows; weights: [items] or nil
func (r *Regression) Update(truth, predicted, weights tensor.Tensor) error {
	return r.update("Regression", truth, predicted, weights)
}

func (r *Regression) update(fn string, truth, predicted, weights tensor.Tensor) error {
	p, err := pairsOf(fn, truth, predicted, weights)
	if err != nil {
		return err
	}
	var batch Regression
	for k := range p.truth {
		batch.Outputs = append(batch.Outputs, p.errors(k))
	}
	return r.merge(fn, &batch)
}

// Merge adds the items of another one with the same number of outputs.
func (r *Regression) Merge(o *Regression) error { return r.merge("Regression", o) }

func (r *Regression) merge(fn string, o *Regression) error {
	switch {
	case len(o.Outputs) == 0:
		return nil
	case len(r.Outputs) == 0:
		r.Outputs = make([]Errors, len(o.Outputs))
	case len(r.Outputs) != len(o.Outputs):
		return tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("%d outputs cannot be merged with %d", len(r.Outputs), len(o.Outputs)))
	}
	for i := range r.Outputs {
		r.Outputs[i].add(o.Outputs[i])
	}
	return nil
}

// add merges means and sums of squares about them by the method of T. Chan, G. Golub and R. LeVeque
// (The American Statistician 37, 1983).
func (e *Errors) add(o Errors) {
	all := e.Weight + o.Weight
	together := func(mean, squares *float64, m, s float64) {
		d := m - *mean
		*squares += s + d*d*ratio(e.Weight*o.Weight, all)
		*mean += d * ratio(o.Weight, all)
	}
	together(&e.Mean, &e.Spread, o.Mean, o.Spread)
	together(&e.Bias, &e.Scatter, o.Bias, o.Scatter)
	e.Weight, e.Squares, e.Absolute, e.Share = all, e.Squares+o.Squares, e.Absolute+o.Absolute, e.Share+o.Share
	e.Greatest = max(e.Greatest, o.Greatest)
}

// mean returns the mean over outputs.
func (r *Regression) mean(f func(e Errors) float64) float64 {
	total := 0.0
	for _, e := range r.Outputs {
		total += f(e)
	}
	return ratio(total, float64(len(r.Outputs)))
}

// MeanSquaredError is the mean squared error.
func (r *Regression) MeanSquaredError() float64 {
	return r.mean(func(e Errors) float64 { return ratio(e.Squares, e.Weight) })
}

// RootMeanSquaredError is the mean over outputs of the root of the mean squared error.
func (r *Regression) RootMeanSquaredError() float64 {
	return r.mean(func(e Errors) float64 { return math.Sqrt(ratio(e.Squares, e.Weight)) })
}

// MeanAbsoluteError is the mean absolute error.
func (r *Regression) MeanAbsoluteError() float64 {
	return r.mean(func(e Errors) float64 { return ratio(e.Absolute, e.Weight) })
}

// MeanAbsolutePercentageError is the mean absolute error relative to the truth, whose absolute
// value is taken to be at least 2⁻⁵².
func (r *Regression) MeanAbsolutePercentageError() float64 {
	return r.mean(func(e Errors) float64 { return ratio(e.Share, e.Weight) })
}

// MaxError is the largest absolute error of all outputs.
func (r *Regression) MaxError() float64 {
	most := 0.0
	for _, e := range r.Outputs {
		most = max(most, e.Greatest)
	}
	return most
}

// R2 is the share of the variance that the prediction explains: 1 - Σ(y-x)²/Σ(y-ȳ)². If the
// truth is constant, it is 1 if all predictions are right, and 0 otherwise.
func (r *Regression) R2() float64 {
	return r.mean(func(e Errors) float64 { return explained(e.Squares, e.Spread) })
}

// ExplainedVariance is [Regression.R2] of predictions corrected by their mean error.
func (r *Regression) ExplainedVariance() float64 {
	return r.mean(func(e Errors) float64 { return explained(e.Scatter, e.Spread) })
}

func explained(left, whole float64) float64 {
	switch {
	case whole != 0:
		return 1 - left/whole
	case left == 0:
		return 1
	}
	return 0
}

// regression returns the result of f for items.
func regression(fn string, truth, predicted, weights tensor.Tensor, f func(*Regression) float64) (float64, error) {
	var r Regression
	if err := r.update(fn, truth, predicted, weights); err != nil {
		return 0, err
	}
	if len(r.Outputs) == 0 {
		return 0, tenon.NewError(tenon.ErrShape, "metric."+fn, "there are no items")
	}
	return f(&r), nil
}

// MeanSquaredError is [Regression.MeanSquaredError] of items. The arguments are those of [Regression.Update], here
// and below.
func MeanSquaredError(truth, predicted, weights tensor.Tensor) (float64, error) {
	return regression("MeanSquaredError", truth, predicted, weights, (*Regression).MeanSquaredError)
}

// RootMeanSquaredError is [Regression.RootMeanSquaredError] of items.
func RootMeanSquaredError(truth, predicted, weights tensor.Tensor) (float64, error) {
	return regression("RootMeanSquaredError", truth, predicted, weights, (*Regression).RootMeanSquaredError)
}

// MeanAbsoluteError is [Regression.MeanAbsoluteError] of items.
func MeanAbsoluteError(truth, predicted, weights tensor.Tensor) (float64, error) {
	return regression("MeanAbsoluteError", truth, predicted, weights, (*Regression).MeanAbsoluteError)
}

// MeanAbsolutePercentageError is [Regression.MeanAbsolutePercentageError] of items.
func MeanAbsolutePercentageError(truth, predicted, weights tensor.Tensor) (float64, error) {
	return regression("MeanAbsolutePercentageError", truth, predicted, weights, (*Regression).MeanAbsolutePercentageError)
}

// MaxError is [Regression.MaxError] of items.
func MaxError(truth, predicted tensor.Tensor) (float64, error) {
	return regression("MaxError", truth, predicted, nil, (*Regression).MaxError)
}

// R2 is [Regression.R2] of items.
func R2(truth, predicted, weights tensor.Tensor) (float64, error) {
	return regression("R2", truth, predicted, weights, (*Regression).R2)
}

// ExplainedVariance is [Regression.ExplainedVariance] of items.
func ExplainedVariance(truth, predicted, weights tensor.Tensor) (float64, error) {
	return regression("ExplainedVariance", truth, predicted, weights, (*Regression).ExplainedVariance)
}

// Pinball is the mean quantile loss: q times the amount by which the truth exceeds the
// prediction, or 1-q times the amount by which it falls short.
func Pinball(truth, predicted, weights tensor.Tensor, q float64) (float64, error) {
	const fn = "Pinball"
	if !(q >= 0 && q <= 1) {
		return 0, invalid(fn, "the quantile is %v, want a number from 0 to 1", q)
	}
	p, err := somePairs(fn, truth, predicted, weights)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for k, ys := range p.truth {
		one := 0.0
		for i, y := range ys {
			d := y - p.predicted[k][i]
			one += p.weights[i] * max(q*d, (q-1)*d)
		}
		total += ratio(one, sum(p.weights))
	}
	return total / float64(len(p.truth)), nil
}

// MedianAbsoluteError is the median absolute error, weighted by items. It cannot be computed from the medians of
// batches.
func MedianAbsoluteError(truth, predicted, weights tensor.Tensor) (float64, error) {
	p, err := somePairs("MedianAbsoluteError", truth, predicted, weights)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for k := range p.truth {
		total += p.median(k)
	}
	return total / float64(len(p.truth)), nil
}

// pairs are numbers and their predictions, by output.
type pairs struct {
	truth, predicted [][]float64
	weights          []float64
}

// columns returns truth, prediction and weights without rows and missing items, the first two with the same
// shape: [items] or [items, things].
func columns(fn, things string, truth, predicted, weights tensor.Tensor) (t, p, w tensor.Tensor, err error) {
	list, err := bare(fn, truth, predicted, weights)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := same(fn, list[0], list[1]); err != nil {
		return nil, nil, nil, err
	}
	if s := list[0].Shape(); s.Rank() != 1 && s.Rank() != 2 {
		return nil, nil, nil, tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the truth has the shape %v, want [items] or [items, %s]", s, things))
	}
	return list[0], list[1], list[2], nil
}

// pairsOf returns the columns of truth and prediction: [items] or [items, outputs].
func pairsOf(fn string, truth, predicted, weights tensor.Tensor) (*pairs, error) {
	truth, predicted, weights, err := columns(fn, "outputs", truth, predicted, weights)
	if err != nil {
		return nil, err
	}
	s := truth.Shape()
	t, err := floats(fn, "truth", truth)
	if err != nil {
		return nil, err
	}
	p, err := floats(fn, "prediction", predicted)
	if err != nil {
		return nil, err
	}
	w, err := weightsOf(fn, weights, s.Dim(0))
	if err != nil || len(t) == 0 {
		return &pairs{}, err
	}
	outputs := len(t) / s.Dim(0)
	out := &pairs{make([][]float64, outputs), make([][]float64, outputs), w}
	for i := range t {
		out.truth[i%outputs] = append(out.truth[i%outputs], t[i])
		out.predicted[i%outputs] = append(out.predicted[i%outputs], p[i])
	}
	return out, nil
}

// somePairs is pairsOf, but without items it fails.
func somePairs(fn string, truth, predicted, weights tensor.Tensor) (*pairs, error) {
	p, err := pairsOf(fn, truth, predicted, weights)
	if err == nil && len(p.truth) == 0 {
		err = tenon.NewError(tenon.ErrShape, "metric."+fn, "there are no items")
	}
	return p, err
}

// errors returns the sums of output k.
func (p *pairs) errors(k int) Errors {
	e := Errors{Weight: sum(p.weights)}
	for i, y := range p.truth[k] {
		w, d := p.weights[i], y-p.predicted[k][i]
		size := math.Abs(d)
		e.Mean += w * y
		e.Bias += w * d
		e.Squares += w * d * d
		e.Absolute += w * size
		e.Share += w * size / max(math.Abs(y), 0x1p-52)
		e.Greatest = max(e.Greatest, size)
	}
	e.Mean, e.Bias = ratio(e.Mean, e.Weight), ratio(e.Bias, e.Weight)
	for i, y := range p.truth[k] {
		w, d := p.weights[i], y-p.predicted[k][i]-e.Bias
		e.Spread += w * (y - e.Mean) * (y - e.Mean)
		e.Scatter += w * d * d
	}
	return e
}

// median returns the median absolute error of output k.
func (p *pairs) median(k int) float64 {
	type distance struct{ d, w float64 }
	var all []distance
	for i, y := range p.truth[k] {
		if p.weights[i] > 0 {
			all = append(all, distance{math.Abs(y - p.predicted[k][i]), p.weights[i]})
		}
	}
	slices.SortFunc(all, func(a, b distance) int { return cmp.Compare(a.d, b.d) })
	below, half := 0.0, sum(p.weights)/2
	for i, x := range all {
		if below += x.w; below > half || i == len(all)-1 {
			return x.d
		} else if below == half {
			return (x.d + all[i+1].d) / 2
		}
	}
	return 0
}

// Hamming is the share of labels that differ.
//
//	truth, predicted: [items] or [items, labels], integers; weights: [items] or nil
func Hamming(truth, predicted, weights tensor.Tensor) (float64, error) {
	l, err := labelled("Hamming", truth, predicted, weights)
	if err != nil {
		return 0, err
	}
	return l.mean(func(t, p []int) float64 {
		n := 0.0
		for i := range t {
			if t[i] != p[i] {
				n++
			}
		}
		return ratio(n, float64(len(t)))
	}), nil
}

// Jaccard is the mean over items of the number of labels that truth and prediction share,
// divided by the number of labels that either has.
//
//	truth, predicted: [items, labels] of 0 and 1; weights: [items] or nil
func Jaccard(truth, predicted, weights tensor.Tensor) (float64, error) {
	l, err := labelled("Jaccard", truth, predicted, weights)
	if err != nil {
		return 0, err
	}
	if l.width < 0 {
		return 0, tenon.NewError(tenon.ErrShape, "metric.Jaccard", fmt.Sprintf("the truth has the shape %v, want [items, labels]", truth.Shape()))
	}
	return l.mean(func(t, p []int) float64 {
		both, either := 0.0, 0.0
		for i := range t {
			if t[i] != 0 && p[i] != 0 {
				both++
			}
			if t[i] != 0 || p[i] != 0 {
				either++
			}
		}
		return ratio(both, either)
	}), nil
}

// A labelling is items with labels; width is the number of labels of each, or -1 if items have one
// label and no axis for it.
type labelling struct {
	truth, predicted []int
	weights          []float64
	width            int
}

func labelled(fn string, truth, predicted, weights tensor.Tensor) (l *labelling, err error) {
	truth, predicted, weights, err = columns(fn, "labels", truth, predicted, weights)
	if err != nil {
		return nil, err
	}
	s := truth.Shape()
	l = &labelling{width: -1}
	if s.Rank() == 2 {
		l.width = s.Dim(1)
	}
	if l.truth, err = labels(fn, "truth", truth, 0); err != nil {
		return nil, err
	}
	if l.predicted, err = labels(fn, "prediction", predicted, 0); err != nil {
		return nil, err
	}
	l.weights, err = weightsOf(fn, weights, s.Dim(0))
	return l, err
}

// mean returns the mean of f over the labels of all items.
func (l *labelling) mean(f func(t, p []int) float64) float64 {
	n, total := l.width, 0.0
	if n < 0 {
		n = 1
	}
	for i, w := range l.weights {
		total += w * f(l.truth[i*n:(i+1)*n], l.predicted[i*n:(i+1)*n])
	}
	return ratio(total, sum(l.weights))
}
