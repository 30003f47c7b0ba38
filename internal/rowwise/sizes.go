package rowwise

import (
	"slices"

	"github.com/tenonml/tenon/ops/key"
)

// Sizes, and what is made of them: shapes that other values get, ranges.

// shapeOf is for the vector of sizes.
func shapeOf(n *node) []part {
	p, r := n.in[0], n.rank(0)
	switch {
	case p.kind == splits:
		return []part{{kind: sizes, list: []part{{kind: count, level: p.level, plus: 1}}}}
	case p.kind == sizes || p.kind == count || p.kind == single || p.kind <= mixed && r >= 0 && n.values[0].Shape().IsFull():
		return []part{same()}
	case p.kind != entries || r < 0:
		return []part{p.unless()}
	}
	out := part{kind: sizes, list: slices.Repeat([]part{same()}, r)}
	out.list[p.axis] = counted(p.level)
	return []part{out}
}

// sizeOf is for the number of elements.
func sizeOf(n *node) []part {
	p := n.in[0]
	if p.kind != entries || n.rank(0) < 0 {
		return []part{{}}
	}
	each, ok := n.rest(0, p.axis)
	if !ok {
		return []part{{}}
	}
	return []part{counted(n.levels.times(p.level, each))}
}

// rest returns the product of the sizes of an operand but for those of an axis.
func (n *node) rest(i, but int) (product int, known bool) {
	product = 1
	for k := range n.rank(i) {
		if k == but {
			continue
		}
		d := n.dim(i, k)
		if d < 0 {
			return 0, false
		}
		product *= d
	}
	return product, true
}

// sizesOf joins scalars and vectors of them.
func (n *node) sizesOf() part {
	out := part{kind: sizes}
	for i, p := range n.in {
		switch {
		case p.kind == sizes:
			out.list = append(out.list, p.list...)
		case p.kind == count || p.kind == alike && n.rank(i) == 0:
			out.list = append(out.list, p)
		case p.kind == alike && n.rank(i) == 1 && n.dim(i, 0) >= 0:
			out.list = append(out.list, slices.Repeat([]part{same()}, n.dim(i, 0))...)
		default:
			return part{}
		}
	}
	return out
}

// stacked is for a new axis.
func stacked(n *node) []part {
	if all(n.in, func(p part) bool { return p.kind == count || p.kind == alike }) && n.rank(0) == 0 {
		return []part{n.sizesOf()}
	}
	p, r := n.in[0], n.rank(0)
	for i, q := range n.in {
		if q.kind != entries || r < 0 || n.rank(i) != r || !q.level.is(p.level) || q.axis != p.axis || !q.into.is(p.into) {
			return []part{{}}
		}
	}
	axes, err := n.call.Axes(r + 1)
	if err != nil || len(axes) != 1 {
		return []part{{}}
	}
	if p.ident, p.of = false, nil; axes[0] <= p.axis {
		p.axis++
	}
	return []part{p}
}

// scalars is for arithmetic and comparisons, of counts among others.
func scalars(n *node) []part {
	a, b := n.in[0], n.in[1]
	if b.kind == count && n.Op.Name != "sub" {
		a, b = b, a
	}
	k, known := n.number(1)
	if !known && n.Op.Name != "sub" {
		k, known = n.number(0)
	}
	name := n.Op.Name
	switch {
	case a.kind == entries && a.ident && b.kind == single && b.plus == 0 && a.level.is(b.level) && name == "mul":
		return []part{a} // 0 where there is only one, which is its position
	case b.kind == entries && b.ident && a.kind == single && a.plus == 0 && a.level.is(b.level) && name == "mul":
		return []part{b}
	case a.kind != count:
		return nil
	case b.kind == count && a.is(b) && (name == "sub" || slices.Contains(comparisons, name)):
		return []part{same()}
	case b.kind != alike || !known:
		return []part{{}}
	}
	switch name {
	case "add":
		a.plus += k
		return []part{a}
	case "sub":
		a.plus -= k
		return []part{a}
	case "mul":
		if k > 0 && a.plus == 0 {
			return []part{counted(n.levels.times(a.level, k))}
		}
	case "equal":
		if k == 1 && a.plus == 0 {
			return []part{{kind: single, level: a.level, plus: 1}}
		}
	case "not_equal":
		if k == 1 && a.plus == 0 {
			return []part{{kind: single, level: a.level}}
		}
	}
	return []part{{}}
}

