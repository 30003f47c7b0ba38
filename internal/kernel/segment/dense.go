package segment

import "strconv"

// Pad writes each row to out, which has rows*width*inner elements. A row longer than width items is
// cut; a shorter one is padded with fill, which holds either one element or one item.
func Pad[T any](out, values []T, splits []int64, width, inner int, fill []T) {
	rows := rowsOf(splits)
	if width*inner == 0 || padVectorised(out, values, splits, width, inner, fill) {
		return
	}
	eachSpan(rows, width*inner, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			padRow(out, values, splits, r, width, inner, fill)
		}
	})
}

func padRow[T any](out, values []T, splits []int64, r, width, inner int, fill []T) {
	o := out[r*width*inner : (r+1)*width*inner]
	n := copy(o, row(values, splits, r, inner))
	fillItems(o[n:], fill)
}

// fillItems repeats fill over out.
func fillItems[T any](out, fill []T) {
	if len(fill) == 1 {
		v := fill[0]
		for i := range out {
			out[i] = v
		}
		return
	}
	for len(out) > 0 {
		out = out[copy(out, fill):]
	}
}

// Unpad is the inverse of [Pad]: row r of out receives the first items of row r of dense, which has
// rows*width*inner elements. If a row of splits is longer than width, Unpad returns an error and
// the contents of out are undefined.
func Unpad[T any](out, dense []T, splits []int64, width, inner int) error {
	fits, done := unpadVectorised(out, dense, splits, width, inner)
	if !done {
		if fits = MaxLength(splits) <= int64(width); fits {
			unpadPlainly(out, dense, splits, width, inner)
		}
	}
	if fits {
		return nil
	}
	for r := range rowsOf(splits) {
		if n := splits[r+1] - splits[r]; n > int64(width) {
			return rowError("row lengths", r, n, "is more than the width, "+strconv.Itoa(width))
		}
	}
	return nil
}

func unpadPlainly[T any](out, dense []T, splits []int64, width, inner int) {
	if isShort(splits, inner) {
		unpadRows(out, dense, splits, width, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) { unpadRows(out, dense, splits, width, inner, lo, hi) })
}

func unpadRows[T any](out, dense []T, splits []int64, width, inner, lo, hi int) {
	for r := lo; r < hi; r++ {
		copy(row(out, splits, r, inner), dense[r*width*inner:])
	}
}

// UnpaddedLengths writes to out the number of items of each row of dense, of shape
// [len(out), width, inner], that remain when trailing items equal to padding, which
// holds one element or one item, are stripped.
func UnpaddedLengths[T comparable](out []int64, dense []T, width, inner int, padding []T) {
	if len(dense) <= chunkCost {
		unpaddedRows(out, dense, width, inner, padding, 0, len(out))
		return
	}
	eachSpan(len(out), width*inner, func(lo, hi int) { unpaddedRows(out, dense, width, inner, padding, lo, hi) })
}

func unpaddedRows[T comparable](out []int64, dense []T, width, inner int, padding []T, lo, hi int) {
	for r := lo; r < hi; r++ {
		x := dense[r*width*inner : (r+1)*width*inner]
		n := len(x)
		if len(padding) == 1 {
			for n > 0 && x[n-1] == padding[0] {
				n--
			}
		} else {
			for n > 0 && x[n-1] == padding[(n-1)%len(padding)] {
				n--
			}
		}
		if inner > 0 {
			out[r] = int64((n + inner - 1) / inner)
		} else {
			out[r] = 0
		}
	}
}
