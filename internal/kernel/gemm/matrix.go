package gemm

import "unsafe"

// Block sizes, measured on Zen 4. A block of kc steps is long enough that reading and
// writing C between blocks costs little; a panel of B (kc rows of a tile's width,
// 128 KiB) and mc rows of A (340 KiB) share the second-level cache, and nc columns of
// B (4 MiB) stay in the third.
const (
	kcBytes = 4096
	mc      = 84
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
	t.k = k1 - k0
	t.alpha, t.beta, t.readC = p.Alpha, 1, 1
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
		w.bBuf = sized(&w.bBuf, panels*f.width*t.k)
	}
	rowBlocks := (r1 - r0 + mc - 1) / mc
	for rb := range rowBlocks {
		i0, i1 := r0+rb*(r1-r0)/rowBlocks, r0+(rb+1)*(r1-r0)/rowBlocks
		if k0 == 0 && fromBias {
			w.writeBias(p, i0, i1, c0, c1)
		}
		a := w.operandA(p, i0, i1, k0, panels)
		for panel := range panels {
			j := c0 + panel*f.width
			t.cols = min(f.width, c1-j)
			var b *T
			mustPack := false
			if direct {
				b = at(p.B, k0*p.BRow+j)
			} else {
				b = &w.bBuf[panel*f.width*t.k]
				mustPack = rb == 0
			}
			ahead := 0
			switch {
			case panel == 0 && t.aCol == size && w.readA == nil && a == at(p.A, i0*p.ARow+k0*p.ACol):
				ahead = r1
			case panel == 0 && t.aCol == size:
				ahead = i1
			}
			w.panel(p, i0, i1, j, k0, ahead, a, b, mustPack)
		}
		if k1 == p.K {
			w.finish(p, i0, i1, c0, c1)
		}
	}
}

// panel computes rows i0 to i1 of the tiles at column j. Where mustPack is set, b is
// the panel's place in the buffer and has to be filled from B. Each tile asks for the
// rows of A that the next one reads, as far as they are before row ahead: the first panel
// finds them outside of the caches, perhaps.
func (w *worker[T]) panel(p *product[T], i0, i1, j, k0, ahead int, a *T, b *T, mustPack bool) {
	t, f := &w.t, w.f
	v, rows := f.variant(t.cols)
	tiles := (i1 - i0 + rows - 1) / rows
	least, more := (i1-i0)/tiles, (i1-i0)%tiles // the first tiles have one row more

	fuse := false
	if mustPack {
		most := least + boolToInt(more > 0)
		fuse = p.BCol == 1 && w.readB == nil && f.packRows > 0 && most >= f.packRows && v != narrow
		if !fuse {
			w.packPanel(p, b, j, k0)
		}
	}
	bRow := t.bRow
	t.b = b
	i := i0
	size := int(unsafe.Sizeof(p.Alpha))
	for n := range tiles {
		rows := least + boolToInt(n < more)
		t.a = offset(a, (i-i0)*t.aRow)
		t.ahead, t.aheadStep = t.a, 0
		if next := i + rows; next < ahead {
			t.ahead, t.aheadStep = offset(a, (next-i0)*t.aRow), line
		}
		t.c = at(p.C, i*p.CRow+j)
		if fuse && n == 0 {
			t.b, t.bRow, t.pack = at(p.B, k0*p.BRow+j), p.BRow*size, b
			f.tile(packing, rows, t)
			t.b, t.bRow = b, bRow
		} else {
			f.tile(v, rows, t)
		}
		i += rows
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
