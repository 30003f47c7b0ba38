package passes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The passes that change where and how often nodes run.
func TestPlaces(t *testing.T) {
	again := func(g *graph.Graph) (*graph.Graph, error) {
		return graph.Rematerialise(g, 2, func(n *graph.Node) bool { return n.Op.Class == op.UnaryElementwise })
	}
	for _, c := range []struct {
		name string
		pass func(*graph.Graph) (*graph.Graph, error)
		f    func(x tensor.Tensor) tensor.Tensor
		want string
	}{
		{"ones of a gradient are constants, and factors of them are dropped", func(g *graph.Graph) (*graph.Graph, error) {
			g, err := passes.Ones(g)
			if err != nil {
				return nil, err
			}
			return passes.DCE(g)
		}, func(x tensor.Tensor) tensor.Tensor {
			return grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Exp(x)) })(x)
		}, `graph f(%0: float32[2, 2]) {
  %1 = exp(x: %0) : float32[2, 2]
  return %1
}
`},
		{"what one branch needs moves into it", passes.Branches, func(x tensor.Tensor) tensor.Tensor {
			e := ops.Exp(x)
			return control.Cond(ops.Greater(ops.Sum(x), 0), func() tensor.Tensor { return ops.Neg(e) }, func() tensor.Tensor { return x })
		}, `graph f(%0: float32[2, 2]) {
  %1 = reduce_sum(x: %0) : float32[]
  %2 = const float32[] "AAAAAA=="
  %3 = greater(x: %1, y: %2) : bool[]
  %4 = logical_not(x: %3) : bool[]
  %5 = cast(x: %4, dtype: #int64) : int64[]
  %6 = control.switch(index: %5, inputs: [%0], regions: [graph branch0(%0: float32[2, 2]) {
    %1 = exp(x: %0) : float32[2, 2]
    %2 = neg(x: %1) : float32[2, 2]
    return %2
  }, graph branch1(%0: float32[2, 2]) {
    return %0
  }]) : float32[2, 2]
  return %6
}
`},
		{"cheap nodes are computed again where they are needed late", again, func(x tensor.Tensor) tensor.Tensor {
			e := ops.Exp(x)
			return ops.MatMul(ops.MatMul(ops.MatMul(e, x), x), e)
		}, `graph f(%0: float32[2, 2]) {
  %1 = exp(x: %0) : float32[2, 2]
  %2 = matmul(a: %1, b: %0) : float32[2, 2]
  %3 = matmul(a: %2, b: %0) : float32[2, 2]
  %4 = exp(x: %0) : float32[2, 2]
  %5 = matmul(a: %3, b: %4) : float32[2, 2]
  return %5
}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := tensor.NewSpec(dtype.Float32, shape.Of(2, 2))
			g, err := graph.Trace("f", []*tensor.Spec{spec}, func(p []tensor.Tensor) ([]tensor.Tensor, error) { return []tensor.Tensor{c.f(p[0])}, nil })
			if err != nil {
				t.Fatal(err)
			}
			h, err := c.pass(g)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Verify(); err != nil {
				t.Fatal(err)
			}
			in := []tensor.Tensor{tensor.Of([]float32{1, -2, 3, 0}, 2, 2)}
			want, err := interp.For(g).Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := interp.For(h).Run(t.Context(), in)
			if err != nil || !tensor.Equal(want[0], got[0], tensor.EqualOptions{}) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
			for _, n := range h.Nodes {
				for _, r := range n.Regions() {
					unlined(t, r)
				}
			}
			if d := cmp.Diff(c.want, unlined(t, h)); d != "" {
				t.Error(d)
			}
		})
	}
}
