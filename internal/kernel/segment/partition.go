package segment

import (
	"math"
	"slices"
	"strconv"
)

// CheckSplits reports the first entry that keeps splits from being a partition of nvals values.
// Splits have at least one entry, start at 0, never decrease and end at nvals. With nvals < 0 any
// end is accepted.
func CheckSplits[I Index](splits []I, nvals int64) error {
	if len(splits) == 0 {
		return &RowError{What: "row splits", Detail: "there must be at least one entry, 0"}
	}
	if splits[0] != 0 {
		return rowError("row splits", 0, splits[0], "is not 0")
	}
	if !isSorted(splits) {
		for r := 1; r < len(splits); r++ {
			if splits[r] < splits[r-1] {
				return rowError("row splits", r, splits[r], "comes after "+strconv.FormatInt(int64(splits[r-1]), 10))
			}
		}
	}
	last := len(splits) - 1
	if nvals >= 0 && int64(splits[last]) != nvals {
		return rowError("row splits", last, splits[last], "is not the number of values, "+strconv.FormatInt(nvals, 10))
	}
	return nil
}

// isSorted reports whether x never decreases, without a branch for each element.
func isSorted[I Index](x []I) bool {
	if s, ok := any(x).([]int64); ok && len(x) >= worthVectors && vectorsNow() != nil {
		return isRising(s)
	}
	for len(x) > 1 {
		n := min(len(x), 1025)
		var bad I
		prev := x[0]
		for _, v := range x[1:n] {
			// The sign of the difference is wrong only if it overflows; the second term catches the
			// sign changes that an overflow requires.
			bad |= (v - prev) | (v &^ prev)
			prev = v
		}
		if bad < 0 && !isSortedExactly(x[:n]) {
			return false
		}
		x = x[n-1:]
	}
	return true
}

func isSortedExactly[I Index](x []I) bool {
	for i := 1; i < len(x); i++ {
		if x[i] < x[i-1] {
			return false
		}
	}
	return true
}

// CheckRowIDs reports the first id that is negative, less than its predecessor, or not below nrows.
func CheckRowIDs[I Index](ids []I, nrows int64) error {
	if len(ids) == 0 || ids[0] >= 0 && int64(ids[len(ids)-1]) < nrows && isSorted(ids) {
		return nil
	}
	for i, id := range ids {
		switch {
		case id < 0:
			return rowError("row ids", i, id, "is negative")
		case i > 0 && id < ids[i-1]:
			return rowError("row ids", i, id, "comes after "+strconv.FormatInt(int64(ids[i-1]), 10))
		case int64(id) >= nrows:
			return rowError("row ids", i, id, "is not below the number of rows, "+strconv.FormatInt(nrows, 10))
		}
	}
	return nil
}

// SplitsFromLengths writes to out the row splits of rows with the given lengths; out has one entry
// more than lengths. It is an error if a length is negative or if the sum exceeds int64.
func SplitsFromLengths[I Index](out []int64, lengths []I) error {
	if SplitsWithin(out, lengths, highest[I]()) {
		return nil
	}
	var sum int64
	for r, n := range lengths {
		if n < 0 {
			return rowError("row lengths", r, n, "is negative")
		}
		if int64(n) > math.MaxInt64-sum {
			return rowError("row lengths", r, n, "makes the number of values overflow")
		}
		sum += int64(n)
	}
	return nil
}

// SplitsWithin is [SplitsFromLengths] for lengths that must be at most most, which is not negative.
// It reports whether all are valid; if not, the contents of out are undefined.
func SplitsWithin[I Index](out []int64, lengths []I, most I) bool {
	out = out[:len(lengths)+1]
	out[0] = 0
	done := 0
	if l, ok := any(lengths).([]int64); ok && len(l) >= worthVectors {
		if done = accumulate(out[1:], l, int64(most)); done < 0 {
			return false
		}
	}
	sum := out[done]
	var bad I
	for r, n := range lengths[done:] {
		bad |= n | (most - n) // negative if either is; the difference cannot overflow unless n is negative
		sum += int64(n)
		if sum < 0 {
			bad = -1
		}
		out[done+r+1] = sum
	}
	return bad >= 0
}

// accumulate sets out[i] to lengths[0] + … + lengths[i] for as many lengths as the kernels handle,
// and returns their number, or -1 if a length is not between 0 and most or a sum overflows.
func accumulate(out, lengths []int64, most int64) int {
	k := vectorsNow()
	if k == nil {
		return 0
	}
	n, sum := len(lengths)&^7, int64(0)
	for at := 0; at < n; at += chunkCost {
		end := min(at+chunkCost, n)
		if k.accumulate(&out[at], &lengths[at], end-at, sum, most) < 0 {
			return -1
		}
		sum = out[end-1]
	}
	return n
}

