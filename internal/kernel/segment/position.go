package segment

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
)

// A Fold names how [ByPosition] combines entries.
type Fold uint8

// The folds.
const (
	FoldSum Fold = iota
	FoldProd
	FoldMax
	FoldMin
)

// ByPosition combines the rows of each list position by position. The result is that of [SumByID],
// [ProdByID], [MaxByID] or [MinByID] if each value's id is its position within the results of its
// list. lists are the row splits of the lists over rows, outSplits those of the lists over results;
// [Stacks] returns both.
func ByPosition[T dtype.Real](f Fold, out []T, outSplits []int64, values []T, splits, lists []int64) {
	switch x := any(values).(type) {
	case []float32:
		if k := kernelsFor[float32](); f == FoldSum && len(values) > pairwiseLeaf*len(out) {
			longSumsByPosition(k, any(out).([]float32), outSplits, x, splits, lists)
		} else {
			byPosition(k, f, any(out).([]float32), outSplits, x, splits, lists)
		}
	case []float64:
		byPosition(kernelsFor[float64](), f, any(out).([]float64), outSplits, x, splits, lists)
	case []int32:
		byPosition(kernelsFor[int32](), f, any(out).([]int32), outSplits, x, splits, lists)
	case []int64:
		byPosition(kernelsFor[int64](), f, any(out).([]int64), outSplits, x, splits, lists)
	default:
		foldByPosition(&folder[T, T]{}, f, out, outSplits, values, splits, lists)
	}
}

func byPosition[T lanes](k *rowKernels[T], f Fold, out []T, outSplits []int64, values []T, splits, lists []int64) {
	if k == nil {
		k = new(rowKernels[T])
	}
	foldByPosition(&k.folds[f], f, out, outSplits, values, splits, lists)
}

// longSumsByPosition sums many rows in float64.
func longSumsByPosition(k *rowKernels[float32], out []float32, outSplits []int64, values []float32, splits, lists []int64) {
	if k == nil {
		k = new(rowKernels[float32])
	}
	sums := make([]float64, len(out))
	k.longSum.each(sums, outSplits, values, splits, lists, func(acc []float64, x []float32) {
		for j, v := range x {
			acc[j] += float64(v)
		}
	}, addTo)
	for i, s := range sums {
		out[i] = float32(s)
	}
}

func foldByPosition[T dtype.Real](k *folder[T, T], f Fold, out []T, outSplits []int64, values []T, splits, lists []int64) {
	var first T
	combine := addTo[T]
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
	k.each(out, outSplits, values, splits, lists, combine, combine)
}

// addTo adds x to sums.
func addTo[T dtype.Real](sums, x []T) {
	for j, v := range x {
		sums[j] += v
	}
}

// AnyByPosition writes whether any entry at each position is true; see [ByPosition].
func AnyByPosition(out []bool, outSplits []int64, values []bool, splits, lists []int64) {
	k := table.Now().bytes
	if k == nil {
		k = new(byteKernels)
	}
	o := viewAs[byte](out)
	clear(o)
	or := func(acc, x []byte) {
		for j, v := range x {
			acc[j] |= v
		}
	}
	k.anyDown.each(o, outSplits, viewAs[byte](values), splits, lists, or, or)
}

// AllByPosition writes whether all entries at each position are true; see [ByPosition].
func AllByPosition(out []bool, outSplits []int64, values []bool, splits, lists []int64) {
	k := table.Now().bytes
	if k == nil {
		k = new(byteKernels)
	}
	o := viewAs[byte](out)
	for i := range o {
		o[i] = 1
	}
	and := func(acc, x []byte) {
		for j, v := range x {
			acc[j] &= v
		}
	}
	k.allDown.each(o, outSplits, viewAs[byte](values), splits, lists, and, and)
}

// eachLists calls f for ranges of lists, concurrently if there is enough work.
func eachLists(splits, lists []int64, f func(lo, hi int)) {
	n := rowsOf(lists)
	if n == 0 {
		return
	}
	cost := int(splits[lists[n]]-splits[lists[0]])/n + 1
	par.For(n, max(chunkCost/cost, 1), f)
}
