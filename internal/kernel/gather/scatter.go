package gather

import "github.com/tenonml/tenon/dtype"

// Update copies row i of updates to row idx[i] of dst. If an index is repeated, the last update
// wins.
func Update[T any, I Index](dst, updates []T, idx []I, width int) error {
	if width == 0 || len(idx) == 0 {
		return nil
	}
	if err := Check(idx, int64(len(dst)/width)); err != nil {
		return err
	}
	for i, at := range idx {
		copy(dst[int(at)*width:(int(at)+1)*width], updates[i*width:(i+1)*width])
	}
	return nil
}

// Add adds row i of updates to row idx[i] of dst, in the order of the indices.
// Integers wrap; half-precision sums are rounded after each addition.
func Add[T dtype.Number, I Index](dst, updates []T, idx []I, width int) error {
	switch d := any(dst).(type) {
	case []dtype.F16:
		return combine(d, any(updates).([]dtype.F16), idx, width, func(a, b dtype.F16) dtype.F16 { return dtype.F16From(a.Float32() + b.Float32()) })
	case []dtype.BF16:
		return combine(d, any(updates).([]dtype.BF16), idx, width, func(a, b dtype.BF16) dtype.BF16 { return dtype.BF16From(a.Float32() + b.Float32()) })
	}
	if width == 0 || len(idx) == 0 {
		return nil
	}
	if err := Check(idx, int64(len(dst)/width)); err != nil {
		return err
	}
	addChecked(dst, updates, idx, width)
	return nil
}

// AddDropping is [Add] that skips rows with a negative index. The other indices must have been
// checked. It does not support half-precision types.
func AddDropping[T dtype.Number, I Index](dst, updates []T, idx []I, width int) {
	if width > 0 {
		addChecked(dst, updates, idx, width)
	}
}

func addChecked[T dtype.Number, I Index](dst, updates []T, idx []I, width int) {
	if width == 1 {
		for i, at := range idx {
			if at >= 0 {
				dst[at] += updates[i]
			}
		}
		return
	}
	if !addVectorised(dst, updates, idx, width) {
		addRows(dst, updates, idx, width)
	}
}

// addRows divides the columns rather than the rows among workers: each worker sees all indices, so
// that no two add to the same element and additions are made in the order of the indices.
func addRows[T dtype.Number, I Index](dst, updates []T, idx []I, width int) {
	columns := func(lo, hi int) {
		for i, at := range idx {
			if at < 0 {
				continue
			}
			d := dst[int(at)*width+lo : int(at)*width+hi]
			for j, v := range updates[i*width+lo : i*width+hi] {
				d[j] += v
			}
		}
	}
	if len(idx)*width < chunk || width < 2*minColumns {
		columns(0, width)
		return
	}
	eachSlab(width, columns)
}

// Max puts the larger of row i of updates and row idx[i] of dst there. NaN propagates.
func Max[T dtype.Real, I Index](dst, updates []T, idx []I, width int) error {
	switch d := any(dst).(type) {
	case []dtype.F16:
		return combine(d, any(updates).([]dtype.F16), idx, width, func(a, b dtype.F16) dtype.F16 { return dtype.F16From(max(a.Float32(), b.Float32())) })
	case []dtype.BF16:
		return combine(d, any(updates).([]dtype.BF16), idx, width, func(a, b dtype.BF16) dtype.BF16 { return dtype.BF16From(max(a.Float32(), b.Float32())) })
	}
	return combine(dst, updates, idx, width, func(a, b T) T {
		if b > a || b != b {
			return b
		}
		return a
	})
}

// Min puts the smaller of row i of updates and row idx[i] of dst there. NaN propagates.
func Min[T dtype.Real, I Index](dst, updates []T, idx []I, width int) error {
	switch d := any(dst).(type) {
	case []dtype.F16:
		return combine(d, any(updates).([]dtype.F16), idx, width, func(a, b dtype.F16) dtype.F16 { return dtype.F16From(min(a.Float32(), b.Float32())) })
	case []dtype.BF16:
		return combine(d, any(updates).([]dtype.BF16), idx, width, func(a, b dtype.BF16) dtype.BF16 { return dtype.BF16From(min(a.Float32(), b.Float32())) })
	}
	return combine(dst, updates, idx, width, func(a, b T) T {
		if b < a || b != b {
			return b
		}
		return a
	})
}

// combine applies f to the old and the new element, in the order of the indices.
func combine[T any, I Index](dst, updates []T, idx []I, width int, f func(old, update T) T) error {
	if width == 0 || len(idx) == 0 {
		return nil
	}
	if err := Check(idx, int64(len(dst)/width)); err != nil {
		return err
	}
	for i, at := range idx {
		d := dst[int(at)*width : (int(at)+1)*width]
		for j, v := range updates[i*width : (i+1)*width] {
			d[j] = f(d[j], v)
		}
	}
	return nil
}
