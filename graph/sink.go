package graph

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// place is one of the regions of a node that runs exactly one of them.
type place struct {
	node   *Node
	region int
}

// Sink moves what only one region of a branch needs into that region, so that it is computed only
// if the branch is taken. For a node that runs exactly one of its regions, choice returns the index
// of the argument with the regions' inputs, which are the same for all regions, and that of the
// argument with the regions.
func Sink(g *Graph, choice func(n *Node) (inputs, regions int, ok bool)) (*Graph, error) {
	to := sinkable(g, choice)
	if len(to) == 0 {
		return g, nil
	}
	return rebuild(g, func(n *Node, c *op.Call, get func(*Value) *Value) ([]tensor.Tensor, error) {
		if _, ok := to[n]; ok {
			return []tensor.Tensor{}, nil
		}
		in, at, ok := choice(n)
		if !ok {
			return nil, nil
		}
		sunk := make([][]*Node, len(n.Args[at].([]*Graph)))
		some := false
		for _, m := range g.Nodes {
			if p, ok := to[m]; ok && p.node == n {
				sunk[p.region] = append(sunk[p.region], m)
				some = true
			}
		}
		if !some {
			return nil, nil
		}
		inputs, regions, err := enlarged(n.Args[in].([]tenon.Value), n.Args[at].([]*Graph), sunk)
		if err != nil {
			return nil, err
		}
		l := make([]tenon.Value, len(inputs))
		for i, v := range inputs {
			l[i] = get(v)
		}
		return c.WithArg(in, l).WithArg(at, regions).DoTensors()
	})
}

// sinkable finds the nodes that can be moved, and where to: all their results are used by a single
// region, or by nodes that move there.
func sinkable(g *Graph, choice func(n *Node) (inputs, regions int, ok bool)) map[*Node]place {
	to := map[*Node]place{}
	var used map[*Value][]place // the places of use; region is -1 outside of regions
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		if used != nil && !n.Op.Stateful {
			if p, ok := onlyPlace(n, used); ok {
				to[n] = p
				n.EachInput(func(v *Value) { used[v] = append(used[v], p) })
				continue
			}
		}
		in, at, ok := choice(n)
		if ok && used == nil {
			used = map[*Value][]place{}
			for _, o := range g.Outputs {
				used[o] = append(used[o], place{nil, -1})
			}
			for _, later := range g.Nodes[i+1:] {
				later.EachInput(func(v *Value) { used[v] = append(used[v], place{nil, -1}) })
			}
		}
		if used == nil {
			continue
		}
		for k, a := range n.Args {
			switch a := a.(type) {
			case *Value:
				used[a] = append(used[a], place{n, -1})
			case []tenon.Value:
				for j, x := range a {
					v := x.(*Value)
					if !ok || k != in {
						used[v] = append(used[v], place{n, -1})
						continue
					}
					read := false
					for r, region := range n.Args[at].([]*Graph) {
						if region.reads(region.Params[j]) {
							read, used[v] = true, append(used[v], place{n, r})
						}
					}
					if !read { // passed in all the same
						used[v] = append(used[v], place{n, -1})
					}
				}
			}
		}
	}
	return to
}

// onlyPlace returns the only region that uses the results of a node.
func onlyPlace(n *Node, used map[*Value][]place) (p place, ok bool) {
	for _, o := range n.Outs {
		for _, u := range used[o] {
			if u.region < 0 || ok && u != p {
				return p, false
			}
			p, ok = u, true
		}
	}
	return p, ok
}

// reads reports whether a node or an output of the graph uses v.
func (g *Graph) reads(v *Value) bool {
	if slices.Contains(g.Outputs, v) {
		return true
	}
	found := false
	for _, n := range g.Nodes {
		n.EachInput(func(x *Value) { found = found || x == v })
	}
	return found
}

// enlarged returns regions with nodes of the outer graph prepended, and the inputs that these need
// from the outer graph.
func enlarged(old []tenon.Value, regions []*Graph, sunk [][]*Node) ([]*Value, []*Graph, error) {
	moved := map[*Value]bool{}
	for _, nodes := range sunk {
		for _, n := range nodes {
			for _, o := range n.Outs {
				moved[o] = true
			}
		}
	}
	var inputs []*Value
	need := func(v *Value) {
		if !moved[v] && !slices.Contains(inputs, v) {
			inputs = append(inputs, v)
		}
	}
	for _, v := range old {
		need(v.(*Value))
	}
	for _, nodes := range sunk {
		for _, n := range nodes {
			n.EachInput(func(v *Value) {
				if v.konst == nil {
					need(v)
				}
			})
		}
	}
	out := make([]*Graph, len(regions))
	for r, g := range regions {
		h := New(g.Name)
		h.region = true
		outer := map[*Value]*Value{}
		for _, v := range inputs {
			outer[v] = h.Param(v.spec)
		}
		fromOuter := func(v *Value) *Value {
			if v.konst != nil {
				return h.Const(v.konst)
			}
			return outer[v]
		}
		for _, n := range sunk[r] {
			m, err := h.Add(callOn(n, fromOuter), n.Line, specsOfOuts(n))
			if err != nil {
				return nil, nil, err
			}
			for i, o := range m.Outs {
				outer[n.Outs[i]] = o
			}
		}
		env := make([]*Value, g.next)
		for i, p := range g.Params {
			env[p.id] = fromOuter(old[i].(*Value))
		}
		get := func(v *Value) *Value {
			if v.konst != nil {
				return h.Const(v.konst)
			}
			return env[v.id]
		}
		for _, n := range g.Nodes {
			if err := h.keep(n, callOn(n, get), env); err != nil {
				return nil, nil, err
			}
		}
		for _, o := range g.Outputs {
			h.Outputs = append(h.Outputs, get(o))
		}
		h.Seal()
		out[r] = h
	}
	return inputs, out, nil
}
