package passes

import (
	"slices"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// unviewed returns the origin of a chain of views if it has the same Spec as the result, and
// otherwise nil. If sizes are unknown, this is certain only if axes are merely added and removed
// again.
func unviewed(c *op.Call, out *graph.Value) tensor.Tensor {
	if !c.Op.Reshapes() {
		return nil
	}
	if in := producer(c.Tensor(0), "expand_dims"); in != nil && c.Op.Axes == op.Remove && !out.Shape().IsFull() {
		rank := c.Tensor(0).Shape().Rank()
		added := (&op.Call{Op: in.Op, Args: in.Args}).Ints(1)
		x := in.Args[0].(tensor.Tensor)
		if rank >= 0 && c.Args[1] != nil && slices.Equal(fromFront(c.Ints(1), rank), fromFront(added, rank)) && sameSpec(x, out) {
			return x
		}
		return nil
	}
	if !out.Shape().IsFull() {
		return nil
	}
	v, ok := c.Args[0].(*graph.Value)
	for ok && v.Node() != nil && v.Node().Op.Reshapes() {
		if v, ok = v.Node().Args[0].(*graph.Value); ok && sameSpec(v, out) {
			return v
		}
	}
	return nil
}

// fromFront returns axes of a tensor, counted from the front, in order.
func fromFront(axes []int, rank int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		if out[i] = a; a < 0 {
			out[i] = a + rank
		}
	}
	slices.Sort(out)
	return out
}
