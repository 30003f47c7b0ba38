package segment

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// StackSplits writes the row splits of several partitions' rows, one behind the
// other, to out, which has the sum of their rows plus one entries. Their values are
// joined by [Join]. A number of values beyond int64 is an error.
func StackSplits(out []int64, parts ...[]int64) error {
	out[0] = 0
	at, base := 1, int64(0)
	for p, splits := range parts {
		rows := rowsOf(splits)
		if rows == 0 {
			continue
		}
		if splits[rows] > math.MaxInt64-base {
			return rowError("concatenated parts", p, splits[rows], "values make the number of values overflow")
		}
		shiftSplits(out[at:at+rows], splits[1:], base)
		at += rows
		base += splits[rows]
	}
	return nil
}

// Join copies parts one behind the other to out, which has the sum of their lengths.
func Join[T any](out []T, parts ...[]T) {
	piece := joinPiece[T](len(out))
	for _, p := range parts {
		if o := out[:len(p)]; len(p) <= piece {
			copy(o, p)
		} else {
			par.For(len(p), piece, func(lo, hi int) { copy(o[lo:hi], p[lo:hi]) })
		}
		out = out[len(p):]
	}
}

// joinPiece returns the number of elements that one worker copies at a time, of n
// altogether. Go's copy writes pieces of a mebibyte and more past the cache, which is
// twice as fast for results that would not stay there, and slower for others.
func joinPiece[T any](n int) int {
	size := max(int(unsafe.Sizeof(*new(T))), 1)
	if n*size >= largeOutput {
		return (2 << 20) / size
	}
	return (256 << 10) / size
}

// ZipSplits writes the row splits of partitions with equally many rows that are
// joined row by row to out, which has rows+1 entries. A partition whose number of
// rows differs from out's, and a number of values beyond int64, is an error.
func ZipSplits(out []int64, parts ...[]int64) error {
	clear(out)
	for p, splits := range parts {
		if len(splits) != len(out) {
			return rowError("concatenated parts", p, int64(rowsOf(splits)), "rows, not "+strconv.Itoa(rowsOf(out)))
		}
		combineSplits(out, out, splits, add)
		if out[len(out)-1] < 0 {
			return rowError("concatenated parts", p, splits[len(out)-1], "values make the number of values overflow")
		}
	}
	return nil
}

// Zip writes to row r of out the rows r of all parts, one behind the other: the
// concatenation along the ragged dimension. outSplits comes from [ZipSplits], out
// has outSplits[rows]*inner elements.
func Zip[T any](out []T, outSplits []int64, values [][]T, splits [][]int64, inner int) {
	zipRow := func(r int) {
		o := row(out, outSplits, r, inner)
		for p, v := range values {
			o = o[copy(o, row(v, splits[p], r, inner)):]
		}
	}
	if zipVectorised(out, outSplits, values, splits, inner, zipRow) {
		return
	}
	eachRows(outSplits, inner, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			zipRow(r)
		}
	})
}

// ZipPositions writes, for each value of the result of [Zip], its position among
// the values of all parts joined: for joining values of a kind this package does
// not move, such as strings.
func ZipPositions(out, outSplits []int64, splits ...[]int64) {
	eachRows(outSplits, len(splits), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			o := out[outSplits[r]:outSplits[r+1]]
			base := int64(0)
			for _, s := range splits {
				n := int(s[r+1] - s[r])
				for i := range n {
					o[i] = base + s[r] + int64(i)
				}
				o = o[n:]
				base += s[len(s)-1]
			}
		}
	})
}
