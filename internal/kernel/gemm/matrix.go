package gemm

import (
	"runtime"
	"unsafe"
)

// Block sizes, measured on Zen 4. A block of kc steps is long enough to make reading and writing C
// between blocks cheap. A panel of B (kc rows of a tile's width, 128 KiB), the next panel and mc
// rows of A (230 KiB) fit into the second-level cache and leave half of it to others on the core;
// nc columns of B (4 MiB) fit into the third. Up to mcMost rows form one block, because two would
// read B twice.
const (
	kcBytes = 4096
	mc      = 56
	mcMost  = 84
	ncBytes = 4096
)

// line is the size of a cache line in bytes.
const line = 64

// packFrom is the number of rows from which packing B into panels pays off.
const packFrom = 48

// matrix computes the rows [r0, r1) and columns [c0, c1) of one product, clipped to its size.
func (w *worker[T]) matrix(p *product[T], r0, r1, c0, c1 int) {
	r1, c1 = min(r1, p.M), min(c1, p.N)
	size := int(unsafe.Sizeof(p.Alpha))
	nc := ncBytes / size
	for jc := c0; jc < c1; jc += nc {
		cols := min(nc, c1-jc)
		for i := range blocksOf[T](p.K) {
			k0, k1 := blockOf[T](p.K, i)
			w.steps(p, r0, r1, jc, jc+cols, k0, k1)
		}
		if p.K == 0 {
			w.scale(p, r0, r1, jc, jc+cols)
			w.finish(p, r0, r1, jc, jc+cols)
		}
	}
}

// blocksOf returns the number of blocks that k steps are divided into. A remainder of less than
// half a block is spread over the others.
func blocksOf[T Element](k int) int {
	size := kcBytes / int(unsafe.Sizeof(*new(T)))
	return (k+size/2-1)/size + boolToInt(k > 0 && k <= size/2)
}

// blockOf returns where block i of k steps begins and ends.
func blockOf[T Element](k, i int) (k0, k1 int) {
	n := blocksOf[T](k)
	return i * k / n, (i + 1) * k / n
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// steps adds the products over [k0, k1) to a range of C.
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
	// In every block but the last, all tiles have the same number of rows, so that one call
	// computes several of them.
	tiles := ((r1-r0+rowBlocks-1)/rowBlocks + f.rows - 1) / f.rows
	units := (r1 - r0 + tiles - 1) / tiles
	end := func(block int) int { return min(r1, r0+min(block, rowBlocks)*units/rowBlocks*tiles) }
	most := (units + rowBlocks - 1) / rowBlocks * tiles
	s.aRow = w.rowOfCopies(p, most, panels)
	s.carries = s.aRow > 0 && p.ACol == 1 && w.readA == nil && f.packRows > 0 && rowBlocks > 1
	// Panels that only one block reads reuse the same memory, which stays in the second-level
	// cache.
	kept := panels
	if rowBlocks == 1 {
		kept = 1
	}
	w.room(boolToInt(!direct)*kept*f.width*t.k, most*s.aRow, boolToInt(s.carries)*most*s.aRow)
	for rb := range rowBlocks {
		s.i0, s.i1 = end(rb), end(rb+1)
		s.row, s.rows = s.i1, end(rb+2)
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
				s.b = &w.bBuf[s.panel%kept*f.width*t.k]
			}
			w.panel(p, &s)
		}
		if k1 == p.K {
			w.finish(p, s.i0, s.i1, c0, c1)
		}
		w.yield((s.i1 - s.i0) * (c1 - c0) * t.k)
	}
}

// yieldWork is the number of multiply-adds after which a worker lets other goroutines run: about a
// millisecond with vector kernels.
const yieldWork = 1 << 26

// yield records that multiply-adds have been done and yields the processor now and then. With
// one processor, other goroutines wait until the runtime preempts this one by a signal, every 10
// ms; that costs some 50 µs because the signal arrives while a kernel runs, which cannot be
// preempted. With several processors, yielding would let another one take over this goroutine,
// away from its caches.
func (w *worker[T]) yield(work int) {
	if w.busy += work; w.busy < yieldWork {
		return
	}
	if w.busy = 0; runtime.GOMAXPROCS(0) == 1 {
		runtime.Gosched()
	}
}

// A stage is the block of rows and the panel being processed.
type stage[T Element] struct {
	i0, i1 int  // rows of the block
	first  bool // first block, which packs the panels
	k0     int
	a      *T  // A[i0,k0] or a copy of it
	aRow   int // elements from one row of the copy to the next; 0: not copied

	carries bool // tiles copy rows of the next block
	carried int  // number of rows copied so far

	panel, panels int
	j, c1         int // first column of the panel, and end of the last panel
	b             *T
	direct        bool // b points into B itself rather than to a packed panel

	row, rows int // range of rows of the next block not yet prefetched
}

