package segment

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon/dtype"
)

// MaxRange is the largest number of values that [RangeSplits] accepts in one row, so that hostile
// bounds cause an error rather than an attempt to allocate.
const MaxRange = math.MaxInt64 / 16

// RangeSplits writes to out, which has rows+1 entries, the row splits of ranges and returns the
// number of values. Row r runs from starts[r] to limits[r], exclusive, in steps of deltas[r], up or
// down. Each argument holds one element for each row, or a single one for all. A zero step, a bound
// that is NaN or infinite, and too many values are errors.
func RangeSplits[T dtype.Real](out []int64, starts, limits, deltas []T) (total int64, err error) {
	if s, ok := widen(starts); ok {
		l, _ := widen(limits)
		d, _ := widen(deltas)
		return RangeSplits(out, s, l, d)
	}
	out[0] = 0
	for r := range len(out) - 1 {
		n, detail := rangeSize(starts[r%len(starts)], limits[r%len(limits)], deltas[r%len(deltas)])
		if detail == "" && n > MaxRange-total {
			detail = "makes the number of values overflow"
		}
		if detail != "" {
			return 0, &RowError{What: "range", Row: r, Detail: fmt.Sprintf("from %v to %v by %v %s",
				starts[r%len(starts)], limits[r%len(limits)], deltas[r%len(deltas)], detail)}
		}
		total += n
		out[r+1] = total
	}
	return total, nil
}

// rangeSize returns ceil((limit-start)/delta), or 0 if that is negative.
func rangeSize[T dtype.Real](start, limit, delta T) (n int64, detail string) {
	if delta == 0 {
		return 0, "has a step of zero"
	}
	if isFloat[T]() {
		f := math.Ceil((float64(limit) - float64(start)) / float64(delta))
		switch {
		case f != f || math.IsInf(f, 0):
			return 0, "has no size"
		case f > MaxRange:
			return 0, "has too many values"
		}
		return max(int64(f), 0), ""
	}
	// The distance fits into 64 unsigned bits whatever the signs of the bounds are.
	var distance, step uint64
	switch {
	case delta > 0 && limit > start:
		distance, step = uint64(limit)-uint64(start), uint64(delta)
	case delta < 0 && limit < start:
		distance, step = uint64(start)-uint64(limit), -uint64(delta)
	default:
		return 0, ""
	}
	count := (distance-1)/step + 1
	if count > MaxRange {
		return 0, "has too many values"
	}
	return int64(count), ""
}

func isFloat[T any]() bool {
	var t T
	switch any(t).(type) {
	case float32, float64:
		return true
	}
	return false
}

// Range writes starts[r] + i*deltas[r] for each row to out, which has splits[rows]
// elements. splits comes from [RangeSplits].
func Range[T dtype.Real](out []T, splits []int64, starts, deltas []T) {
	if s, ok := widen(starts); ok {
		d, _ := widen(deltas)
		o := make([]float32, len(out))
		Range(o, splits, s, d)
		narrow(out, o)
		return
	}
	eachRows(splits, 1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			start, delta := starts[r%len(starts)], deltas[r%len(deltas)]
			for i := range out[splits[r]:splits[r+1]] {
				out[int(splits[r])+i] = start + T(i)*delta
			}
		}
	})
}
