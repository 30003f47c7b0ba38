package metric

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Confusion counts how often items of one class are predicted as another. It is not safe for
// concurrent updates.
type Confusion struct {
	Classes int
	Counts  []float64 // [Classes, Classes]: rows are the truth, columns the prediction
}

// NewConfusion returns empty counts.
func NewConfusion(classes int) (*Confusion, error) {
	if classes < 1 || classes > 1<<15 {
		return nil, invalid("NewConfusion", "cannot use %d classes", classes)
	}
	return &Confusion{classes, make([]float64, classes*classes)}, nil
}

// Update adds items.
//
//	truth, predicted: the same shape or rows, integers below Classes; weights: [items] or nil
func (c *Confusion) Update(truth, predicted, weights tensor.Tensor) error {
	const fn = "Confusion"
	truth, predicted, weights, err := flat(fn, truth, predicted, weights, false)
	if err != nil {
		return err
	}
	t, err := labels(fn, "truth", truth, c.Classes)
	if err != nil {
		return err
	}
	p, err := labels(fn, "prediction", predicted, c.Classes)
	if err != nil {
		return err
	}
	w, err := weightsOf(fn, weights, len(t))
	if err != nil {
		return err
	}
	for i := range t {
		c.Counts[t[i]*c.Classes+p[i]] += w[i]
	}
	return nil
}

// Merge adds the counts of another one with the same number of classes.
func (c *Confusion) Merge(o *Confusion) error {
	if o.Classes != c.Classes {
		return tenon.NewError(tenon.ErrShape, "metric.Confusion", fmt.Sprintf("%d classes cannot be merged with %d", o.Classes, c.Classes))
	}
	for i, n := range o.Counts {
		c.Counts[i] += n
	}
	return nil
}

// Matrix returns the counts: float64[Classes, Classes], rows are the truth.
func (c *Confusion) Matrix() tensor.Tensor {
	t, _ := tensor.FromScalars(boxed(c.Counts), shape.Of(c.Classes, c.Classes), tensor.Options{})
	return t
}

func boxed(x []float64) []any {
	out := make([]any, len(x))
	for i, v := range x {
		out[i] = v
	}
	return out
}

// marginals returns, for each class, the items that were predicted correctly, that exist, and
// that were predicted as it, and the total number of items.
func (c *Confusion) marginals() (hits, there, predicted []float64, all float64) {
	hits, there, predicted = make([]float64, c.Classes), make([]float64, c.Classes), make([]float64, c.Classes)
	for i := range c.Classes {
		for k := range c.Classes {
			n := c.Counts[i*c.Classes+k]
			there[i], predicted[k], all = there[i]+n, predicted[k]+n, all+n
			if i == k {
				hits[i] = n
			}
		}
	}
	return hits, there, predicted, all
}

// Accuracy is the share of items that were predicted correctly.
func (c *Confusion) Accuracy() float64 {
	hits, _, _, all := c.marginals()
	return ratio(sum(hits), all)
}

// An Average says how the numbers of the classes are combined.
type Average string

const (
	Micro    Average = "micro"    // over all items together
	Macro    Average = "macro"    // the mean over classes
	Weighted Average = "weighted" // the mean over classes, weighted by their number of items
)

// Precision is the share of the items predicted as a class that belong to it.
func (c *Confusion) Precision(a Average) (float64, error) {
	return c.averaged("Precision", a, func(hits, _, predicted float64) float64 { return ratio(hits, predicted) })
}

// Recall is the share of the items of a class that were predicted as it.
func (c *Confusion) Recall(a Average) (float64, error) {
	return c.averaged("Recall", a, func(hits, there, _ float64) float64 { return ratio(hits, there) })
}

// F1 is the harmonic mean of precision and recall.
func (c *Confusion) F1(a Average) (float64, error) { return c.FBeta(1, a) }

// FBeta is the weighted harmonic mean of precision and recall in which recall counts beta²
// times.
func (c *Confusion) FBeta(beta float64, a Average) (float64, error) {
	return c.averaged("FBeta", a, fBeta(beta))
}

func fBeta(beta float64) func(hits, there, predicted float64) float64 {
	b := beta * beta
	return func(hits, there, predicted float64) float64 { return ratio((1+b)*hits, b*there+predicted) }
}

// PerClass returns precision, recall and F1 of each class.
func (c *Confusion) PerClass() (precision, recall, f1 []float64) {
	hits, there, predicted, _ := c.marginals()
	for i := range hits {
		precision = append(precision, ratio(hits[i], predicted[i]))
		recall = append(recall, ratio(hits[i], there[i]))
		f1 = append(f1, fBeta(1)(hits[i], there[i], predicted[i]))
	}
	return precision, recall, f1
}

func (c *Confusion) averaged(fn string, a Average, of func(hits, there, predicted float64) float64) (float64, error) {
	hits, there, predicted, all := c.marginals()
	switch a {
	case Micro:
		return of(sum(hits), all, all), nil
	case Macro, Weighted:
		total, weight := 0.0, 0.0
		for i := range hits {
			w := 1.0
			if a == Weighted {
				w = there[i]
			}
			total, weight = total+w*of(hits[i], there[i], predicted[i]), weight+w
		}
		return ratio(total, weight), nil
	}
	return 0, invalid(fn, "there is no average %q: there are %q, %q and %q", a, Micro, Macro, Weighted)
}

// BalancedAccuracy is the mean recall of the classes that occur in the truth.
func (c *Confusion) BalancedAccuracy() float64 {
	hits, there, _, _ := c.marginals()
	total, n := 0.0, 0.0
	for i := range hits {
		if there[i] > 0 {
			total, n = total+hits[i]/there[i], n+1
		}
	}
	return ratio(total, n)
}

// Matthews is the Matthews correlation coefficient of truth and prediction.
func (c *Confusion) Matthews() float64 {
	hits, there, predicted, all := c.marginals()
	product := func(x, y []float64) (s float64) {
		for i := range x {
			s += x[i] * y[i]
		}
		return s
	}
	cov := sum(hits)*all - product(there, predicted)
	return ratio(cov, math.Sqrt((all*all-product(there, there))*(all*all-product(predicted, predicted))))
}

// Kappa is Cohen's kappa: the accuracy relative to that of chance.
func (c *Confusion) Kappa() float64 {
	hits, there, predicted, all := c.marginals()
	chance := 0.0
	for i := range there {
		chance += ratio(there[i]*predicted[i], all)
	}
	return ratio(sum(hits)-chance, all-chance)
}
