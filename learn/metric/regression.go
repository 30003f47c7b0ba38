package metric

import (
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// pairs are numbers and what was predicted for them, by output.
type pairs struct {
	truth, predicted [][]float64
	weights          []float64
}

// pairsOf returns the columns of truth and prediction: [items] or [items, outputs].
func pairsOf(fn string, truth, predicted, weights tensor.Tensor) (*pairs, error) {
	if err := same(fn, truth, predicted); err != nil {
		return nil, err
	}
	s := truth.Shape()
	if s.Rank() != 1 && s.Rank() != 2 || s.Size() == 0 {
		return nil, tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the truth has the shape %v, want [items] or [items, outputs], and some", s))
	}
	t, err := floats(fn, "truth", truth)
	if err != nil {
		return nil, err
	}
	p, err := floats(fn, "prediction", predicted)
	if err != nil {
		return nil, err
	}
	w, err := weightsOf(fn, weights, s.Dim(0))
	if err != nil {
		return nil, err
	}
	outputs := len(t) / s.Dim(0)
	out := &pairs{make([][]float64, outputs), make([][]float64, outputs), w}
	for i := range t {
		out.truth[i%outputs] = append(out.truth[i%outputs], t[i])
		out.predicted[i%outputs] = append(out.predicted[i%outputs], p[i])
	}
	return out, nil
}

// mean returns the mean over outputs of g of the weighted mean of f.
func (p *pairs) mean(f func(y, x float64) float64, g func(float64) float64) float64 {
	total := 0.0
	for k := range p.truth {
		one := 0.0
		for i, y := range p.truth[k] {
			one += p.weights[i] * f(y, p.predicted[k][i])
		}
		total += g(ratio(one, sum(p.weights)))
	}
	return total / float64(len(p.truth))
}

func same1(x float64) float64 { return x }

func squared(y, x float64) float64 { return (y - x) * (y - x) }

func errorBy(fn string, truth, predicted, weights tensor.Tensor, f func(y, x float64) float64, g func(float64) float64) (float64, error) {
	p, err := pairsOf(fn, truth, predicted, weights)
	if err != nil {
		return 0, err
	}
	return p.mean(f, g), nil
}

// MeanSquaredError is the mean squared distance. Several outputs count alike, here and below.
//
//	truth, predicted: [items] or [items, outputs]; weights: [items] or nil
func MeanSquaredError(truth, predicted, weights tensor.Tensor) (float64, error) {
	return errorBy("MeanSquaredError", truth, predicted, weights, squared, same1)
}

// RootMeanSquaredError is the root of the mean squared distance of each output.
func RootMeanSquaredError(truth, predicted, weights tensor.Tensor) (float64, error) {
	return errorBy("RootMeanSquaredError", truth, predicted, weights, squared, math.Sqrt)
}

// MeanAbsoluteError is the mean distance.
func MeanAbsoluteError(truth, predicted, weights tensor.Tensor) (float64, error) {
	return errorBy("MeanAbsoluteError", truth, predicted, weights, func(y, x float64) float64 { return math.Abs(y - x) }, same1)
}

// MeanAbsolutePercentageError is the mean distance by the size of the truth, at least 2⁻⁵².
func MeanAbsolutePercentageError(truth, predicted, weights tensor.Tensor) (float64, error) {
	return errorBy("MeanAbsolutePercentageError", truth, predicted, weights, func(y, x float64) float64 {
		return math.Abs(y-x) / max(math.Abs(y), 0x1p-52)
	}, same1)
}

// Pinball is the mean loss of a quantile: q times what the truth is above the prediction, 1-q
// times what it is below.
func Pinball(truth, predicted, weights tensor.Tensor, q float64) (float64, error) {
	if !(q >= 0 && q <= 1) {
		return 0, invalid("Pinball", "%v is no quantile", q)
	}
	return errorBy("Pinball", truth, predicted, weights, func(y, x float64) float64 { return max(q*(y-x), (q-1)*(y-x)) }, same1)
}

// MedianAbsoluteError is the median distance.
func MedianAbsoluteError(truth, predicted tensor.Tensor) (float64, error) {
	p, err := pairsOf("MedianAbsoluteError", truth, predicted, nil)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for k := range p.truth {
		d := p.distances(k)
		slices.Sort(d)
		total += (d[(len(d)-1)/2] + d[len(d)/2]) / 2
	}
	return total / float64(len(p.truth)), nil
}

// MaxError is the greatest distance.
func MaxError(truth, predicted tensor.Tensor) (float64, error) {
	p, err := pairsOf("MaxError", truth, predicted, nil)
	if err != nil {
		return 0, err
	}
	most := 0.0
	for k := range p.truth {
		most = max(most, slices.Max(p.distances(k)))
	}
	return most, nil
}

func (p *pairs) distances(k int) []float64 {
	d := make([]float64, len(p.truth[k]))
	for i, y := range p.truth[k] {
		d[i] = math.Abs(y - p.predicted[k][i])
	}
	return d
}

// R2 is the share of the variance that the prediction explains: 1 - Σ(y-x)²/Σ(y-ȳ)². Of a truth
// that is constant it is 1 where all predictions are right, and 0 otherwise.
func R2(truth, predicted, weights tensor.Tensor) (float64, error) {
	return explained("R2", truth, predicted, weights, false)
}

// ExplainedVariance is [R2] of predictions without their mean error.
func ExplainedVariance(truth, predicted, weights tensor.Tensor) (float64, error) {
	return explained("ExplainedVariance", truth, predicted, weights, true)
}

func explained(fn string, truth, predicted, weights tensor.Tensor, centered bool) (float64, error) {
	p, err := pairsOf(fn, truth, predicted, weights)
	if err != nil {
		return 0, err
	}
	all, total := sum(p.weights), 0.0
	for k := range p.truth {
		mean, bias, left, whole := 0.0, 0.0, 0.0, 0.0
		for i, y := range p.truth[k] {
			mean += p.weights[i] * y
			bias += p.weights[i] * (y - p.predicted[k][i])
		}
		mean, bias = ratio(mean, all), ratio(bias, all)
		if !centered {
			bias = 0
		}
		for i, y := range p.truth[k] {
			left += p.weights[i] * squared(y-p.predicted[k][i], bias)
			whole += p.weights[i] * squared(y, mean)
		}
		switch {
		case whole != 0:
			total += 1 - left/whole
		case left == 0:
			total++
		}
	}
	return total / float64(len(p.truth)), nil
}

// Hamming is the share of labels that differ.
//
//	truth, predicted: the same shape, integers
func Hamming(truth, predicted tensor.Tensor) (float64, error) {
	t, p, err := labelled("Hamming", truth, predicted)
	if err != nil {
		return 0, err
	}
	n := 0.0
	for i := range t {
		if t[i] != p[i] {
			n++
		}
	}
	return ratio(n, float64(len(t))), nil
}

// Jaccard is the mean over items of the labels that truth and prediction share, by those that
// either has.
//
//	truth, predicted: [items, labels] of 0 and 1
func Jaccard(truth, predicted tensor.Tensor) (float64, error) {
	t, p, err := labelled("Jaccard", truth, predicted)
	if err != nil {
		return 0, err
	}
	s := truth.Shape()
	if s.Rank() != 2 {
		return 0, tenon.NewError(tenon.ErrShape, "metric.Jaccard", fmt.Sprintf("the truth has the shape %v, want [items, labels]", s))
	}
	total := 0.0
	for i := range s.Dim(0) {
		both, either := 0.0, 0.0
		for k := i * s.Dim(1); k < (i+1)*s.Dim(1); k++ {
			if t[k] != 0 && p[k] != 0 {
				both++
			}
			if t[k] != 0 || p[k] != 0 {
				either++
			}
		}
		total += ratio(both, either)
	}
	return ratio(total, float64(s.Dim(0))), nil
}

func labelled(fn string, truth, predicted tensor.Tensor) (t, p []int, err error) {
	if err := same(fn, truth, predicted); err != nil {
		return nil, nil, err
	}
	if t, err = labels(fn, "truth", truth, 0); err != nil {
		return nil, nil, err
	}
	p, err = labels(fn, "prediction", predicted, 0)
	return t, p, err
}
