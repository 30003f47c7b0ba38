package rowwise

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Row splits, what they divide, and indices that are made from them.

// byRows handles operations whose statement describes them in terms of the rows into which splits
// divide their values.
func (n *node) byRows() []part {
	var p part // part of the splits
	var first part
	for _, q := range n.in {
		switch {
		case q.kind == splits && p.kind == splits && !q.level.is(p.level):
			return []part{{}}
		case q.kind == splits && p.kind != splits:
			p = q
		case q.kind == entries && (q.axis != 0):
			return []part{{}}
		case q.kind == entries && first.kind != entries:
			first = q
		case q.kind != splits && q.kind != entries && q.kind != alike:
			return []part{{}}
		}
	}
	if n.Op.By == op.ByIDs {
		return n.bySegments()
	}
	if p.kind != splits || first.kind != entries || !n.dividedBySplits(p.level) {
		return []part{{}}
	}
	switch n.Op.Axes {
	case op.Reduce:
		return []part{along(0, p.level)}
	case op.Along, op.Scan:
		if len(n.Outs) == 1 && first.into == nil {
			return []part{along(0, p.into)}
		}
	case op.Select, op.Join, op.Window:
		if slices.Contains(dividing, n.Op.Name) {
			k := n.levels.of(p.level, "of "+id(n.Outs[0]), 0)
			return []part{first.taken(k, 0), divided(p.level, k)}
		}
		if first.level.is(p.into) && len(n.in) == 2 { // in a different order
			return []part{first.taken(p.into, 0)}
		}
	case op.Broadcast:
		if first.level.is(p.level) {
			out := first.taken(p.into, 0)
			if first.role == lengths {
				out.role, out.of, out.via, out.each = lengths, first.of, first.via+" "+id(n.Outs[0]), first.via == ""
			}
			return []part{out}
		}
	}
	return []part{{}}
}

// dividing are the operations whose results are the entries of rows, and their splits.
var dividing = []string{"ragged.concat", "ragged.gather", "ragged.ngrams", "ragged.slice"}

// dividedBySplits checks that rows are entries of what splits divide, or of the rows that they form.
func (n *node) dividedBySplits(l *level) bool {
	for _, q := range n.in {
		if q.kind != entries || q.level.is(l) {
			continue
		}
		ok := false
		for _, s := range n.in {
			ok = ok || s.kind == splits && s.into.is(q.level)
		}
		if !ok {
			return false
		}
	}
	return true
}

// bySegments handles values that are assigned to segments by number.
func (n *node) bySegments() []part {
	x, ids, count := n.in[0], n.in[1], n.in[2]
	if x.plain() && ids.kind == entries && ids.into != nil && !ids.loose && x.level.is(ids.level) && counts(count, ids.into) {
		return []part{along(0, ids.into)}
	}
	return []part{{}}
}

// counts reports whether a part is the number of entries of a level.
func counts(p part, l *level) bool { return p.kind == count && p.plus == 0 && p.level.is(l) }

// ofSplits makes a rule for operations on splits.
func ofSplits(f func(n *node, p part) []part) func(n *node) []part {
	return func(n *node) []part {
		if p := n.in[0]; p.kind == splits {
			return f(n, p)
		}
		return []part{n.in[0].unless()}
	}
}

// checkedSame handles splits that must be equal, which identifies their levels.
func checkedSame(n *node) []part {
	a, b := n.in[0], n.in[1]
	switch {
	case a.kind == splits && b.kind == splits && a.level.is(b.level):
		a.into.join(b.into)
		return []part{a}
	case a.kind == sizes && a.is(b):
		return []part{a}
	}
	return []part{{}}
}

// fromLengths handles splits of rows with given lengths.
func fromLengths(n *node) []part {
	p := n.in[0]
	switch {
	case !p.plain() || p.axis != 0:
		return []part{{}}
	case p.role == lengths && p.via == "":
		return []part{divided(p.level, p.of)}
	}
	out := divided(p.level, n.levels.of(p.level, "lengths "+id(n.values[0]), 0))
	if p.each {
		out.into.some, out.into.others = p.level, p.of
	}
	if p.role == lengths {
		out.of, out.via = p.of, p.via
	}
	return []part{out}
}

// id distinguishes a value from others.
func id(t tensor.Tensor) string {
	if v, ok := t.(*graph.Value); ok {
		return fmt.Sprintf("%p.%d", v.Graph(), v.ID())
	}
	return fmt.Sprintf("%p", t)
}

// inRow handles the position of each entry within its row.
func inRow(_ *node, p part) []part {
	out := along(0, p.into)
	if out.role, out.of, out.via = offsets, p.into, ""; p.of != nil {
		out.of, out.via = p.of, p.via
	}
	return []part{out}
}

// uniform handles splits of rows of equal length.
func uniform(n *node) []part {
	length, rows := n.in[0], n.in[1]
	k, known := n.number(0)
	one, fixed := n.number(1)
	switch {
	case fixed && one == 1 && length.kind == count && length.plus == 0:
		return []part{{kind: sizes, list: []part{same(), length}}}
	case rows.kind == count && rows.plus == 0 && length.kind == alike && known:
		return []part{divided(rows.level, n.levels.times(rows.level, k))}
	case rows.kind == count && rows.plus == 0 && length.kind == alike:
		return []part{divided(rows.level, n.alikeTimes(rows.level))}
	}
	return []part{{}}
}

