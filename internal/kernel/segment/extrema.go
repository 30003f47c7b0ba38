package segment

import "github.com/tenonml/tenon/dtype"

// Max writes the largest value of each row to out, which has rows*inner elements. NaN propagates.
// An empty row gives the lowest value of the type, -∞ for floats.
func Max[T dtype.Real](out, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		o := make([]float32, rowsOf(splits)*inner)
		Max(o, w, splits, inner)
		narrow(out, o)
		return
	}
	if inner == 1 && reduceVectorised(reduceMax, out, values, splits) {
		return
	}
	if isShort(splits, inner) {
		maxRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		maxRange(out, values, splits, inner, lo, hi)
	})
}

func maxRange[T dtype.Real](out, values []T, splits []int64, inner, lo, hi int) {
	low := lowest[T]()
	if inner == 1 {
		for r := lo; r < hi; r++ {
			out[r] = maxOf(values[splits[r]:splits[r+1]], low)
		}
		return
	}
	for r := lo; r < hi; r++ {
		acc, x := item(out, r, inner), row(values, splits, r, inner)
		for j := range acc {
			acc[j] = low
		}
		for ; len(x) >= inner; x = x[inner:] {
			for j, v := range x[:inner] {
				if v > acc[j] || v != v {
					acc[j] = v
				}
			}
		}
	}
}

// maxOf returns the largest of low and the elements of x, or the first NaN in x.
func maxOf[T dtype.Real](x []T, low T) T {
	m := low
	for _, v := range x {
		if v > m {
			m = v
		} else if v != v {
			return v
		}
	}
	return m
}

// Min writes the smallest value of each row to out, which has rows*inner elements. NaN propagates.
// An empty row gives the highest value of the type, +∞ for floats.
func Min[T dtype.Real](out, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		o := make([]float32, rowsOf(splits)*inner)
		Min(o, w, splits, inner)
		narrow(out, o)
		return
	}
	if inner == 1 && reduceVectorised(reduceMin, out, values, splits) {
		return
	}
	if isShort(splits, inner) {
		minRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		minRange(out, values, splits, inner, lo, hi)
	})
}

func minRange[T dtype.Real](out, values []T, splits []int64, inner, lo, hi int) {
	high := highest[T]()
	if inner == 1 {
		for r := lo; r < hi; r++ {
			out[r] = minOf(values[splits[r]:splits[r+1]], high)
		}
		return
	}
	for r := lo; r < hi; r++ {
		acc, x := item(out, r, inner), row(values, splits, r, inner)
		for j := range acc {
			acc[j] = high
		}
		for ; len(x) >= inner; x = x[inner:] {
			for j, v := range x[:inner] {
				if v < acc[j] || v != v {
					acc[j] = v
				}
			}
		}
	}
}

// minOf returns the smallest of high and the elements of x, or the first NaN in x.
func minOf[T dtype.Real](x []T, high T) T {
	m := high
	for _, v := range x {
		if v < m {
			m = v
		} else if v != v {
			return v
		}
	}
	return m
}
