package rowwise

// Operations that set the shape of values.

// filled handles a constant value in a given shape.
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

// onlyCount returns the index of the only count among sizes.
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

// broadcast handles broadcasting to a shape.
func broadcast(n *node) []part {
	if len(n.in) != 2 {
		return []part{{}}
	}
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

// reshaped handles rows whose elements, in order, get different axes.
func reshaped(n *node) []part {
	p, r := n.in[0], n.rank(0)
	if p.kind != entries || r < 0 {
		return []part{p.scalar()}
	}
	target := n.target()
	if target == nil || p.axis > len(target)-1 {
		return []part{{}}
	}
	for i := range p.axis { // axes before it stay
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

// times multiplies sizes; negative sizes are unknown.
func times(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return a * b
}

// A size is an entry of a requested shape: a known number, -1 for the size that is left, or -2.
type size struct {
	part part
	size int
}

// target returns the requested shape, or nil if its rank is unknown.
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

// scalar is the part of a value of one element in a different shape.
func (p part) scalar() part {
	switch {
	case p.kind == sizes && len(p.list) == 1:
		return p.list[0]
	case p.kind == count || p.kind <= mixed:
		return p
	}
	return part{}
}
