package elementwise

import "unsafe"

func binarySigned[T signed](op Op) func(dst, x, y []T) int {
	switch op {
	case FloorDiv:
		return floorDivSigned[T]
	case Mod:
		return modSigned[T]
	case Pow:
		return powSigned[T]
	}
	return binaryInteger[T](op)
}

func binaryUnsigned[T unsigned](op Op) func(dst, x, y []T) int {
	if f := asSigned[T](op); f != nil {
		return f
	}
	switch op {
	case FloorDiv:
		return truncDivInt[T]
	case Mod:
		return truncModInt[T]
	case Pow:
		return powInt[T]
	}
	return binaryInteger[T](op)
}

// asSigned lets uint32 and uint64 use the assembly kernels of the signed integers, for functions
// whose bits do not depend on signedness.
func asSigned[T unsigned](op Op) func(dst, x, y []T) int {
	switch op {
	case Add, Sub, Mul, SquaredDifference, BitwiseAnd, BitwiseOr, BitwiseXor:
	default:
		return nil
	}
	switch width[T]() {
	case 32:
		if f := asmBinaryInt32(op); f != nil {
			return func(dst, x, y []T) int { return f(bitsAs[int32](dst), bitsAs[int32](x), bitsAs[int32](y)) }
		}
	case 64:
		if f := asmBinaryInt64(op); f != nil {
			return func(dst, x, y []T) int { return f(bitsAs[int64](dst), bitsAs[int64](x), bitsAs[int64](y)) }
		}
	}
	return nil
}

// bitsAs returns the memory of x as numbers of another type of the same size.
func bitsAs[D, S any](x []S) []D {
	return unsafe.Slice((*D)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

func binaryInteger[T integer](op Op) func(dst, x, y []T) int {
	switch op {
	case Maximum:
		return maximum[T]
	case Minimum:
		return minimum[T]
	case TruncDiv:
		return truncDivInt[T]
	case TruncMod:
		return truncModInt[T]
	case BitwiseAnd:
		return and[T]
	case BitwiseOr:
		return or[T]
	case BitwiseXor:
		return xor[T]
	case LeftShift:
		return leftShift[T]
	case RightShift:
		return rightShift[T]
	}
	return arithmetic[T](op)
}

// width returns the number of bits of T.
func width[T integer]() uint {
	var t T
	return uint(unsafe.Sizeof(t)) * 8
}

func truncDivInt[T integer](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		if y[i] == 0 {
			return i
		}
		dst[i] = x[i] / y[i]
	}
	return -1
}

func truncModInt[T integer](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		if y[i] == 0 {
			return i
		}
		dst[i] = x[i] % y[i]
	}
	return -1
}

// floorDivSigned rounds toward negative infinity, as Python does.
func floorDivSigned[T signed](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		d := y[i]
		if d == 0 {
			return i
		}
		q := x[i] / d
		if r := x[i] - q*d; r != 0 && r < 0 != (d < 0) {
			q--
		}
		dst[i] = q
	}
	return -1
}

// modSigned gives the remainder the sign of the divisor, as Python does.
func modSigned[T signed](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		d := y[i]
		if d == 0 {
			return i
		}
		r := x[i] % d
		if r != 0 && r < 0 != (d < 0) {
			r += d
		}
		dst[i] = r
	}
	return -1
}

func powSigned[T signed](dst, x, y []T) int {
	for i, e := range y[:len(dst)] {
		if e < 0 {
			return i
		}
	}
	return powInt(dst, x, y)
}

// powInt computes powers by repeated squaring; results wrap.
func powInt[T integer](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		base, p := x[i], T(1)
		for e := uint64(y[i]); e > 0; e >>= 1 {
			if e&1 != 0 {
				p *= base
			}
			base *= base
		}
		dst[i] = p
	}
	return -1
}

func and[T integer](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] & y[i]
	}
	return -1
}

func or[T integer](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] | y[i]
	}
	return -1
}

func xor[T integer](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] ^ y[i]
	}
	return -1
}

// leftShift gives 0 for a count that is negative or at least the width of T.
func leftShift[T integer](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] << uint64(y[i])
	}
	return -1
}

// rightShift is an arithmetic shift for signed numbers. A count that is negative or at least the
// width of T leaves only copies of the sign.
func rightShift[T integer](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] >> uint64(y[i])
	}
	return -1
}
