package gemm

import "unsafe"

// tile describes a few rows and columns of C over one block of K for a tile kernel. The assembly
// relies on the offsets of the fields; strides are in bytes.
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
	pack  *T  // where the packing variant copies B, with rows of a full tile's width; see also carry
	readC int // 1: add beta*C; 0: C is only written; 2: past the cache, if the variant is full

	// Each step prefetches one line starting from ahead, and the lines are aheadStep bytes
	// apart, so that the operands of later tiles arrive while this one is computed. ahead is
	// not dereferenced. With a step of 0 only the line at ahead is prefetched.
	ahead     *T
	aheadStep int

	// For the exponential kernels: the 16 sums of each row that they add to, and the table.
	sums, table *T

	scaled int // 0: alpha is 1

	// A call of an assembly kernel computes count tiles, one below the other, and counts them in
	// done. ahead advances by aheadNext bytes from one tile to the next.
	count, done, aheadNext int

	// The first tile of the carrying variant copies k consecutive elements from carry to pack. For
	// each further tile, the source advances by coming bytes and the destination by aRow bytes.
	// Each tile prefetches the elements that the next one copies.
	carry  *T
	coming int

	// The columns of A are in runs of k, and leap bytes lie between the end of one and the next.
	// Only tiles that neither pack, carry nor raise powers take several; 0 runs are 1.
	runs, leap int

	alpha T
	beta  T
}

// The offsets used by the generator, checked at compile time.
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
	_ = -(unsafe.Offsetof(tile[float64]{}.runs) ^ 168)
	_ = -(unsafe.Offsetof(tile[float64]{}.alpha) ^ 184)
	_ = -(unsafe.Offsetof(tile[float64]{}.beta) ^ 192)
	_ = -(unsafe.Offsetof(tile[float32]{}.beta) ^ 188)
)

// variant is one form of the tile kernel.
type variant uint8

const (
	full       variant = iota // all columns of the tile
	edge                      // tile.cols columns
	narrow                    // tile.cols columns, at most half the width
	packing                   // like edge, and B is copied to tile.pack
	carrying                  // like full, and a row of A for the next block is copied to tile.pack
	powers                    // like full, and C gets two to the power of the product
	powersEdge                // like powers, for tile.cols columns
	variants
)

// variant returns the kernel variant for a number of columns, and its largest number of rows.
func (f *family[T]) variant(cols int) (v variant, rows int) {
	switch {
	case cols <= f.width/2:
		return narrow, f.narrowRows
	case cols < f.width:
		return edge, f.rows
	}
	return full, f.rows
}

// cut is a division of rows into tiles: all have least rows, and the first more of them have one
// more.
type cut struct{ tiles, least, more int }

// cutRows divides rows into tiles of at most most rows.
func cutRows(rows, most int) cut {
	n := (rows + most - 1) / most
	return cut{n, rows / n, rows % n}
}

// from returns the number of rows of tile i, and how many consecutive tiles from i on have that
// many.
func (c cut) from(i int) (rows, alike int) {
	if i < c.more {
		return c.least + 1, c.more - i
	}
	return c.least, c.tiles - i
}

// together returns how many of the given number of tiles, each of rows rows and k steps, one call
// computes.
func (f *family[T]) together(tiles, rows, k int) int {
	if f.tiles == nil {
		return 1
	}
	return max(1, min(tiles, callWork/(rows*f.width*k)))
}

// offset returns the pointer n bytes after p. The result must point into the same slice: the
// garbage collector examines pointer variables, and crashes the program on one that points past the
// end of its memory.
func offset[T Element](p *T, n int) *T { return (*T)(unsafe.Add(unsafe.Pointer(p), n)) }

// at returns a pointer to element i of s, where i is less than the capacity of s.
func at[T Element](s []T, i int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), i*int(unsafe.Sizeof(*new(T)))))
}
