package passes

import (
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// perm returns the order of axes of a transposition of a tensor of known rank.
func perm(n *op.Call) []int {
	p := n.Ints(1)
	if p != nil {
		return p
	}
	r := n.Tensor(0).Shape().Rank()
	for i := range r {
		p = append(p, r-1-i)
	}
	return p
}

// cancelled composes a transposition with the preceding one.
func cancelled(c *op.Call) tensor.Tensor {
	if !c.Tensor(0).Shape().HasRank() {
		return nil
	}
	p := perm(c)
	if isIdentity(p) {
		return c.Tensor(0)
	}
	in := producer(c.Tensor(0), "transpose")
	if in == nil {
		return nil
	}
	q := perm(&op.Call{Op: in.Op, Args: in.Args})
	both := make([]int, len(p))
	for i, a := range p {
		both[i] = q[a]
	}
	if isIdentity(both) {
		return in.Args[0].(tensor.Tensor)
	}
	return ops.Transpose(in.Args[0], both...)
}

func isIdentity(p []int) bool {
	for i, a := range p {
		if a != i {
			return false
		}
	}
	return true
}

// FoldTransposes lets matrix products read transposed operands in place.
func FoldTransposes(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "transpose") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if n.Op.Name != "matmul" {
			return nil, nil
		}
		a, ta := untransposed(c.Tensor(0), c.Bool(2))
		b, tb := untransposed(c.Tensor(1), c.Bool(3))
		if ta == c.Bool(2) && tb == c.Bool(3) {
			return nil, nil
		}
		return []tensor.Tensor{ops.MatMulT(a, b, ta, tb)}, nil
	})
}

func untransposed(t tensor.Tensor, flag bool) (tensor.Tensor, bool) {
	in := producer(t, "transpose")
	if in == nil || !t.Shape().HasRank() || t.Shape().Rank() < 2 {
		return t, flag
	}
	p := perm(&op.Call{Op: in.Op, Args: in.Args})
	r := len(p)
	if p[r-1] != r-2 || p[r-2] != r-1 || !isIdentity(p[:r-2]) {
		return t, flag
	}
	return in.Args[0].(tensor.Tensor), !flag
}
