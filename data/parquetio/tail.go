package parquetio

import (
	"encoding/binary"
	"math"
	"slices"
)

// A groupTail is the footer's description of a row group that has been written.
type groupTail struct {
	rows   int
	chunks []chunkTail
}

// A chunkTail is what the footer and the page index contain about a column of a row group.
type chunkTail struct {
	c                       *slot
	secret                  *secret
	at                      int64 // position of the chunk
	entries, nulls          int
	packed, full, first     int
	dict                    bool
	bounds                  bounds
	pages                   []written
	offsetsAt, boundsAt     int64 // positions of the page index
	offsetsSize, boundsSize int
}

// tail returns the description of a chunk that is written at a position.
func (k *chunk) tail(at int64) chunkTail {
	return chunkTail{c: k.c, secret: k.secret, at: at, entries: k.entries, nulls: k.nulls, packed: len(k.b), full: k.full, first: k.first, dict: k.dict, bounds: k.bounds, pages: slices.Clone(k.pages)}
}

// indexes returns the page index of all columns, which will be written at a position: first the bounds,
// then the offsets.
func indexes(groups []groupTail, at int64) []byte {
	var b []byte
	add := func(c *chunkTail, x []byte, of byte) (int64, int) {
		begin := len(b)
		if c.secret != nil {
			b = c.secret.seal(b, x, c.secret.aad(of, 0))
		} else {
			b = append(b, x...)
		}
		return at + int64(begin), len(b) - begin
	}
	each := func(f func(c *chunkTail)) {
		for i := range groups {
			for j := range groups[i].chunks {
				f(&groups[i].chunks[j])
			}
		}
	}
	each(func(c *chunkTail) {
		w := &record{}
		if c.columnIndex(w) {
			c.boundsAt, c.boundsSize = add(c, w.b, partBounds)
		}
	})
	each(func(c *chunkTail) {
		w := &record{}
		c.offsetIndex(w)
		c.offsetsAt, c.offsetsSize = add(c, w.b, partOffsets)
	})
	return b
}

// columnIndex writes the bounds of the pages. It writes nothing and returns false if a page has
// values but no bounds.
func (c *chunkTail) columnIndex(w *record) bool {
	for _, p := range c.pages {
		if p.values > 0 && !p.bounds.there {
			return false
		}
	}
	w.structure(func() {
		w.list(1, kindTrue, len(c.pages))
		for _, p := range c.pages {
			if p.values == 0 {
				w.b = append(w.b, kindTrue)
			} else {
				w.b = append(w.b, kindFalse)
			}
		}
		w.list(2, kindBinary, len(c.pages))
		for _, p := range c.pages {
			w.item(string(p.bounds.least))
		}
		w.list(3, kindBinary, len(c.pages))
		for _, p := range c.pages {
			w.item(string(p.bounds.most))
		}
		w.integer(4, kindInt32, c.boundaryOrder())
		w.list(5, kindInt64, len(c.pages))
		for _, p := range c.pages {
			w.b = binary.AppendVarint(w.b, int64(p.nulls))
		}
	})
	return true
}

// boundaryOrder returns the order of the bounds of the pages: 0 if unordered, 1 if ascending, 2 if
// descending.
func (c *chunkTail) boundaryOrder() int64 {
	up, down := true, true
	last := bounds{}
	for _, p := range c.pages {
		if !p.bounds.there {
			continue
		}
		if last.there {
			least, most := c.c.compare(last.least, p.bounds.least), c.c.compare(last.most, p.bounds.most)
			up, down = up && least <= 0 && most <= 0, down && least >= 0 && most >= 0
		}
		last = p.bounds
	}
	switch {
	case up:
		return 1
	case down:
		return 2
	}
	return 0
}

// offsetIndex writes the positions of the pages.
func (c *chunkTail) offsetIndex(w *record) {
	w.structure(func() {
		w.list(1, kindStruct, len(c.pages))
		for _, p := range c.pages {
			w.structure(func() {
				w.integer(1, kindInt64, c.at+int64(p.at))
				w.integer(2, kindInt32, int64(p.size))
				w.integer(3, kindInt64, int64(p.row))
			})
		}
	})
}

