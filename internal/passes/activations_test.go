package passes_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func TestActivations(t *testing.T) {
	type T = tensor.Tensor
	const scale = 0.7978845608
	cube := func(y T) T { return ops.Mul(ops.Mul(y, y), y) }
	for _, c := range []struct {
		name string
		f    func(x T) T
		want string // the operation of the result; "" where nothing is found
	}{
		{"gelu by tanh", func(x T) T {
			return ops.Mul(ops.Mul(0.5, x), ops.Add(1, ops.Tanh(ops.Mul(scale, ops.Add(x, ops.Mul(0.044715, cube(x)))))))
		}, "gelu_tanh"},
		{"in another order", func(x T) T {
			u := ops.Add(ops.Mul(ops.Mul(ops.Pow(x, 3.0), 0.044715), scale), ops.Mul(x, scale))
			return ops.Mul(ops.Mul(ops.Add(ops.Tanh(u), 1), 0.5), x)
		}, "gelu_tanh"},
		{"as a sum", func(x T) T {
			h := ops.Div(x, 2)
			return ops.Add(ops.Mul(h, ops.Erf(ops.Div(x, math.Sqrt2))), h)
		}, "gelu"},
		{"of an expression", func(x T) T {
			y := ops.Add(ops.Mul(x, x), x)
			return ops.Mul(ops.Mul(0.5, y), ops.Add(1, ops.Erf(ops.Mul(y, math.Sqrt2/2))))
		}, "gelu"},
		{"silu", func(x T) T { return ops.Mul(ops.Sigmoid(x), x) }, "silu"},
		{"another constant", func(x T) T {
			return ops.Mul(ops.Mul(0.5, x), ops.Add(1, ops.Tanh(ops.Mul(0.8, ops.Add(x, ops.Mul(0.044715, cube(x)))))))
		}, ""},
		{"of something else", func(x T) T { return ops.Mul(ops.Sigmoid(ops.Neg(x)), x) }, ""},
		{"of a row", func(x T) T { return ops.Mul(ops.Sigmoid(ops.Gather(x, int64(0), 0)), x) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := tensor.NewSpec(dtype.Float32, shape.Of(2, 3))
			g, err := graph.Trace("f", []*tensor.Spec{spec}, func(p []T) ([]T, error) { return []T{c.f(p[0])}, nil })
			if err != nil {
				t.Fatal(err)
			}
			h, err := passes.Apply(g, []passes.Pass{{"activations", passes.Activations}, {"dce", passes.DCE}})
			if err != nil {
				t.Fatal(err)
			}
			last := h.Outputs[0].Node().Op.Name
			if c.want != "" && (last != c.want || strings.Contains(h.String(), "tanh(") && c.want != "gelu_tanh") {
				t.Errorf("want %s, got\n%v", c.want, h)
			}
			if c.want == "" && len(h.Nodes) != len(g.Nodes) {
				t.Errorf("changed to\n%v", h)
			}
		})
	}
}
