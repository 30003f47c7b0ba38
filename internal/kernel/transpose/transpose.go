package transpose

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

const (
	block       = 64       // side length of the blocks that are transposed one after the other
	serialBelow = 32 << 10 // number of elements below which workers do not pay off
	pastCache   = 16 << 20 // size of a result in bytes from which stores are non-temporal
)

// Matrix sets dst[c*dstStride+r] to src[r*srcStride+c] for all r < rows and c < cols. Strides are
// in elements, at least rows for dst and cols for src. dst and src must not overlap. Blocks are
// divided among the workers of package par.
//
// T must not contain pointers.
func Matrix[T any](dst, src []T, rows, cols, dstStride, srcStride int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	// Access the last elements first, so that everything below is in bounds.
	_, _ = dst[(cols-1)*dstStride+rows-1], src[(rows-1)*srcStride+cols-1]
	var t T
	Untyped(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), int(unsafe.Sizeof(t)), rows, cols, dstStride, srcStride)
}

// Untyped is [Matrix] for elements of size bytes: 1, 2, 4, 8 or 16.
func Untyped(dst, src unsafe.Pointer, size, rows, cols, dstStride, srcStride int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	switch size {
	case 1:
		run[uint8](dst, src, rows, cols, dstStride, srcStride)
	case 2:
		run[uint16](dst, src, rows, cols, dstStride, srcStride)
	case 4:
		run[uint32](dst, src, rows, cols, dstStride, srcStride)
	case 8:
		run[uint64](dst, src, rows, cols, dstStride, srcStride)
	case 16:
		run[[2]uint64](dst, src, rows, cols, dstStride, srcStride)
	}
}

// matrix describes the source and destination of a transposition.
type matrix[T any] struct {
	dst, src             unsafe.Pointer
	rows, cols           int
	dstStride, srcStride int
	stream               bool // with non-temporal stores
}

func run[T any](dst, src unsafe.Pointer, rows, cols, dstStride, srcStride int) {
	m := matrix[T]{dst, src, rows, cols, dstStride, srcStride, false}
	var t T
	size := int(unsafe.Sizeof(t))
	m.stream = rows*cols*size >= pastCache && uintptr(dst)%64 == 0 && dstStride*size%64 == 0
	if rows*cols <= serialBelow {
		m.strip(0, cols)
		return
	}
	// A task is a strip of columns of src, which is a strip of rows of dst.
	strips := (cols + block - 1) / block
	if strips >= 4 {
		par.For(strips, max(1, serialBelow/(rows*block)), func(lo, hi int) { m.strip(lo*block, min(hi*block, cols)) })
		return
	}
	tall := max(block, serialBelow/cols/block*block)
	par.For((rows+tall-1)/tall, 1, func(lo, hi int) {
		part := m
		part.src = m.source(lo*tall, 0)
		part.dst = m.target(lo*tall, 0)
		part.rows = min(hi*tall, rows) - lo*tall
		part.strip(0, cols)
	})
}

// source and target return the addresses at which element (r, c) is read and written.
func (m *matrix[T]) source(r, c int) unsafe.Pointer {
	var t T
	return unsafe.Add(m.src, (r*m.srcStride+c)*int(unsafe.Sizeof(t)))
}

func (m *matrix[T]) target(r, c int) unsafe.Pointer {
	var t T
	return unsafe.Add(m.dst, (c*m.dstStride+r)*int(unsafe.Sizeof(t)))
}

// strip transposes the columns [lo, hi), block by block.
func (m *matrix[T]) strip(lo, hi int) {
	for c := lo; c < hi; c += block {
		for r := 0; r < m.rows; r += block {
			m.block(r, min(r+block, m.rows), c, min(c+block, hi))
		}
	}
}

// block transposes one block: whole tiles in registers, the rest element by element.
func (m *matrix[T]) block(r0, r1, c0, c1 int) {
	var t T
	side, tiles := tilesOf(int(unsafe.Sizeof(t)), m.stream)
	if tiles == nil {
		m.plain(r0, r1, c0, c1)
		return
	}
	size := int(unsafe.Sizeof(t))
	count := (c1 - c0) / side
	r := r0
	for ; r+side <= r1 && count > 0; r += side {
		tiles((*byte)(m.target(r, c0)), (*byte)(m.source(r, c0)), count, m.dstStride*size, m.srcStride*size)
	}
	m.plain(r, r1, c0, c0+count*side)
	m.plain(r0, r1, c0+count*side, c1)
}

// plain transposes element by element, writing in order.
func (m *matrix[T]) plain(r0, r1, c0, c1 int) {
	if r0 >= r1 {
		return
	}
	for c := c0; c < c1; c++ {
		to := unsafe.Slice((*T)(m.target(r0, c)), r1-r0)
		from := unsafe.Slice((*T)(m.source(r0, c)), (r1-r0-1)*m.srcStride+1)
		for i := range to {
			to[i] = from[i*m.srcStride]
		}
	}
}
