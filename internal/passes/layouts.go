package passes

import (
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Layouts makes contractions write their results in the order in which they are needed, and
// read operands in their own order. If the operand of a transposition comes from a contraction,
// through elementwise operations that nothing else reads, the transposition becomes the order
// of the contraction's result: a softmax over the innermost axis of attention scores, for
// example, needs no copy, whichever operand of the scores came first. A contraction of a
// transposed tensor reads the tensor itself, with its labels in a different order.
func Layouts(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "contract", "transpose") {
		return g, nil
	}
	uses := usesOf(g)
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		switch n.Op.Name {
		case "contract":
			a, al := unturned(c.Tensor(0), c.Ints(2))
			b, bl := unturned(c.Tensor(1), c.Ints(3))
			if a == c.Tensor(0) && b == c.Tensor(1) {
				return nil, nil
			}
			return []tensor.Tensor{ops.Contract(a, b, al, bl, c.Ints(4))}, nil
		case "transpose":
			old, ok := n.Args[0].(*graph.Value)
			if !ok || !fromContraction(old, uses) {
				return nil, nil
			}
			return []tensor.Tensor{turned(c.Tensor(0), perm(c))}, nil
		}
		return nil, nil
	})
}

// usesOf counts how often each value is an argument or an output.
func usesOf(g *graph.Graph) []int {
	uses := make([]int, g.NumValues())
	for _, n := range g.Nodes {
		for _, v := range n.Inputs() {
			uses[v.ID()]++
		}
	}
	for _, o := range g.Outputs {
		uses[o.ID()]++
	}
	return uses
}

// unturned returns the operand of a transposition, with the labels of its axes.
func unturned(t tensor.Tensor, labels []int) (tensor.Tensor, []int) {
	in := producer(t, "transpose")
	if in == nil || !t.Shape().HasRank() {
		return t, labels
	}
	out := make([]int, len(labels))
	for i, a := range perm(&op.Call{Op: in.Op, Args: in.Args}) {
		if a < 0 {
			a += len(labels)
		}
		out[a] = labels[i]
	}
	return in.Args[0].(tensor.Tensor), out
}

// fromContraction reports whether a value is used once and is the result of a
// contraction, or of an elementwise operation whose operands are such results or
// scalars.
func fromContraction(v *graph.Value, uses []int) bool {
	n := v.Node()
	switch {
	case n == nil || uses[v.ID()] != 1 || len(n.Outs) != 1:
		return false
	case n.Op.Name == "contract":
		return true
	case !n.Op.IsElementwise():
		return false
	}
	some := false
	for _, in := range n.Inputs() {
		switch {
		case in.Shape().IsScalar():
		case in.Shape().Rank() == v.Shape().Rank() && fromContraction(in, uses):
			some = true
		default:
			return false
		}
	}
	return some
}

// turned returns x, for which fromContraction holds, with its axes in a different order.
func turned(x tensor.Tensor, order []int) tensor.Tensor {
	v, ok := x.(*graph.Value)
	if !ok || v.Node() == nil {
		return ops.Transpose(x, order...)
	}
	c := &op.Call{Op: v.Node().Op, Args: v.Node().Args}
	switch {
	case c.Op.Name == "contract":
		labels := c.Ints(4)
		out := make([]int, len(labels))
		for i, a := range order {
			if a < 0 {
				a += len(labels)
			}
			out[i] = labels[a]
		}
		return ops.Contract(c.Value(0), c.Value(1), c.Ints(2), c.Ints(3), out)
	case c.Op.IsElementwise():
		values := c.Values()
		for i, in := range values {
			if t := in.(tensor.Tensor); !t.Shape().IsScalar() {
				values[i] = turned(t, order)
			}
		}
		return op.Apply(c, values...)
	}
	return ops.Transpose(x, order...)
}
