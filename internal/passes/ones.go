package passes

import (
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Ones turns small tensors of ones with known sizes, with which gradients start, into constants,
// and removes products with broadcast ones. Values that were needed only for their shape then need
// not be computed.
func Ones(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "ones_like") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		switch n.Op.Name {
		case "ones_like":
			if s := n.Outs[0].Shape(); s.IsFull() && s.Size() <= 16 {
				return c.WithArg(0, tensor.NewDense(n.Outs[0].DType(), s)).DoTensors()
			}
		case "mul":
			for i := range 2 {
				x := c.Tensor(1 - i)
				if !spreadOnes(c.Tensor(i)) || !sameSpec(x, n.Outs[0]) {
					continue
				}
				if old, ok := n.Args[1-i].(*graph.Value); x.Shape().IsFull() || ok && g.Sizes().SameShape(old, n.Outs[0]) {
					return []tensor.Tensor{x}, nil
				}
			}
		}
		return nil, nil
	})
}

// spreadOnes reports whether t is a broadcast of ones.
func spreadOnes(t tensor.Tensor) bool {
	for _, name := range []string{"spread", "broadcast_to"} {
		if in := producer(t, name); in != nil {
			return isFilled(in.Args[0].(tensor.Tensor), 1)
		}
	}
	return isFilled(t, 1)
}
