package parquetio

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// A span is the range [from, to) of rows of a row group.
type span struct{ from, to int64 }

// total returns the number of rows in spans.
func total(list []span) int64 {
	n := int64(0)
	for _, s := range list {
		n += s.to - s.from
	}
	return n
}

// joined appends a span that follows the others.
func joined(list []span, s span) []span {
	if k := len(list); k > 0 && list[k-1].to == s.from {
		list[k-1].to = s.to
		return list
	}
	return append(list, s)
}

// common returns the intersection of two sorted lists of rows.
func common(a, b []span) []span {
	out := []span{}
	for len(a) > 0 && len(b) > 0 {
		if s := (span{max(a[0].from, b[0].from), min(a[0].to, b[0].to)}); s.from < s.to {
			out = append(out, s)
		}
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// A pageAt locates a data page and its rows.
type pageAt struct {
	offset, size int64
	rows         span
}

// index is the page index of a column chunk: an offset index and, if there is a column index, the bounds of the
// pages.
type index struct {
	pages       []pageAt
	empty       []bool // pages without values
	least, most [][]byte
}

var errIndex = errors.New("the page index is damaged")

// region reads a part of the page index of a column chunk.
func (p *part) region(at span, s *secret, of byte) ([]byte, error) {
	n := at.to - at.from
	if n <= 0 || at.from < 4 || at.from > p.size-8 || n > p.size-8-at.from {
		return nil, fmt.Errorf("%w: it has %d bytes at byte %d of %d", errIndex, n, at.from, p.size)
	}
	b := make([]byte, n)
	if k, err := p.src.ReadAt(b, at.from); k < len(b) && err != nil && err != io.EOF {
		return nil, err
	}
	if s != nil {
		return s.whole(of, b)
	}
	return b, nil
}

// index returns the page index of a column chunk, or nil if there is none.
func (p *part) index(group, leaf int) (*index, error) {
	chunk, err := p.checkChunk(group, leaf)
	if err != nil {
		return nil, err
	}
	if chunk.offsets == (span{}) {
		return nil, nil
	}
	b, err := p.region(chunk.offsets, chunk.secret, partOffsets)
	if err != nil {
		return nil, err
	}
	x := &index{}
	w := &thrift{b: b}
	w.fields(func(id int, kind byte) bool {
		if id != 1 || kind != kindList {
			return false
		}
		w.each(kindStruct, func() {
			var q pageAt
			w.numbers(map[int]*int64{1: &q.offset, 2: &q.size, 3: &q.rows.from})
			x.pages = append(x.pages, q)
		})
		return true
	})
	begin, size := chunk.at()
	rows := p.meta.groups[group].rows
	for i := len(x.pages) - 1; i >= 0; i-- {
		q := &x.pages[i]
		if q.rows.to = rows; i+1 < len(x.pages) {
			q.rows.to = x.pages[i+1].rows.from
		}
		w.bad = w.bad || q.offset < begin || q.size < 0 || q.offset-begin > size || q.size > size-(q.offset-begin) || q.rows.from < 0 || q.rows.from > q.rows.to ||
			i > 0 && q.offset < x.pages[i-1].offset
	}
	if w.bad || len(x.pages) == 0 || x.pages[0].rows.from != 0 {
		return nil, errIndex
	}
	if chunk.bounds != (span{}) {
		b, err := p.region(chunk.bounds, chunk.secret, partBounds)
		if err != nil {
			return nil, err
		}
		return x, x.bounds(b)
	}
	return x, nil
}

// bounds reads a column index.
func (x *index) bounds(b []byte) error {
	w := &thrift{b: b}
	w.fields(func(id int, kind byte) bool {
		switch {
		case kind != kindList:
			return false
		case id == 1:
			w.each(kindTrue, func() { x.empty = append(x.empty, w.byte() == kindTrue) })
		case id == 2:
			w.each(kindBinary, func() { x.least = append(x.least, w.bytes()) })
		case id == 3:
			w.each(kindBinary, func() { x.most = append(x.most, w.bytes()) })
		default:
			return false
		}
		return true
	})
	n := len(x.pages)
	if w.bad || len(x.empty) != n || len(x.least) != n || len(x.most) != n {
		return errIndex
	}
	return nil
}

// inPages returns the rows of a row group that may meet the conditions, according to the bounds of pages, or false if
// all pages may.
func (p *part) inPages(group int, where []*condition) ([]span, bool, error) {
	rows := []span{{0, p.meta.groups[group].rows}}
	for _, c := range where {
		if !c.ordered() {
			continue
		}
		x, err := p.index(group, c.n.leaf)
		if err != nil {
			return nil, false, err
		}
		if x == nil || x.empty == nil {
			continue
		}
		some := []span{}
		for i, q := range x.pages {
			if q.rows.from < q.rows.to && !x.empty[i] && c.mayMeet(x.least[i], x.most[i]) {
				some = joined(some, q.rows)
			}
		}
		rows = common(rows, some)
	}
	return rows, total(rows) < p.meta.groups[group].rows, nil
}

// everything means that pages are read to the end.
const everything = math.MaxInt64

// some reads those pages of a column chunk that contain any of the rows. It returns the rows read, or nil if it has
// read nothing because there is no offset index.
func (r *reading) some(group, leaf int, rows []span, buf []byte, p *pages) ([]byte, []span, error) {
	x, err := r.p.index(group, leaf)
	if err != nil || x == nil {
		return buf, nil, err
	}
	chunk, err := r.p.checkChunk(group, leaf)
	if err != nil {
		return buf, nil, err
	}
	begin, _ := chunk.at()
	var read []span
	p.ends, p.numbers = p.ends[:0], p.numbers[:0]
	parts := []span{{begin, x.pages[0].offset}} // byte ranges, starting with the dictionary
	for i, q := range x.pages {
		if len(common(rows, []span{q.rows})) > 0 {
			parts, read = joined(parts, span{q.offset, q.offset + q.size}), joined(read, q.rows)
			p.ends, p.numbers = append(p.ends, total(read)), append(p.numbers, i)
		}
	}
	if n := int(total(parts)); cap(buf) < n {
		buf = p.room(n)
	}
	buf = buf[:0]
	for _, s := range parts {
		at := len(buf)
		buf = buf[:at+int(s.to-s.from)]
		if k, err := r.p.src.ReadAt(buf[at:], s.from); k < len(buf)-at {
			if err == nil || err == io.EOF {
				err = fmt.Errorf("read %d of %d bytes at %d", k, len(buf)-at, s.from)
			}
			return buf, nil, err
		}
	}
	p.b, p.left, p.codec = buf, everything, chunk.codec
	p.begin(chunk.secret, x.pages[0].offset > begin)
	return buf, read, nil
}

// cut keeps only some of the rows that have been read from a row group, which start at the given entry and
// value.
func (c *column) cut(entry, value int, read, rows []span) {
	entries, values := entry, value // end of what is kept
	at, have, row := entry, value, int64(0)
	advance := func(to int64) (int, int) {
		before := at
		at, row = c.rowAt(at, to-row), to
		if c.maxDef > 0 {
			have += above(c.defs[before:at], c.maxDef-1)
		} else {
			have += at - before
		}
		return at, have
	}
	first := int64(0) // first row of the current range
	for _, s := range read {
		for _, want := range common(rows, []span{s}) {
			e, v := advance(first + want.from - s.from)
			e2, v2 := advance(first + want.to - s.from)
			entries, values = c.move(entries, e, e2), c.moveValues(values, v, v2)
		}
		first += s.to - s.from
	}
	c.n, c.count = entries, values
	if c.maxDef > 0 {
		c.defs = c.defs[:entries]
	}
	if c.maxRep > 0 {
		c.reps = c.reps[:entries]
	}
	switch {
	case c.ends != nil:
		c.ends = c.ends[:values+1]
		c.text = c.text[:c.ends[values]]
	case c.width > 0:
		c.fixed = c.fixed[:values*c.width]
	default:
		c.bits = c.bits[:values]
	}
}

// rowAt returns the entry at which a row begins, rows rows after the one that begins at entry.
func (c *column) rowAt(entry int, rows int64) int {
	if c.maxRep == 0 || rows == 0 {
		return entry + int(rows)
	}
	for entry++; entry < c.n; entry++ {
		if c.reps[entry] == 0 {
			if rows--; rows == 0 {
				break
			}
		}
	}
	return entry
}

// move moves the levels of entries to the front, and returns their end.
func (c *column) move(to, from, end int) int {
	if c.maxDef > 0 {
		copy(c.defs[to:], c.defs[from:end])
	}
	if c.maxRep > 0 {
		copy(c.reps[to:], c.reps[from:end])
	}
	return to + end - from
}

// moveValues moves values to the front, and returns their end.
func (c *column) moveValues(to, from, end int) int {
	switch {
	case c.ends != nil:
		at, begin := c.ends[to], c.ends[from]
		copy(c.text[at:], c.text[begin:c.ends[end]])
		for i := range end - from {
			c.ends[to+1+i] = c.ends[from+1+i] - begin + at
		}
	case c.width > 0:
		copy(c.fixed[to*c.width:], c.fixed[from*c.width:end*c.width])
	default:
		copy(c.bits[to:], c.bits[from:end])
	}
	return to + end - from
}
