package segment

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// argRowsVectorised writes the positions of the largest or smallest values of rows of
// inner size 1 where there are kernels for those values, and reports whether there are.
func argRowsVectorised[T any](r reduction, out []int64, values []T, splits []int64) bool {
	if len(values) < worthVectors || vectorsNow() == nil {
		return false
	}
	switch x := any(values).(type) {
	case []float32:
		if k := kernels32[level]; k != nil {
			argRows(k, r, out, x, splits)
			return true
		}
	case []float64:
		if k := kernels64[level]; k != nil {
			argRows(k, r, out, x, splits)
			return true
		}
	}
	return false
}

func argRows[T float32 | float64](k *floatKernels[T], r reduction, out []int64, x []T, splits []int64) {
	if isShort(splits, 1) {
		argRange(k, r, out, x, splits, 0, rowsOf(splits))
		return
	}
	eachRows(splits, 1, func(lo, hi int) {
		argRange(k, r, out, x, splits, lo, hi)
	})
}

// argRange works on pieces of rows that stay in the first-level cache: their extrema,
// those repeated for each element, which elements are equal to their row's, and the first
// such one of each row. None of it depends on where in a row the extremum is, which no
// processor foresees.
func argRange[T float32 | float64](k *floatKernels[T], r reduction, out []int64, x []T, splits []int64, lo, hi int) {
	ws := workspaces.Get().(*workspace)
	size := int(unsafe.Sizeof(*new(T)))
	elements := blockBytes / size
	average := averageRows(splits, lo, hi, elements)
	equal := elementwise.Compare[T](elementwise.Equal)
	for lo < hi {
		end := blockEnd(splits, lo, hi, elements, average)
		extrema, rows := view[T](ws.row1[:])[:end-lo], splits[lo:end+1]
		k.reducers[r].run(ws, extrema, x, rows, 0, func(i int) {
			extrema[i] = k.reduce(r, x[rows[i]:rows[i+1]])
		})
		if v := x[rows[0]:rows[end-lo]]; len(v) > elements {
			for i, m := range extrema {
				out[lo+i] = positionOf(m, x[rows[i]:rows[i+1]])
			}
		} else {
			local := view[int64](ws.row2[:])[:len(rows)]
			FromZero(local, rows)
			if len(v) > 0 {
				vectorsNow().repeat[size/4-1](&ws.a[0], &ws.row1[0], &local[0], end-lo)
				equal(view[bool](ws.marks[:])[:len(v)], v, view[T](ws.a[:])[:len(v)])
			}
			firstMarks(out[lo:end], ws.marks[:], extrema, v, local)
		}
		lo = end
	}
	workspaces.Put(ws)
}

// markedAhead is the number of marks that [firstMarks] looks at in each row.
const markedAhead = 24

// firstMarks writes the position of the first mark of each row of x, which are 0 or 1 and
// have markedAhead bytes of anything behind them. Rows without one are searched for m.
func firstMarks[T float32 | float64](out []int64, marks []byte, m, x []T, splits []int64) {
	start := splits[0]
	splits = splits[1:]
	for r := range out {
		end := splits[r]
		ahead := marks[start:][:markedAhead]
		word, skipped := binary.LittleEndian.Uint64(ahead), int64(0)
		if word == 0 {
			skipped = 8
		}
		if second := binary.LittleEndian.Uint64(ahead[8:]); word == 0 {
			word = second
		}
		if word == 0 {
			skipped = 16
		}
		if third := binary.LittleEndian.Uint64(ahead[16:]); word == 0 {
			word = third
		}
		at := skipped + int64(bits.TrailingZeros64(word)/8)
		if at >= min(end-start, markedAhead) {
			at = positionOf(m[r], x[start:end])
		}
		out[r] = at
		start = end
	}
}

// positionOf returns the position of the first m, which is the extremum of x, of the
// first NaN where there is one, or -1 for no elements.
func positionOf[T float32 | float64](m T, x []T) int64 {
	if i := slices.Index(x, m); i >= 0 {
		return int64(i)
	}
	return int64(slices.IndexFunc(x, func(v T) bool { return v != v }))
}

// argMaxRow returns the position of the largest element, the first NaN, or -1.
func argMaxRow[T dtype.Real](x []T) int64 {
	if len(x) == 0 {
		return -1
	}
	best, at := x[0], 0
	for i, v := range x {
		if v != v {
			return int64(i)
		}
		if v > best {
			at = i
		}
		best = max(best, v)
	}
	return int64(at)
}

// argMinRow returns the position of the smallest element, the first NaN, or -1.
func argMinRow[T dtype.Real](x []T) int64 {
	if len(x) == 0 {
		return -1
	}
	best, at := x[0], 0
	for i, v := range x {
		if v != v {
			return int64(i)
		}
		if v < best {
			at = i
		}
		best = min(best, v)
	}
	return int64(at)
}
