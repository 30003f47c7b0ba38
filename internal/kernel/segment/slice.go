package segment

// A Slice selects start, start+step, … before stop from each row, with Python's
// meaning: negative bounds count from the row's end, bounds beyond the row are
// moved to it, and a missing bound stands for the end from which or to which the
// step leads. A step of 0 counts as 1.
type Slice struct {
	Start, Stop       int64
	Step              int64
	HasStart, HasStop bool
}

// bounds returns the first position, the step and the number of positions that s
// selects from a row of n items.
func (s Slice) bounds(n int64) (first, step, count int64) {
	step = s.Step
	if step == 0 {
		step = 1
	}
	low, high := int64(0), n // where bounds are moved to
	if step < 0 {
		low, high = -1, n-1
	}
	place := func(p int64) int64 {
		if p < 0 {
			p += n
			return max(p, low)
		}
		return min(p, high)
	}
	first, stop := low, high
	if step < 0 {
		first, stop = high, low
	}
	if s.HasStart {
		first = place(s.Start)
	}
	if s.HasStop {
		stop = place(s.Stop)
	}
	// The differences are within ±(n+1), so nothing here overflows.
	switch {
	case step > 0 && stop > first:
		count = (stop-first-1)/step + 1
	case step < 0 && stop < first:
		count = (stop-first+1)/step + 1
	}
	return first, step, count
}

// SliceSplits writes the row splits of the selected items to out, which has
// len(splits) entries, and returns their number.
func SliceSplits(out, splits []int64, s Slice) int64 {
	if len(splits) == 0 {
		return 0
	}
	out = out[:len(splits)]
	total := int64(0)
	out[0] = 0
	for r := range rowsOf(splits) {
		_, _, n := s.bounds(splits[r+1] - splits[r])
		total += n
		out[r+1] = total
	}
	return total
}

// Select copies the items of each row that s selects to out, which has
// outSplits[rows]*inner elements. outSplits comes from [SliceSplits].
func Select[T any](out, values []T, outSplits, splits []int64, s Slice, inner int) {
	if isShort(outSplits, inner) {
		selectRange(out, values, outSplits, splits, s, inner, 0, rowsOf(outSplits))
		return
	}
	eachRows(outSplits, inner, func(lo, hi int) { selectRange(out, values, outSplits, splits, s, inner, lo, hi) })
}

func selectRange[T any](out, values []T, outSplits, splits []int64, s Slice, inner, lo, hi int) {
	for r := lo; r < hi; r++ {
		o, x := row(out, outSplits, r, inner), row(values, splits, r, inner)
		first, step, n := s.bounds(splits[r+1] - splits[r])
		if step == 1 {
			copy(o, x[int(first)*inner:])
			continue
		}
		for i := range int(n) {
			at := int(first+int64(i)*step) * inner
			copy(o[i*inner:(i+1)*inner], x[at:])
		}
	}
}

// SelectPositions writes the positions among the values of what s selects to out,
// which has outSplits[rows] entries.
func SelectPositions(out, outSplits, splits []int64, s Slice) {
	eachRows(outSplits, 1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			first, step, n := s.bounds(splits[r+1] - splits[r])
			o := out[outSplits[r]:outSplits[r+1]]
			for i := range o[:n] {
				o[i] = splits[r] + first + int64(i)*step
			}
		}
	})
}
