package ops_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func TestNoNaN(t *testing.T) {
	inf := math.Inf(1)
	x, y := tensor.Of([]float64{1, 0, inf, -6}), tensor.Of([]float64{0, 0, 0, 2})
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want []float64
	}{
		{"quotient", ops.DivNoNaN(x, y), []float64{0, 0, 0, -3}},
		{"product", ops.MulNoNaN(x, y), []float64{0, 0, 0, -12}},
		{"reciprocal", ops.ReciprocalNoNaN(y), []float64{0, 0, 0, 0.5}},
		{"xdivy", ops.Xdivy(y, x), []float64{0, 0, 0, 2 / -6.0}},
		{"sum", ops.AddN(y, y, 1.0), []float64{1, 1, 1, 5}},
		{"gradient", grad.Of(func(y tensor.Tensor) tensor.Tensor { return ops.Sum(ops.DivNoNaN(2.0, y)) })(y), []float64{0, 0, 0, -0.5}},
		{"gradient of a product", grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.MulNoNaN(x, y)) })(x), []float64{0, 0, 0, 2}},
	} {
		if d := cmp.Diff(c.want, tensor.Data[float64](c.got), cmpopts.EquateNaNs()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
