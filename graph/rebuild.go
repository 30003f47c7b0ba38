package graph

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Rebuild returns a new graph, a copy of g with nodes replaced by rule. For each
// node, rule gets the node and its call on values of the new graph. It returns
// replacements for the results, computed with operations on those values, or nil
// to keep the node. New nodes keep the source line of the node that they replace.
func Rebuild(g *Graph, rule func(n *Node, c *op.Call) ([]tensor.Tensor, error)) (*Graph, error) {
	return rebuild(g, func(n *Node, c *op.Call, _ func(*Value) *Value) ([]tensor.Tensor, error) { return rule(n, c) })
}

// rebuild is Rebuild with a rule that can ask what other values have become.
func rebuild(g *Graph, rule func(n *Node, c *op.Call, get func(*Value) *Value) ([]tensor.Tensor, error)) (*Graph, error) {
	h := New(g.Name)
	h.region, h.Captures, h.rebuilding = g.region, g.Captures, true
	defer h.Seal()
	env := make([]*Value, g.next)
	for i, p := range g.Params {
		env[p.id] = h.Param(p.spec)
		env[p.id].dims = p.dims
		if k := i - (len(g.Params) - len(g.Captures)); k >= 0 {
			h.captured[g.Captures[k]] = env[p.id]
		}
	}
	get := func(v *Value) *Value {
		if v.konst != nil {
			return h.Const(v.konst)
		}
		return env[v.id]
	}
	for _, n := range g.Nodes {
		c := callOn(n, get)
		h.replaced = n.Line
		out, err := rule(n, c, get)
		if err != nil {
			return nil, err
		}
		if out == nil {
			if err := h.keep(n, c, env); err != nil {
				return nil, err
			}
			continue
		}
		for i, o := range out {
			v, err := h.use(o)
			if err != nil {
				return nil, err
			}
			if env[n.Outs[i].id] = v; v.dims == nil && len(n.Outs[i].dims) == v.spec.Shape().Rank() {
				v.dims = n.Outs[i].dims
			}
		}
	}
	for _, o := range g.Outputs {
		h.Outputs = append(h.Outputs, get(o))
	}
	return h, nil
}

// WithParams returns a copy of a region in which the values are parameters, after those that it has, rather
// than computed by it.
func (g *Graph) WithParams(values []*Value) (*Graph, error) {
	h := New(g.Name)
	h.region = true
	defer h.Seal()
	env := make([]*Value, g.next)
	for _, v := range slices.Concat(g.Params, values) {
		env[v.id] = h.Param(v.spec)
		env[v.id].dims = v.dims
	}
	get := func(v *Value) *Value {
		if v.konst != nil {
			return h.Const(v.konst)
		}
		return env[v.id]
	}
	for _, n := range g.Nodes {
		if slices.ContainsFunc(n.Outs, func(o *Value) bool { return env[o.id] != nil }) {
			continue
		}
		if err := h.keep(n, callOn(n, get), env); err != nil {
			return nil, err
		}
	}
	for _, o := range g.Outputs {
		h.Outputs = append(h.Outputs, get(o))
	}
	return h, nil
}

// callOn returns the node's call applied to other values.
func callOn[V tenon.Value](n *Node, get func(*Value) V) *op.Call {
	c := &op.Call{Op: n.Op, Args: make([]any, len(n.Args))}
	for i, a := range n.Args {
		switch a := a.(type) {
		case *Value:
			c.Args[i] = get(a)
		case []tenon.Value:
			l := make([]tenon.Value, len(a))
			for k, x := range a {
				l[k] = get(x.(*Value))
			}
			c.Args[i] = l
		default:
			c.Args[i] = a
		}
	}
	return c
}

// keep appends a node unchanged, and records its results in env under their previous IDs.
func (g *Graph) keep(n *Node, c *op.Call, env []*Value) error {
	kept, err := g.Add(c, n.Line, specsOfOuts(n))
	if err != nil {
		return err
	}
	kept.dims = n.dims
	for i, o := range kept.Outs {
		o.dims = n.Outs[i].dims
		env[n.Outs[i].id] = o
	}
	return nil
}

func specsOfOuts(n *Node) []tenon.Spec {
	specs := make([]tenon.Spec, len(n.Outs))
	for i, o := range n.Outs {
		specs[i] = o.spec
	}
	return specs
}