// Lengths writes the length of each row to out, which has rows entries.
func Lengths(out, splits []int64) {
	rows := rowsOf(splits)
	out = out[:rows]
	if rows > 0 {
		combineSplits(out, splits[1:], splits[:rows], sub)
	}
}

// RowIDs writes the row of each value to out, which has splits[rows] entries.
func RowIDs(out, splits []int64) {
	if k := vectorsNow(); k != nil && len(out) >= worthVectors {
		numbering{k.rowIDs, k.rowIDsPast, func(r, _ int) int64 { return int64(r) }}.run(out, splits)
		return
	}
	eachRows(splits, 1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := out[splits[r]:splits[r+1]]
			for i := range row {
				row[i] = int64(r)
			}
		}
	})
}

// SplitsFromRowIDs writes the row splits of the partition in which value i is in row ids[i] to out,
// which has nrows+1 entries. The ids must have passed [CheckRowIDs].
func SplitsFromRowIDs[I Index](out []int64, ids []I) {
	if len(out) == 0 {
		return
	}
	r := 0
	for i, id := range ids {
		for ; r <= int(id); r++ {
			out[r] = int64(i)
		}
	}
	for ; r < len(out); r++ {
		out[r] = int64(len(ids))
	}
}

// Offsets writes the position of each value within its row to out, which has splits[rows] entries.
func Offsets(out, splits []int64) {
	if k := vectorsNow(); k != nil && len(out) >= worthVectors {
		numbering{k.offsets, k.offsetsPast, func(_, i int) int64 { return int64(i) }}.run(out, splits)
		return
	}
	eachRows(splits, 1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := out[splits[r]:splits[r+1]]
			for i := range row {
				row[i] = int64(i)
			}
		}
	})
}

// UniformSplits writes 0, length, 2*length, … to out.
func UniformSplits(out []int64, length int64) {
	for r := range out {
		out[r] = int64(r) * length
	}
}

// IsUniform returns the length that all rows have in common, and false if their lengths differ or
// there are no rows.
func IsUniform(splits []int64) (length int64, ok bool) {
	if len(splits) < 2 {
		return 0, false
	}
	length = splits[1] - splits[0]
	for r, s := range splits {
		if s != splits[0]+int64(r)*length {
			return 0, false
		}
	}
	return length, true
}

// MaxLength returns the length of the longest row, or 0 if there are no rows.
func MaxLength(splits []int64) int64 {
	var m int64
	if k := vectorsNow(); k != nil && len(splits) >= worthVectors {
		m, splits = longestOf(k, splits)
	}
	for r := 1; r < len(splits); r++ {
		m = max(m, splits[r]-splits[r-1])
	}
	return m
}

// longestOf returns the longest length among the rows that the kernel handles, and the remaining
// splits.
func longestOf(k *movers, splits []int64) (int64, []int64) {
	var lanes [8]int64
	rest := rowsOf(splits) &^ 7
	for r := 0; r < rest; r += chunkCost {
		k.longest(&lanes[0], &splits[r], min(chunkCost, rest-r))
	}
	return slices.Max(lanes[:]), splits[rest:]
}

// FirstDifference returns the first row whose length differs between two partitions, or -1 if there
// is none. A row missing from one of them counts as a difference.
func FirstDifference(a, b []int64) int {
	n := min(len(a), len(b))
	for r := 1; r < n; r++ {
		if a[r]-a[0] != b[r]-b[0] {
			return r - 1
		}
	}
	if len(a) != len(b) {
		return max(n-1, 0)
	}
	return -1
}

// Widen copies int32 splits, lengths or ids to int64.
func Widen(out []int64, x []int32) {
	out = out[:len(x)]
	for i, v := range x {
		out[i] = int64(v)
	}
}

// Narrow copies int64 splits, lengths or ids to int32; a value that does not fit is an error.
func Narrow(out []int32, x []int64) error {
	out = out[:len(x)]
	var lost int64
	for i, v := range x {
		out[i] = int32(v)
		lost |= int64(int32(v)) ^ v
	}
	if lost == 0 {
		return nil
	}
	for i, v := range x {
		if int64(int32(v)) != v {
			return rowError("int32 row splits", i, v, "does not fit; use int64")
		}
	}
	return nil
}

// ComposeSplits writes out[r] = inner[outer[r]]: the row splits that result from merging a ragged
// dimension with the next one. out has len(outer) entries.
func ComposeSplits(out, outer, inner []int64) {
	out = out[:len(outer)]
	for r, s := range outer {
		out[r] = inner[s]
	}
}
