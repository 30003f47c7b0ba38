package metric

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A Calibration compares predicted probabilities with observed frequencies, in bins of probability. In a
// bin, Positive/Weight is the share of items whose truth is 1, and Probability/Weight their mean
// probability; a reliability diagram plots one against the other.
type Calibration struct {
	Weight, Positive, Probability []float64 // [bins]: weighted sums over items
}

// NewCalibration returns an empty calibration with bins of equal width.
func NewCalibration(bins int) (*Calibration, error) {
	if bins < 1 || bins > 1<<20 {
		return nil, invalid("NewCalibration", "cannot use %d bins", bins)
	}
	return &Calibration{make([]float64, bins), make([]float64, bins), make([]float64, bins)}, nil
}

// Update adds items.
//
//	truth: [items] of 0 and 1, or booleans; probability: [items]; weights: [items] or nil
func (c *Calibration) Update(truth, probability, weights tensor.Tensor) error {
	t, p, w, err := probabilities("Calibration", truth, probability, weights)
	if err != nil {
		return err
	}
	bins := len(c.Weight)
	for i, x := range p {
		at := min(int(x*float64(bins)), bins-1)
		c.Weight[at] += w[i]
		c.Positive[at] += w[i] * float64(t[i])
		c.Probability[at] += w[i] * x
	}
	return nil
}

// Merge adds the items of another one with the same number of bins.
func (c *Calibration) Merge(o *Calibration) error {
	if len(o.Weight) != len(c.Weight) {
		return tenon.NewError(tenon.ErrShape, "metric.Calibration", fmt.Sprintf("%d bins cannot be merged with %d", len(o.Weight), len(c.Weight)))
	}
	for i := range c.Weight {
		c.Weight[i] += o.Weight[i]
		c.Positive[i] += o.Positive[i]
		c.Probability[i] += o.Probability[i]
	}
	return nil
}

// Error is the expected calibration error: the mean over bins, weighted by their items, of the
// absolute difference between the share of items whose truth is 1 and their mean probability.
func (c *Calibration) Error() float64 {
	total := 0.0
	for i, p := range c.Probability {
		total += math.Abs(p - c.Positive[i])
	}
	return ratio(total, sum(c.Weight))
}

// CalibrationError is [Calibration.Error] of items.
func CalibrationError(truth, probability, weights tensor.Tensor, bins int) (float64, error) {
	c, err := NewCalibration(bins)
	if err == nil {
		err = c.Update(truth, probability, weights)
	}
	if err != nil {
		return 0, err
	}
	return c.Error(), nil
}
