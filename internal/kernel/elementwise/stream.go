package elementwise

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/stream"
)

// Results that exceed the cache are better written with non-temporal stores. [StreamUnaryOf] and
// [StreamBinaryOf] return kernels that use them. Callers use these kernels if the whole result has
// at least [stream.Threshold] bytes and is not the memory of an operand, which is in the cache
// anyway. [StreamUnary] and [StreamBinary] turn any untyped kernel into such a kernel: a block is
// computed into scratch memory, which stays in the first-level cache, and copied from there.

// StreamUnaryOf is [UnaryOf] with non-temporal stores.
func StreamUnaryOf(op Op, dt dtype.DType) UnaryFunc {
	if op >= opCount {
		return nil
	}
	if dt == dtype.Float32 {
		if f := asmStreamUnary(op); f != nil {
			return untyped1(f)
		}
	}
	f := UnaryOf(op, dt)
	if f == nil {
		return nil
	}
	size := dt.Size()
	switch {
	case op >= IsNaN && op <= IsFinite:
		return StreamUnary(f, 1, size)
	case dt.IsComplex() && op >= RealPart && op <= Modulus:
		return StreamUnary(f, size/2, size)
	}
	return StreamUnary(f, size, size)
}

// StreamBinaryOf is [BinaryOf] with non-temporal stores.
func StreamBinaryOf(op Op, dt dtype.DType, form Form) BinaryFunc {
	if op >= opCount {
		return nil
	}
	if dt == dtype.Float32 {
		switch form {
		case VV:
			if f := asmStreamBinary(op); f != nil {
				return func(dst, x, y unsafe.Pointer, n int) int {
					return f(unsafe.Slice((*float32)(dst), n), unsafe.Slice((*float32)(x), n), unsafe.Slice((*float32)(y), n))
				}
			}
		case VS:
			if f := asmStreamBinaryVS(op); f != nil {
				return func(dst, x, y unsafe.Pointer, n int) int {
					return f(unsafe.Slice((*float32)(dst), n), unsafe.Slice((*float32)(x), n), *(*float32)(y))
				}
			}
		case SV:
			if f := asmStreamBinaryVS(op); f != nil && commutes(op) {
				return func(dst, x, y unsafe.Pointer, n int) int {
					return f(unsafe.Slice((*float32)(dst), n), unsafe.Slice((*float32)(y), n), *(*float32)(x))
				}
			}
		}
	}
	f := BinaryOf(op, dt, form)
	if f == nil {
		return nil
	}
	return StreamBinary(f, dt.Size(), dt.Size(), form)
}

// StreamUnary returns a version of f that uses non-temporal stores. dstSize and xSize are the sizes
// in bytes of an element of the result and of the operand.
func StreamUnary(f UnaryFunc, dstSize, xSize int) UnaryFunc {
	return func(dst, x unsafe.Pointer, n int) {
		b := blocks.Get().(*block)
		temp := unsafe.Pointer(b)
		step := len(*b) * 8 / max(dstSize, 1)
		for done := 0; done < n; done += step {
			m := min(step, n-done)
			f(temp, unsafe.Add(x, done*xSize), m)
			stream.Ahead(unsafe.Add(dst, done*dstSize), temp, m*dstSize, unsafe.Add(x, min(done+m, n-1)*xSize))
		}
		blocks.Put(b)
	}
}

// StreamBinary returns a version of f, a kernel of [BinaryOf] or [CompareOf] for operands in the
// given form, that uses non-temporal stores. dstSize and size are the sizes in bytes of an element
// of the result and of the operands.
func StreamBinary(f BinaryFunc, dstSize, size int, form Form) BinaryFunc {
	xStep, yStep := size, size
	if form == SV || form == SS {
		xStep = 0
	}
	if form == VS || form == SS {
		yStep = 0
	}
	return func(dst, x, y unsafe.Pointer, n int) int {
		b := blocks.Get().(*block)
		defer blocks.Put(b)
		temp := unsafe.Pointer(b)
		step := len(*b) * 8 / max(dstSize, 1)
		for done := 0; done < n; done += step {
			m := min(step, n-done)
			if bad := f(temp, unsafe.Add(x, done*xStep), unsafe.Add(y, done*yStep), m); bad >= 0 {
				return done + bad
			}
			stream.Ahead(unsafe.Add(dst, done*dstSize), temp, m*dstSize, unsafe.Add(x, min(done+m, n-1)*xStep))
		}
		return -1
	}
}
