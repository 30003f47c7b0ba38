package passes

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Simplify applies identities that hold for every element, NaN and infinities
// included: x+0 is not one of them for -0, and so on.
func Simplify(g *graph.Graph) (*graph.Graph, error) {
	if !has(g, simple) {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if len(n.Outs) == 0 { // a branch or loop over values without tensors
			return nil, nil
		}
		out := simplified(c)
		if out == nil || !sameSpec(out, n.Outs[0]) {
			if out = unviewed(c, n.Outs[0]); out == nil {
				return nil, nil
			}
		}
		if v, ok := out.(*graph.Value); ok && v.Node() != nil { // created by simplification
			if in := unviewed(&op.Call{Op: v.Node().Op, Args: v.Node().Args}, v); in != nil {
				out = in
			}
		}
		return []tensor.Tensor{out}, nil
	})
}

// simple reports whether a rule may eliminate a node; for an arithmetic operation, an operand must
// be known.
func simple(n *graph.Node) bool {
	known := !n.Op.IsBinaryElementwise()
	if !known {
		n.EachInput(func(v *graph.Value) {
			_, ok := v.ConstValue()
			known = known || ok
		})
	}
	return known && ruleOf(n.Op) != nil
}

func sameSpec(t tensor.Tensor, old *graph.Value) bool {
	return t.DType() == old.DType() && t.Shape().Equal(old.Shape())
}

// A rule returns a simpler form of a call, or nil if it knows none. The caller checks that element
// type and shape have not changed.
type rule = func(c *op.Call) tensor.Tensor

func simplified(c *op.Call) tensor.Tensor {
	if r := ruleOf(c.Op); r != nil {
		return r(c)
	}
	return nil
}

// ruleOf returns the rule for an operation, by its name or from its statement.
func ruleOf(o *op.Op) rule {
	if r := rules[o.Name]; r != nil || o.Results != 1 || o.By != op.ByAxis || o.Checks || o.Fills {
		return r
	}
	switch moves := o.Moves == op.First; {
	case o.Axes == op.Map && moves && o.Control == 0:
		return func(c *op.Call) tensor.Tensor { return c.Tensor(0) }
	case moves && (o.Axes == op.Regroup || o.Axes == op.Broadcast || o.Axes == op.Insert || o.Axes == op.Remove):
		return unmoved
	case o.Axes == op.Permute:
		return cancelled
	case o.Axes == op.Join, o.Axes == op.Stack:
		return joinedAlone
	case o.Axes == op.Reduce && o.Places == 0 && o.Monoid != nil && (o.Monoid.Picks || o.Monoid == op.Products):
		return ofOne
	}
	return nil
}

var rules = map[string]rule{
	"mul": func(c *op.Call) tensor.Tensor {
		switch x, y := c.Tensor(0), c.Tensor(1); {
		case isFilled(y, 1):
			return x
		case isFilled(x, 1):
			return y
		}
		return nil
	},
	"div": func(c *op.Call) tensor.Tensor {
		if isFilled(c.Tensor(1), 1) {
			return c.Tensor(0)
		}
		return nil
	},
	"sub": func(c *op.Call) tensor.Tensor {
		if isFilled(c.Tensor(1), 0) && !c.Tensor(0).DType().IsComplex() {
			return c.Tensor(0)
		}
		return nil
	},
	"add": func(c *op.Call) tensor.Tensor {
		switch x, y := c.Tensor(0), c.Tensor(1); {
		case isFilled(y, 0) && x.DType().IsInteger():
			return x
		case isFilled(x, 0) && y.DType().IsInteger():
			return y
		}
		return nil
	},
	"pow": func(c *op.Call) tensor.Tensor {
		switch x, y := c.Tensor(0), c.Tensor(1); {
		case isFilled(y, 1):
			return x
		case isFilled(y, 2):
			return ops.Mul(x, x)
		}
		return nil
	},
	"neg": twice, "conj": twice, "logical_not": twice, "bitwise_not": twice,
	"cast": func(c *op.Call) tensor.Tensor {
		if c.Tensor(0).DType() == c.DType(1) {
			return c.Tensor(0)
		}
		return nil
	},
}

// twice handles idempotent operations.
func twice(c *op.Call) tensor.Tensor {
	if in := producer(c.Tensor(0), c.Op.Name); in != nil {
		return in.Args[0].(tensor.Tensor)
	}
	return nil
}

// unmoved handles operations that change only the shape. Unknown sizes may differ although the
// Specs are equal.
func unmoved(c *op.Call) tensor.Tensor {
	if c.Tensor(0).Shape().IsFull() {
		return c.Tensor(0)
	}
	return nil
}

// joinedAlone handles lists of a single tensor.
func joinedAlone(c *op.Call) tensor.Tensor {
	l, ok := c.Args[0].([]tenon.Value)
	switch {
	case !ok || len(l) != 1:
		return nil
	case c.Op.Axes == op.Stack:
		return ops.ExpandDims(l[0], c.Int(1))
	}
	return l[0].(tensor.Tensor)
}

// ofOne handles the reduction of axes of size 1 by a function that leaves a single element
// unchanged. It returns nil if an axis is longer, or may be.
func ofOne(c *op.Call) tensor.Tensor {
	x := c.Tensor(0)
	s := x.Shape()
	if !s.HasRank() {
		return nil
	}
	axes, err := c.Axes(s.Rank())
	if err != nil || len(axes) == 0 {
		return nil
	}
	for _, a := range axes {
		if s.Dim(a) != 1 {
			return nil
		}
	}
	if keep, _ := c.Attr("keepdims").(bool); keep {
		return x
	}
	return ops.Squeeze(x, axes...)
}

// producer returns the node that computes t if it has the given operation.
func producer(t tensor.Tensor, name string) *graph.Node {
	v, ok := t.(*graph.Value)
	if !ok || v.Node() == nil || v.Node().Op.Name != name {
		return nil
	}
	return v.Node()
}

// isFilled reports whether t is a constant all of whose elements are k.
func isFilled(t tensor.Tensor, k float64) bool {
	c, ok := op.Known(t)
	if !ok {
		return false
	}
	d, ok := c.(*tensor.Dense)
	if !ok || d.Len() == 0 || d.Len() > 16 || d.DType() == dtype.Bool {
		return false
	}
	for _, x := range tensor.Data[float64](ops.Cast(d, dtype.Float64)) {
		if x != k {
			return false
		}
	}
	return !d.DType().IsComplex()
}
