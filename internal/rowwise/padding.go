package rowwise

import (
	"slices"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
)

// Rows that are padded to the longest of all rows. In a joined call the longest row may be one of another
// call, so that the axis of positions is longer than in a separate call. What follows the shorter length is
// padding, about which nothing is known, and what precedes it is unchanged. So padding must not affect the
// final rows: it must be dropped when entries are taken from the rows, and a loop over positions must not
// change anything after the end of a row, by keeping its carry under a mask.

// longest handles the length of the longest row.
func longest(n *node) []part {
	if p := n.in[0]; p.kind == splits {
		return []part{{kind: width, level: p.level, widths: p.into}}
	}
	return []part{n.in[0].unless()}
}

// isPadded reports whether a part is, or has an axis of, the length of the longest row.
func isPadded(p part) bool { return p.widths != nil }

// filledUp handles operations with an operand that is as long as the longest row.
func (n *node) filledUp() []part {
	for _, p := range n.in {
		if p.kind <= mixed {
			return []part{p}
		}
	}
	p := n.in[0]
	switch n.Op.Name {
	case "sequence_mask":
		if w := n.in[1]; p.kind == entries && p.role == lengths && p.via == "" && p.axis == 0 && n.rank(0) == 1 && w.kind == width && w.level.is(p.level) && w.widths.is(p.of) {
			return []part{{kind: entries, level: p.level, long: 1, widths: w.widths, role: live}}
		}
	case "ragged.to_dense":
		s, w := n.in[1], n.in[2]
		if p.plain() && p.axis == 0 && s.kind == splits && p.level.is(s.into) && w.kind == width && w.level.is(s.level) && w.widths.is(s.into) && all(n.in[3:], isAlike) {
			return []part{{kind: entries, level: s.level, long: 1, widths: s.into}}
		}
	case "ragged.from_dense":
		if s := n.in[1]; p.kind == entries && p.axis == 0 && p.long == 1 && s.kind == splits && p.level.is(s.level) && p.widths.is(s.into) {
			return []part{along(0, s.into)}
		}
	case "slice":
		begin, ok := n.call.ConstInts(1)
		size, known := n.call.ConstInts(2)
		if ok && known && p.kind == entries && p.long < len(size) && p.axis < len(size) && size[p.long] == 0 && begin[p.axis] == 0 && size[p.axis] == -1 {
			return []part{along(p.axis, p.level)} // does not depend on the positions
		}
	case "control.scan":
		return n.alongPositions()
	}
	if slices.ContainsFunc(n.in, func(p part) bool { return p.kind == width }) {
		return []part{{kind: mixed, by: "ragged.max_length"}}
	}
	if n.Op.Statement.By != op.ByAxis || len(n.Regions()) > 0 {
		return []part{{}}
	}
	switch n.Op.Axes {
	case op.Permute, op.Insert:
		return []part{n.moved()}
	case op.Map:
		return []part{n.mappedUp()}
	}
	return []part{{}}
}

// moved handles operations that move axes.
func (n *node) moved() part {
	rowsOf, positionsOf := n.in[0], n.in[0]
	positionsOf.axis = positionsOf.long
	out := n.in[0]
	for _, x := range []struct {
		p  part
		to *int
	}{{rowsOf, &out.axis}, {positionsOf, &out.long}} {
		p := x.p
		p.widths, p.role = nil, 0
		y := node{flow: n.flow, Node: n.Node, call: n.call, in: append([]part{p}, n.in[1:]...), values: n.values}
		q := part{}
		if n.Op.Axes == op.Permute {
			q = y.permuted()
		} else if n.Op.Moves == op.First {
			q = y.inserted()
		}
		if q.kind != entries {
			return part{}
		}
		*x.to = q.axis
	}
	return out
}

// mappedUp handles elementwise operations: operands broadcast with padded rows must have the same
// positions, or be the same at all positions.
func (n *node) mappedUp() part {
	var out part
	back := -1
	bare := slices.Clone(n.in)
	for i, p := range n.in {
		if p.kind == entries && p.into != nil {
			return part{}
		}
		bare[i].widths, bare[i].role = nil, 0
		if !isPadded(p) {
			continue
		}
		b := n.rank(i) - 1 - p.long
		if n.rank(i) < 0 || back >= 0 && (b != back || !p.widths.is(out.widths)) {
			return part{}
		}
		back, out = b, p
	}
	for i, p := range n.in {
		if r := n.rank(i); !isPadded(p) && (r < 0 || r > back && n.dim(i, r-1-back) != 1) {
			return part{}
		}
	}
	y := node{flow: n.flow, Node: n.Node, call: n.call, in: bare, values: n.values}
	p := y.mapped()
	if p.kind != entries {
		return part{}
	}
	p.long, p.widths = n.laid()-1-back, out.widths
	return p
}

// alongPositions handles a loop over the positions of padded rows. After the end of a row it must keep its
// carry.
func (n *node) alongPositions() []part {
	g := n.Regions()[0]
	carry, xs := n.call.Int(1), n.call.Int(2)
	if carry+xs > len(g.Params) || len(n.in) != len(g.Params) {
		return []part{{}}
	}
	now := slices.Clone(n.in)
	var widths *level
	for i := range now {
		p := &now[i]
		if i < carry || i >= carry+xs {
			if isPadded(*p) {
				return []part{{}}
			}
			continue
		}
		if p.kind != entries || !isPadded(*p) || p.long != 0 || widths != nil && !p.widths.is(widths) {
			return []part{{}}
		}
		widths = p.widths
		if p.axis--; p.role == live { // true only at positions of the row
			p.of, p.long, p.widths = widths, 0, nil
		} else {
			*p = along(p.axis, p.level)
		}
	}
	f, next := n.round(g, now, carry)
	if next == nil {
		return []part{{}}
	}
	for i := range carry {
		if !keeps(g, i) && !f.keepsBehind(g, i, widths) {
			return []part{{}}
		}
	}
	for i := carry; i < len(next); i++ {
		if next[i].kind != entries {
			return []part{{}}
		}
		next[i] = along(next[i].axis+1, next[i].level)
		next[i].widths = widths
	}
	return next
}

// keepsBehind reports whether a body returns its carry unchanged after the end of a row.
func (f *flow) keepsBehind(g *graph.Graph, i int, widths *level) bool {
	for _, x := range g.Nodes {
		if x.Op.Name != "where" || x.Outs[0] != g.Outputs[i] {
			continue
		}
		c := f.of(x.Args[0].(*graph.Value))
		return x.Args[2] == g.Params[i] && c.kind == entries && c.role == live && c.of.is(widths)
	}
	return false
}
