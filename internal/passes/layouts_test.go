package passes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func TestLayouts(t *testing.T) {
	x := tensor.NewSpec(dtype.Float64, shape.Of(3, 4))
	contract := func(x tensor.Tensor) tensor.Tensor {
		return ops.Contract(x, x, []int{0, 1}, []int{2, 1}, []int{0, 2})
	}
	tests := []struct {
		name       string
		f          func(x tensor.Tensor) tensor.Tensor
		transposes int
	}{
		{"of a contraction", func(x tensor.Tensor) tensor.Tensor { return ops.Transpose(contract(x), 1, 0) }, 0},
		{"through elementwise operations", func(x tensor.Tensor) tensor.Tensor {
			return ops.Transpose(ops.Exp(ops.Mul(contract(x), 0.5)), 1, 0)
		}, 0},
		{"with axes from the end", func(x tensor.Tensor) tensor.Tensor { return ops.Transpose(contract(x), -1, -2) }, 0},
		{"of a contraction that is used twice", func(x tensor.Tensor) tensor.Tensor {
			y := contract(x)
			return ops.Add(ops.Transpose(y, 1, 0), y)
		}, 1},
		{"with another operand", func(x tensor.Tensor) tensor.Tensor {
			return ops.Transpose(ops.Add(contract(x), ops.Sum(x, 1)), 1, 0)
		}, 1},
		{"of an operand", func(x tensor.Tensor) tensor.Tensor {
			return ops.Contract(ops.Transpose(x, 1, 0), x, []int{1, 0}, []int{2, 1}, []int{0, 2})
		}, 0},
		{"of nothing", func(x tensor.Tensor) tensor.Tensor { return ops.Transpose(x, 1, 0) }, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := graph.Trace("f", []*tensor.Spec{x}, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
				return []tensor.Tensor{tt.f(p[0])}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			h, err := passes.Apply(g, []passes.Pass{{"layouts", passes.Layouts}, {"dce", passes.DCE}})
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(h.String(), "transpose("); n != tt.transposes {
				t.Errorf("%d transpositions are left, want %d:\n%v", n, tt.transposes, h)
			}
			data := make([]float64, 12)
			for i := range data {
				data[i] = float64(i%5) - 1.5
			}
			in := []tensor.Tensor{tensor.Of(data, 3, 4)}
			want, err := interp.For(g).Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := interp.For(h).Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tensor.Data[float64](want[0]), tensor.Data[float64](got[0])); d != "" {
				t.Error(d)
			}
		})
	}
}
