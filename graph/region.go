package graph

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// ShareCaptures gives several regions of one operation the same captures in the
// same order, and returns them. A region that does not use a capture gets a
// parameter that is never read.
func ShareCaptures(gs ...*Graph) []tensor.Tensor {
	var shared []tensor.Tensor
	index := map[tensor.Tensor]int{}
	for _, g := range gs {
		for _, t := range g.Captures {
			if _, ok := index[t]; !ok {
				index[t] = len(shared)
				shared = append(shared, t)
			}
		}
	}
	for _, g := range gs {
		own := g.Params[:len(g.Params)-len(g.Captures)]
		params := append([]*Value(nil), own...)
		for _, t := range shared {
			v, ok := g.captured[t]
			if !ok {
				v = g.value(t.Spec().(*tensor.Spec))
				g.captured[t] = v
			}
			v.index = len(params)
			params = append(params, v)
		}
		g.Params, g.Captures = params, shared
	}
	return shared
}

// Verify checks that the graph is well formed: every value is defined once,
// before it is used, by a node or as a parameter of this graph; every node's
// results are those that its operation infers; and regions are well formed too.
func (g *Graph) Verify() error {
	defined := make([]bool, g.next)
	fail := func(where, format string, args ...any) error {
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "graph.Verify", Where: where, Msg: fmt.Sprintf(format, args...)}
	}
	define := func(where string, v *Value) error {
		if v.graph != g || v.id < 0 || v.id >= g.next {
			return fail(where, "%v belongs to another graph", v)
		}
		if defined[v.id] {
			return fail(where, "%v is defined twice", v)
		}
		defined[v.id] = true
		return nil
	}
	use := func(where string, v *Value) error {
		switch {
		case v.graph != g:
			return fail(where, "%v belongs to another graph", v)
		case v.konst == nil && !defined[v.id]:
			return fail(where, "%v is used before it is defined", v)
		}
		return nil
	}
	for i, p := range g.Params {
		if p.index != i || !p.IsParam() {
			return fail(g.Name, "parameter %d is not one", i)
		}
		if err := define(g.Name, p); err != nil {
			return err
		}
	}
	for i, n := range g.Nodes {
		where := fmt.Sprintf("node %d (%s)", i, n.Op.Name)
		for _, v := range n.Inputs() {
			if err := use(where, v); err != nil {
				return err
			}
		}
		for k, o := range n.Outs {
			if o.node != n || o.index != k {
				return fail(where, "result %d is not its own", k)
			}
			if err := define(where, o); err != nil {
				return err
			}
		}
		for _, r := range n.Regions() {
			if err := r.Verify(); err != nil {
				return err
			}
		}
	}
	for _, o := range g.Outputs {
		if err := use(g.Name+" outputs", o); err != nil {
			return err
		}
	}
	return nil
}
