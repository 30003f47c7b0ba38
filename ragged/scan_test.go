package ragged_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// TestScanOverRows: a scan goes over rows of different lengths, in a trace and with
// gradients too.
func TestScanOverRows(t *testing.T) {
	x := rag([]float64{3, 4}, nil, []float64{2})
	scan := func(x T) (T, T) {
		return control.Scan(func(total, row T) (T, T) {
			next := ops.Add(ops.Mul(total, 10.0), ops.Sum(row))
			return next, ops.Add(next, ops.Cast(ops.Size(row), next.DType()))
		}, T(tensor.Scalar(1.0)), x)
	}
	type pair struct{ Last, Rows T }
	f := func(x *ragged.Tensor) pair { a, b := scan(x); return pair{a, b} }
	for name, run := range map[string]func(*ragged.Tensor) pair{"eager": f, "traced": function.New(f).Call} {
		got := run(x)
		if last := tensor.Item[float64](got.Last); last != 1702 {
			t.Errorf("%s: the last carry is %g", name, last)
		}
		if d := cmp.Diff([]float64{19, 170, 1703}, tensor.Data[float64](got.Rows)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	d := grad.Of(func(x *ragged.Tensor) T { last, _ := scan(x); return last })
	for name, run := range map[string]func(*ragged.Tensor) *ragged.Tensor{"eager": d, "traced": function.New(d).Call} {
		if diff := cmp.Diff([]float64{100, 100, 1}, tensor.Data[float64](run(x).FlatValues())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
