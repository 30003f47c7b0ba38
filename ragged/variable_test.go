package ragged_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// TestVariableInside: flat values may be a variable, also in an argument of a function, which
// sees what the variable holds at the time of the call.
func TestVariableInside(t *testing.T) {
	v := tenon.Must(state.New([]float64{1, 2, 3}))
	x := tenon.Must(ragged.FromRowSplits(v, []int64{0, 2, 3}))
	double := function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Sum(ops.Add(x, x), 1) })
	for _, tt := range []struct {
		held, want []float64
	}{{[]float64{1, 2, 3}, []float64{6, 6}}, {[]float64{5, 1, 0}, []float64{12, 0}}} {
		if err := v.Assign(tt.held); err != nil {
			t.Fatal(err)
		}
		for name, f := range map[string]func() tensor.Tensor{
			"eager":    func() tensor.Tensor { return ops.Sum(ops.Add(x, x), 1) },
			"function": func() tensor.Tensor { return double.Call(x) },
		} {
			got, err := tenon.Try(f)
			if err != nil || !tensor.Equal(got, tensor.Of(tt.want), tensor.EqualOptions{}) {
				t.Errorf("%s: got %v, %v, want %v", name, got, err, tt.want)
			}
		}
	}
}
