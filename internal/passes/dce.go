package passes

import (
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// DCE eliminates dead code: nodes that no output needs and that have no effect.
func DCE(g *graph.Graph) (*graph.Graph, error) {
	live := make([]bool, g.NumValues())
	for _, o := range g.Outputs {
		live[o.ID()] = true
	}
	keep := map[*graph.Node]bool{}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		needed := n.Op.Stateful
		for _, o := range n.Outs {
			needed = needed || live[o.ID()]
		}
		if !needed {
			continue
		}
		keep[n] = true
		n.EachInput(func(v *graph.Value) { live[v.ID()] = true })
	}
	if len(keep) == len(g.Nodes) {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if keep[n] {
			return nil, nil
		}
		return []tensor.Tensor{}, nil
	})
}
