package elementwise

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/stream"
)

// Results that exceed the cache are better written past it. The functions below do
// that with any untyped kernel: a block is computed into scratch memory, which stays
// in the first-level cache, and copied out from there with [stream.Bytes]. Callers
// use them where the whole result has [stream.Threshold] bytes or more and is not the
// memory of an operand, which is in the cache anyway.

// StreamUnary returns f with results written past the cache. dstSize and xSize are
// the bytes of an element of the result and of the operand.
func StreamUnary(f UnaryFunc, dstSize, xSize int) UnaryFunc {
	return func(dst, x unsafe.Pointer, n int) {
		b := blocks.Get().(*block)
		temp := unsafe.Pointer(b)
		step := len(*b) * 8 / max(dstSize, 1)
		for done := 0; done < n; done += step {
			m := min(step, n-done)
			f(temp, unsafe.Add(x, done*xSize), m)
			stream.Bytes(unsafe.Add(dst, done*dstSize), temp, m*dstSize)
		}
		blocks.Put(b)
	}
}

// StreamBinary returns f, a kernel of [BinaryOf] or [CompareOf] for operands in the
// given form, with results written past the cache. dstSize and size are the bytes of
// an element of the result and of the operands.
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
			stream.Bytes(unsafe.Add(dst, done*dstSize), temp, m*dstSize)
		}
		return -1
	}
}
