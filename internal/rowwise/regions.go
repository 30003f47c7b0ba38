package rowwise

import (
	"slices"

	"github.com/tenonml/tenon/graph"
)

// region interprets a region and returns the parts of its outputs.
func (n *node) region(g *graph.Graph, params []part) []part {
	f := &flow{study: n.study, parts: map[*graph.Value]part{}}
	return f.region(g, params)
}

// region interprets a region once.
func (f *flow) region(g *graph.Graph, params []part) []part {
	if len(params) != len(g.Params) {
		return nil
	}
	f.run(g, params)
	out := make([]part, len(g.Outputs))
	for i, v := range g.Outputs {
		out[i] = f.of(v)
	}
	return out
}

// switched handles one of several regions: the choice must be the same in all calls.
func switched(n *node) []part {
	if p := n.in[0]; p.kind != alike {
		return []part{chosenBy(p)}
	}
	var out []part
	for i, g := range n.Regions() {
		parts := n.region(g, n.in[1:])
		if i == 0 {
			out = parts
			continue
		}
		for k := range min(len(out), len(parts)) {
			out[k] = joined(out[k], parts[k])
		}
	}
	return out
}

// chosenBy handles a choice that is not the same in all calls.
func chosenBy(p part) part {
	if p.kind == entries || p.kind == mixed {
		return part{kind: mixed, by: p.by}
	}
	return part{by: p.by}
}

// most is the number of times that a loop is interpreted until its variables are stable.
const most = 8

// looped handles a loop that all calls leave after the same number of rounds.
func looped(n *node) []part {
	gs := n.Regions()
	vars := n.call.Int(1)
	if len(gs) != 2 || vars > len(n.in) {
		return []part{{}}
	}
	now := append([]part{}, n.in...)
	for range most {
		cond, next := n.region(gs[0], now), n.region(gs[1], now)
		if len(cond) != 1 || len(next) != vars {
			return []part{{}}
		}
		if c := cond[0]; c.kind != alike {
			return []part{chosenBy(c)}
		}
		changed := false
		for i := range next {
			p := joined(now[i], next[i])
			changed = changed || !p.is(now[i])
			now[i] = p
		}
		if !changed {
			return now[:vars]
		}
	}
	return []part{{}}
}

// scanned handles a loop over the entries of a first axis.
func scanned(n *node) []part {
	gs := n.Regions()
	carry, xs := n.call.Int(1), n.call.Int(2)
	if len(gs) != 1 || carry+xs > len(gs[0].Params) {
		return []part{{}}
	}
	if n.call.Args[6] != nil {
		return n.alongRows(gs[0], carry, xs)
	}
	length := part{kind: alike}
	if len(n.in) > len(gs[0].Params) {
		length = n.in[len(gs[0].Params)]
	}
	over := n.in[carry : carry+xs]
	for _, p := range over {
		if p.kind == entries && p.axis == 0 || p.kind == count || p.kind == splits || p.kind == sizes {
			return n.eachRow(gs[0], carry, xs)
		}
	}
	if length.kind != alike {
		return []part{{}}
	}
	now := append([]part{}, n.in[:len(gs[0].Params)]...)
	for i := range xs {
		if p := &now[carry+i]; p.kind == entries {
			p.axis--
		}
	}
	_, next := n.round(gs[0], now, carry)
	if next == nil {
		return []part{{}}
	}
	for i := carry; i < len(next); i++ { // stacked
		if p := &next[i]; p.kind == entries {
			p.axis++
		} else if p.kind != alike && p.kind > mixed {
			*p = part{}
		}
	}
	return next
}

// alongRows handles a loop along rows whose body processes several rows at a time.
func (n *node) alongRows(g *graph.Graph, carry, xs int) []part {
	s := n.in[len(n.in)-1]
	if s.kind != splits {
		return []part{s.unless()}
	}
	now := slices.Clone(n.in[:len(g.Params)])
	for i := range carry + xs {
		of := s.level
		if i >= carry {
			of = s.into
		}
		if p := &now[i]; !p.plain() || p.axis != 0 || !p.level.is(of) {
			return []part{{}}
		}
		now[i] = along(0, s.level)
	}
	_, next := n.round(g, now, carry)
	for i, p := range next {
		if !p.plain() || p.axis != 0 || !p.level.is(s.level) {
			return []part{{}}
		}
		if next[i] = along(0, s.level); i >= carry {
			next[i] = along(0, s.into)
		}
	}
	if next == nil {
		return []part{{}}
	}
	return next
}

// round interprets the body of a loop until its carry is stable. It returns the parts of its outputs, or
// nil if that fails.
func (n *node) round(g *graph.Graph, now []part, carry int) (*flow, []part) {
	for range most {
		f := &flow{study: n.study, parts: map[*graph.Value]part{}}
		next := f.region(g, now)
		if len(next) < carry {
			return nil, nil
		}
		changed := false
		for i := range carry {
			p := joined(now[i], next[i])
			changed = changed || !p.is(now[i])
			now[i] = p
		}
		if !changed {
			return f, next
		}
	}
	return nil, nil
}

// eachRow handles a body that is run for each row: what it carries from one row to the next must
// not depend on the rows.
func (n *node) eachRow(g *graph.Graph, carry, xs int) []part {
	var l *level
	for _, p := range n.in[carry : carry+xs] {
		if p.kind != entries || p.axis != 0 || p.into != nil || l != nil && !l.is(p.level) {
			return []part{{}}
		}
		l = p.level
	}
	depends := map[*graph.Value]bool{}
	for i, v := range g.Params {
		if i >= carry && i < carry+xs {
			depends[v] = true
		} else if n.in[i].kind != alike {
			return []part{{}}
		}
	}
	for _, x := range g.Nodes {
		any := x.Op.Draws
		x.EachInput(func(v *graph.Value) { any = any || depends[v] })
		for _, v := range x.Outs {
			depends[v] = any
		}
	}
	out := make([]part, len(g.Outputs))
	for i, v := range g.Outputs {
		switch {
		case i >= carry:
			out[i] = along(0, l)
		case depends[v]:
			return []part{{kind: mixed}}
		default:
			out[i] = n.in[i]
			if !same().is(n.in[i]) || !keeps(g, i) {
				return []part{{}} // the carry counts the rows, or depends on them
			}
		}
	}
	return out
}

// keeps reports whether a body returns its carry unchanged.
func keeps(g *graph.Graph, i int) bool { return g.Outputs[i] == g.Params[i] }

// called handles a region that is run unconditionally.
func called(n *node) []part {
	gs := n.Regions()
	if len(gs) == 0 {
		return []part{{}}
	}
	return n.region(gs[0], n.in)
}
