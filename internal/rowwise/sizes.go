package rowwise

import "slices"

// Sizes of values, vectors of sizes, and checks that sizes agree.

// shapeOf handles the vector of sizes.
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

// sizeOf handles the number of elements.
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

// rest returns the product of the sizes of an operand except that of one axis.
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

// sizesOf joins scalars and vectors of sizes.
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

// unless returns the part if it is mixed or unclear already, and otherwise unclear.
func (p part) unless() part {
	if p.kind <= mixed {
		return p
	}
	return part{}
}

// sameRows handles a check that two values have the same number of rows.
func sameRows(n *node) []part {
	p, q := n.in[0], n.in[1]
	if p.kind == entries && q.kind == entries && p.axis == 0 && q.axis == 0 && p.level.is(q.level) {
		return []part{p}
	}
	return []part{{}}
}
