package metric_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/metric"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// judged are items, with a class of three, whether it is the first, scores of classes, numbers of two outputs, and weights.
type judged struct {
	class, guess, first, score, classes, number, forecast, weights tensor.Tensor
}

func judgedItems(n int) judged {
	r := rand.New(rand.NewPCG(3, 5))
	floats := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(r.IntN(8)) / 8 // so that some tie
		}
		return x
	}
	ints := func(below int) []int64 {
		x := make([]int64, n)
		for i := range x {
			x[i] = r.Int64N(int64(below))
		}
		return x
	}
	return judged{
		tensor.Of(ints(3)), tensor.Of(ints(3)), tensor.Of(ints(2)), tensor.Of(floats(n)), tensor.Of(floats(3*n), n, 3),
		tensor.Of(floats(2*n), n, 2), tensor.Of(floats(2*n), n, 2), ops.Cast(tensor.Of(ints(3)), dtype.Float64),
	}
}

// each applies f to all tensors.
func (j judged) each(f func(tensor.Tensor) tensor.Tensor) judged {
	return judged{f(j.class), f(j.guess), f(j.first), f(j.score), f(j.classes), f(j.number), f(j.forecast), f(j.weights)}
}

// said is what all metrics say of a stream.
type said struct {
	confusion   *metric.Confusion
	scored      metric.Scored
	calibration *metric.Calibration
	regression  metric.Regression
	means       map[string]*metric.RunningMean
}

func newSaid() *said {
	return &said{confusion: tenon.Must(metric.NewConfusion(3)), calibration: tenon.Must(metric.NewCalibration(4)), means: map[string]*metric.RunningMean{}}
}

func (s *said) update(t *testing.T, j judged, weight float64) {
	t.Helper()
	if err := errors.Join(s.confusion.Update(j.class, j.guess, j.weights), s.scored.Update(j.first, j.score, j.weights),
		s.calibration.Update(j.first, j.score, j.weights), s.regression.Update(j.number, j.forecast, j.weights)); err != nil {
		t.Fatal(err)
	}
	if weight == 0 { // no items have no loss
		return
	}
	for name, x := range map[string]float64{
		"log loss": tenon.Must(metric.LogLoss(j.class, j.classes, j.weights)), "top-2": tenon.Must(metric.TopK(j.class, j.classes, j.weights, 2)),
		"Brier": tenon.Must(metric.Brier(j.first, j.score, j.weights)), "Hamming": tenon.Must(metric.Hamming(j.class, j.guess, j.weights)),
		"perplexity": math.Log(tenon.Must(metric.Perplexity(ops.Sub(j.score, 1.0), j.weights))), "pinball": tenon.Must(metric.Pinball(j.number, j.forecast, j.weights, 0.3)),
	} {
		if s.means[name] == nil {
			s.means[name] = &metric.RunningMean{}
		}
		if err := s.means[name].Update([]float64{x}, []float64{weight}); err != nil {
			t.Fatal(err)
		}
	}
}

// merge adds another one, as it comes from another machine.
func (s *said) merge(t *testing.T, o *said) {
	t.Helper()
	sent := func(from, to any) {
		if err := json.Unmarshal(tenon.Must(json.Marshal(from)), to); err != nil {
			t.Fatal(err)
		}
	}
	var c metric.Confusion
	var k metric.Calibration
	var r metric.Regression
	var x metric.Scored
	sent(o.confusion, &c)
	sent(o.calibration, &k)
	sent(o.regression, &r)
	sent(o.scored, &x)
	if err := errors.Join(s.confusion.Merge(&c), s.calibration.Merge(&k), s.regression.Merge(&r)); err != nil {
		t.Fatal(err)
	}
	s.scored.Merge(&x)
	for name, m := range o.means {
		if s.means[name] == nil {
			s.means[name] = &metric.RunningMean{}
		}
		s.means[name].Merge(*m)
	}
}

func (s *said) numbers() map[string]float64 {
	c, r := s.scored.Curve(), &s.regression
	out := map[string]float64{
		"accuracy": s.confusion.Accuracy(), "kappa": s.confusion.Kappa(), "Matthews": s.confusion.Matthews(), "F1": tenon.Must(s.confusion.F1(metric.Macro)),
		"precision": tenon.Must(s.confusion.Precision(metric.Weighted)), "recall": tenon.Must(s.confusion.Recall(metric.Macro)),
		"AUC": tenon.Must(c.AUC()), "average precision": c.AveragePrecision(), "PR AUC": c.PRAUC(), "calibration": s.calibration.Error(),
		"MSE": r.MeanSquaredError(), "RMSE": r.RootMeanSquaredError(), "MAE": r.MeanAbsoluteError(), "MAPE": r.MeanAbsolutePercentageError() * 1e-15,
		"max": r.MaxError(), "R²": r.R2(), "explained": r.ExplainedVariance(),
	}
	for name, m := range s.means {
		out[name] = m.Result()
	}
	return out
}

