package segment

import (
	"math"
	"strconv"

	"github.com/tenonml/tenon/internal/par"
)

// GatherSplits writes to out, which has len(idx)+1 entries, the row splits of the rows selected by
// idx, in that order, and to starts, which has len(idx) entries, where each of them begins. It
// returns the number of their values. An index outside [0, rows) is an error.
func GatherSplits[I Index](out, starts, splits []int64, idx []I) (total int64, err error) {
	out = out[:len(idx)+1]
	starts = starts[:len(idx)]
	out[0] = 0
	if vectorsNow() != nil && len(idx) >= worthVectors && len(splits) > 0 {
		return lookUp(out[1:], starts, splits, asInt64(idx))
	}
	return lookUpPlainly(out[1:], starts, splits, idx, 0, 0)
}

// lookUpPlainly is [GatherSplits] for the indices from lo on; the rows before lo have total values.
// out[i] is the end of row i.
func lookUpPlainly[I Index](out, starts, splits []int64, idx []I, lo int, total int64) (int64, error) {
	rows := rowsOf(splits)
	for i := lo; i < len(idx); i++ {
		at := idx[i]
		if uint64(at) >= uint64(rows) {
			return 0, rowError("row index", i, at, "is outside [0, "+strconv.Itoa(rows)+")")
		}
		n := splits[at+1] - splits[at]
		if n > math.MaxInt64-total {
			return 0, rowError("row index", i, at, "makes the number of values overflow")
		}
		total += n
		starts[i] = splits[at]
		out[i] = total
	}
	return total, nil
}

// Gather copies the selected rows, one after the other, to out, which has outSplits[rows]*inner
// elements. outSplits and starts come from [GatherSplits].
func Gather[T any](out, values []T, outSplits, starts []int64, inner int) {
	starts = starts[:rowsOf(outSplits)]
	if inner == 0 || gatherVectorised(out, values, outSplits, starts, inner) {
		return
	}
	eachRows(outSplits, inner, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(row(out, outSplits, i, inner), values[int(starts[i])*inner:])
		}
	})
}

// GatherPositions writes to out, which has outSplits[rows] entries, the positions of the values of
// the selected rows among all values. It serves values that this package does not move, such as
// strings.
func GatherPositions(out, outSplits, starts []int64) {
	eachRows(outSplits, 1, func(lo, hi int) {
		end := outSplits[hi]
		for i := lo; i < hi; i++ {
			at, first := outSplits[i], starts[i]
			if n := outSplits[i+1] - at; n <= 4 && at+4 <= end {
				// Always writing four entries avoids mispredicted branches on the length. The rows
				// that follow in this range overwrite the excess.
				o := out[at : at+4]
				o[0], o[1], o[2], o[3] = first, first+1, first+2, first+3
				continue
			}
			o := out[at:outSplits[i+1]]
			for j := range o {
				o[j] = first + int64(j)
			}
		}
	})
}

// Pick writes item at[r] of each row r to out, which has rows*inner elements. A negative position
// counts from the end of the row. A row without an item there gets fill, which holds one element or
// one item, and false in found.
func Pick[T any, I Index](out []T, found []bool, values []T, splits []int64, at []I, inner int, fill []T) {
	rows := rowsOf(splits)
	par.For(rows, max(1, chunkCost/(inner+rowCost)), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			n := splits[r+1] - splits[r]
			p := int64(at[r%len(at)])
			if p < 0 {
				p += n
			}
			o := item(out, r, inner)
			found[r] = p >= 0 && p < n
			if found[r] {
				copy(o, item(values, int(splits[r]+p), inner))
			} else {
				fillItems(o, fill)
			}
		}
	})
}
