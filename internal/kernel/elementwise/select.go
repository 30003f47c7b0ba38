package elementwise

import "github.com/tenonml/tenon/dtype"

// Select sets dst[i] to x[i] where cond[i] holds and to y[i] elsewhere, for all
// i < len(dst). x or y may be the same memory as dst.
func Select[T dtype.Native](dst []T, cond []bool, x, y []T) {
	cond, x, y = cond[:len(dst)], x[:len(dst)], y[:len(dst)]
	done := asmSelect(dst, cond, x, y)
	dst, cond, x, y = dst[done:], cond[done:], x[done:], y[done:]
	for i := range dst {
		v := y[i]
		if cond[i] {
			v = x[i]
		}
		dst[i] = v
	}
}

// SelectVS is [Select] with one y for all elements.
func SelectVS[T dtype.Native](dst []T, cond []bool, x []T, y T) {
	cond, x = cond[:len(dst)], x[:len(dst)]
	for i := range dst {
		v := y
		if cond[i] {
			v = x[i]
		}
		dst[i] = v
	}
}

// SelectSV is [Select] with one x for all elements.
func SelectSV[T dtype.Native](dst []T, cond []bool, x T, y []T) {
	cond, y = cond[:len(dst)], y[:len(dst)]
	for i := range dst {
		v := x
		if !cond[i] {
			v = y[i]
		}
		dst[i] = v
	}
}

// SelectSS is [Select] with one x and one y for all elements.
func SelectSS[T dtype.Native](dst []T, cond []bool, x, y T) {
	cond = cond[:len(dst)]
	for i := range dst {
		v := y
		if cond[i] {
			v = x
		}
		dst[i] = v
	}
}
