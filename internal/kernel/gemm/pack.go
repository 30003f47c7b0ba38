package gemm

import "unsafe"

// conflicts reports whether rows that are stride bytes apart fall into the same few sets of a
// first-level cache, so that the rows of a tile would evict each other. The sets repeat every 4
// KiB; rows conflict if they are less than a cache line apart modulo half of that.
func conflicts(stride int) bool {
	const period, least = 2048, 48
	d := stride % period
	return min(d, period-d) < least
}

// rowOfCopies returns the distance in elements between the copied rows of A, or 0 if tiles read A
// itself. Rows are copied if they would evict each other, must be converted, or are columns that
// are far apart in memory.
func (w *worker[T]) rowOfCopies(p *product[T], rows, panels int) int {
	size := int(unsafe.Sizeof(p.Alpha))
	conflict := p.ACol == 1 && p.ARow >= p.K && conflicts(p.ARow*size) && rows > 6 && panels > 2
	turned := w.turnsA(p) && rows >= w.f.lanes && w.t.k >= w.f.lanes && panels > 2
	if !conflict && !turned && w.readA == nil {
		return 0
	}
	row := (w.t.k + line/size - 1) / (line / size) * (line / size)
	for conflicts(row * size) {
		row += line / size
	}
	return row
}

// farApart is the distance in bytes from which consecutive columns of A are too far apart for tiles
// to read A itself, since each step of a tile reads the start of another line.
const farApart = 1536

// turnsA reports whether copies of A's rows are made from consecutive columns.
func (w *worker[T]) turnsA(p *product[T]) bool {
	return p.ARow == 1 && p.ACol*int(unsafe.Sizeof(p.Alpha)) >= farApart && w.readA == nil && w.f.transpose != nil
}

// operandA sets the address of the stage's rows of A, and the strides of the tile. It copies the
// rows that the tiles of the preceding block have not carried.
func (w *worker[T]) operandA(p *product[T], s *stage[T]) {
	t := &w.t
	size := int(unsafe.Sizeof(p.Alpha))
	if s.aRow == 0 {
		t.aRow, t.aCol = p.ARow*size, p.ACol*size
		s.a = at(p.A, s.i0*p.ARow+s.k0*p.ACol)
		return
	}
	if s.carried > 0 {
		w.aBuf, w.aNext = w.aNext, w.aBuf
	}
	turned := w.turnsA(p)
	if turned {
		w.f.transposed(w.aBuf, p.A[s.i0+s.k0*p.ACol:], s.i1-s.i0, t.k, p.ACol, s.aRow)
	}
	for i := s.i0 + s.carried; i < s.i1 && !turned; i++ {
		dst := w.aBuf[(i-s.i0)*s.aRow:][:t.k]
		from := i*p.ARow + s.k0*p.ACol
		if w.readA != nil {
			w.readA(dst, p.aFrom+from, p.ACol)
		} else {
			copy(dst, p.A[from:])
		}
	}
	t.aRow, t.aCol = s.aRow*size, size
	s.a, s.carried = &w.aBuf[0], 0
}

// packPanel fills a panel: dst[k*width+i] = B[k0+k, j+i].
func (w *worker[T]) packPanel(p *product[T], first *T, j, k0 int) {
	t, f := &w.t, w.f
	width, cols, steps := f.width, t.cols, t.k
	dst := unsafe.Slice(first, steps*width)
	from := k0*p.BRow + j*p.BCol
	switch {
	case w.readB != nil && p.BCol == 1:
		from += p.bFrom
		for k := range steps {
			w.readB(dst[k*width:][:cols], from+k*p.BRow, 1)
		}
	case w.readB != nil:
		from += p.bFrom
		col := sized(&w.vec, steps)
		for i := range cols {
			w.readB(col, from+i*p.BCol, p.BRow)
			for k, v := range col {
				dst[k*width+i] = v
			}
		}
	default:
		f.packColumns(dst, p.B[from:], steps, cols, p.BRow, p.BCol)
	}
}

// packColumns fills a panel from a matrix of steps rows and cols columns, whose element [k,i] is
// b[k*row+i*col].
func (f *family[T]) packColumns(dst, b []T, steps, cols, row, col int) {
	width := f.width
	switch {
	case col == 1:
		for k := range steps {
			copy(dst[k*width:][:cols], b[k*row:])
		}
	case row == 1 && f.transpose != nil:
		f.transposed(dst, b, steps, cols, col, width)
	default:
		for k := range steps {
			for i := range cols {
				dst[k*width+i] = b[k*row+i*col]
			}
		}
	}
}

// transposed sets dst[k*to+i] to b[i*row+k] for k < steps and i < cols, in square blocks. The last
// blocks overlap the preceding ones if the sizes are not multiples of a block.
func (f *family[T]) transposed(dst, b []T, steps, cols, row, to int) {
	size, n := int(unsafe.Sizeof(*new(T))), f.lanes
	if steps < n || cols < n {
		for k := range steps {
			for i := range cols {
				dst[k*to+i] = b[i*row+k]
			}
		}
		return
	}
	blocks := steps / n
	for i := 0; i < cols; i += n {
		i := min(i, cols-n)
		f.transposeBlocks(blocks, b[i*row:], row*size, dst[i:], to*size)
		if rest := steps - n; rest > (blocks-1)*n {
			f.transposeBlocks(1, b[i*row+rest:], row*size, dst[rest*to+i:], to*size)
		}
	}
}

// transposeBlocks is an ordinary function around the kernel, so that the goroutine can be preempted
// in its prologue.
//
//go:noinline
func (f *family[T]) transposeBlocks(blocks int, src []T, srcRow int, dst []T, dstRow int) {
	f.transpose(blocks, &src[0], srcRow, &dst[0], dstRow)
}