// footer returns the metadata of a file.
func (p *plan) footer(groups []groupTail, meta [][2]string, codec codec) []byte {
	w := &record{}
	rows := 0
	for _, g := range groups {
		rows += g.rows
	}
	w.structure(func() {
		w.integer(1, kindInt32, 2)
		w.list(2, kindStruct, len(p.elements))
		for _, say := range p.elements {
			w.structure(func() { say(w) })
		}
		w.integer(3, kindInt64, int64(rows))
		w.list(4, kindStruct, len(groups))
		for i, g := range groups {
			w.structure(func() { g.write(w, i, codec) })
		}
		if len(meta) > 0 {
			w.list(5, kindStruct, len(meta))
			for _, m := range meta {
				w.structure(func() {
					w.text(1, m[0])
					w.text(2, m[1])
				})
			}
		}
		w.text(6, "tenon")
		w.list(7, kindStruct, len(p.slots))
		for range p.slots { // values have the order of their types
			w.structure(func() { w.in(1, func() {}) })
		}
	})
	return w.b
}

func (g groupTail) write(w *record, i int, codec codec) {
	full, packed := 0, 0
	w.list(1, kindStruct, len(g.chunks))
	for _, c := range g.chunks {
		full, packed = full+c.full, packed+c.packed
		w.structure(func() { c.write(w, codec) })
	}
	w.integer(2, kindInt64, int64(full))
	w.integer(3, kindInt64, int64(g.rows))
	if len(g.chunks) > 0 {
		w.integer(5, kindInt64, g.chunks[0].at)
	}
	w.integer(6, kindInt64, int64(packed))
	if i <= math.MaxInt16 {
		w.integer(7, kindInt16, int64(i))
	}
}

func (c *chunkTail) write(w *record, codec codec) {
	w.integer(2, kindInt64, c.at)
	own := c.secret != nil && c.secret.own
	if !own {
		w.in(3, func() { c.metadata(w, codec) })
	}
	w.integer(4, kindInt64, c.offsetsAt)
	w.integer(5, kindInt32, int64(c.offsetsSize))
	if c.boundsSize > 0 {
		w.integer(6, kindInt64, c.boundsAt)
		w.integer(7, kindInt32, int64(c.boundsSize))
	}
	if c.secret != nil {
		c.sealed(w, codec)
	}
}

// sealed writes the encryption of a column chunk, and its metadata if it has a key of its own.
func (c *chunkTail) sealed(w *record, codec codec) {
	s := c.secret
	const withFooter, withColumn = 1, 2
	w.in(8, func() {
		if !s.own {
			w.in(withFooter, func() {})
			return
		}
		w.in(withColumn, func() {
			w.list(1, kindBinary, len(c.c.path))
			for _, name := range c.c.path {
				w.item(name)
			}
			if len(s.name) > 0 {
				w.text(2, string(s.name))
			}
		})
	})
	if s.own {
		m := &record{}
		m.structure(func() { c.metadata(m, codec) })
		w.text(9, string(s.seal(nil, m.b, s.aad(partColumn, 0))))
	}
}

// metadata writes the metadata of a column chunk.
func (c *chunkTail) metadata(w *record, codec codec) {
	w.integer(1, kindInt32, int64(c.c.typ))
	encodings, of := []int64{encRLE}, int64(encPlain)
	if c.dict {
		encodings, of = append(encodings, encDict), encDict
	}
	encodings = append(encodings, encPlain)
	w.list(2, kindInt32, len(encodings))
	for _, e := range encodings {
		w.b = binary.AppendVarint(w.b, e)
	}
	w.list(3, kindBinary, len(c.c.path))
	for _, name := range c.c.path {
		w.item(name)
	}
	w.integer(4, kindInt32, int64(codec))
	w.integer(5, kindInt64, int64(c.entries))
	w.integer(6, kindInt64, int64(c.full))
	w.integer(7, kindInt64, int64(c.packed))
	w.integer(9, kindInt64, c.at+int64(c.first))
	if c.dict {
		w.integer(11, kindInt64, c.at)
	}
	w.in(12, func() {
		w.integer(3, kindInt64, int64(c.nulls))
		if c.bounds.there {
			w.text(5, string(c.bounds.most))
			w.text(6, string(c.bounds.least))
		}
	})
	stats := [][3]int64{{pageData, of, int64(len(c.pages))}}
	if c.dict {
		stats = append(stats, [3]int64{pageDict, encPlain, 1})
	}
	w.list(13, kindStruct, len(stats))
	for _, s := range stats {
		w.structure(func() {
			for k, x := range s {
				w.integer(k+1, kindInt32, x)
			}
		})
	}
}
