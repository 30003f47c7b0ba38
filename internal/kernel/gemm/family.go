package gemm

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/cpu"
)

// family is one implementation of the kernels for one element type. Strides passed to its functions
// are in bytes.
//
// Assembly cannot be preempted, and a Go loop that does little but call assembly hardly ever is:
// the garbage collector would wait for seconds. The functions are therefore called through the
// methods below, which are ordinary Go functions that are not inlined and perform at most callWork
// multiply-adds per call, unless a single tile takes more.
type family[T Element] struct {
	width      int // columns of a tile
	rows       int // largest number of rows of a tile
	narrowRows int // the same for the narrow variant
	packRows   int // smallest number of rows of the packing variant; 0: there is none

	tiles *kernelTable // nil: plain Go

	// y[0:n] += x[i] b[i,0:n] for 1 or 8 rows i
	axpy1, axpy8 func(n int, x, b *T, stride int, y *T)
	lanes        int // numbers in a vector of the kernels that follow

	// out[i] = x[0:n] . a[i,0:n] for as many rows i as one or two vectors hold, summed in the order
	// of the columns; n is a multiple of lanes
	dot1, dot2 func(n int, x, a *T, stride int, out *T)

	// transpose sets dst[j,i] = src[i,j] for i < lanes and j < blocks*lanes.
	transpose func(blocks int, src *T, srcRow int, dst *T, dstRow int)
}

// A kernelTable holds tile kernels by variant and number of rows.
type kernelTable [variants][15]func(*byte)

// plain returns the family in plain Go.
func plain[T Element]() *family[T] {
	return &family[T]{
		width: plainWidth, rows: plainRows, narrowRows: plainRows,
		axpy1: plainAxpy[T],
		dot1:  plainDot[T], lanes: plainLanes,
	}
}

// A kernelSet holds the kernels for one instruction set.
type kernelSet struct {
	f32 *family[float32]
	f64 *family[float64]

	// f16 and bf16 convert 8*n numbers to float32; nil if there is no kernel.
	f16, bf16 func(n int, dst *float32, x *uint16)
}

var table = cpu.NewTable(kernelSet{f32: plain[float32](), f64: plain[float64]()})

// familyOf returns the family for T that this process uses.
func familyOf[T Element]() *family[T] {
	var f any
	switch any(*new(T)).(type) {
	case float32:
		f = table.Now().f32
	case float64:
		f = table.Now().f64
	default:
		return plain[T]()
	}
	return f.(*family[T])
}

// tile computes the tile t, which has 1 to f.rows rows, or t.count such tiles in assembly.
//
//go:noinline
func (f *family[T]) tile(v variant, rows int, t *tile[T]) {
	if f.tiles == nil {
		plainTile(rows, t)
		return
	}
	t.done = 0
	f.tiles[v][rows]((*byte)(unsafe.Pointer(t)))
}

// axpy computes y[j] += sum_i x[i] b[i,j], where the rows of b are stride bytes apart. Additions to
// an element are made in the order of the rows.
//
//go:noinline
func (f *family[T]) axpy(x []T, b *T, stride int, y []T) {
	i := 0
	if f.axpy8 != nil {
		for ; i+8 <= len(x); i += 8 {
			f.axpy8(len(y), &x[i], offset(b, i*stride), stride, &y[0])
		}
	}
	for ; i < len(x); i++ {
		f.axpy1(len(y), &x[i], offset(b, i*stride), stride, &y[0])
	}
}
