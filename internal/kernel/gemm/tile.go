package gemm

import "unsafe"

// tile is what a tile kernel computes: a few rows and columns of C over one block
// of K. The assembly knows the fields' offsets; strides are in bytes.
type tile[T Element] struct {
	k     int
	a     *T
	aRow  int
	aCol  int
	b     *T
	bRow  int
	c     *T
	cRow  int
	cols  int
	pack  *T  // where the packing variant copies B, a full tile's width for each row; see also carry
	readC int // 1: add beta*C; 0: C is only written

	// Each step asks for one line from here on, aheadStep bytes apart, so that the operands of
	// later tiles are on their way while these are worked on. It is not dereferenced. With a
	// step of 0 nothing is asked for that is not there.
	ahead     *T
	aheadStep int

	// For the exponential kernels: 16 sums for each row, to which they add, and the table.
	sums, table *T

	scaled int // 0: alpha is 1

	// A call of an assembly kernel computes count tiles, one below the other; it counts them in
	// done. What the next one asks for is aheadNext bytes on.
	count, done, aheadNext int

	// The first tile of the carrying variant copies k consecutive elements from carry to pack, the
	// next one what lies coming bytes further on to aRow bytes behind, and so on. Each asks for the
	// elements that come after its own.
	carry  *T
	coming int

	alpha T
	beta  T
}

// The generator's offsets, compared when this package is compiled.
const (
	_ = -(unsafe.Offsetof(tile[float64]{}.aRow) ^ 16)
	_ = -(unsafe.Offsetof(tile[float64]{}.b) ^ 32)
	_ = -(unsafe.Offsetof(tile[float64]{}.c) ^ 48)
	_ = -(unsafe.Offsetof(tile[float64]{}.cols) ^ 64)
	_ = -(unsafe.Offsetof(tile[float64]{}.readC) ^ 80)
	_ = -(unsafe.Offsetof(tile[float64]{}.ahead) ^ 88)
	_ = -(unsafe.Offsetof(tile[float64]{}.sums) ^ 104)
	_ = -(unsafe.Offsetof(tile[float64]{}.scaled) ^ 120)
	_ = -(unsafe.Offsetof(tile[float64]{}.count) ^ 128)
	_ = -(unsafe.Offsetof(tile[float64]{}.carry) ^ 152)
	_ = -(unsafe.Offsetof(tile[float64]{}.alpha) ^ 168)
	_ = -(unsafe.Offsetof(tile[float64]{}.beta) ^ 176)
	_ = -(unsafe.Offsetof(tile[float32]{}.beta) ^ 172)
)

// variant is one form of the tile kernel.
type variant uint8

const (
	full       variant = iota // all columns of the tile
	edge                      // tile.cols columns
	narrow                    // tile.cols columns, at most half the width
	packing                   // like edge, and B is copied to tile.pack
	carrying                  // like full, and a row of what will be A is copied to tile.pack
	powers                    // like full, and C gets 2 to the power of the product
	powersEdge                // the same for tile.cols columns
	variants
)

// variant returns the form of the kernel for a number of columns, and its most rows.
func (f *family[T]) variant(cols int) (v variant, rows int) {
	switch {
	case cols <= f.width/2:
		return narrow, f.narrowRows
	case cols < f.width:
		return edge, f.rows
	}
	return full, f.rows
}

// cut is how rows are divided into tiles: the first more of them have one row more than least.
type cut struct{ tiles, least, more int }

// cutRows divides rows into tiles of at most so many.
func cutRows(rows, most int) cut {
	n := (rows + most - 1) / most
	return cut{n, rows / n, rows % n}
}

// from returns the rows of tile i, and how many tiles from there on have as many.
func (c cut) from(i int) (rows, alike int) {
	if i < c.more {
		return c.least + 1, c.more - i
	}
	return c.least, c.tiles - i
}

// together returns how many of some tiles with so many rows, over k steps, one call computes.
func (f *family[T]) together(tiles, rows, k int) int {
	if f.tiles == nil {
		return 1
	}
	return max(1, min(tiles, callWork/(rows*f.width*k)))
}

// offset returns the pointer n bytes behind p. The result has to point into the same
// slice: the collector looks at pointers in variables, and stops the program at one
// that points behind the end of its memory.
func offset[T Element](p *T, n int) *T { return (*T)(unsafe.Add(unsafe.Pointer(p), n)) }

// at returns the pointer to element i of s, which lies within its capacity.
func at[T Element](s []T, i int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), i*int(unsafe.Sizeof(*new(T)))))
}
