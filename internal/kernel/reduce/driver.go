package reduce

import (
	"sync"
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/transpose"
	"github.com/tenonml/tenon/internal/par"
)

// A reducer reduces a run of S to a D by way of an accumulator A. The run is cut into blocks at
// fixed positions; each block is reduced to an accumulator, and these are merged in order. The
// result therefore depends neither on the number of workers nor on which of them took which block.
type reducer[S, A, D any] struct {
	block  func(x []S) A // x has at least one element
	merge  func(a, b A) A
	finish func(a A, n int) D // n is the number of elements reduced to a
	empty  D                  // result for no elements

	// columns returns a function that reduces columns in place, for use by one goroutine. It may be
	// nil: columns are then copied out one by one and passed to block.
	columns func() columns[S, A]

	// short is like columns, but reduces a few rows to the results themselves. It may be nil.
	short func() columns[S, D]
}

// columns reduces each of the len(acc) columns of a block of rows, stride elements apart.
type columns[S, A any] func(acc []A, x []S, rows, stride int)

const (
	blockSize   = 64 << 10 // elements of a block: one task for a worker
	fewColumns  = 64       // columns reduced together if inner > 1 and they are copied out
	manyColumns = 2048     // the same if they are reduced in place
	serialBelow = 32 << 10 // number of elements below which workers do not pay off
	shortRows   = 16       // rows that need no accumulators if they have at least as many columns
)

// cut returns the size of the blocks: chunk columns of rows elements each.
func (r *reducer[S, A, D]) cut(inner int) (chunk, rows int) {
	if inner > 1 && r.columns != nil {
		chunk = min(inner, manyColumns)
		return chunk, max(blockSize/chunk, 256) // not fewer, because merging is expensive
	}
	chunk = min(inner, fewColumns)
	return chunk, blockSize / chunk
}

// run reduces the middle dimension of x, which is [outer, n, inner] in
// row-major order, to dst, which is [outer, inner].
func (r *reducer[S, A, D]) run(dst []D, x []S, outer, n, inner int) {
	if outer == 0 || inner == 0 {
		return
	}
	dst = dst[:outer*inner]
	if n == 0 {
		for i := range dst {
			dst[i] = r.empty
		}
		return
	}
	x = x[:outer*n*inner]
	chunk, rows := r.cut(inner)
	chunks := (inner + chunk - 1) / chunk
	tasks := outer * chunks // each reduces a chunk of columns of one outer index
	blocks := (n + rows - 1) / rows
	switch perTask := n * chunk; {
	case len(x) <= serialBelow:
		r.tasks(dst, x, n, inner, 0, tasks)
	case tasks < 8 && blocks > 1:
		r.split(dst, x, outer, n, inner)
	default:
		par.For(tasks, max(1, serialBelow/perTask), func(lo, hi int) {
			r.tasks(dst, x, n, inner, lo, hi)
		})
	}
}

// tasks reduces the chunks [lo, hi) of columns.
func (r *reducer[S, A, D]) tasks(dst []D, x []S, n, inner, lo, hi int) {
	if inner == 1 {
		for o := lo; o < hi; o++ {
			dst[o] = r.finish(r.row(x[o*n:(o+1)*n]), n)
		}
		return
	}
	chunk, rows := r.cut(inner)
	chunks := (inner + chunk - 1) / chunk
	if r.short != nil && n <= shortRows && inner >= shortRows {
		for reduce := r.short(); lo < hi; lo++ {
			o, first := lo/chunks, lo%chunks*chunk
			reduce(dst[o*inner+first:][:min(chunk, inner-first)], x[o*n*inner+first:], n, inner)
		}
		return
	}
	var local [2 * fewColumns]A
	buf := local[:]
	if chunk > fewColumns {
		buf = make([]A, 2*chunk)
	}
	sum, next := buf[:chunk], buf[chunk:]
	block := r.blockColumns()
	for t := lo; t < hi; t++ {
		o, first := t/chunks, t%chunks*chunk
		width := min(chunk, inner-first)
		for i := 0; i < n; i += rows {
			m := min(rows, n-i)
			at := x[(o*n+i)*inner+first:]
			if i == 0 {
				block(sum[:width], at, m, inner)
				continue
			}
			block(next[:width], at, m, inner)
			for j := range width {
				sum[j] = r.merge(sum[j], next[j])
			}
		}
		for j := range width {
			dst[o*inner+first+j] = r.finish(sum[j], n)
		}
	}
}

