package metric

import (
	"math"
	"slices"

	"github.com/tenonml/tenon/tensor"
)

// A Curve has, for each distinct score in descending order, the number of items with at least
// that score.
type Curve struct {
	Thresholds         []float64
	Positive, Negative []float64 // items whose truth is 1 and 0, by weight
}

// NewCurve sorts items by their scores. [Scored] collects the items of a stream.
//
//	truth: [items] of 0 and 1, or booleans; score: [items]; weights: [items] or nil
func NewCurve(truth, score, weights tensor.Tensor) (*Curve, error) {
	var s Scored
	if err := s.update("NewCurve", truth, score, weights); err != nil {
		return nil, err
	}
	return s.Curve(), nil
}

// Scored collects items of two classes with their scores, batch by batch and on several machines,
// for exact curves. The zero value has no items. nn.AUC needs less memory, but is not exact.
type Scored struct {
	Scores   []float64
	Positive []bool
	Weights  []float64
}

// Update adds items; see [NewCurve].
func (s *Scored) Update(truth, score, weights tensor.Tensor) error {
	return s.update("Scored", truth, score, weights)
}

func (s *Scored) update(fn string, truth, score, weights tensor.Tensor) error {
	truth, score, weights, err := flat(fn, truth, score, weights, false)
	if err != nil {
		return err
	}
	t, err := labels(fn, "truth", truth, 2)
	if err != nil {
		return err
	}
	x, err := floats(fn, "score", score)
	if err != nil {
		return err
	}
	w, err := weightsOf(fn, weights, len(t))
	if err != nil {
		return err
	}
	for _, k := range t {
		s.Positive = append(s.Positive, k == 1)
	}
	s.Scores, s.Weights = append(s.Scores, x...), append(s.Weights, w...)
	return nil
}

// Merge adds the items of another one.
func (s *Scored) Merge(o *Scored) {
	s.Scores, s.Positive, s.Weights = append(s.Scores, o.Scores...), append(s.Positive, o.Positive...), append(s.Weights, o.Weights...)
}

// Curve sorts the items by their scores.
func (s *Scored) Curve() *Curve {
	t := make([]int, len(s.Positive))
	for i, positive := range s.Positive {
		if positive {
			t[i] = 1
		}
	}
	return curve(t, s.Scores, s.Weights)
}

func curve(t []int, s, w []float64) *Curve {
	order := make([]int, len(t))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case s[a] > s[b]:
			return -1
		case s[a] < s[b]:
			return 1
		}
		return 0
	})
	c := &Curve{}
	pos, neg := 0.0, 0.0
	for k, i := range order {
		if t[i] == 1 {
			pos += w[i]
		} else {
			neg += w[i]
		}
		if k+1 == len(order) || s[order[k+1]] != s[i] {
			c.Thresholds, c.Positive, c.Negative = append(c.Thresholds, s[i]), append(c.Positive, pos), append(c.Negative, neg)
		}
	}
	return c
}

// totals returns the weights of both classes.
func (c *Curve) totals() (pos, neg float64) {
	if n := len(c.Positive); n > 0 {
		return c.Positive[n-1], c.Negative[n-1]
	}
	return 0, 0
}

// both returns an error unless there are items of both classes.
func (c *Curve) both(fn string) error {
	if pos, neg := c.totals(); pos == 0 || neg == 0 {
		return invalid(fn, "the truth has only one class: %v items are 1 and %v are 0", pos, neg)
	}
	return nil
}

// ROC returns the points of the receiver operating characteristic: the false and the true
// positive rates at each threshold, starting with (0, 0) at infinity.
func (c *Curve) ROC() (falsePositive, truePositive, thresholds []float64, err error) {
	if err := c.both("ROC"); err != nil {
		return nil, nil, nil, err
	}
	pos, neg := c.totals()
	falsePositive, truePositive, thresholds = []float64{0}, []float64{0}, []float64{math.Inf(1)}
	for i := range c.Thresholds {
		falsePositive, truePositive = append(falsePositive, c.Negative[i]/neg), append(truePositive, c.Positive[i]/pos)
	}
	return falsePositive, truePositive, append(thresholds, c.Thresholds...), nil
}

// AUC is the area under [Curve.ROC]: the probability that a positive item scores above a
// negative one, where ties count half.
func (c *Curve) AUC() (float64, error) {
	x, y, _, err := c.ROC()
	return area(x, y), err
}

// area is the area below the lines between points.
func area(x, y []float64) (a float64) {
	for i := 1; i < len(x); i++ {
		a += (x[i] - x[i-1]) * (y[i] + y[i-1]) / 2
	}
	return a
}

// PrecisionRecall returns precision and recall at each threshold.
func (c *Curve) PrecisionRecall() (precision, recall []float64) {
	pos, _ := c.totals()
	for i := range c.Thresholds {
		precision = append(precision, ratio(c.Positive[i], c.Positive[i]+c.Negative[i]))
		recall = append(recall, ratio(c.Positive[i], pos))
	}
	return precision, recall
}

// AveragePrecision is the sum of the precisions, weighted by the steps in recall.
func (c *Curve) AveragePrecision() float64 {
	precision, recall := c.PrecisionRecall()
	a, last := 0.0, 0.0
	for i, p := range precision {
		a, last = a+p*(recall[i]-last), recall[i]
	}
	return a
}

// PRAUC is the area below the lines between the points of recall and precision, starting at (0,
// 1).
func (c *Curve) PRAUC() float64 {
	precision, recall := c.PrecisionRecall()
	return area(append([]float64{0}, recall...), append([]float64{1}, precision...))
}

