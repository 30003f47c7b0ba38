package elementwise

import "github.com/tenonml/tenon/dtype"

// Half-precision kernels convert a block to float32, run the float32 kernel,
// and round its result once.

type half interface{ dtype.F16 | dtype.BF16 }

// widen converts halves to float32, exactly.
func widen[H half](dst []float32, x []H) {
	switch x := any(x).(type) {
	case []dtype.F16:
		widenF16(dst, x)
	case []dtype.BF16:
		widenBF16(dst, x)
	}
}

// narrow rounds float32 to halves, ties to even.
func narrow[H half](dst []H, x []float32) {
	switch dst := any(dst).(type) {
	case []dtype.F16:
		narrowF16(dst, x)
	case []dtype.BF16:
		narrowBF16(dst, x)
	}
}

func widenF16Go(dst []float32, x []dtype.F16) {
	for i, v := range x[:len(dst)] {
		dst[i] = v.Float32()
	}
}

func widenBF16Go(dst []float32, x []dtype.BF16) {
	for i, v := range x[:len(dst)] {
		dst[i] = v.Float32()
	}
}

func narrowF16Go(dst []dtype.F16, x []float32) {
	for i, v := range x[:len(dst)] {
		dst[i] = dtype.F16From(v)
	}
}

func narrowBF16Go(dst []dtype.BF16, x []float32) {
	for i, v := range x[:len(dst)] {
		dst[i] = dtype.BF16From(v)
	}
}

// half1 lifts a float32 kernel of one operand.
func half1[H half](f func(dst, x []float32)) func(dst, x []H) {
	if f == nil {
		return nil
	}
	return func(dst, x []H) {
		b := blocks.Get().(*block)
		buf := as[float32](b)
		for len(dst) > 0 {
			n := min(len(dst), len(buf))
			widen(buf[:n], x[:n])
			f(buf[:n], buf[:n])
			narrow(dst[:n], buf[:n])
			dst, x = dst[n:], x[n:]
		}
		blocks.Put(b)
	}
}

// half2 lifts a float32 kernel of two operands.
func half2[H half](f func(dst, x, y []float32) int) func(dst, x, y []H) int {
	if f == nil {
		return nil
	}
	return func(dst, x, y []H) int {
		bx, by := blocks.Get().(*block), blocks.Get().(*block)
		xs, ys := as[float32](bx), as[float32](by)
		for len(dst) > 0 {
			n := min(len(dst), len(xs))
			widen(xs[:n], x[:n])
			widen(ys[:n], y[:n])
			f(xs[:n], xs[:n], ys[:n]) // no float32 kernel reports an undefined element
			narrow(dst[:n], xs[:n])
			dst, x, y = dst[n:], x[n:], y[n:]
		}
		blocks.Put(bx)
		blocks.Put(by)
		return -1
	}
}

// half3 lifts a float32 kernel of three operands.
func half3[H half](f func(dst, x, y, z []float32)) func(dst, x, y, z []H) {
	if f == nil {
		return nil
	}
	return func(dst, x, y, z []H) {
		bx, by, bz := blocks.Get().(*block), blocks.Get().(*block), blocks.Get().(*block)
		xs, ys, zs := as[float32](bx), as[float32](by), as[float32](bz)
		for len(dst) > 0 {
			n := min(len(dst), len(xs))
			widen(xs[:n], x[:n])
			widen(ys[:n], y[:n])
			widen(zs[:n], z[:n])
			f(xs[:n], xs[:n], ys[:n], zs[:n])
			narrow(dst[:n], xs[:n])
			dst, x, y, z = dst[n:], x[n:], y[n:], z[n:]
		}
		blocks.Put(bx)
		blocks.Put(by)
		blocks.Put(bz)
	}
}

// halfTo lifts a float32 kernel of one operand and a result of another type.
func halfTo[H half, D any](f func(dst []D, x []float32)) func(dst []D, x []H) {
	if f == nil {
		return nil
	}
	return func(dst []D, x []H) {
		b := blocks.Get().(*block)
		buf := as[float32](b)
		for len(dst) > 0 {
			n := min(len(dst), len(buf))
			widen(buf[:n], x[:n])
			f(dst[:n], buf[:n])
			dst, x = dst[n:], x[n:]
		}
		blocks.Put(b)
	}
}

// halfCompare lifts a float32 comparison.
func halfCompare[H half](f func(dst []bool, x, y []float32)) func(dst []bool, x, y []H) {
	if f == nil {
		return nil
	}
	return func(dst []bool, x, y []H) {
		bx, by := blocks.Get().(*block), blocks.Get().(*block)
		xs, ys := as[float32](bx), as[float32](by)
		for len(dst) > 0 {
			n := min(len(dst), len(xs))
			widen(xs[:n], x[:n])
			widen(ys[:n], y[:n])
			f(dst[:n], xs[:n], ys[:n])
			dst, x, y = dst[n:], x[n:], y[n:]
		}
		blocks.Put(bx)
		blocks.Put(by)
	}
}

// halfNextAfter steps to the neighbouring half in the direction of y.
func halfNextAfter[H half](inf H) func(dst, x, y []H) int {
	return func(dst, x, y []H) int {
		for i := range dst {
			dst[i] = nextHalf(x[i], y[i], inf)
		}
		return -1
	}
}

// nextHalf works on the bits: among halves of one sign, magnitudes are ordered like bit patterns.
func nextHalf[H half](x, y, inf H) H {
	const sign = 0x8000
	ax, ay := x&^sign, y&^sign
	switch {
	case ax > inf:
		return x // NaN
	case ay > inf:
		return y // NaN
	case x == y || ax == 0 && ay == 0:
		return y
	case ax == 0:
		return y&sign | 1
	case x&sign != y&sign || ax > ay:
		return x - 1
	}
	return x + 1
}
