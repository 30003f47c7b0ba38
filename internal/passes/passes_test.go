package passes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// unlined removes source lines, which differ with every edit of this file.
func unlined(t *testing.T, g *graph.Graph) string {
	t.Helper()
	for _, n := range g.Nodes {
		n.Line = ""
	}
	return g.String()
}

func TestPasses(t *testing.T) {
	x := tensor.NewSpec(dtype.Float32, shape.Of(2, 3))
	open := tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, 3))
	tests := []struct {
		name string
		pass func(*graph.Graph) (*graph.Graph, error)
		spec *tensor.Spec
		f    func(x tensor.Tensor) tensor.Tensor
		want string
	}{
		{"fold computes on constants", passes.Fold, x, func(x tensor.Tensor) tensor.Tensor {
			return ops.Add(x, ops.Mul(constant(x, 2), constant(x, 3)))
		}, `graph f(%0: float32[2, 3]) {
  %1 = const float32[] "AADAQA=="
  %2 = add(x: %0, y: %1) : float32[2, 3]
  return %2
}
`},
		{"simplify drops multiplication by one and double negation", passes.Simplify, x, func(x tensor.Tensor) tensor.Tensor {
			return ops.Neg(ops.Neg(ops.Mul(x, 1.0)))
		}, `graph f(%0: float32[2, 3]) {
  %1 = neg(x: %0) : float32[2, 3]
  return %0
}
`},
		{"simplify keeps addition of zero, which changes -0", passes.Simplify, x, func(x tensor.Tensor) tensor.Tensor {
			return ops.Add(x, 0.0)
		}, `graph f(%0: float32[2, 3]) {
  %1 = const float32[] "AAAAAA=="
  %2 = add(x: %0, y: %1) : float32[2, 3]
  return %2
}
`},
		{"simplify composes transpositions", passes.Simplify, x, func(x tensor.Tensor) tensor.Tensor {
			return ops.Transpose(ops.Transpose(x, 1, 0), 1, 0)
		}, `graph f(%0: float32[2, 3]) {
  %1 = transpose(x: %0, perm: #[1, 0]) : float32[3, 2]
  return %0
}
`},
		{"cse computes once", passes.CSE, open, func(x tensor.Tensor) tensor.Tensor {
			return ops.Add(ops.Exp(x), ops.Exp(x))
		}, `graph f(%0: float32[?, 3]) {
  %1 = exp(x: %0) : float32[?, 3]
  %2 = add(x: %1, y: %1) : float32[?, 3]
  return %2
}
`},
		{"cse knows small constants by their elements", passes.CSE, x, func(x tensor.Tensor) tensor.Tensor {
			return ops.Add(ops.Mul(x, constant(x, 2)), ops.Mul(x, constant(x, 2)))
		}, `graph f(%0: float32[2, 3]) {
  %1 = const float32[] "AAAAQA=="
  %2 = mul(x: %0, y: %1) : float32[2, 3]
  %3 = add(x: %2, y: %2) : float32[2, 3]
  return %3
}
`},
		{"dce drops what nobody reads", passes.DCE, x, func(x tensor.Tensor) tensor.Tensor {
			ops.Exp(x)
			return ops.Log(x)
		}, `graph f(%0: float32[2, 3]) {
  %1 = log(x: %0) : float32[2, 3]
  return %1
}
`},
		{"products read transposed operands", passes.FoldTransposes, x, func(x tensor.Tensor) tensor.Tensor {
			return ops.MatMul(x, ops.Transpose(x, 1, 0))
		}, `graph f(%0: float32[2, 3]) {
  %1 = transpose(x: %0, perm: #[1, 0]) : float32[3, 2]
  %2 = matmul(a: %0, b: %0, transpose_b: #true) : float32[2, 2]
  return %2
}
`},
		{"views that lead back are dropped", passes.Simplify, x, func(x tensor.Tensor) tensor.Tensor {
			return ops.Exp(ops.Reshape(ops.ExpandDims(ops.Tanh(x), 1), []int{2, 3}))
		}, `graph f(%0: float32[2, 3]) {
  %1 = tanh(x: %0) : float32[2, 3]
  %2 = expand_dims(x: %1, axis: #[1]) : float32[2, 1, 3]
  %3 = exp(x: %1) : float32[2, 3]
  return %3
}
`},
		{"axes that come and go again are dropped whatever the sizes", passes.Simplify, open, func(x tensor.Tensor) tensor.Tensor {
			return ops.Squeeze(ops.ExpandDims(x, -1), 2)
		}, `graph f(%0: float32[?, 3]) {
  %1 = expand_dims(x: %0, axis: #[-1]) : float32[?, 3, 1]
  return %0
}
`},
		{"broadcasts sink into elementwise operations", func(g *graph.Graph) (*graph.Graph, error) {
			g, err := passes.SinkBroadcasts(g)
			if err != nil {
				return nil, err
			}
			return passes.DCE(g)
		}, x, func(x tensor.Tensor) tensor.Tensor {
			return ops.Mul(x, ops.BroadcastTo(ops.Exp(constant(x, 2)), []int{2, 3}))
		}, `graph f(%0: float32[2, 3]) {
  %1 = const float32[] "AAAAQA=="
  %2 = exp(x: %1) : float32[]
  %3 = mul(x: %0, y: %2) : float32[2, 3]
  return %3
}
`},
		{"broadcasts to the shape that an operand has sink whatever it is", func(g *graph.Graph) (*graph.Graph, error) {
			g, err := passes.SinkBroadcasts(g)
			if err != nil {
				return nil, err
			}
			return passes.DCE(g)
		}, open, func(x tensor.Tensor) tensor.Tensor {
			return ops.Mul(ops.Tanh(x), ops.BroadcastTo(ops.Sum(x, 0), ops.Shape(x)))
		}, `graph f(%0: float32[?, 3]) {
  %1 = tanh(x: %0) : float32[?, 3]
  %2 = reduce_sum(x: %0, axis: #[0]) : float32[3]
  %3 = mul(x: %1, y: %2) : float32[?, 3]
  return %3
}
`},
		{"ones that a gradient spreads over sizes that are not known are dropped", func(g *graph.Graph) (*graph.Graph, error) {
			g, err := passes.Ones(g)
			if err != nil {
				return nil, err
			}
			return passes.DCE(g)
		}, open, func(x tensor.Tensor) tensor.Tensor {
			return grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Exp(x)) })(x)
		}, `graph f(%0: float32[?, 3]) {
  %1 = exp(x: %0) : float32[?, 3]
  return %1
}
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := graph.Trace("f", []*tensor.Spec{tt.spec}, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
				return []tensor.Tensor{tt.f(p[0])}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			h, err := tt.pass(g)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Verify(); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, unlined(t, h)); d != "" {
				t.Error(d)
			}
			in := []tensor.Tensor{tensor.Of([]float32{1, -2, 3, 0, 5, -6}, 2, 3)}
			want, err := interp.For(g).Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			all, err := passes.Apply(g, passes.Default)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []*graph.Graph{h, all} {
				got, err := interp.For(x).Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(tensor.Data[float32](want[0]), tensor.Data[float32](got[0])); d != "" && tt.name[:3] != "dce" {
					t.Error(d)
				}
			}
		})
	}
}

// constant returns a scalar that belongs to the graph of x.
func constant(x tensor.Tensor, k float32) tensor.Tensor {
	v, err := x.(*graph.Value).Graph().Import(tensor.Scalar(k))
	if err != nil {
		panic(err)
	}
	return v
}
