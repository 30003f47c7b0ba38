package rowwise

// A part says how a value of a joined call is made from its counterparts in the separate calls.
type part struct {
	kind  kind
	axis  int    // of entries: the axis along which they are concatenated
	level *level // of entries: the level of the axis; of a count: what is counted; of splits: what they form
	into  *level // of entries: the level that elements are positions in; of splits: the level they divide
	ident bool   // of positions: entry i is i
	loose bool   // of positions: some may lie past the entries of their own call
	role  role   // role of numbers about the rows that of is divided into
	of    *level
	via   string // how these rows were selected, unless they are all in order
	each  bool   // of lengths: the length of the row of each entry
	plus  int    // of a count: a number added to it

	long   int    // of padded rows: the axis of positions
	widths *level // of padded rows and widths: the level of the rows' entries, whose longest row determines the size of the axis

	list []part // of sizes: their parts
	by   string // of mixed and unclear: the operation that caused it
}

type kind uint8

const (
	unclear kind = iota
	mixed        // depends on several rows
	alike        // the same in all calls
	entries      // the concatenation of those of the calls
	count        // a scalar: the number of entries of a level plus a constant
	single       // a scalar: whether a count is 1, or is not
	sizes        // a vector of scalars
	width        // a scalar: the length of the longest row
	splits       // row splits
)

// A role is the meaning of numbers about the rows that something is divided into.
type role uint8

const (
	lengths role = iota + 1
	starts
	ends
	offsets // position of each entry within its row
	spread  // the row of each entry
	live    // whether a position of a padded row belongs to the row
)

// A level identifies what the entries of an axis correspond to: the rows of the arguments, or what
// these are divided into. Axes of the same level have the same size in every call.
type level struct {
	same *level // the level that this one turned out to be
	base *level // the level for each of whose entries it has a fixed number of entries

	// Levels of pairs: each pair of one of some entries and one of others in the same row.
	some, others *level
}

// join identifies two levels.
func (l *level) join(m *level) {
	l, m = l.root(), m.root()
	if l == m {
		return
	}
	l.same = m
	if m.base == nil {
		m.base = l.base
	}
	if m.some == nil {
		m.some, m.others = l.some, l.others
	}
}

// isPairs reports whether a level has an entry for each pair of some and others of the same row.
func (l *level) isPairs(some, others *level) bool {
	l = l.root()
	return l != nil && l.some != nil && l.some.is(some) && l.others.is(others)
}

func (l *level) root() *level {
	for l != nil && l.same != nil {
		l = l.same
	}
	return l
}

// is reports whether two levels are the same.
func (l *level) is(m *level) bool { return l.root() == m.root() }

// fits reports whether each entry of one level corresponds to a fixed number of entries of the
// other.
func (l *level) fits(m *level) bool {
	return l.is(m) || l.root().base != nil && l.root().base.is(m) || m.root().base != nil && m.root().base.is(l)
}

// A reason is the way in which a level is derived from another one.
type reason struct {
	level *level
	how   string
	n     int
}

// levels are the levels derived from others, one for each reason.
type levels map[reason]*level

func (s levels) of(l *level, how string, n int) *level {
	r := reason{l.root(), how, n}
	if s[r] == nil {
		s[r] = &level{}
	}
	return s[r]
}

// times is the level that has n entries for each entry of another one.
func (s levels) times(l *level, n int) *level {
	if n == 1 {
		return l.root()
	}
	m := s.of(l, "times", n)
	m.base = l
	return m
}

func same() part                    { return part{kind: alike} }
func along(axis int, l *level) part { return part{kind: entries, axis: axis, level: l} }
func counted(l *level) part         { return part{kind: count, level: l} }
func divided(l, m *level) part      { return part{kind: splits, level: l, into: m} }
func positions(l, into *level) part { return part{kind: entries, level: l, into: into} }

// bare returns the part of elements at other positions, without their meaning as positions or
// roles.
func (p part) bare() part {
	p.ident, p.role, p.of, p.via, p.each = false, 0, nil, "", false
	return p
}

// plain reports whether a part is entries whose elements are not positions in what is concatenated.
func (p part) plain() bool { return p.kind == entries && p.into == nil && p.widths == nil }

// is reports whether two values are made in the same way.
func (p part) is(q part) bool {
	if p.kind != q.kind || len(p.list) != len(q.list) {
		return false
	}
	for i := range p.list {
		if !p.list[i].is(q.list[i]) {
			return false
		}
	}
	return p.level.is(q.level) && p.into.is(q.into) && p.of.is(q.of) &&
		p.widths.is(q.widths) && p.long == q.long && p.axis == q.axis && p.plus == q.plus && p.ident == q.ident && p.loose == q.loose && p.role == q.role && p.via == q.via && p.each == q.each
}

// joined is the part of a value that is one of two, unknown which.
func joined(p, q part) part {
	switch {
	case p.kind <= mixed:
		return p
	case q.kind <= mixed:
		return q
	}
	p, q = p.bare(), q.bare()
	p.loose = p.loose || q.loose
	q.loose = p.loose
	if p.is(q) {
		return p
	}
	return part{}
}

// at moves the axis of entries.
func (p part) at(axis int) part {
	p.axis = axis
	return p
}

// taken is the part of entries of p that have become an axis of another level.
func (p part) taken(l *level, axis int) part {
	return part{kind: entries, axis: axis, level: l, into: p.into, loose: p.loose}
}
