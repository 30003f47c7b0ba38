package rowwise

import "slices"

// Arithmetic and comparisons of counts, choices between counts, and ranges up to counts.

// scalars handles arithmetic and comparisons of counts; it returns nil for other operands.
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
		return []part{a} // 0 if there is only one element, which is its position
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

// chosen handles a choice by a condition: for scalars that are made in the same way it does not
// matter which one is chosen.
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

// ranged handles ranges from 0 to a count: these are the positions in what is counted.
func ranged(n *node) []part {
	start, ok := n.number(0)
	step, known := n.number(2)
	if p := n.in[1]; ok && known && start == 0 && step == 1 && p.kind == count && p.plus == 0 {
		return []part{{kind: entries, level: p.level, into: p.level, ident: true}}
	}
	return []part{{}}
}
