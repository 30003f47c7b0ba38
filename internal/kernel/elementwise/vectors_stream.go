package elementwise

import "unsafe"

// head returns how many of n elements lie before dst's first multiple of 64 bytes.
func head[T any](dst *T, n int) int {
	size := int(unsafe.Sizeof(*dst))
	return min(n, int(-uintptr(unsafe.Pointer(dst))%64)/size)
}

// asmStreamUnary returns the float32 kernel that uses non-temporal stores, or nil.
func asmStreamUnary(op Op) func(dst, x []float32) {
	t := vectorsOf[float32]()
	first, past := loop1(t.unary[op]), loop1(t.unaryPast[op])
	if past == nil {
		return nil
	}
	return func(dst, x []float32) {
		if len(dst) == 0 {
			return
		}
		h := head(&dst[0], len(dst))
		first(dst[:h], x)
		past(dst[h:], x[h:])
	}
}

func asmStreamBinary(op Op) func(dst, x, y []float32) int {
	t := vectorsOf[float32]()
	first, past := loop2(t.binary[op]), loop2(t.binaryPast[op])
	if past == nil {
		return nil
	}
	return func(dst, x, y []float32) int {
		if len(dst) == 0 {
			return -1
		}
		h := head(&dst[0], len(dst))
		first(dst[:h], x, y)
		return past(dst[h:], x[h:], y[h:])
	}
}

func asmStreamBinaryVS(op Op) func(dst, x []float32, y float32) int {
	t := vectorsOf[float32]()
	first, past := t.vs[op], t.vsPast[op]
	if past == nil {
		return nil
	}
	return func(dst, x []float32, y float32) int {
		if len(dst) == 0 {
			return -1
		}
		x = x[:len(dst)]
		if h := head(&dst[0], len(dst)); h > 0 {
			callScalar(first, &dst[0], &x[0], h, y)
			dst, x = dst[h:], x[h:]
		}
		for len(dst) > 0 {
			n := min(len(dst), maxCall)
			callScalar(past, &dst[0], &x[0], n, y)
			dst, x = dst[n:], x[n:]
		}
		return -1
	}
}
