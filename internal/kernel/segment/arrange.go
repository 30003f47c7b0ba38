package segment

// Reverse writes the items of each row in reverse order to out, which has the length of values.
func Reverse[T any](out, values []T, splits []int64, inner int) {
	if how := (Slice{Step: -1}).ready(); selectVectorised(out, values, splits, splits, &how, inner) {
		return
	}
	if isShort(splits, inner) {
		reverseRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) { reverseRange(out, values, splits, inner, lo, hi) })
}

func reverseRange[T any](out, values []T, splits []int64, inner, lo, hi int) {
	for r := lo; r < hi; r++ {
		o, x := row(out, splits, r, inner), row(values, splits, r, inner)
		if inner == 1 {
			for i, v := range x {
				o[len(o)-1-i] = v
			}
			continue
		}
		for len(x) >= inner && inner > 0 {
			copy(o[len(o)-inner:], x[:inner])
			o, x = o[:len(o)-inner], x[inner:]
		}
	}
}

// Roll writes each row rotated by shift items towards its end to out, which has the length of
// values. A negative shift rotates towards the beginning.
func Roll[T any](out, values []T, splits []int64, inner int, shift int64) {
	if isShort(splits, inner) {
		rollRange(out, values, splits, inner, shift, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) { rollRange(out, values, splits, inner, shift, lo, hi) })
}

func rollRange[T any](out, values []T, splits []int64, inner int, shift int64, lo, hi int) {
	for r := lo; r < hi; r++ {
		o, x := row(out, splits, r, inner), row(values, splits, r, inner)
		n := splits[r+1] - splits[r]
		if n == 0 {
			continue
		}
		s := int((shift%n + n) % n * int64(inner))
		copy(o[copy(o, x[len(x)-s:]):], x)
	}
}