// arithmetic is for operations on two operands that may be counts.
func arithmetic(n *node) []part {
	for i := range n.in {
		if n.in[i].kind <= mixed {
			return []part{n.in[i]}
		}
	}
	if out := scalars(n); out != nil {
		return out
	}
	return []part{n.mapped()}
}

// chosen is for a choice by a condition: of scalars that are made alike it is no matter which.
func chosen(n *node) []part {
	c, x, y := n.in[0], n.in[1], n.in[2]
	scalar := n.rank(0) == 0 && n.rank(1) == 0 && n.rank(2) == 0
	switch {
	case scalar && x.kind == count && x.is(y):
		return []part{x}
	case scalar && c.kind == single && c.plus == 1 && y.kind == count && c.level.is(y.level) && x.kind == count && y.plus == 0:
		return []part{{}}
	case c.kind <= mixed:
		return []part{c}
	case x.kind <= mixed:
		return []part{x}
	case y.kind <= mixed:
		return []part{y}
	case c.kind == alike && n.rank(0) == 0 && x.kind == y.kind && x.kind != entries:
		return []part{joined(x, y)}
	}
	return []part{n.mapped()}
}

// indexed is for x[keys].
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

// pickedSize is for one of the sizes, or several in their order.
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

// cut is for the starts and ends of rows, and for where the last one ends.
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

// pickedRows is for keys of which that of the rows takes all of them.
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

// ranged is for numbers from 0 to a count, which are the positions in what is counted.
func ranged(n *node) []part {
	start, ok := n.number(0)
	step, known := n.number(2)
	if p := n.in[1]; ok && known && start == 0 && step == 1 && p.kind == count && p.plus == 0 {
		return []part{{kind: entries, level: p.level, into: p.level, ident: true}}
	}
	return []part{{}}
}

// filled is for a value in a shape.
func filled(n *node) []part {
	p := n.in[0]
	if p.kind != sizes || n.in[1].kind != alike {
		return []part{{}}
	}
	axis, l := p.onlyCount()
	if axis < 0 {
		return []part{{}}
	}
	return []part{along(axis, l)}
}

// onlyCount returns the place of the only count among sizes.
func (p part) onlyCount() (axis int, l *level) {
	axis = -1
	for i, q := range p.list {
		switch {
		case q.kind == count && q.plus == 0 && axis < 0:
			axis, l = i, q.level
		case q.kind != alike:
			return -1, nil
		}
	}
	return axis, l
}

// broadcast is for what gets a shape.
func broadcast(n *node) []part {
	p, s, r := n.in[0], n.in[1], n.rank(0)
	if s.kind != sizes || r < 0 {
		return []part{{}}
	}
	axis, l := s.onlyCount()
	if axis < 0 {
		return []part{{}}
	}
	own := axis - (len(s.list) - r)
	switch {
	case p.kind == alike && (own < 0 || n.dim(0, own) == 1):
		return []part{along(axis, l)}
	case p.kind == entries && own == p.axis && l.is(p.level):
		p = p.bare()
		return []part{p.at(axis)}
	}
	return []part{{}}
}

// reshaped is for rows whose elements, in their order, get other axes.
func reshaped(n *node) []part {
	p, r := n.in[0], n.rank(0)
	if p.kind != entries || r < 0 {
		return []part{p.scalar()}
	}
	target := n.target()
	if target == nil || p.axis > len(target)-1 {
		return []part{{}}
	}
	for i := range p.axis { // axes in front stay
		if d := n.dim(0, i); d < 0 || target[i].size != d {
			return []part{{}}
		}
	}
	q := part{kind: entries, axis: p.axis, into: p.into, loose: p.loose}
	at := target[p.axis]
	if at.part.kind == count {
		if at.part.plus != 0 {
			return []part{{}}
		}
		if q.level = at.part.level; !q.level.fits(p.level) {
			return []part{{}}
		}
		return []part{q}
	}
	if at.size != -1 {
		return []part{{}}
	}
	own, others := 1, 1
	for i := p.axis + 1; i < r; i++ {
		own = times(own, n.dim(0, i))
	}
	for _, t := range target[p.axis+1:] {
		others = times(others, t.size)
	}
	switch {
	case own >= 0 && others > 0 && own%others == 0:
		q.level = n.levels.times(p.level, own/others)
	case others == 1:
		q.level = n.levels.of(p.level, "all of "+id(n.values[0]), 0)
		q.level.base = p.level
	default:
		return []part{{}}
	}
	return []part{q}
}