// row reduces a contiguous run.
func (r *reducer[S, A, D]) row(x []S) A {
	a := r.block(x[:min(blockSize, len(x))])
	for i := blockSize; i < len(x); i += blockSize {
		a = r.merge(a, r.block(x[i:min(i+blockSize, len(x))]))
	}
	return a
}

// split distributes single blocks to the workers, for few but long runs.
func (r *reducer[S, A, D]) split(dst []D, x []S, outer, n, inner int) {
	chunk, rows := r.cut(inner)
	blocks := (n + rows - 1) / rows
	chunks := (inner + chunk - 1) / chunk
	accs := make([]A, outer*blocks*inner) // [outer, blocks, inner]
	par.For(outer*blocks*chunks, 1, func(lo, hi int) {
		block := r.blockColumns()
		for t := lo; t < hi; t++ {
			first := t % chunks * chunk
			ob := t / chunks
			o, i := ob/blocks, ob%blocks*rows
			m := min(rows, n-i)
			at := x[(o*n+i)*inner+first:]
			acc := accs[ob*inner+first:][:min(chunk, inner-first)]
			if inner == 1 {
				acc[0] = r.block(at[:m])
			} else {
				block(acc, at, m, inner)
			}
		}
	})
	for o := range outer {
		acc := accs[o*blocks*inner:][:blocks*inner]
		for j := range inner {
			a := acc[j]
			for b := 1; b < blocks; b++ {
				a = r.merge(a, acc[b*inner+j])
			}
			dst[o*inner+j] = r.finish(a, n)
		}
	}
}

// blockColumns returns a function that reduces the columns of a block of rows, for use by one
// goroutine.
func (r *reducer[S, A, D]) blockColumns() columns[S, A] {
	if r.columns == nil {
		return r.copyColumns
	}
	const enough = 256 // columns to keep a call busy
	reduce := r.columns()
	return func(acc []A, x []S, rows, stride int) {
		width := len(acc)
		group := enough / width
		if group < 2 || width != stride || rows < 2*group {
			reduce(acc, x, rows, stride)
			return
		}
		// Several rows side by side count as one row with more columns.
		wide := make([]A, group*width)
		reduce(wide, x, rows/group, group*width)
		if done := rows / group * group; done < rows {
			reduce(acc, x[done*width:], rows-done, width)
		} else {
			copy(acc, wide)
			wide = wide[width:]
		}
		for ; len(wide) > 0; wide = wide[width:] {
			for j, a := range wide[:width] {
				acc[j] = r.merge(acc[j], a)
			}
		}
	}
}

// copyColumns transposes the columns, some rows at a time, and reduces them one by one. There are
// at most fewColumns.
func (r *reducer[S, A, D]) copyColumns(acc []A, x []S, rows, stride int) {
	const run = 256
	s := columnScratches.Get().(*columnScratch)
	buf := view[S](unsafe.Pointer(s), unsafe.Sizeof(*s))
	for first := 0; first < rows; first += run {
		m := min(run, rows-first)
		transpose.Matrix(buf, x[first*stride:], m, len(acc), run, stride)
		for j := range acc {
			if a := r.block(buf[j*run:][:m]); first == 0 {
				acc[j] = a
			} else {
				acc[j] = r.merge(acc[j], a)
			}
		}
	}
	columnScratches.Put(s)
}

// A columnScratch holds fewColumns columns of 256 elements of up to 16 bytes.
type columnScratch [2 * fewColumns * 256]uint64

var columnScratches = sync.Pool{New: func() any { return new(columnScratch) }}

// A scratch holds the part of a row that has been converted to float32 for a kernel.
type scratch [2048]uint64

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// view returns size bytes at p as elements of type T, which must hold no pointers.
func view[T any](p unsafe.Pointer, size uintptr) []T {
	var t T
	return unsafe.Slice((*T)(p), size/unsafe.Sizeof(t))
}
