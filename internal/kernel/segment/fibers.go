package segment

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

// Rows that are laid over each other: value i of row r belongs to fiber starts[r]+i, and to
// none where starts[r] is negative. That is what an axis with partitioned axes below it makes
// of the rows below, and it takes a number for each row, not one for each value.

// Nowhere is the start of a row whose values belong to no fiber.
const Nowhere = math.MinInt64 / 2

// AlignedSplits writes to out, which has an entry more than there are segments, the row splits
// of what the rows of each segment cover when they are laid over each other: as many places
// as the longest of them has values. ids are the rows' segments, a negative one for a row
// that belongs to none; nil puts all rows into the only segment.
func AlignedSplits(out, splits, ids []int64) {
	clear(out)
	if ids == nil {
		out[1] = MaxLength(splits)
		return
	}
	for r, s := range ids {
		if s >= 0 {
			out[s+1] = max(out[s+1], splits[r+1]-splits[r])
		}
	}
	for s := range len(out) - 1 {
		out[s+1] += out[s]
	}
}

// AlignedStarts writes the fiber of the first value of each row to starts, for the result of
// [AlignedSplits].
func AlignedStarts(starts, aligned, ids []int64) {
	if ids == nil {
		clear(starts)
		return
	}
	for r, s := range ids {
		if starts[r] = Nowhere; s >= 0 {
			starts[r] = aligned[s]
		}
	}
}

// CheckStarts reports the first row that does not lie within n fibers.
func CheckStarts(splits, starts []int64, n int64) error {
	for r, at := range starts {
		if k := splits[r+1] - splits[r]; at >= 0 && k > n-at {
			return rowError("starts", r, at, "is the fiber of a row's first value, whose last one is beyond all fibers")
		}
	}
	return nil
}

// FiberIDs writes the fiber of each value, or -1, to ids.
func FiberIDs(ids, splits, starts []int64) {
	for r, at := range starts {
		row := ids[splits[r]:splits[r+1]]
		if at < 0 {
			for i := range row {
				row[i] = -1
			}
			continue
		}
		for i := range row {
			row[i] = at + int64(i)
		}
	}
}

// FiberLengths writes the number of values of each fiber to out.
func FiberLengths(out, splits, starts []int64) {
	clear(out)
	for r, at := range starts {
		if k := splits[r+1] - splits[r]; at >= 0 && k > 0 {
			out[at]++
			if end := at + k; end < int64(len(out)) {
				out[end]--
			}
		}
	}
	for i := 1; i < len(out); i++ {
		out[i] += out[i-1]
	}
}

// FiberOrder writes to order the values of each fiber in turn, to back where each value went,
// and to ends the row splits of the fibers, of which there are one less. Each value is in a
// fiber.
func FiberOrder(order, back, ends, splits, starts []int64) {
	FiberLengths(ends[1:], splits, starts)
	ends[0] = 0
	for f := range len(ends) - 1 {
		ends[f+1] += ends[f]
	}
	// While values are put down, the end of the fiber in front says where the next goes.
	for r, at := range starts {
		for i := splits[r]; i < splits[r+1]; i++ {
			to := ends[at]
			order[to], back[i] = i, to
			ends[at] = to + 1
			at++
		}
	}
	copy(ends[1:], ends[:len(ends)-1])
	ends[0] = 0
}

// Stacks divides rows into stacks, each of which covers the same fibers, so that [ByPosition]
// combines them: lists are the splits of stacks into rows, outSplits those of stacks into the
// n fibers. It reports false where the rows are in another order.
func Stacks(splits, starts []int64, n int64) (lists, outSplits []int64, ok bool) {
	lists, outSplits = []int64{0}, []int64{0}
	at, end := int64(0), int64(0) // of the stack
	for r, s := range starts {
		if s != at {
			if s < end {
				return nil, nil, false
			}
			lists, outSplits = append(lists, int64(r)), append(outSplits, s)
			at = s
		}
		end = max(end, at+splits[r+1]-splits[r])
	}
	return append(lists, int64(len(starts))), append(outSplits, n), end <= n
}

// ArgByFiber writes the number of the row that holds the largest value of each fiber, or the
// smallest: the first of equal ones, the first NaN where there is one, and -1 for a fiber
// without values. An item has inner elements, and a fiber one of them. lists come from
// [Stacks]; nil has the rows done one after the other.
func ArgByFiber[T dtype.Real](largest bool, out []int64, values []T, splits, starts, lists []int64, inner int) {
	best := make([]T, len(out))
	for i := range out {
		out[i] = -1
	}
	over := func(lo, hi int64) {
		for r := lo; r < hi; r++ {
			if starts[r] < 0 {
				continue
			}
			x := values[int(splits[r])*inner : int(splits[r+1])*inner]
			at := int(starts[r]) * inner
			a, b := out[at:at+len(x)], best[at:at+len(x)]
			for j, v := range x {
				if better := largest && v > b[j] || !largest && v < b[j]; better || a[j] < 0 || v != v && b[j] == b[j] {
					a[j], b[j] = r, v
				}
			}
		}
	}
	if lists == nil {
		over(0, int64(len(starts)))
		return
	}
	eachLists(splits, lists, func(lo, hi int) { over(lists[lo], lists[hi]) })
}

// TruthByFiber writes whether some value of each fiber is true, or all of them.
func TruthByFiber(all bool, out, values []bool, splits, starts []int64, inner int) {
	for i := range out {
		out[i] = all
	}
	for r, at := range starts {
		if at < 0 {
			continue
		}
		x := values[int(splits[r])*inner : int(splits[r+1])*inner]
		acc := out[int(at)*inner:][:len(x)]
		for j, v := range x {
			if v != all {
				acc[j] = v
			}
		}
	}
}
