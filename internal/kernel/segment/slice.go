package segment

import "math"

// A Slice selects start, start+step, … up to stop, exclusive, from each row, as in Python: negative
// bounds count from the end of the row, bounds outside the row are clamped to it, and a missing
// bound means the end of the row at which the step starts or stops. A step of 0 counts as 1.
type Slice struct {
	Start, Stop       int64
	Step              int64
	HasStart, HasStop bool
}

// A slicing is a preprocessed Slice that applies to rows of any length.
type slicing struct {
	start, stop             int64
	startBehind, stopBehind int64 // all ones where the bound counts from the row's end
	low                     int64 // bounds are clamped to [low, n+low] for a row of n items
	step                    int64 // absolute value
	back                    int64 // all ones for a negative step
}

// ready returns the slicing of s.
func (s Slice) ready() slicing {
	const far = 1 << 62 // more than a row is long
	p := slicing{stop: math.MaxInt64, step: min(s.Step, far)}
	switch {
	case s.Step == 0:
		p.step = 1
	case s.Step < 0:
		p = slicing{start: -1, startBehind: -1, stop: math.MinInt64, stopBehind: -1, low: -1, back: -1, step: -max(s.Step, -far)}
	}
	if s.HasStart {
		p.start, p.startBehind = s.Start, s.Start>>63
	}
	if s.HasStop {
		p.stop, p.stopBehind = s.Stop, s.Stop>>63
	}
	return p
}

// bounds returns the first position and the number of positions selected from a row of n items. It
// cannot overflow, and has no branch on n if the step is 1.
func (p *slicing) bounds(n int64) (first, count int64) {
	first = min(max(p.start+p.startBehind&n, p.low), n+p.low)
	stop := min(max(p.stop+p.stopBehind&n, p.low), n+p.low)
	count = max((stop-first)^p.back-p.back, 0)
	if p.step == 1 {
		return first, count
	}
	if count <= math.MaxInt32 && p.step <= math.MaxInt32 { // 32-bit division takes a quarter of the time
		return first, int64((uint32(count) + uint32(p.step) - 1) / uint32(p.step))
	}
	return first, (count + p.step - 1) / p.step
}

// signed returns the step with its sign.
func (p *slicing) signed() int64 { return p.step ^ p.back - p.back }

// SliceSplits writes the row splits of the selected items to out, which has len(splits) entries,
// and returns the number of these items.
func SliceSplits(out, splits []int64, s Slice) int64 {
	if len(splits) == 0 {
		return 0
	}
	out = out[:len(splits)]
	how := s.ready()
	total, start := int64(0), splits[0]
	out[0] = 0
	for r, end := range splits[1:] {
		_, n := how.bounds(end - start)
		start = end
		total += n
		out[r+1] = total
	}
	return total
}

// Select copies the items of each row that s selects to out, which has
// outSplits[rows]*inner elements. outSplits comes from [SliceSplits].
func Select[T any](out, values []T, outSplits, splits []int64, s Slice, inner int) {
	how := s.ready()
	if selectVectorised(out, values, outSplits, splits, &how, inner) {
		return
	}
	if isShort(outSplits, inner) {
		selectRange(out, values, outSplits, splits, &how, inner, 0, rowsOf(outSplits))
		return
	}
	eachRows(outSplits, inner, func(lo, hi int) { selectRange(out, values, outSplits, splits, &how, inner, lo, hi) })
}

func selectRange[T any](out, values []T, outSplits, splits []int64, how *slicing, inner, lo, hi int) {
	step := how.signed()
	for r := lo; r < hi; r++ {
		o, x := row(out, outSplits, r, inner), row(values, splits, r, inner)
		first, n := how.bounds(splits[r+1] - splits[r])
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

// SelectPositions writes to out, which has outSplits[rows] entries, the positions of the selected
// items among all values.
func SelectPositions(out, outSplits, splits []int64, s Slice) {
	how := s.ready()
	step := how.signed()
	eachRows(outSplits, 1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			first, n := how.bounds(splits[r+1] - splits[r])
			o := out[outSplits[r]:outSplits[r+1]]
			for i := range o[:n] {
				o[i] = splits[r] + first + int64(i)*step
			}
		}
	})
}
