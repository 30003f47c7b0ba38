package passes

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// SinkBroadcasts removes broadcast_to from the operands of elementwise operations, which broadcast
// by themselves.
func SinkBroadcasts(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "broadcast_to") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if n.Op.Class != op.BinaryElementwise && n.Op.Class != op.TernaryElementwise {
			return nil, nil
		}
		values := c.Values()
		for i, v := range values {
			if in := producer(v.(tensor.Tensor), "broadcast_to"); in != nil {
				trial := append([]tenon.Value(nil), values...)
				trial[i] = in.Args[0].(tenon.Value)
				specs, err := c.WithValues(trial).Infer()
				if err == nil && tenon.Equal(specs[0], n.Outs[0].Spec()) && (n.Outs[0].Shape().IsFull() || otherHasShape(g, n, i)) {
					values = trial
				}
			}
		}
		out, err := c.WithValues(values).Do()
		if err != nil {
			return nil, err
		}
		return []tensor.Tensor{out[0].(tensor.Tensor)}, nil
	})
}

// otherHasShape reports whether an operand of a node, other than except, always has the shape of
// the result, although that shape is not known yet.
func otherHasShape(g *graph.Graph, n *graph.Node, except int) bool {
	for k, v := range n.Inputs() {
		if k != except && producer(v, "broadcast_to") == nil && g.Sizes().SameShape(v, n.Outs[0]) {
			return true
		}
	}
	return false
}
