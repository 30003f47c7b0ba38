package graph_test

import (
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Sizes that are not known are known to be the same where they come from one dimension, or have to.
func TestSizes(t *testing.T) {
	spec := func(dims ...int) *tensor.Spec { return tensor.NewSpec(dtype.Float32, shape.Of(dims...)) }
	const u = shape.Unknown
	g, err := graph.Trace("f", []*tensor.Spec{spec(u, 3), spec(u, u), spec(u), spec(u, 4)}, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		x, y, z, w := p[0], p[1], p[2], p[3]
		e := ops.Exp(ops.Mul(x, 2))
		return []tensor.Tensor{
			e,                                    // 0: rows of x
			ops.Transpose(ops.MatMul(e, y)),      // 1: [columns of y, rows of x]; y has 3 rows
			ops.Concat([]tensor.Tensor{x, w}, 1), // 2: w has as many rows as x
			ops.Add(z, ops.Sum(x, 1)),            // 3: z may have size 1
			ops.Reshape(e, []int{-1}),            // 4: three times the rows of x
			ops.Concat([]tensor.Tensor{ops.Sum(x, 1), ops.Sum(e, 1), ops.Sum(w, 1)}, 0), // 5: also three times
			ops.BooleanMask(x, ops.Greater(ops.Sum(x, 1), 0), 0),                        // 6: what data say
			ops.BroadcastTo(1, ops.Shape(w)),                                            // 7: the shape of w
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s, x, y, z, w, out := g.Sizes(), g.Params[0], g.Params[1], g.Params[2], g.Params[3], g.Outputs
	for _, c := range []struct {
		name string
		v    *graph.Value
		i    int
		w    *graph.Value
		j    int
		want bool
	}{
		{"through elementwise operations", x, 0, out[0], 0, true},
		{"columns through a product", y, 1, out[1], 0, true},
		{"rows through a product", x, 0, out[1], 1, true},
		{"rows of a product's operand", y, 0, x, 1, true},
		{"rows that are joined side by side", x, 0, w, 0, true},
		{"rows of others", x, 0, y, 1, false},
		{"what may be repeated", x, 0, z, 0, false},
		{"products and sums of sizes", out[4], 0, out[5], 0, true},
		{"a multiple", out[4], 0, x, 0, false},
		{"rows that data choose", out[6], 0, x, 0, false},
		{"columns of rows that data choose", out[6], 1, x, 1, true},
		{"by a shape", out[7], 0, x, 0, true},
		{"no such axis", x, 0, out[0], 7, false},
	} {
		if got := s.Same(c.v, c.i, c.w, c.j); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if !s.SameShape(x, out[0]) || !s.SameShape(w, out[7]) || s.SameShape(x, y) {
		t.Error("the shapes of values")
	}
}
