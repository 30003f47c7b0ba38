package rowwise

// A part says how a value of a joined call is made of those of the calls.
type part struct {
	kind  kind
	axis  int    // of entries: along which they follow one another
	level *level // of entries: what the axis has one for; of a count: what is counted; of splits: what they divide
	into  *level // of entries: the elements are positions in it; of splits: what they divide it into
	ident bool   // of positions: entry i is i
	loose bool   // of positions: some may lie behind the entries of their own call
	role  role   // of entries of rows that are divided into of
	of    *level
	via   string // where these rows were taken, if they are not all in their order
	each  bool   // of lengths: they are those of the rows in which something lies
	plus  int    // of a count

	long   int    // of entries of rows that are filled up: the axis of the positions
	widths *level // of these: what the rows, of which the longest tells the size of that axis, are divided into; of a width, too

	list []part // of sizes
	by   string // of mixed and unclear: the operation that made it so
}

type kind uint8

const (
	unclear kind = iota
	mixed        // depends on several rows
	alike        // the same in all calls
	entries      // those of the calls follow one another
	count        // a scalar: how many entries of a level there are, and a number more
	single       // a scalar that tells whether a count is 1, or is not
	sizes        // a vector of scalars
	width        // a scalar: the length of the longest row
	splits       // row splits
)

// A role says what numbers tell of the rows that something is divided into.
type role uint8

const (
	lengths role = iota + 1
	starts
	ends
	offsets // of each entry, from the start of its row
	spread  // the row of each entry
	live    // whether the row, which is filled up, has a position
)

// A level is what an axis has entries for: the rows of the arguments, or what these are divided
// into. Axes of one level have one size in every call.
type level struct {
	same *level // that turned out to be this one
	base *level // of which it has a number of entries for each, the same one in all calls

	// Of pairs: for each of some entries of rows, the others of the same row.
	some, others *level
}

// join makes two levels one.
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

// isPairs reports whether a level has an entry for each pair of one of some entries and one of others of the same row.
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

// is reports whether two levels are one.
func (l *level) is(m *level) bool { return l.root() == m.root() }

// fits reports whether entries of one level are made of whole entries of the other.
func (l *level) fits(m *level) bool {
	return l.is(m) || l.root().base != nil && l.root().base.is(m) || m.root().base != nil && m.root().base.is(l)
}

// A reason is why a level follows from another one.
type reason struct {
	level *level
	how   string
	n     int
}

// levels are those that follow from others, one for each reason.
type levels map[reason]*level

func (s levels) of(l *level, how string, n int) *level {
	r := reason{l.root(), how, n}
	if s[r] == nil {
		s[r] = &level{}
	}
	return s[r]
}

// times is the level of what has n entries for each of another one.
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

// bare is a part whose elements are what they are, in other places.
func (p part) bare() part {
	p.ident, p.role, p.of, p.via, p.each = false, 0, nil, "", false
	return p
}

// plain reports whether a part is entries whose elements are no positions in what is joined.
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

// joined is what a value is that is one of two, nobody knows which.
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

// taken is what entries of p are that are an axis of another level now.
func (p part) taken(l *level, axis int) part {
	return part{kind: entries, axis: axis, level: l, into: p.into, loose: p.loose}
}
