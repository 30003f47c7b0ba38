package gemm

import "unsafe"

// conflicts reports whether rows that are stride bytes apart fall into the same few
// sets of a first-level cache, whose sets repeat every 4 KiB, so that a tile's rows
// would evict each other: consecutive rows are then less than a line apart, modulo
// half of that.
func conflicts(stride int) bool {
	const period, least = 2048, 48
	d := stride % period
	return min(d, period-d) < least
}

// rowOfCopies returns how many elements apart rows of A are that the tiles find in copies: where
// rows would evict each other or have to be converted. With 0, the tiles find them in A.
func (w *worker[T]) rowOfCopies(p *product[T], rows, panels int) int {
	size := int(unsafe.Sizeof(p.Alpha))
	conflict := p.ACol == 1 && p.ARow >= p.K && conflicts(p.ARow*size) && rows > 6 && panels > 2
	if !conflict && w.readA == nil {
		return 0
	}
	row := (w.t.k + line/size - 1) / (line / size) * (line / size)
	for conflicts(row * size) {
		row += line / size
	}
	return row
}

// operandA sets where the tiles find the stage's rows of A, and the tile's strides. Rows that
// tiles of the block before carried are copied already.
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
	for i := s.i0 + s.carried; i < s.i1; i++ {
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

// packColumns fills a panel from a matrix of some rows (steps) and columns, whose element
// [k,i] is b[k*row+i*col].
func (f *family[T]) packColumns(dst, b []T, steps, cols, row, col int) {
	width := f.width
	switch {
	case col == 1:
		for k := range steps {
			copy(dst[k*width:][:cols], b[k*row:])
		}
	case row == 1 && f.transpose != nil && cols >= f.lanes && steps >= f.lanes:
		f.packTransposed(dst, b, steps, cols, col)
	default:
		for k := range steps {
			for i := range cols {
				dst[k*width+i] = b[k*row+i*col]
			}
		}
	}
}

// packTransposed fills a panel from rows of b that are its columns, in blocks; where they
// do not come out even, the last ones overlap with those before.
func (f *family[T]) packTransposed(dst, b []T, steps, cols, row int) {
	size, n := int(unsafe.Sizeof(*new(T))), f.lanes
	blocks := steps / n
	for i := 0; i < cols; i += n {
		i := min(i, cols-n)
		f.transposeBlocks(blocks, b[i*row:], row*size, dst[i:], f.width*size)
		if rest := steps - n; rest > (blocks-1)*n {
			f.transposeBlocks(1, b[i*row+rest:], row*size, dst[rest*f.width+i:], f.width*size)
		}
	}
}

// transposeBlocks is an ordinary function around the kernel, in whose prologue a
// goroutine can be stopped.
//
//go:noinline
func (f *family[T]) transposeBlocks(blocks int, src []T, srcRow int, dst []T, dstRow int) {
	f.transpose(blocks, &src[0], srcRow, &dst[0], dstRow)
}