// panel computes the tiles of a panel. In the first block, the panel's place in the
// buffer has to be filled from B, which the first tile does as it goes, if it can.
func (w *worker[T]) panel(p *product[T], s *stage[T]) {
	t, f := &w.t, w.f
	v, rows := f.variant(t.cols)
	by := cutRows(s.i1-s.i0, rows)

	fuse := false
	if s.first && !s.direct {
		most, _ := by.from(0)
		fuse = p.BCol == 1 && w.readB == nil && f.packRows > 0 && most >= f.packRows && v != narrow
		if !fuse {
			w.packPanel(p, s.b, s.j, s.k0)
		}
	}
	bRow := t.bRow
	t.b = s.b
	i := s.i0
	size := int(unsafe.Sizeof(p.Alpha))
	for n := 0; n < by.tiles; n += t.count {
		rows, alike := by.from(n)
		t.a = offset(s.a, (i-s.i0)*t.aRow)
		t.c = at(p.C, i*p.CRow+s.j)
		packs := fuse && n == 0
		if packs {
			alike = 1
		}
		t.count = f.together(alike, rows, t.k)
		w.ask(p, s, n, by.tiles, i, rows)
		switch {
		case packs:
			t.b, t.bRow, t.pack = at(p.B, s.k0*p.BRow+s.j), p.BRow*size, s.b
			f.tile(packing, rows, t)
			t.b, t.bRow = s.b, bRow
		case v == full && rows >= f.packRows && w.carry(p, s, by.tiles-n):
			f.tile(carrying, rows, t)
		default:
			f.tile(v, rows, t)
		}
		i += rows * t.count
	}
}

// carry reports whether each of the next tiles should copy a row of A for the next block, and sets
// up the copy; left is the number of tiles left in the panel. Copying within a tile is free, while
// a separate pass would wait for memory. Copying starts about as late as possible for all rows to
// find a tile.
func (w *worker[T]) carry(p *product[T], s *stage[T], left int) bool {
	t := &w.t
	n := s.rows - s.i1 - s.carried
	if !s.carries || n == 0 || left*((s.c1-s.j)/w.f.width) > 2*n {
		return false
	}
	i := s.i1 + s.carried
	t.carry, t.coming = at(p.A, i*p.ARow+s.k0), p.ARow*int(unsafe.Sizeof(p.Alpha))
	t.pack = &w.aNext[s.carried*s.aRow]
	t.count = min(t.count, n)
	s.carried += t.count
	return true
}

// ask chooses what the tiles of a panel prefetch while they are computed, from tile n on, so that it
// is in the second-level cache when it is needed. It lowers t.count to the number of tiles for which
// the choice holds. In order of preference, tiles prefetch:
//
//   - in the first panel, when A is not in a cache: the rows of A that the next tile reads, which
//     start at row i+rows;
//   - the next panel, which takes as many tiles as a row of it has lines, or the first panel again for
//     the next block. If the next panel is still to be packed, the last tiles prefetch it, from its
//     end, so that its start arrives last and is still there even if its rows map to a few cache sets
//     and evict each other;
//   - rows of the next block: those that its first tile reads if they were carried, otherwise one row
//     for each tile that has nothing else to prefetch, as late as possible for all of them.
func (w *worker[T]) ask(p *product[T], s *stage[T], n, tiles, i, rows int) {
	t, width := &w.t, w.f.width
	size := int(unsafe.Sizeof(p.Alpha))
	lines := width * size / line
	unpacked := s.first && !s.direct
	x := n // index of the cache line within a row of the next panel
	if unpacked {
		x -= tiles - lines
	}
	column := s.j + width + x*line/size
	next := 0 <= x && x < lines && column < s.c1
	last := s.panel == s.panels-1 && s.i1 < s.rows
	rowsOfB := p.BCol == 1 && w.readB == nil
	choose := func(first *T, step, toNext, tiles int) {
		t.ahead, t.aheadStep, t.aheadNext = first, step, toNext
		t.count = min(t.count, tiles)
	}
	switch {
	case s.panel == 0 && n < tiles-1 && s.carries && !s.first:
		choose(offset(s.a, (i+rows-s.i0)*t.aRow), line, rows*t.aRow, tiles-1-n)
	case s.panel == 0 && n < tiles-1 && s.aRow == 0 && p.ACol == 1 && s.first:
		choose(at(p.A, (i+rows)*p.ARow+s.k0), line, rows*t.aRow, tiles-1-n)
	case next && !s.first:
		holds := lines - x
		if s.carries { // nothing else to prefetch: the lines after those of one row belong to the next
			holds = tiles
		}
		choose(offset(s.b, t.k*width*size+x*line), width*size, line, holds)
	case next && unpacked && rowsOfB:
		choose(at(p.B, (s.k0+t.k-1)*p.BRow+column), -p.BRow*size, line, lines-x)
	case next && s.direct && rowsOfB:
		choose(at(p.B, s.k0*p.BRow+column), p.BRow*size, line, lines-x)
	case last && n < lines && !s.direct:
		choose(offset(&w.bBuf[0], n*line), width*size, line, lines-n)
	case last && n == tiles-1 && s.carried > 0:
		choose(&w.aNext[0], line, 0, 1)
	case !s.carries && s.row < s.rows && p.ACol == 1 && w.readA == nil &&
		(s.panels-s.panel)*max(1, tiles-lines) <= 2*(s.rows-s.i1):
		choose(at(p.A, s.row*p.ARow+s.k0), size, p.ARow*size, s.rows-s.row)
		s.row += t.count
	case unpacked && x < 0:
		choose(t.a, 0, 0, -x)
	case last:
		choose(t.a, 0, 0, max(1, tiles-1-n))
	default:
		choose(t.a, 0, 0, tiles)
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

// scale multiplies a range of C by Beta, which is all that a product with K = 0 does before the
// bias is added.
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

// finish does what follows the last step: it adds the bias, unless C started with it, and calls
// Then.
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
