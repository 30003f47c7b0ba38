package sorting

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
)

// SearchSorted writes, for each element of x, the position at which it can be inserted into sorted,
// which is in ascending order: before equal elements or, if right is set, after them. NaN is
// greater than everything else.
func SearchSorted[T dtype.Real](out []int64, sorted, x []T, right bool) {
	switch s := any(sorted).(type) {
	case []dtype.F16:
		SearchSorted(out, wide(s), wide(any(x).([]dtype.F16)), right)
		return
	case []dtype.BF16:
		SearchSorted(out, wide(s), wide(any(x).([]dtype.BF16)), right)
		return
	}
	const grain = 4096
	if len(x) <= grain {
		search(out, sorted, x, right)
		return
	}
	par.For(len(x), grain, func(lo, hi int) { search(out[lo:hi], sorted, x[lo:hi], right) })
}

func search[T dtype.Real](out []int64, sorted, x []T, right bool) {
	for i, v := range x {
		if right {
			out[i] = upperBound(sorted, v)
		} else {
			out[i] = lowerBound(sorted, v)
		}
	}
}

func wide[T interface{ Float32() float32 }](x []T) []float32 {
	w := make([]float32, len(x))
	for i, v := range x {
		w[i] = v.Float32()
	}
	return w
}

// lowerBound returns the number of elements before v.
func lowerBound[T dtype.Real](sorted []T, v T) int64 {
	lo, n := 0, len(sorted)
	for n > 0 {
		half := n / 2
		if s := sorted[lo+half]; s < v || v != v && s == s {
			lo += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return int64(lo)
}

// upperBound returns the number of elements before v or equal to it.
func upperBound[T dtype.Real](sorted []T, v T) int64 {
	lo, n := 0, len(sorted)
	for n > 0 {
		half := n / 2
		if s := sorted[lo+half]; s <= v || v != v {
			lo += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return int64(lo)
}
