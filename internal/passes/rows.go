package passes

import (
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// Rows simplifies what is known about partitions without their data: ranges from 0 to the lengths
// of rows are the positions within those rows and have their splits, and splits need not be
// compared with themselves.
func Rows(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "ragged.range", "ragged.assert_same_splits") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		switch n.Op.Name {
		case "ragged.range":
			return positions(n, c), nil
		case "ragged.assert_same_splits":
			if a, b := c.Tensor(0), c.Tensor(1); unchecked(a) == unchecked(b) && sameSpec(a, n.Outs[0]) {
				return []tensor.Tensor{a}, nil
			}
		}
		return nil, nil
	})
}

// positions returns the results of a range from 0 by 1 to the lengths of rows, or nil for any other
// node.
func positions(n *graph.Node, c *op.Call) []tensor.Tensor {
	if !isFilled(c.Tensor(0), 0) || !isFilled(c.Tensor(2), 1) {
		return nil
	}
	lengths := producer(c.Tensor(1), "ragged.lengths")
	if lengths == nil {
		return nil
	}
	splits := lengths.Args[0].(tensor.Tensor)
	if !sameSpec(splits, n.Outs[1]) || splits.DType() != n.Outs[0].DType() {
		return nil
	}
	return []tensor.Tensor{rows.Offsets(splits, n.Outs[0].Shape().Dim(0)), splits}
}

// unchecked returns the value that t is, ignoring checks of it.
func unchecked(t tensor.Tensor) tensor.Tensor {
	if v, ok := t.(*graph.Value); ok {
		return v.Unchecked()
	}
	return t
}
