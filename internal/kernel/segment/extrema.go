package segment

import "github.com/tenonml/tenon/dtype"

// Max writes the largest value of each row to out, which has rows*inner elements.
// NaN wins. An empty row gives the lowest value of the type, -∞ for floats.
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

// maxOf returns the largest of low and x, or the first NaN of x.
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

// Min writes the smallest value of each row to out, which has rows*inner elements.
// NaN wins. An empty row gives the highest value of the type, +∞ for floats.
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

// minOf returns the smallest of high and x, or the first NaN of x.
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

// ArgMax writes the position in its row of each row's largest value to out, which
// has rows*inner elements: the first of equal ones, the first NaN where there is
// one, -1 for an empty row.
func ArgMax[T dtype.Real](out []int64, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		ArgMax(out, w, splits, inner)
		return
	}
	if inner == 1 && argRowsVectorised(reduceMax, out, values, splits) {
		return
	}
	if isShort(splits, inner) {
		argMaxRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		argMaxRange(out, values, splits, inner, lo, hi)
	})
}

func argMaxRange[T dtype.Real](out []int64, values []T, splits []int64, inner, lo, hi int) {
	if inner == 1 {
		for r := lo; r < hi; r++ {
			out[r] = argMaxRow(values[splits[r]:splits[r+1]])
		}
		return
	}
	for r := lo; r < hi; r++ {
		x := row(values, splits, r, inner)
		for j := range inner {
			out[r*inner+j] = argMaxOf(x, j, inner)
		}
	}
}

// argMaxOf returns the position of the largest of x[j], x[j+inner], ….
func argMaxOf[T dtype.Real](x []T, j, inner int) int64 {
	if len(x) == 0 {
		return -1
	}
	best, at := x[j], 0
	for i := j; i < len(x); i += inner {
		if v := x[i]; v > best {
			best, at = v, i
		} else if v != v {
			return int64(i / inner)
		}
	}
	return int64(at / inner)
}

// ArgMin writes the position in its row of each row's smallest value to out, which
// has rows*inner elements: the first of equal ones, the first NaN where there is
// one, -1 for an empty row.
func ArgMin[T dtype.Real](out []int64, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		ArgMin(out, w, splits, inner)
		return
	}
	if inner == 1 && argRowsVectorised(reduceMin, out, values, splits) {
		return
	}
	if isShort(splits, inner) {
		argMinRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		argMinRange(out, values, splits, inner, lo, hi)
	})
}

func argMinRange[T dtype.Real](out []int64, values []T, splits []int64, inner, lo, hi int) {
	if inner == 1 {
		for r := lo; r < hi; r++ {
			out[r] = argMinRow(values[splits[r]:splits[r+1]])
		}
		return
	}
	for r := lo; r < hi; r++ {
		x := row(values, splits, r, inner)
		for j := range inner {
			out[r*inner+j] = argMinOf(x, j, inner)
		}
	}
}

// argMinOf returns the position of the smallest of x[j], x[j+inner], ….
func argMinOf[T dtype.Real](x []T, j, inner int) int64 {
	if len(x) == 0 {
		return -1
	}
	best, at := x[j], 0
	for i := j; i < len(x); i += inner {
		if v := x[i]; v < best {
			best, at = v, i
		} else if v != v {
			return int64(i / inner)
		}
	}
	return int64(at / inner)
}
