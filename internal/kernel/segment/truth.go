package segment

import "github.com/tenonml/tenon/dtype"

// Any writes whether each row contains a true value to out, which has rows*inner elements. An empty
// row gives false.
func Any(out, values []bool, splits []int64, inner int) {
	if k := bytesNow(len(values)); k != nil && inner == 1 {
		x := viewAs[byte](values)
		k.any.over(viewAs[byte](out), x, splits, func(r int) { out[r] = k.count(x[splits[r]:splits[r+1]]) > 0 })
		return
	}
	if isShort(splits, inner) {
		anyRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		anyRange(out, values, splits, inner, lo, hi)
	})
}

func anyRange(out, values []bool, splits []int64, inner, lo, hi int) {
	for r := lo; r < hi; r++ {
		acc, x := item(out, r, inner), row(values, splits, r, inner)
		clear(acc)
		for ; len(x) >= inner; x = x[inner:] {
			for j, v := range x[:inner] {
				acc[j] = acc[j] || v
			}
		}
	}
}

// All writes whether each row contains only true values to out, which has rows*inner elements. An
// empty row gives true.
func All(out, values []bool, splits []int64, inner int) {
	if k := bytesNow(len(values)); k != nil && inner == 1 {
		x := viewAs[byte](values)
		k.all.over(viewAs[byte](out), x, splits, func(r int) {
			v := x[splits[r]:splits[r+1]]
			out[r] = k.count(v) == int64(len(v))
		})
		return
	}
	if isShort(splits, inner) {
		allRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		allRange(out, values, splits, inner, lo, hi)
	})
}

func allRange(out, values []bool, splits []int64, inner, lo, hi int) {
	for r := lo; r < hi; r++ {
		acc, x := item(out, r, inner), row(values, splits, r, inner)
		for j := range acc {
			acc[j] = true
		}
		for ; len(x) >= inner; x = x[inner:] {
			for j, v := range x[:inner] {
				acc[j] = acc[j] && v
			}
		}
	}
}

// CountNonzero writes the number of nonzero values of each row to out, which has rows*inner
// elements. NaN counts; false and both floating-point zeros do not.
func CountNonzero[T dtype.Number | ~bool](out []int64, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		CountNonzero(out, w, splits, inner)
		return
	}
	if inner == 1 && countVectorised(out, values, splits) {
		return
	}
	if isShort(splits, inner) {
		countRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		countRange(out, values, splits, inner, lo, hi)
	})
}

func countRange[T dtype.Number | ~bool](out []int64, values []T, splits []int64, inner, lo, hi int) {
	var zero T
	if inner == 1 {
		for r := lo; r < hi; r++ {
			out[r] = countOf(values[splits[r]:splits[r+1]])
		}
		return
	}
	for r := lo; r < hi; r++ {
		acc, x := item(out, r, inner), row(values, splits, r, inner)
		clear(acc)
		for ; len(x) >= inner; x = x[inner:] {
			for j, v := range x[:inner] {
				if v != zero {
					acc[j]++
				}
			}
		}
	}
}

// countVectorised counts if there are kernels for the element type, and reports whether there are.
func countVectorised[T any](out []int64, values []T, splits []int64) bool {
	if len(values) < worthVectors {
		return false
	}
	switch x := any(values).(type) {
	case []float32:
		return nonzeroRows(out, x, splits)
	case []float64:
		return nonzeroRows(out, x, splits)
	case []int32:
		return nonzeroRows(out, x, splits)
	case []int64:
		return nonzeroRows(out, x, splits)
	case []uint32:
		return nonzeroRows(out, viewAs[int32](x), splits)
	case []uint64:
		return nonzeroRows(out, viewAs[int64](x), splits)
	case []bool, []int8, []uint8:
		k := bytesNow(len(values))
		if k == nil {
			return false
		}
		b := viewAs[byte](values)
		k.nonzero.over(out, b, splits, func(r int) { out[r] = k.count(b[splits[r]:splits[r+1]]) })
		return true
	}
	return false
}

func nonzeroRows[T lanes](out []int64, x []T, splits []int64) bool {
	k := kernelsFor[T]()
	if k == nil {
		return false
	}
	k.nonzero.over(out, x, splits, func(r int) { out[r] = count(&k.nonzero, x[splits[r]:splits[r+1]]) })
	return true
}

// bytesNow returns the byte kernels if n values are enough to use them, or nil.
func bytesNow(n int) *byteKernels {
	if n < worthVectors {
		return nil
	}
	return table.Now().bytes
}

func (k *byteKernels) count(x []byte) int64 { return count(&k.nonzero, x) }

// count is [countOf] for a row of any length. It uses k if the row is long.
func count[T comparable](k *reducer[int64, T], x []T) (n int64) {
	if len(x) <= pieceLen {
		return countOf(x)
	}
	for _, m := range k.pieces(x, countOf[T]) {
		n += m
	}
	return n
}

// countOf returns the number of elements that are not zero.
func countOf[T comparable](x []T) (n int64) {
	var zero T
	for _, v := range x {
		if v != zero {
			n++
		}
	}
	return n
}
