package rowwise

// Axes that are created or get more entries.

// stacked handles a new axis.
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

// padded handles entries added before and after those of axes; none may be added to rows.
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

// tiled handles copies along axes; rows may have only one copy.
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
