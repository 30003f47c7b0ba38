package gather

import "sync/atomic"

// Rows copies row idx[i] of src to row i of out: out has len(idx)*width elements,
// src a multiple of width.
func Rows[T any, I Index](out, src []T, idx []I, width int) error {
	if width == 0 || len(idx) == 0 {
		return nil
	}
	if width == 1 {
		return elements(out, src, idx)
	}
	if err := Check(idx, int64(len(src)/width)); err != nil {
		return err
	}
	if rowsVectorised(out, src, idx, width) {
		return nil
	}
	eachChunk(len(idx), width, func(lo, hi int) {
		copyRows(out[lo*width:hi*width], src, idx[lo:hi], width)
	})
	return nil
}

func copyRows[T any, I Index](out, src []T, idx []I, width int) {
	for _, at := range idx {
		copy(out[:width], src[int(at)*width:])
		out = out[width:]
	}
}

// elements is [Rows] of one element each. It checks the indices as it goes.
func elements[T any, I Index](out, src []T, idx []I) error {
	out = out[:len(idx)]
	var bad atomic.Bool
	eachChunk(len(idx), 1, func(lo, hi int) {
		to := out[lo:hi]
		for i, at := range idx[lo:hi] {
			if uint64(at) >= uint64(len(src)) {
				bad.Store(true)
				return
			}
			to[i] = src[at]
		}
	})
	if bad.Load() {
		return Check(idx, int64(len(src)))
	}
	return nil
}

// RowsOr is [Rows] for indices that may be out of range: such a row is filled with the given value.
// Masked gathers use it.
func RowsOr[T any, I Index](out, src []T, idx []I, width int, fill T) {
	rows := 0
	if width > 0 {
		rows = len(src) / width
	}
	eachChunk(len(idx), width, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			o := out[i*width : (i+1)*width]
			if at := int64(idx[i]); at >= 0 && at < int64(rows) {
				copy(o, src[int(at)*width:])
				continue
			}
			for j := range o {
				o[j] = fill
			}
		}
	})
}

// AlongAxis picks one element for each element of idx: with src of shape
// [outer, n, inner] and idx and out of shape [outer, m, inner],
// out[o, i, j] = src[o, idx[o, i, j], j].
func AlongAxis[T any, I Index](out, src []T, idx []I, outer, n, m, inner int) error {
	if outer*m*inner == 0 {
		return nil
	}
	if err := Check(idx[:outer*m*inner], int64(n)); err != nil {
		return err
	}
	eachChunk(outer*m, inner, func(lo, hi int) {
		for q := lo; q < hi; q++ {
			block := src[q/m*n*inner : (q/m+1)*n*inner]
			at := idx[q*inner : (q+1)*inner]
			o := out[q*inner : (q+1)*inner]
			for j, k := range at {
				o[j] = block[int(k)*inner+j]
			}
		}
	})
	return nil
}

// Flatten turns index tuples into flat row numbers: tuple i is
// idx[i*len(dims):(i+1)*len(dims)], and out[i] its position in row-major order in
// an array of shape dims. The error's Pos counts single indices, not tuples.
func Flatten[I Index](out []int64, idx []I, dims []int) error {
	depth := len(dims)
	for i := range out {
		var at int64
		for d, size := range dims {
			v := int64(idx[i*depth+d])
			if v < 0 || v >= int64(size) {
				return &IndexError{Pos: i*depth + d, Index: v, Limit: int64(size)}
			}
			at = at*int64(size) + v
		}
		out[i] = at
	}
	return nil
}

// Batch adds i/per*rows to index i. It turns indices into each of several blocks of rows rows, with
// per indices for each block, into indices into all blocks together. Each index must be below rows.
func Batch[I Index](out []int64, idx []I, per int, rows int64) error {
	if err := Check(idx, rows); err != nil {
		return err
	}
	for i, v := range idx {
		out[i] = int64(i/per)*rows + int64(v)
	}
	return nil
}
