package segment

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// StackSplits writes to out the row splits of the concatenation of several partitions: the rows of
// all parts, one part after the other. out has one entry more than there are rows in all. [Join]
// concatenates the values. It is an error if the number of values exceeds int64.
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

// Join concatenates parts in out, which has the sum of their lengths.
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

// joinPiece returns how many of n elements one worker copies at a time. Go's copy uses non-temporal
// stores for a mebibyte or more, which is twice as fast for results too large for the cache, and
// slower for others.
func joinPiece[T any](n int) int {
	size := max(int(unsafe.Sizeof(*new(T))), 1)
	if n*size >= largeOutput {
		return (2 << 20) / size
	}
	return (256 << 10) / size
}

// ZipSplits writes to out, which has rows+1 entries, the row splits of partitions that are
// concatenated row by row. It is an error if a partition's number of rows differs from that of out,
// or if the number of values exceeds int64.
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

// Zip concatenates the parts row by row, along the ragged dimension: row r of out holds row r of
// each part in turn. outSplits comes from [ZipSplits]; out has outSplits[rows]*inner elements.
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

// ZipPositions writes, for each value of the result of [Zip], its position in the concatenation of
// all parts. It serves values that this package does not move, such as strings.
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
