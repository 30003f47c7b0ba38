package rowwise

import (
	"github.com/tenonml/tenon/ops/key"
)

// Keys, positions and slices: the selection of entries.

// indexed handles x[keys].
func indexed(n *node) []part {
	p, r := n.in[0], n.rank(0)
	ks, ok := n.call.Args[1].(key.Keys)
	if !ok || r < 0 || p.kind <= mixed || !all(n.in[1:], isAlike) {
		return []part{p.unless()}
	}
	list, err := key.Expand(ks, r)
	if err != nil {
		return []part{{}}
	}
	switch p.kind {
	case sizes:
		return []part{pickedSize(p, list)}
	case splits:
		return []part{cut(p, list)}
	case entries:
		return []part{pickedRows(p, list)}
	}
	return []part{{}}
}

// pickedSize handles the selection of one size, or of several in order.
func pickedSize(p part, list []key.Key) part {
	if len(list) != 1 {
		return part{}
	}
	k, n := list[0], len(p.list)
	at := func(x any, otherwise int) int {
		i, ok := x.(int)
		if !ok {
			return otherwise
		}
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	switch k.Kind {
	case key.AtKind:
		if i, ok := k.Start.(int); ok && i >= -n && i < n {
			return p.list[(i+n)%n]
		}
	case key.RangeKind:
		_, start := k.Start.(int)
		_, stop := k.Stop.(int)
		if (start || k.Start == nil) && (stop || k.Stop == nil) && k.Step == nil {
			i := at(k.Start, 0)
			return part{kind: sizes, list: p.list[i:max(i, at(k.Stop, n))]}
		}
	}
	return part{}
}

// cut handles selections from row splits: the starts and ends of rows, and the end of the last row.
func cut(p part, list []key.Key) part {
	if len(list) != 1 {
		return part{}
	}
	k := list[0]
	switch {
	case k.Kind == key.AtKind && k.Start == -1:
		return counted(p.into)
	case k.Kind == key.AtKind && k.Start == 0:
		return same()
	case k.Kind == key.RangeKind && k.Step == nil && (k.Start == nil || k.Start == 0) && k.Stop == -1,
		k.Kind == key.RangeKind && k.Step == nil && k.Start == 1 && k.Stop == nil:
		out := part{kind: entries, level: p.level, into: p.into, loose: true, role: starts, of: p.into}
		if k.Start == 1 {
			out.role = ends
		}
		return out
	case k.IsAll():
		return p
	}
	return part{}
}

// pickedRows handles keys that take all entries along the axis of rows.
func pickedRows(p part, list []key.Key) part {
	axis, out := 0, 0
	p = p.bare()
	for _, k := range list {
		if k.Kind == key.NewAxisKind {
			out++
			continue
		}
		if axis == p.axis {
			switch {
			case k.IsAll():
				return p.at(out)
			case k.Kind == key.AtKind || k.Kind == key.RangeKind:
				return part{kind: mixed}
			}
			return part{}
		}
		if k.Kind != key.AtKind && k.Kind != key.RangeKind {
			return part{}
		}
		if axis++; k.Kind == key.RangeKind {
			out++
		}
	}
	return part{}
}

// gathered handles entries at positions.
func gathered(n *node) []part {
	x, at, r := n.in[0], n.in[1], n.rank(0)
	if x.kind <= mixed {
		return []part{x}
	}
	if at.kind <= mixed {
		return []part{at}
	}
	axes, err := n.call.Axes(max(r, 1))
	batches := n.call.Int(3)
	if r < 0 || n.rank(1) < 0 || err != nil || len(axes) != 1 {
		return []part{{}}
	}
	axis := axes[0]
	switch {
	case batches > 0:
		if x.kind == entries && at.plain() && x.axis == at.axis && x.axis < batches && x.level.is(at.level) {
			x = x.bare()
			return []part{x}
		}
	case x.kind == alike && at.plain():
		return []part{along(axis+at.axis, at.level)}
	case x.kind == entries && at.kind == alike && x.axis != axis:
		if x.ident, x.of = false, nil; x.axis > axis {
			x.axis += n.rank(1) - 1
		}
		return []part{x}
	case at.kind == entries && at.loose:
	case x.kind == entries && at.kind == entries && x.axis == axis && at.into != nil && at.into.is(x.level):
		return []part{n.takenAt(x, at, axis)}
	case x.kind == entries && x.axis == axis && at.into == nil:
		return []part{{kind: mixed}}
	case x.kind == splits && at.kind == alike:
		return []part{{kind: mixed}}
	}
	return []part{{}}
}

// takenAt handles entries at positions among them.
func (n *node) takenAt(x, at part, axis int) part {
	switch {
	case at.ident && n.rank(1) == 1:
		return x
	case x.ident && n.rank(0) == 1:
		return at
	}
	out := x.taken(at.level, axis+at.axis)
	way := " " + id(n.values[1])
	if at.role == spread && x.role != lengths { // entries of a row share its start, but not its length
		way = at.via
	}
	switch {
	case x.role == starts || x.role == lengths || x.role == ends:
		out.role, out.of, out.via = x.role, x.of, x.via+way
		out.each = x.role == lengths && x.via == "" && at.role == spread && at.via == ""
	case x.into != nil && at.role == spread && at.via == "":
		out.role, out.via = spread, " "+id(n.values[0])
	}
	return out
}

// sliced handles slices along each axis, which must include all rows.
func sliced(n *node) []part {
	p := n.in[0]
	begin, ok := n.call.ConstInts(1)
	count, known := n.call.ConstInts(2)
	switch {
	case !ok || !known || len(begin) != len(count) || p.kind <= mixed:
		return []part{p.unless()}
	case p.kind == sizes && len(begin) == 1:
		end := begin[0] + count[0]
		if count[0] < 0 {
			end = len(p.list)
		}
		if begin[0] < 0 || end < begin[0] || end > len(p.list) {
			return []part{{}}
		}
		return []part{{kind: sizes, list: p.list[begin[0]:end]}}
	case p.kind != entries || len(begin) <= p.axis:
		return []part{{}}
	case begin[p.axis] != 0 || count[p.axis] != -1:
		return []part{{kind: mixed}}
	}
	return []part{p.bare()}
}

// sought handles searches in a list that is the same in all calls.
func sought(n *node) []part {
	if x := n.in[1]; n.in[0].kind == alike && n.rank(0) == 1 && x.plain() {
		return []part{along(x.axis, x.level)}
	}
	return []part{{}}
}
