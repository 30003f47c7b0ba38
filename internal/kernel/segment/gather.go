package segment

import (
	"math"
	"strconv"

	"github.com/tenonml/tenon/internal/par"
)

// GatherSplits writes the row splits of the rows idx, in that order, to out, which
// has len(idx)+1 entries, and returns the number of their values. An index outside
// [0, rows) is an error.
func GatherSplits[I Index](out, splits []int64, idx []I) (total int64, err error) {
	rows := rowsOf(splits)
	out = out[:len(idx)+1]
	out[0] = 0
	for i, at := range idx {
		if uint64(at) >= uint64(rows) {
			return 0, rowError("row index", i, at, "is outside [0, "+strconv.Itoa(rows)+")")
		}
		n := splits[at+1] - splits[at]
		if n > math.MaxInt64-total {
			return 0, rowError("row index", i, at, "makes the number of values overflow")
		}
		total += n
		out[i+1] = total
	}
	return total, nil
}

// Gather copies the rows idx, one behind the other, to out, which has
// outSplits[len(idx)]*inner elements. outSplits comes from [GatherSplits].
func Gather[T any, I Index](out, values []T, outSplits, splits []int64, idx []I, inner int) {
	outSplits = outSplits[:len(idx)+1]
	if inner == 0 || gatherVectorised(out, values, outSplits, splits, idx, inner) {
		return
	}
	eachRows(outSplits, inner, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(row(out, outSplits, i, inner), row(values, splits, int(idx[i]), inner))
		}
	})
}

// GatherPositions writes the positions among the values that the rows idx take up,
// to out, which has outSplits[len(idx)] entries: for gathering values of a kind
// this package does not move, such as strings.
func GatherPositions[I Index](out, outSplits, splits []int64, idx []I) {
	eachRows(outSplits[:len(idx)+1], 1, func(lo, hi int) {
		end := outSplits[hi]
		for i := lo; i < hi; i++ {
			at, first := outSplits[i], splits[idx[i]]
			if n := outSplits[i+1] - at; n <= 4 && at+4 <= end {
				// Four are written whatever the length, which saves guessing it: the rows
				// behind, of the same range, write over what is too much.
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

// Pick writes item at[r] of each row to out, which has rows*inner elements. A
// position counts from the end where it is negative; a row that has no item there
// gets fill, which holds one element or one item, and false in found.
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
