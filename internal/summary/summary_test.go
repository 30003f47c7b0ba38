package summary_test

import (
	"math"
	"testing"

	"github.com/tenonml/tenon/internal/summary"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func records(t *testing.T, fields ...structured.Field) *structured.Tensor {
	t.Helper()
	r, err := structured.FromFieldsAndRank(fields, 1, structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Numbers that come in pieces are summed up as those that come at once, and as the formulas have it.
func TestPieces(t *testing.T) {
	const n = 300_000
	data := make([]float64, n)
	sum := 0.0
	for i := range data {
		data[i] = float64(i * 7919 % n) // each number below n once
		sum += data[i]
	}
	data[5], data[n-1] = math.NaN(), math.NaN()
	var whole, pieces summary.Summary
	if err := whole.Add(records(t, structured.Field{Name: "x", Value: tensor.Of(data)}), n); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < n; from += 10_007 {
		part := data[from:min(n, from+10_007)]
		if err := pieces.Add(records(t, structured.Field{Name: "x", Value: tensor.Of(part)}), len(part)); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []*summary.Summary{&whole, &pieces} {
		c := s.Columns()[0]
		if s.Records != n || c.Count != n || c.NaN != 2 || c.Missing != 0 || c.Min != 0 || c.Max != n-1 {
			t.Errorf("%+v", c)
		}
		if math.Abs(c.Mean-n/2) > 1 || math.Abs(c.Std()/(n/math.Sqrt(12))-1) > 1e-3 {
			t.Errorf("mean %v, std %v", c.Mean, c.Std())
		}
		if q := c.Quantile(0.25); math.Abs(q/(n/4)-1) > 0.03 {
			t.Errorf("a quarter of the values are below %v", q)
		}
		if d := float64(c.Distinct()); math.Abs(d/n-1) > 0.03 {
			t.Errorf("about %v values differ", d)
		}
	}
}

// A field that comes late was missing before.
func TestLateFields(t *testing.T) {
	var s summary.Summary
	a := structured.Field{Name: "a", Value: tensor.Of([]string{"x", "yy"})}
	if err := s.Add(records(t, a), 2); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(records(t, a, structured.Field{Name: "b", Value: tensor.Of([]int64{3, 4})}), 2); err != nil {
		t.Fatal(err)
	}
	all := s.Columns()
	if a, b := all[0], all[1]; a.Count != 4 || a.Distinct() != 2 || a.Of != "bytes" || a.Mean != 1.5 || b.Count != 2 || b.Missing != 2 || b.Path != "b" {
		t.Errorf("%+v %+v", a, b)
	}
}
