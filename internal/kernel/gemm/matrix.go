package gemm

import "unsafe"

// Block sizes, measured on Zen 4. A block of kc steps is long enough that reading and
// writing C between blocks costs little; a panel of B (kc rows of a tile's width,
// 128 KiB), the next one and mc rows of A (230 KiB) share the second-level cache, of which
// they leave a half to whoever else uses the core, and nc columns of B (4 MiB) stay in the
// third. Up to mcMost rows are one block: two would read B twice.
const (
	kcBytes = 4096
	mc      = 56
	mcMost  = 84
	ncBytes = 4096
)

// line is the length of a line of the caches in bytes.
const line = 64

// packFrom is the number of rows from which copying B into panels pays.
const packFrom = 48

// matrix computes rows r0 to r1 and columns c0 to c1 of one product, as far as they exist.
func (w *worker[T]) matrix(p *product[T], r0, r1, c0, c1 int) {
	r1, c1 = min(r1, p.M), min(c1, p.N)
	size := int(unsafe.Sizeof(p.Alpha))
	blocks := blockCount(p.K, kcBytes/size)
	nc := ncBytes / size
	for jc := c0; jc < c1; jc += nc {
		cols := min(nc, c1-jc)
		for i := range blocks {
			k0, k1 := i*p.K/blocks, (i+1)*p.K/blocks
			w.steps(p, r0, r1, jc, jc+cols, k0, k1)
		}
		if p.K == 0 {
			w.scale(p, r0, r1, jc, jc+cols)
			w.finish(p, r0, r1, jc, jc+cols)
		}
	}
}

// blockCount returns into how many blocks of about size elements n is divided; a
// rest of less than half a block goes to the others.
func blockCount(n, size int) int { return (n+size/2-1)/size + boolToInt(n > 0 && n <= size/2) }

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// steps adds the products over k0 to k1 to a range of C.
func (w *worker[T]) steps(p *product[T], r0, r1, c0, c1, k0, k1 int) {
	size := int(unsafe.Sizeof(p.Alpha))
	t, f := &w.t, w.f
	t.k, t.count = k1-k0, 1
	t.alpha, t.beta, t.readC = p.Alpha, 1, 1
	t.scaled = boolToInt(p.Alpha != 1)
	fromBias := p.Bias != nil && p.Beta == 0 // C starts as the bias
	if k0 == 0 && !fromBias {
		t.beta, t.readC = p.Beta, boolToInt(p.Beta != 0)
	}
	t.cRow = p.CRow * size

	panels := (c1 - c0 + f.width - 1) / f.width
	direct := p.BCol == 1 && w.readB == nil && r1-r0 < packFrom
	if direct {
		t.bRow = p.BRow * size
	} else {
		t.bRow = f.width * size
	}
	rowBlocks := 1
	if r1-r0 > mcMost {
		rowBlocks = (r1 - r0 + mc - 1) / mc
	}
	s := stage[T]{k0: k0, c1: c1, panels: panels, direct: direct}
	most := (r1 - r0 + rowBlocks - 1) / rowBlocks
	s.aRow = w.rowOfCopies(p, most, panels)
	s.carries = s.aRow > 0 && w.readA == nil && f.packRows > 0 && rowBlocks > 1
	w.room(boolToInt(!direct)*panels*f.width*t.k, most*s.aRow, boolToInt(s.carries)*most*s.aRow)
	for rb := range rowBlocks {
		s.i0, s.i1 = r0+rb*(r1-r0)/rowBlocks, r0+(rb+1)*(r1-r0)/rowBlocks
		s.row, s.rows = s.i1, min(r1, r0+(rb+2)*(r1-r0)/rowBlocks)
		s.first = rb == 0
		if k0 == 0 && fromBias {
			w.writeBias(p, s.i0, s.i1, c0, c1)
		}
		w.operandA(p, &s)
		for s.panel = range panels {
			s.j = c0 + s.panel*f.width
			t.cols = min(f.width, c1-s.j)
			if direct {
				s.b = at(p.B, k0*p.BRow+s.j)
			} else {
				s.b = &w.bBuf[s.panel*f.width*t.k]
			}
			w.panel(p, &s)
		}
		if k1 == p.K {
			w.finish(p, s.i0, s.i1, c0, c1)
		}
	}
}

// A stage is a block of rows and a panel that are worked on.
type stage[T Element] struct {
	i0, i1 int  // rows of the block
	first  bool // it is the first one, which finds no panels but leaves them
	k0     int
	a      *T  // A[i0,k0] or its copy
	aRow   int // elements between rows of the copy; 0: there is none

	carries bool // tiles copy the rows of the next block
	carried int  // how many of them are there

	panel, panels int
	j, c1         int // column of the panel, and the end of the last one
	b             *T
	direct        bool // b points to B, else to the panel's place in the buffer

	row, rows int // rows of the next block that were not asked for yet
}

