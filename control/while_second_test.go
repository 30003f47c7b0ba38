package control_test

import (
	"math"
	"testing"

	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// TestSecondDerivativeOfWhile: x^(2^k) with k the turns until it exceeds 100, and a
// captured factor, traced and not.
func TestSecondDerivativeOfWhile(t *testing.T) {
	type T = tensor.Tensor
	f := func(x T) T {
		factor := ops.Mul(x, 0.5)
		return control.While(func(y T) T { return ops.Less(y, 100.0) }, func(y T) T { return ops.Mul(ops.Mul(y, y), factor) }, x)
	}
	// x = 3: 13.5, 273.375 after two turns; in all x^7/8 after two turns.
	want := []float64{7 * math.Pow(3, 6) / 8, 42 * math.Pow(3, 5) / 8, 210 * math.Pow(3, 4) / 8}
	d1 := grad.Of(f)
	d2 := grad.Of(d1)
	d3 := grad.Of(d2)
	for i, d := range []func(T) T{d1, d2, d3} {
		for name, run := range map[string]func(T) T{"eager": d, "traced": function.New(d).Call} {
			if got := tensor.Item[float64](run(tensor.Scalar(3.0))); math.Abs(got-want[i]) > 1e-9*want[i] {
				t.Errorf("derivative %d, %s: %g, want %g", i+1, name, got, want[i])
			}
		}
	}
	h := function.New(func(x T) T {
		j, err := grad.Hessian(func(x T) T {
			return ops.Sum(control.While(func(y T) T { return ops.Less(ops.Max(y), 50.0) }, func(y T) T { return ops.Mul(y, y) }, x))
		}, x)
		if err != nil {
			panic(err)
		}
		return j
	})
	// Two turns for 3: x^4, whose second derivatives are 12 x^2.
	got := tensor.Data[float64](h.Call(tensor.Of([]float64{1, 3})))
	for i, w := range []float64{12, 0, 0, 108} {
		if math.Abs(got[i]-w) > 1e-9 {
			t.Errorf("Hessian %v", got)
		}
	}
}