// What metrics say of a stream is what they say of all items at once: dense, in rows, with items that are missing,
// with weights or with items that are there as often.
func TestStreams(t *testing.T) {
	const n = 60
	j := judgedItems(n)
	all := newSaid()
	total := tensor.Item[float64](ops.Sum(j.weights))
	all.update(t, j, total)
	want := all.numbers()
	same := func(name string, s *said) {
		t.Helper()
		for k, x := range s.numbers() {
			if !(math.Abs(x-want[k]) <= 1e-12*(1+math.Abs(want[k]))) {
				t.Errorf("%s: %s is %v, want %v", name, k, x, want[k])
			}
		}
	}

	stream := newSaid()
	for _, cut := range [][2]int{{0, 17}, {17, 17}, {17, 40}, {40, n}} {
		part := j.each(func(x tensor.Tensor) tensor.Tensor { return ops.Gather(x, ops.Range(cut[0], cut[1], 1), 0) })
		rank := newSaid()
		rank.update(t, part, tensor.Item[float64](ops.Sum(part.weights)))
		stream.merge(t, rank)
	}
	same("streams", stream)

	lengths := []int64{0, 7, 20, 0, 33}
	rows := newSaid()
	rows.update(t, j.each(func(x tensor.Tensor) tensor.Tensor { return tenon.Must(ragged.FromRowLengths(x, lengths)) }), total)
	same("rows", rows)

	there := make([]bool, n+5)
	for i := range there {
		there[i] = i%13 != 4
	}
	at := ops.Sub(ops.CumSum(ops.Cast(tensor.Of(there), dtype.Int64), 0, ops.CumOptions{}), int64(1))
	gaps := newSaid()
	gaps.update(t, j.each(func(x tensor.Tensor) tensor.Tensor {
		return tenon.Must(masked.New(ops.Gather(x, at, 0), tensor.Of(there)))
	}), total)
	same("missing", gaps)

	often := newSaid()
	copies := ops.Cast(j.weights, dtype.Int64)
	repeated := j.each(func(x tensor.Tensor) tensor.Tensor { return ops.Repeat(x, copies, 0) })
	repeated.weights = nil
	often.update(t, repeated, total)
	same("copies", often)
}

func TestWeightsOfRows(t *testing.T) {
	truth, predicted := ragged.FromSlices([][]float64{{1, 2}, {}, {3}}), ragged.FromSlices([][]float64{{2, 2}, {}, {5}})
	got := tenon.Must(metric.MeanSquaredError(truth, predicted, tensor.Of([]float64{1, 9, 2})))
	if want := (1 + 0 + 2*4) / 4.0; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := tenon.Must(metric.MedianAbsoluteError(truth, predicted, tensor.Of([]float64{1, 9, 2}))); got != 1.5 {
		t.Errorf("the median is %v, want 1.5: half of the weight is at 2, and half below", got)
	}
	other := ragged.FromSlices([][]float64{{2}, {2}, {5}})
	for name, err := range map[string]error{
		"other rows": second(metric.MeanSquaredError(truth, other, nil)),
		"no rows":    second(metric.R2(truth, tensor.Of([]float64{1, 2, 3}), nil)),
		"weights":    second(metric.R2(truth, predicted, tensor.Of([]float64{1}))),
	} {
		if !errors.Is(err, tenon.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var r metric.Regression
	if err := r.Update(tensor.Of([]float64{1, 2}), tensor.Of([]float64{1, math.NaN()}), nil); !errors.Is(err, tenon.ErrInvalid) || len(r.Outputs) != 0 {
		t.Errorf("NaN: %v, and %v was seen", err, r)
	}
	m := metric.RunningMean{}
	if err := m.Update([]float64{1, math.NaN()}, nil); !errors.Is(err, tenon.ErrInvalid) || m.Weight != 0 {
		t.Errorf("NaN: %v, and %v was seen", err, m)
	}
}

func second(_ float64, err error) error { return err }