// scores returns the truth, the scores of each item for all classes, and the weights of items.
func scores(fn string, truth, score, weights tensor.Tensor) (t []int, rows [][]float64, w []float64, err error) {
	truth, score, weights, err = flat(fn, truth, score, weights, true)
	if err != nil {
		return nil, nil, nil, err
	}
	classes := score.Shape().Dim(1)
	if t, err = labels(fn, "truth", truth, classes); err != nil {
		return nil, nil, nil, err
	}
	x, err := floats(fn, "score", score)
	if err != nil {
		return nil, nil, nil, err
	}
	for i := range t {
		rows = append(rows, x[i*classes:(i+1)*classes])
	}
	w, err = weightsOf(fn, weights, len(t))
	return t, rows, w, err
}

// AUCOfClasses is the mean area under the ROC curves of each class against all others or, with
// pairs, of each class against each other class.
//
//	truth: [items] of classes; score: [items, classes]; weights: [items] or nil
func AUCOfClasses(truth, score, weights tensor.Tensor, pairs bool) (float64, error) {
	t, rows, all, err := scores("AUCOfClasses", truth, score, weights)
	if err != nil {
		return 0, err
	}
	classes := 0
	if len(rows) > 0 {
		classes = len(rows[0])
	}
	between := func(class int, others func(k int) bool) (float64, error) {
		var is []int
		var s, w []float64
		for i, k := range t {
			switch {
			case k == class:
				is = append(is, 1)
			case others(k):
				is = append(is, 0)
			default:
				continue
			}
			s, w = append(s, rows[i][class]), append(w, all[i])
		}
		return curve(is, s, w).AUC()
	}
	total, n := 0.0, 0.0
	for a := range classes {
		if !pairs {
			x, err := between(a, func(int) bool { return true })
			if err != nil {
				return 0, err
			}
			total, n = total+x, n+1
			continue
		}
		for b := range classes {
			if b == a {
				continue
			}
			x, err := between(a, func(k int) bool { return k == b })
			if err != nil {
				return 0, err
			}
			total, n = total+x, n+1
		}
	}
	return ratio(total, n), nil
}

// TopK is the share of items whose class has one of the k highest scores. Of equal scores, that
// of the later class counts as higher.
//
//	truth: [items] of classes; score: [items, classes]; weights: [items] or nil
func TopK(truth, score, weights tensor.Tensor, k int) (float64, error) {
	t, rows, w, err := scores("TopK", truth, score, weights)
	if err != nil {
		return 0, err
	}
	if k < 1 {
		return 0, invalid("TopK", "the number of scores is %d, want at least 1", k)
	}
	hits := 0.0
	for i, own := range t {
		above := 0
		for class, s := range rows[i] {
			if s > rows[i][own] || s == rows[i][own] && class > own {
				above++
			}
		}
		if above < k {
			hits += w[i]
		}
	}
	return ratio(hits, sum(w)), nil
}

// LogLoss is the mean of -log of the probability of the true class, which is taken to be at
// least 2⁻⁵².
func LogLoss(truth, probabilities, weights tensor.Tensor) (float64, error) {
	t, rows, w, err := scores("LogLoss", truth, probabilities, weights)
	if err != nil {
		return 0, err
	}
	const least = 0x1p-52
	total := 0.0
	for i, own := range t {
		for class, p := range rows[i] {
			if p < 0 || p > 1 {
				return 0, invalid("LogLoss", "the probability of class %d for item %d is %v; logits become probabilities by ops.Softmax", class, i, p)
			}
		}
		total -= w[i] * math.Log(min(max(rows[i][own], least), 1-least))
	}
	return ratio(total, sum(w)), nil
}

// Brier is the mean squared difference of the probability and the truth, 0 or 1.
func Brier(truth, probability, weights tensor.Tensor) (float64, error) {
	t, p, w, err := probabilities("Brier", truth, probability, weights)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for i, y := range t {
		d := p[i] - float64(y)
		total += w[i] * d * d
	}
	return ratio(total, sum(w)), nil
}

func probabilities(fn string, truth, probability, weights tensor.Tensor) (t []int, p, w []float64, err error) {
	if truth, probability, weights, err = flat(fn, truth, probability, weights, false); err != nil {
		return nil, nil, nil, err
	}
	if t, err = labels(fn, "truth", truth, 2); err != nil {
		return nil, nil, nil, err
	}
	if p, err = floats(fn, "probability", probability); err != nil {
		return nil, nil, nil, err
	}
	for i, x := range p {
		if x < 0 || x > 1 {
			return nil, nil, nil, invalid(fn, "the probability of item %d is %v", i, x)
		}
	}
	w, err = weightsOf(fn, weights, len(t))
	return t, p, w, err
}

// Perplexity is the exponential of the mean of -log p.
//
//	logProbabilities: [items]; weights: [items] or nil
func Perplexity(logProbabilities, weights tensor.Tensor) (float64, error) {
	const fn = "Perplexity"
	logs, _, weights, err := flat(fn, logProbabilities, logProbabilities, weights, false)
	if err != nil {
		return 0, err
	}
	x, err := floats(fn, "probability", logs)
	if err != nil {
		return 0, err
	}
	w, err := weightsOf(fn, weights, len(x))
	if err != nil {
		return 0, err
	}
	total := 0.0
	for i, l := range x {
		if l > 1e-3 { // less may be rounding
			return 0, invalid(fn, "the logarithm of the probability of item %d is %v, which is above 0", i, l)
		}
		total += w[i] * l
	}
	return math.Exp(-ratio(total, sum(w))), nil
}
