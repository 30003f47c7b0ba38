package passes

import (
	"slices"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// TurnCaptures transposes before a scan what its body would transpose in each round: matrices that it
// captures and multiplies by, as gradients of recurrences do. A product reads a matrix faster if the
// elements of its rows lie side by side, since it need not rearrange them.
func TurnCaptures(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "control.scan") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if n.Op.Name != "control.scan" {
			return nil, nil
		}
		return withTurned(c)
	})
}

// withTurned returns the results of a scan whose captures are transposed before, or nil if there is no
// reason to do so.
func withTurned(c *op.Call) ([]tensor.Tensor, error) {
	inputs, body := c.Tensors(0), c.Args[3].(*graph.Graph)
	captures := body.Params[c.Int(1)+c.Int(2):]
	turned := map[*graph.Value]bool{}
	for _, n := range body.Nodes {
		if b, ok := turnedOperand(n); ok && slices.Contains(captures, b) {
			turned[b] = true
		}
	}
	if len(turned) == 0 {
		return nil, nil
	}
	var first []*graph.Value // in the new body
	body, err := graph.Rebuild(body, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if b, ok := turnedOperand(n); !ok || !turned[b] {
			return nil, nil
		}
		t := ops.Transpose(c.Args[1], 1, 0)
		first = append(first, t.(*graph.Value))
		return []tensor.Tensor{ops.MatMulT(c.Args[0], t, c.Bool(2), false)}, nil
	})
	if err != nil {
		return nil, err
	}
	before, err := body.Between(body.Params[len(inputs)-len(captures):], first, inputs[len(inputs)-len(captures):])
	if err != nil {
		return nil, err
	}
	if body, err = body.WithParams(first); err != nil {
		return nil, err
	}
	all := slices.Clone(c.List(0))
	for _, t := range before {
		all = append(all, t)
	}
	return c.WithArg(0, all).WithArg(3, body).DoTensors()
}

// turnedOperand returns the second operand of a product if it is a matrix that the product transposes.
func turnedOperand(n *graph.Node) (b *graph.Value, ok bool) {
	if n.Op.Name != "matmul" || !(&op.Call{Op: n.Op, Args: n.Args}).Bool(3) {
		return nil, false
	}
	b, ok = n.Args[1].(*graph.Value)
	return b, ok && b.Shape().Rank() == 2
}
