package segment

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/sorting"
)

// networks sort rows of up to 32 elements in registers. They return the number of rows done, which
// is smaller than rows if the next row is longer, or contains NaN when floats are sorted, or has
// eight-byte elements that leave no bits for positions when they are argsorted. They read and write
// up to networkRoom elements from the beginning of a row. flip is 0 for ascending order and -1 for
// descending.
type networks[T float32 | int32 | float64 | int64] struct {
	sort    func(dst, x *T, splits *int64, rows int, flip int64) int
	argsort func(dst *int64, x *T, splits *int64, rows int, flip int64) int
}

const networkRoom = 32

// sortVectorised is [Sort] for inner size 1 by sorting networks; it reports whether they can do it.
func sortVectorised[T dtype.Real](out, values []T, splits []int64, descending bool) bool {
	switch x := any(values).(type) {
	case []float32:
		return table.Now().sortF32.sortRows(any(out).([]float32), x, splits, descending)
	case []int32:
		return table.Now().sortI32.sortRows(any(out).([]int32), x, splits, descending)
	case []float64:
		return table.Now().sortF64.sortRows(any(out).([]float64), x, splits, descending)
	case []int64:
		return table.Now().sortI64.sortRows(any(out).([]int64), x, splits, descending)
	}
	return false
}

// argsortVectorised is [ArgSort] for inner size 1 by sorting networks; it reports whether they can
// do it.
func argsortVectorised[T dtype.Real](out []int64, values []T, splits []int64, descending bool) bool {
	switch x := any(values).(type) {
	case []float32:
		return table.Now().sortF32.argsortRows(out, x, splits, descending)
	case []int32:
		return table.Now().sortI32.argsortRows(out, x, splits, descending)
	case []float64:
		return table.Now().sortF64.argsortRows(out, x, splits, descending)
	case []int64:
		return table.Now().sortI64.argsortRows(out, x, splits, descending)
	}
	return false
}

func (k *networks[T]) sortRows(out, x []T, splits []int64, descending bool) bool {
	// Not in place: vectors written past the end of a row would overwrite input of the rows to
	// come.
	if k == nil || len(x) < worthVectors || &out[0] == &x[0] {
		return false
	}
	plain := func(o []T, r int) {
		copy(o, x[splits[r]:splits[r+1]])
		sorting.Sort(o, descending)
	}
	sortEach(out, splits, cap(x), plain, func(dst *T, lo, n int) int {
		var flip int64
		if descending {
			flip = -1
		}
		return k.sort(dst, at(x, splits[lo]), &splits[lo], n, flip)
	})
	return true
}

func (k *networks[T]) argsortRows(out []int64, x []T, splits []int64, descending bool) bool {
	if k == nil || len(x) < worthVectors {
		return false
	}
	plain := func(o []int64, r int) { sorting.ArgSort(o, x[splits[r]:splits[r+1]], descending) }
	sortEach(out, splits, cap(x), plain, func(dst *int64, lo, n int) int {
		var flip int64
		if descending {
			flip = -1
		}
		return k.argsort(dst, at(x, splits[lo]), &splits[lo], n, flip)
	})
	return true
}

// at returns the address of x[i], where i may lie between the length and the capacity of x.
func at[T any](x []T, i int64) *T {
	return &x[: i+1 : cap(x)][i]
}

// sortEach writes all rows, by kernel where possible and otherwise by plain. kernel starts at row
// lo and returns how many of n rows it has done. readable is the number of elements that may be
// read.
func sortEach[T any](out []T, splits []int64, readable int, plain func(o []T, r int), kernel func(dst *T, lo, n int) int) {
	size := int(unsafe.Sizeof(*new(T)))
	rows := rowsOf(splits)
	safe := rows
	for safe > 0 && int(splits[safe-1])+networkRoom > readable {
		safe--
	}
	m := mover{
		out:    bytesOf(out),
		splits: splits,
		item:   size,
		plain:  func(r int) { plain(row(out, splits, r, 1), r) },
		kernel: func(dst *byte, lo, hi int) {
			to, first := (*T)(unsafe.Pointer(dst)), splits[lo]
			for lo < hi {
				from := splits[lo] - first
				lo += kernel((*T)(unsafe.Add(unsafe.Pointer(to), int(from)*size)), lo, hi-lo)
				if lo < hi {
					plain(unsafe.Slice(to, splits[lo+1]-first)[splits[lo]-first:], lo)
					lo++
				}
			}
		},
	}
	eachRows(splits, sortCost, func(lo, hi int) {
		if hi-lo == 1 {
			m.plain(lo)
			return
		}
		m.runThrough(lo, min(hi, safe))
		for r := max(lo, safe); r < hi; r++ {
			m.plain(r)
		}
	})
}
