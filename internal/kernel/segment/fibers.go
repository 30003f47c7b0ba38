package segment

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

// A fiber is the sequence of values at one position along an axis that has partitioned axes
// below it. The rows below that axis are aligned: value i of row r belongs to fiber
// starts[r]+i, or to none if starts[r] is negative. This takes one number for each row rather
// than one for each value.

// Nowhere is the start of a row whose values belong to no fiber.
const Nowhere = math.MinInt64 / 2

// AlignedSplits writes to out the row splits of the segments' fibers: each segment has as many
// fibers as its longest row has values. ids are the segments of the rows, negative for a row
// that belongs to none; if ids is nil, all rows belong to the only segment. out has one entry
// more than there are segments.
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

// AlignedStarts writes to starts the fiber of each row's first value; aligned comes from
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

// CheckStarts reports the first row whose values do not all belong to one of n fibers.
func CheckStarts(splits, starts []int64, n int64) error {
	for r, at := range starts {
		if k := splits[r+1] - splits[r]; at >= 0 && k > n-at {
			return rowError("starts", r, at, "is the fiber of a row's first value, whose last one is beyond all fibers")
		}
	}
	return nil
}

// FiberIDs writes the fiber of each value to ids, or -1 if it belongs to none.
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

// FiberOrder sorts values by fiber: it writes to order the values of each fiber in turn, to
// back the new position of each value, and to ends, which has one entry more than there are
// fibers, the row splits of the fibers. Every value must belong to a fiber.
func FiberOrder(order, back, ends, splits, starts []int64) {
	FiberLengths(ends[1:], splits, starts)
	ends[0] = 0
	for f := range len(ends) - 1 {
		ends[f+1] += ends[f]
	}
	// While values are placed, ends[f] is the position of the next value of fiber f.
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

// Stacks groups consecutive rows that start at the same fiber into stacks, so that
// [ByPosition] can combine them: lists are the row splits of the stacks over rows, outSplits
// those of the stacks over the n fibers. It reports false if the rows are not in an order
// that permits this.
func Stacks(splits, starts []int64, n int64) (lists, outSplits []int64, ok bool) {
	lists, outSplits = []int64{0}, []int64{0}
	at, end := int64(0), int64(0) // the range of fibers of the current stack
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

// ArgByFiber writes the number of the row that holds the largest or smallest value of each
// fiber. Of equal values the first counts; the first NaN wins; a fiber without values gives
// -1. Each item has inner elements, and so does each fiber's result. lists comes from
// [Stacks]; if it is nil, the rows are processed one after the other.
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

// TruthByFiber writes whether any value of each fiber is true, or whether all are.
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
