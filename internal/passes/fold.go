package passes

import (
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// foldLimit is the largest result, in elements, that is computed in advance.
const foldLimit = 1 << 16

// Fold computes operations on constants.
func Fold(g *graph.Graph) (*graph.Graph, error) {
	if !has(g, onConstants) {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		values := c.Values()
		if n.Op.Stateful || len(n.Regions()) > 0 || len(values) == 0 {
			return nil, nil
		}
		for _, o := range n.Outs {
			if size := o.Shape().Size(); size > foldLimit {
				return nil, nil
			}
		}
		for i, v := range values {
			t, ok := op.Known(v)
			if !ok {
				return nil, nil
			}
			values[i] = t
		}
		out, err := c.WithValues(values).Run()
		if err != nil {
			return nil, nil // leave it to fail, or not, at run time
		}
		for _, t := range out {
			if t.Shape().Size() > foldLimit {
				return nil, nil
			}
		}
		return out, nil
	})
}

// onConstants reports whether a node has operands and all of them are constants.
func onConstants(n *graph.Node) bool {
	known, operands := true, false
	n.EachInput(func(v *graph.Value) {
		_, ok := v.ConstValue()
		known, operands = known && ok, true
	})
	return known && operands
}
