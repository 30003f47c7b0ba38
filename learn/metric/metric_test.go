package metric_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/metric"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func Example() {
	truth, predicted := tensor.Of([]int64{0, 1, 2, 2, 1}), tensor.Of([]int64{0, 2, 2, 2, 1})
	c, err := metric.NewConfusion(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Update(truth, predicted, nil); err != nil {
		fmt.Println(err)
		return
	}
	f1, _ := c.F1(metric.Macro)
	fmt.Printf("%.2f %.2f\n", c.Accuracy(), f1)
	// Output: 0.80 0.82
}

// Counts of two streams together are those of all items.
func TestConfusionMerges(t *testing.T) {
	a, b, all := tenon.Must(metric.NewConfusion(2)), tenon.Must(metric.NewConfusion(2)), tenon.Must(metric.NewConfusion(2))
	for i, c := range []*metric.Confusion{a, b} {
		x, y := tensor.Of([]int64{0, 1, int64(i)}), tensor.Of([]int64{1, 1, 0})
		for _, m := range []*metric.Confusion{c, all} {
			if err := m.Update(x, y, tensor.Of([]float64{1, 2, 3})); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := a.Merge(b); err != nil || !tensor.Equal(a.Matrix(), all.Matrix()) {
		t.Errorf("got %v, %v, want %v", a.Counts, err, all.Counts)
	}
	if err := a.Merge(tenon.Must(metric.NewConfusion(3))); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("other classes: %v", err)
	}
}

func TestBadInput(t *testing.T) {
	labels, p := tensor.Of([]int64{0, 1}), tensor.Of([]float64{0.2, math.NaN()})
	rows := ragged.FromSlices([][]float64{{1, 0}, {1}})
	for name, c := range map[string]struct {
		f    func() error
		kind error
	}{
		"no classes":       {func() error { _, err := metric.NewConfusion(0); return err }, tenon.ErrInvalid},
		"NaN":              {func() error { _, err := metric.NewCurve(labels, p, nil); return err }, tenon.ErrInvalid},
		"weights":          {func() error { _, err := metric.NewCurve(labels, labels, tensor.Of([]float64{1})); return err }, tenon.ErrShape},
		"negative weights": {func() error { _, err := metric.NewCurve(labels, labels, tensor.Of([]float64{1, -1})); return err }, tenon.ErrInvalid},
		"a probability":    {func() error { _, err := metric.Brier(labels, tensor.Of([]float64{0, 3}), nil); return err }, tenon.ErrInvalid},
		"nothing":          {func() error { _, err := metric.R2(tensor.Of([]float64{}), tensor.Of([]float64{}), nil); return err }, tenon.ErrShape},
		"columns": {func() error {
			_, err := metric.MeanSquaredError(tensor.Of([]float64{1, 2}, 2, 1), tensor.Of([]float64{1, 2}), nil)
			return err
		}, tenon.ErrShape},
		"logits": {func() error {
			_, err := metric.LogLoss(labels, tensor.Of([]float64{0.2, 0.8, 3, -2}, 2, 2), nil)
			return err
		}, tenon.ErrInvalid},
		"probabilities": {func() error { _, err := metric.Perplexity(tensor.Of([]float64{0.5}), nil); return err }, tenon.ErrInvalid},
		"the best none": {func() error {
			_, err := metric.TopK(labels, tensor.Of([]float64{0.2, 0.8, 0.5, 0.5}, 2, 2), nil, 0)
			return err
		}, tenon.ErrInvalid},
		"other rows": {func() error { _, err := metric.DCG(rows, ragged.FromSlices([][]float64{{1}, {1, 0}}), 0); return err }, tenon.ErrShape},
		"negative relevance": {func() error {
			_, err := metric.NDCG(ragged.FromSlices([][]float64{{1, -1}}), ragged.FromSlices([][]float64{{1, 2}}), 0)
			return err
		}, tenon.ErrInvalid},
		"fractions": {func() error { _, err := metric.Hamming(p, p, nil); return err }, tenon.ErrDType},
		"one class": {func() error {
			_, err := tenon.Must(metric.NewCurve(tensor.Of([]int64{1, 1}), labels, nil)).AUC()
			return err
		}, tenon.ErrInvalid},
	} {
		if err := c.f(); !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