// times multiplies sizes, of which negative ones are not known.
func times(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return a * b
}

// A size is an entry of a shape that a value gets: a known number, -1 for what is left, or -2.
type size struct {
	part part
	size int
}

// target returns the shape that a value gets, nil where its rank is not known.
func (n *node) target() []size {
	var out []size
	if list, ok := n.call.ConstInts(1); ok {
		for _, d := range list {
			out = append(out, size{same(), d})
		}
		return out
	}
	if p := n.in[1]; p.kind == sizes {
		for i, q := range p.list {
			d := -2
			if s := n.Outs[0].Shape(); s.HasRank() && s.Rank() == len(p.list) && s.Dim(i) >= 0 {
				d = s.Dim(i)
			}
			out = append(out, size{q, d})
		}
	}
	return out
}

// scalar is what a value of one element is under another shape.
func (p part) scalar() part {
	switch {
	case p.kind == sizes && len(p.list) == 1:
		return p.list[0]
	case p.kind == count || p.kind <= mixed:
		return p
	}
	return part{}
}

// gathered is for entries at positions.
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

// takenAt is for entries at positions among them.
func (n *node) takenAt(x, at part, axis int) part {
	switch {
	case at.ident && n.rank(1) == 1:
		return x
	case x.ident && n.rank(0) == 1:
		return at
	}
	out := x.taken(at.level, axis+at.axis)
	way := " " + id(n.values[1])
	if at.role == spread {
		way = at.via
	}
	switch {
	case x.role == starts || x.role == lengths || x.role == ends:
		out.role, out.of, out.via = x.role, x.of, x.via+way
	case x.into != nil && at.role == spread && at.via == "":
		out.role, out.via = spread, " "+id(n.values[0])
	}
	return out
}

// sliced is for so many entries of each axis: all of rows.
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

// unless is what is mixed or unclear already, and unclear otherwise.
func (p part) unless() part {
	if p.kind <= mixed {
		return p
	}
	return part{}
}

// sought is for places in a list that is alike in all calls.
func sought(n *node) []part {
	if x := n.in[1]; n.in[0].kind == alike && n.rank(0) == 1 && x.plain() {
		return []part{along(x.axis, x.level)}
	}
	return []part{{}}
}

// padded is for entries in front of axes and behind them: none of rows.
func padded(n *node) []part {
	p := n.in[0]
	list, ok := n.call.ConstInts(1)
	if !p.plain() || !ok || 2*p.axis+1 >= len(list) || !all(n.in[1:], isAlike) {
		return []part{{}}
	}
	if list[2*p.axis] != 0 || list[2*p.axis+1] != 0 {
		return []part{{kind: mixed}}
	}
	return []part{along(p.axis, p.level)}
}

// tiled is for copies along axes: one of rows.
func tiled(n *node) []part {
	p := n.in[0]
	list, ok := n.call.ConstInts(1)
	if !p.plain() || !ok || len(list) != n.rank(0) {
		return []part{{}}
	}
	if list[p.axis] != 1 {
		return []part{{kind: mixed}}
	}
	return []part{along(p.axis, p.level)}
}

// sameRows is for a check that two values have as many rows.
func sameRows(n *node) []part {
	p, q := n.in[0], n.in[1]
	if p.kind == entries && q.kind == entries && p.axis == 0 && q.axis == 0 && p.level.is(q.level) {
		return []part{p}
	}
	return []part{{}}
}
