package segment

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
)

// A Fold says how [ByPosition] combines entries.
type Fold uint8

// The folds.
const (
	FoldSum Fold = iota
	FoldProd
	FoldMax
	FoldMin
)

// PositionSplits writes the row splits of what lists of rows combine to position by
// position to out, which has len(lists) entries: as many as the longest row of a list has.
// lists are the splits of lists into rows, splits those of rows into values. It returns the
// number of results.
func PositionSplits(out, splits, lists []int64) int64 {
	out[0] = 0
	for l := range rowsOf(lists) {
		longest := int64(0)
		for r := lists[l]; r < lists[l+1]; r++ {
			longest = max(longest, splits[r+1]-splits[r])
		}
		out[l+1] = out[l] + longest
	}
	return out[len(lists)-1]
}

// ByPosition combines the rows of each list position by position: what [SumByID],
// [ProdByID], [MaxByID] and [MinByID] make of the values if the id of each is its place in
// its list's results. outSplits comes from [PositionSplits].
func ByPosition[T dtype.Real](f Fold, out []T, outSplits []int64, values []T, splits, lists []int64) {
	if o, ok := any(out).([]float32); ok && f == FoldSum && len(values) > pairwiseLeaf*len(out) {
		sums := make([]float64, len(out))
		eachList(splits, lists, func(l int) {
			eachRowOf(sums, outSplits, any(values).([]float32), splits, lists, l, func(acc []float64, x []float32) {
				for j, v := range x {
					acc[j] += float64(v)
				}
			})
		})
		for i, s := range sums {
			o[i] = float32(s)
		}
		return
	}
	var first T
	combine := func(acc, x []T) {
		for j, v := range x {
			acc[j] += v
		}
	}
	switch f {
	case FoldProd:
		first = 1
		combine = func(acc, x []T) {
			for j, v := range x {
				acc[j] *= v
			}
		}
	case FoldMax:
		first = lowest[T]()
		combine = func(acc, x []T) {
			for j, v := range x {
				if v > acc[j] || v != v {
					acc[j] = v
				}
			}
		}
	case FoldMin:
		first = highest[T]()
		combine = func(acc, x []T) {
			for j, v := range x {
				if v < acc[j] || v != v {
					acc[j] = v
				}
			}
		}
	}
	for i := range out {
		out[i] = first
	}
	eachList(splits, lists, func(l int) { eachRowOf(out, outSplits, values, splits, lists, l, combine) })
}

// AnyByPosition writes whether some entry of each position is true, as [ByPosition] does.
func AnyByPosition(out []bool, outSplits []int64, values []bool, splits, lists []int64) {
	o, x := bytesOfBools(out), bytesOfBools(values)
	clear(o)
	eachList(splits, lists, func(l int) {
		eachRowOf(o, outSplits, x, splits, lists, l, func(acc, x []byte) {
			for j, v := range x {
				acc[j] |= v
			}
		})
	})
}

// AllByPosition writes whether all entries of each position are true, as [ByPosition] does.
func AllByPosition(out []bool, outSplits []int64, values []bool, splits, lists []int64) {
	o, x := bytesOfBools(out), bytesOfBools(values)
	for i := range o {
		o[i] = 1
	}
	eachList(splits, lists, func(l int) {
		eachRowOf(o, outSplits, x, splits, lists, l, func(acc, x []byte) {
			for j, v := range x {
				acc[j] &= v
			}
		})
	})
}

// ArgByPosition writes the number in its list of the row that has the largest value at each
// position, or the smallest: the first of equal ones, the first NaN where there is one.
func ArgByPosition[T dtype.Real](largest bool, out []int64, outSplits []int64, values []T, splits, lists []int64) {
	best := make([]T, len(out))
	for i := range out {
		out[i] = -1
	}
	eachList(splits, lists, func(l int) {
		at, top := row(out, outSplits, l, 1), row(best, outSplits, l, 1)
		for r := lists[l]; r < lists[l+1]; r++ {
			x := values[splits[r]:splits[r+1]]
			a, b := at[:len(x)], top[:len(x)]
			for j, v := range x {
				if better := largest && v > b[j] || !largest && v < b[j]; better || a[j] < 0 || v != v && b[j] == b[j] {
					a[j], b[j] = r-lists[l], v
				}
			}
		}
	})
}

// CountByPosition writes how many rows have an entry at each position.
func CountByPosition(out, outSplits, splits, lists []int64) {
	clear(out)
	for l := range rowsOf(lists) {
		counts := row(out, outSplits, l, 1)
		for r := lists[l]; r < lists[l+1]; r++ {
			if n := splits[r+1] - splits[r]; n > 0 {
				counts[n-1]++
			}
		}
		for j := len(counts) - 2; j >= 0; j-- {
			counts[j] += counts[j+1]
		}
	}
}

// eachList calls f for each list, several at once where there is enough to do.
func eachList(splits, lists []int64, f func(l int)) {
	n := rowsOf(lists)
	if n == 0 {
		return
	}
	cost := int(splits[lists[n]]-splits[lists[0]])/n + 1
	par.For(n, max(chunkCost/cost, 1), func(lo, hi int) {
		for l := lo; l < hi; l++ {
			f(l)
		}
	})
}

// eachRowOf calls f for the rows of list l, with as many of the list's results.
func eachRowOf[A, T any](out []A, outSplits []int64, values []T, splits, lists []int64, l int, f func(acc []A, x []T)) {
	acc := row(out, outSplits, l, 1)
	for r := lists[l]; r < lists[l+1]; r++ {
		x := values[splits[r]:splits[r+1]]
		f(acc[:len(x)], x)
	}
}

// bytesOfBools returns truth values as the bytes they are, 0 or 1.
func bytesOfBools(x []bool) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
