package interp

import (
	"unsafe"

	"github.com/tenonml/tenon/tensor"
)

// minPiece is the number of elements from which pieces of an operand are copied block by block.
const minPiece = 64

// piecesOf returns the number of consecutive elements that a view consists of pieces of, and the distance
// from one piece to the next, which is the same for all. It returns 0 if there are none.
func piecesOf(d *tensor.Dense) (row, gap int) {
	var room [8]int
	strides := d.AppendStrides(room[:0])
	row, next := 1, 0
	for a := d.Rank() - 1; a >= 0; a-- {
		switch n := d.Dim(a); {
		case n == 1:
		case gap == 0 && strides[a] == row:
			row *= n
		case gap == 0 && strides[a] > row:
			gap, next = strides[a], strides[a]*n
		case gap > 0 && strides[a] == next:
			next *= n
		default:
			return 0, 0
		}
	}
	return row, gap
}

// copy copies the part of an operand with gaps that a block reads.
func (f *form) copy(to unsafe.Pointer, p *part) {
	for v, end := p.value, p.value+p.values; v < end; {
		col := v % f.row
		m := min(f.row-col, end-v)
		from := unsafe.Add(f.base, (v/f.row*f.gap+col)*f.size)
		copy(unsafe.Slice((*byte)(to), m*f.size), unsafe.Slice((*byte)(from), m*f.size))
		to, v = unsafe.Add(to, m*f.size), v+m
	}
}
