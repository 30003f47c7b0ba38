package metric

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A Calibration compares, over bins of probability, how often items are of the truth 1 with what was said:
// Positive by Weight is the share that there is in a bin, and Probability by Weight the mean probability,
// which a picture of the reliability draws over each other.
type Calibration struct {
	Weight, Positive, Probability []float64 // [bins]: sums over items, by weight
}

// NewCalibration returns bins of one width that have seen nothing.
func NewCalibration(bins int) (*Calibration, error) {
	if bins < 1 || bins > 1<<20 {
		return nil, invalid("NewCalibration", "cannot use %d bins", bins)
	}
	return &Calibration{make([]float64, bins), make([]float64, bins), make([]float64, bins)}, nil
}

// Update adds items.
//
//	truth: [items] of 0 and 1, or truth values; probability: [items]; weights: [items] or nil
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

// Merge adds what another one has seen, in as many bins.
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

// Error is the mean distance, over bins, of the share of items of the truth 1 and their mean
// probability, by how many items there are.
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