// alikeTimes is the level that has, for each entry of another level, as many entries as the first
// operand says.
func (n *node) alikeTimes(l *level) *level {
	m := n.levels.of(l, "times "+id(n.values[0]), 0)
	m.base = l
	return m
}

// fromRowIDs handles splits of rows given by the row of each value.
func fromRowIDs(n *node) []part {
	if p := n.in[0]; p.kind == entries && p.into != nil && !p.loose && counts(n.in[1], p.into) {
		return []part{divided(p.into, p.level)}
	}
	return []part{{}}
}

// rangesOf handles a row of numbers for each start and limit.
func rangesOf(n *node) []part {
	var l, into *level
	moved := 0
	for _, p := range n.in {
		switch {
		case p.kind == alike:
			continue
		case p.kind != entries || l != nil && !l.is(p.level):
			return []part{{}}
		}
		if l = p.level; p.into != nil {
			moved, into = moved+1, p.into
		}
	}
	if moved > 0 && (moved != 2 || n.in[2].kind != alike || !n.in[0].into.is(n.in[1].into)) {
		return []part{{}}
	}
	if l == nil {
		return []part{{}}
	}
	a, b := n.in[0], n.in[1]
	tight := a.role == starts && b.role == ends && a.of.is(b.of) && a.via == b.via
	k := n.levels.of(l, "range "+id(n.Outs[0]), 0)
	return []part{{kind: entries, level: k, into: into, loose: into != nil && !tight}, divided(l, k)}
}

// kept is the level of the entries or positions where a mask is true.
func kept(n *node, l *level, mask int) *level {
	return n.levels.of(l, "where "+id(n.values[mask]), 0)
}

// whereTrue handles the entries of rows where a mask is true.
func whereTrue(n *node) []part {
	x, m := n.in[0], n.in[1]
	if x.kind == entries && m.plain() && x.axis == 0 && m.axis == 0 && n.rank(1) == 1 && x.level.is(m.level) && n.call.Int(2) == 0 {
		return []part{x.taken(kept(n, m.level, 1), 0)}
	}
	return []part{{}}
}

// placesTrue handles the positions where a mask is true.
func placesTrue(n *node) []part {
	if m := n.in[0]; m.plain() && n.rank(0) == 1 {
		return []part{positions(kept(n, m.level, 0), m.level)}
	}
	return []part{{}}
}

// maskSplits handles the splits of the entries where a mask is true.
func maskSplits(n *node, p part) []part {
	if m := n.in[1]; m.plain() && m.axis == 0 && n.rank(1) == 1 && m.level.is(p.into) {
		return []part{divided(p.level, kept(n, p.into, 1))}
	}
	return []part{{}}
}

// toDense handles rows that are padded to a width that is the same in all calls.
func toDense(n *node) []part {
	v, s, w := n.in[0], n.in[1], n.in[2]
	switch {
	case w.kind == mixed:
		return []part{w}
	case v.plain() && v.axis == 0 && s.kind == splits && v.level.is(s.into) && all(n.in[2:], isAlike):
		return []part{along(0, s.level)}
	}
	return []part{v.unless()}
}

// fromDense handles the entries of rows of equal length.
func fromDense(n *node) []part {
	d, s := n.in[0], n.in[1]
	if d.kind == entries && d.axis == 0 && s.kind == splits && d.level.is(s.level) {
		return []part{d.taken(s.into, 0)}
	}
	return []part{d.unless()}
}

// bagged handles sums of the table entries that each row selects.
func bagged(n *node) []part {
	s := n.in[3]
	if n.in[0].kind == alike && n.in[1].plain() && s.kind == splits && n.in[1].level.is(s.into) && (n.in[2].kind == alike || n.in[2].plain() && n.in[2].level.is(s.into)) {
		return []part{along(0, s.level)}
	}
	return []part{{}}
}

// attended handles attention: either as a contraction, or with queries that see the keys of their own row. In the
// latter case a mask is one of keys, or one of pairs of a query and a key of the same row, whose only axis has the
// label of queries.
func attended(n *node) []part {
	const queries, keys = 0, 1 // labels
	labels, out, ok := n.labels()
	if !ok {
		return []part{{}}
	}
	for _, p := range n.in {
		if p.kind <= mixed {
			return []part{p}
		}
	}
	if !n.call.Has(4) {
		for i, p := range n.in {
			if p.kind == entries && n.call.Bool(12) && p.axis == slices.Index(labels[i], queries) {
				return []part{{kind: mixed}} // what a query sees depends on its position
			}
		}
		return []part{n.contracted()}
	}
	k := len(labels)
	q, s := n.in[k], n.in[k+1]
	if q.kind != splits || s.kind != splits || !q.level.is(s.level) {
		return []part{{}}
	}
	for i, list := range labels {
		p, axis := n.in[i], slices.Index(list, keys)
		ok := p.level.is(s.into)
		if axis < 0 {
			axis, ok = slices.Index(list, queries), p.level.is(q.into)
			if i > keys {
				ok = p.level.isPairs(q.into, s.into)
			}
		}
		if !ok || !p.plain() || p.axis != axis {
			return []part{{}}
		}
	}
	return []part{along(slices.Index(out, queries), q.into)}
}
