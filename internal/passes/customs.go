package passes

import (
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Customs expands functions with custom gradients once no gradients can be requested any more: to
// the operations of the function or, if these are to be recomputed, to a call of it.
func Customs(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "grad.custom") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if n.Op.Name != "grad.custom" {
			return nil, nil
		}
		region := c.Args[2].(*graph.Graph)
		if c.Bool(4) {
			call, _ := op.Lookup("grad.call")
			return op.EvalN(call, c.List(0), 0, region), nil
		}
		return region.Inline(c.Tensors(0))
	})
}

// lateGradients reports whether a node computes gradients of its regions when it runs; these still
// need the custom rules.
func lateGradients(n *graph.Node) bool { return n.Op.Name == "control.while_grad" }

// without returns a list of passes except one.
func without(list []Pass, name string) []Pass {
	var out []Pass
	for _, p := range list {
		if p.Name != name {
			out = append(out, p)
		}
	}
	return out
}
