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

// worthSpan is the number of elements from which it pays to expand a scalar operand into a span, so
// that the vector kernel can be used.
const worthSpan = 64

// spanOf returns v repeated n times, or as often as fits into the block.
func spanOf[T dtype.Native](b *block, v T, n int) []T {
	span := as[T](b)
	span = span[:min(n, len(span))]
	splat(span, v)
	return span
}

// SelectVS is [Select] with one y for all elements.
func SelectVS[T dtype.Native](dst []T, cond []bool, x []T, y T) {
	cond, x = cond[:len(dst)], x[:len(dst)]
	if len(dst) >= worthSpan && selects[T]() {
		b := blocks.Get().(*block)
		span := spanOf(b, y, len(dst))
		for ; len(dst) > 0; dst, cond, x = dst[len(span):], cond[len(span):], x[len(span):] {
			span = span[:min(len(span), len(dst))]
			Select(dst[:len(span)], cond, x, span)
		}
		blocks.Put(b)
		return
	}
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
	if len(dst) >= worthSpan && selects[T]() {
		b := blocks.Get().(*block)
		span := spanOf(b, x, len(dst))
		for ; len(dst) > 0; dst, cond, y = dst[len(span):], cond[len(span):], y[len(span):] {
			span = span[:min(len(span), len(dst))]
			Select(dst[:len(span)], cond, span, y)
		}
		blocks.Put(b)
		return
	}
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
	if len(dst) >= worthSpan && selects[T]() {
		bx, by := blocks.Get().(*block), blocks.Get().(*block)
		a, b := spanOf(bx, x, len(dst)), spanOf(by, y, len(dst))
		for ; len(dst) > 0; dst, cond = dst[len(a):], cond[len(a):] {
			a = a[:min(len(a), len(dst))]
			Select(dst[:len(a)], cond, a, b)
		}
		blocks.Put(bx)
		blocks.Put(by)
		return
	}
	for i := range dst {
		v := y
		if cond[i] {
			v = x
		}
		dst[i] = v
	}
}