// panel computes the tiles of a panel. In the first block, the panel's place in the
// buffer has to be filled from B, which the first tile does as it goes, if it can.
func (w *worker[T]) panel(p *product[T], s *stage[T]) {
	t, f := &w.t, w.f
	v, rows := f.variant(t.cols)
	tiles := (s.i1 - s.i0 + rows - 1) / rows
	least, more := (s.i1-s.i0)/tiles, (s.i1-s.i0)%tiles // the first tiles have one row more

	fuse := false
	if s.first && !s.direct {
		most := least + boolToInt(more > 0)
		fuse = p.BCol == 1 && w.readB == nil && f.packRows > 0 && most >= f.packRows && v != narrow
		if !fuse {
			w.packPanel(p, s.b, s.j, s.k0)
		}
	}
	bRow := t.bRow
	t.b = s.b
	i := s.i0
	size := int(unsafe.Sizeof(p.Alpha))
	for n := range tiles {
		rows := least + boolToInt(n < more)
		t.a = offset(s.a, (i-s.i0)*t.aRow)
		t.c = at(p.C, i*p.CRow+s.j)
		w.ask(p, s, n, tiles, i+rows)
		if fuse && n == 0 {
			t.b, t.bRow, t.pack = at(p.B, s.k0*p.BRow+s.j), p.BRow*size, s.b
			f.tile(packing, rows, t)
			t.b, t.bRow = s.b, bRow
		} else if v == full && rows >= f.packRows && w.carry(p, s, tiles-n) {
			f.tile(carrying, rows, t)
		} else {
			f.tile(v, rows, t)
		}
		i += rows
	}
}

// carry reports whether the tile that comes next, the first of left in its panel, copies a row of
// A that the next block needs, and prepares it: a copy costs a tile nothing, while a pass of its own
// would wait for memory. It is done about as late as all rows find a tile.
func (w *worker[T]) carry(p *product[T], s *stage[T], left int) bool {
	t := &w.t
	n := s.rows - s.i1 - s.carried
	if !s.carries || n == 0 || left*((s.c1-s.j)/w.f.width) > 2*n {
		return false
	}
	i := s.i1 + s.carried
	t.carry, t.coming = at(p.A, i*p.ARow+s.k0), p.ARow*int(unsafe.Sizeof(p.Alpha))
	t.pack = &w.aNext[s.carried*s.aRow]
	s.carried++
	return true
}

// ask chooses what tile n of a panel asks for while it is computed, so that what comes
// next is in the second-level cache then: in the first panel, which finds A outside of the
// caches, the rows of A from i on that the next tile reads; then the next panel, for which
// it takes as many tiles as a row of it has lines, or the first one again for the next block;
// and at last rows of that block: those that its first tile reads, where they were carried,
// else one with each tile that has nothing else to ask for, as late as all of them can be
// asked for.
func (w *worker[T]) ask(p *product[T], s *stage[T], n, tiles, i int) {
	t, width := &w.t, w.f.width
	size := int(unsafe.Sizeof(p.Alpha))
	lines := width * size / line
	column := s.j + width + n*line/size // in the next panel
	last := s.panel == s.panels-1 && s.i1 < s.rows
	t.ahead, t.aheadStep = t.a, 0
	switch {
	case s.panel == 0 && i < s.i1 && s.carries && !s.first:
		t.ahead, t.aheadStep = offset(s.a, (i-s.i0)*t.aRow), line
	case s.panel == 0 && i < s.i1 && s.aRow == 0 && p.ACol == 1 && s.first:
		t.ahead, t.aheadStep = at(p.A, i*p.ARow+s.k0), line
	case n < lines && column < s.c1:
		switch {
		case !s.first && !s.direct:
			t.ahead, t.aheadStep = offset(s.b, t.k*(width*size+n*line)), line
		case p.BCol == 1 && w.readB == nil:
			t.ahead, t.aheadStep = at(p.B, s.k0*p.BRow+column), p.BRow*size
		}
	case last && n < lines && !s.direct:
		t.ahead, t.aheadStep = offset(&w.bBuf[0], n*line), width*size
	case last && n == tiles-1 && s.carried > 0:
		t.ahead, t.aheadStep = &w.aNext[0], line
	case !s.carries && s.row < s.rows && p.ACol == 1 && w.readA == nil &&
		(s.panels-s.panel)*max(1, tiles-lines) <= 2*(s.rows-s.i1):
		t.ahead, t.aheadStep = at(p.A, s.row*p.ARow+s.k0), size
		s.row++
	}
}

// writeBias sets a range of C to the bias.
func (w *worker[T]) writeBias(p *product[T], r0, r1, c0, c1 int) {
	for i := r0; i < r1; i++ {
		c := p.C[i*p.CRow+c0:][:c1-c0]
		if !w.rowBias {
			copy(c, p.Bias[c0:c1])
			continue
		}
		for k := range c {
			c[k] = p.Bias[i]
		}
	}
}

// scale sets a range of C to Beta times itself, which is all that a product over
// nothing asks for before the bias.
func (w *worker[T]) scale(p *product[T], r0, r1, c0, c1 int) {
	if p.Beta == 0 && p.Bias != nil {
		w.writeBias(p, r0, r1, c0, c1)
		return
	}
	for i := r0; i < r1; i++ {
		c := p.C[i*p.CRow+c0:][:c1-c0]
		if p.Beta == 0 {
			clear(c)
			continue
		}
		for k := range c {
			c[k] *= p.Beta
		}
	}
}

// finish does what comes after the last step: a bias that C did not start with, and Then.
func (w *worker[T]) finish(p *product[T], r0, r1, c0, c1 int) {
	late := p.Bias != nil && p.Beta != 0
	if !late && p.Then == nil {
		return
	}
	for i := r0; i < r1; i++ {
		c := p.C[i*p.CRow+c0:][:c1-c0]
		switch {
		case late && w.rowBias:
			for k := range c {
				c[k] += p.Bias[i]
			}
		case late:
			for k, v := range p.Bias[c0:c1] {
				c[k] += v
			}
		}
		if p.Then != nil {
			p.Then(c)
		}
	}
}
