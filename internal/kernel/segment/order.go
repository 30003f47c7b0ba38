package segment

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/sorting"
)

// Sort writes each row in ascending or descending order to out, which has the length of values and
// may be values. NaN is last. With inner > 1 each element position is sorted independently.
func Sort[T dtype.Real](out, values []T, splits []int64, inner int, descending bool) {
	if inner == 1 && sortVectorised(out, values, splits, descending) {
		return
	}
	if isShort(splits, inner*sortCost) {
		sortRange(out, values, splits, inner, descending, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner*sortCost, func(lo, hi int) { sortRange(out, values, splits, inner, descending, lo, hi) })
}

func sortRange[T dtype.Real](out, values []T, splits []int64, inner int, descending bool, lo, hi int) {
	var column []T
	for r := lo; r < hi; r++ {
		o, x := row(out, splits, r, inner), row(values, splits, r, inner)
		if inner == 1 {
			copy(o, x)
			sorting.Sort(o, descending)
			continue
		}
		for j := range inner {
			column = appendColumn(column[:0], x, j, inner)
			sorting.Sort(column, descending)
			for i, v := range column {
				o[i*inner+j] = v
			}
		}
	}
}

// sortCost is the approximate cost of sorting one element, relative to adding one.
const sortCost = 8

func appendColumn[T any](column, x []T, j, inner int) []T {
	for i := j; i < len(x); i += inner {
		column = append(column, x[i])
	}
	return column
}

// ArgSort writes to out, which has the length of values, the positions within its row of each row's
// items in ascending or descending order. Equal items keep their order, and NaN is last. With inner
// > 1 each element position is sorted independently.
func ArgSort[T dtype.Real](out []int64, values []T, splits []int64, inner int, descending bool) {
	if inner == 1 && argsortVectorised(out, values, splits, descending) {
		return
	}
	if isShort(splits, inner*sortCost) {
		argSortRange(out, values, splits, inner, descending, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner*sortCost, func(lo, hi int) { argSortRange(out, values, splits, inner, descending, lo, hi) })
}

func argSortRange[T dtype.Real](out []int64, values []T, splits []int64, inner int, descending bool, lo, hi int) {
	var column []T
	var order []int64
	for r := lo; r < hi; r++ {
		o, x := row(out, splits, r, inner), row(values, splits, r, inner)
		if inner == 1 {
			sorting.ArgSort(o, x, descending)
			continue
		}
		for j := range inner {
			column = appendColumn(column[:0], x, j, inner)
			order = append(order[:0], o[:len(column)]...)
			sorting.ArgSort(order, column, descending)
			for i, p := range order {
				o[i*inner+j] = p
			}
		}
	}
}

// TopKSplits writes to out, which has len(splits) entries, the row splits of the k largest values
// of each row (all values of a shorter row), and returns the number of these values.
func TopKSplits(out, splits []int64, k int64) int64 {
	return SliceSplits(out, splits, Slice{Stop: max(k, 0), HasStop: true})
}

// TopK writes the largest values of each row in descending order to outValues and their positions
// in the row to outAt. outSplits comes from [TopKSplits] and gives the number for each row. Equal
// values keep their order; NaN ranks below everything else.
func TopK[T dtype.Real](outValues []T, outAt []int64, values []T, outSplits, splits []int64) {
	if rowsOf(splits) < 2 {
		topKRows(outValues, outAt, values, outSplits, splits, 0, rowsOf(splits))
		return
	}
	eachRows(splits, sortCost, func(lo, hi int) {
		if n := int(splits[hi] - splits[lo]); hi-lo > 1 && n <= 2*chunkCost {
			// Rows are short: sorting one costs less than selecting its largest values.
			own, order := make([]int64, hi-lo+1), make([]int64, n)
			for i := range own {
				own[i] = splits[lo+i] - splits[lo]
			}
			x := values[splits[lo]:splits[hi]]
			if argsortVectorised(order, x, own, true) {
				for r := lo; r < hi; r++ {
					v, at := row(outValues, outSplits, r, 1), row(outAt, outSplits, r, 1)
					o, from := order[own[r-lo]:], x[own[r-lo]:]
					for i := range at {
						at[i] = o[i]
						v[i] = from[o[i]]
					}
				}
				return
			}
		}
		topKRows(outValues, outAt, values, outSplits, splits, lo, hi)
	})
}

func topKRows[T dtype.Real](outValues []T, outAt []int64, values []T, outSplits, splits []int64, lo, hi int) {
	for r := lo; r < hi; r++ {
		sorting.TopK(row(outValues, outSplits, r, 1), row(outAt, outSplits, r, 1), row(values, splits, r, 1))
	}
}
