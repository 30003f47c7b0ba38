package elementwise

import "github.com/tenonml/tenon/dtype"

// Binary returns the kernel that sets dst[i] to op(x[i], y[i]) for all
// i < len(dst), or nil if op is not a function of two T. x and y are at least
// as long as dst; each is the same memory as dst or does not overlap it.
//
// The kernel returns -1, or the index of the first element for which op is not defined, in which
// case it may have written to dst: integers divided by zero ([FloorDiv], [Mod], [TruncDiv],
// [TruncMod]) or raised to a negative power ([Pow]).
func Binary[T dtype.Native](op Op) func(dst, x, y []T) int {
	var f any
	switch any((*T)(nil)).(type) {
	case *bool:
		f = binaryBool(op)
	case *int8:
		f = binarySigned[int8](op)
	case *int16:
		f = binarySigned[int16](op)
	case *int32:
		f = binaryInt32(op)
	case *int64:
		f = binaryInt64(op)
	case *uint8:
		f = binaryUnsigned[uint8](op)
	case *uint16:
		f = binaryUnsigned[uint16](op)
	case *uint32:
		f = binaryUnsigned[uint32](op)
	case *uint64:
		f = binaryUnsigned[uint64](op)
	case *dtype.F16:
		f = binaryHalf[dtype.F16](op, 0x7c00)
	case *dtype.BF16:
		f = binaryHalf[dtype.BF16](op, 0x7f80)
	case *float32:
		f = binaryFloat32(op)
	case *float64:
		f = binaryFloat64(op)
	case *complex64:
		f = binaryComplex[complex64](op)
	case *complex128:
		f = binaryComplex[complex128](op)
	}
	k, _ := f.(func(dst, x, y []T) int)
	return k
}

// BinaryVS returns the kernel of [Binary] for a vector and a scalar: dst[i]
// becomes op(x[i], y).
func BinaryVS[T dtype.Native](op Op) func(dst, x []T, y T) int {
	if k := asmBinaryVS[T](op); k != nil {
		return k
	}
	f := Binary[T](op)
	if f == nil {
		return nil
	}
	return func(dst, x []T, y T) int {
		b := blocks.Get().(*block)
		buf := as[T](b)
		buf = buf[:min(len(buf), len(dst))]
		splat(buf, y)
		for done := 0; done < len(dst); done += len(buf) {
			n := min(len(dst)-done, len(buf))
			if bad := f(dst[done:done+n], x[done:done+n], buf[:n]); bad >= 0 {
				return done + bad
			}
		}
		blocks.Put(b)
		return -1
	}
}

// BinarySV returns the kernel of [Binary] for a scalar and a vector: dst[i]
// becomes op(x, y[i]).
func BinarySV[T dtype.Native](op Op) func(dst []T, x T, y []T) int {
	if k := asmBinarySV[T](op); k != nil {
		return k
	}
	f := Binary[T](op)
	if f == nil {
		return nil
	}
	return func(dst []T, x T, y []T) int {
		b := blocks.Get().(*block)
		buf := as[T](b)
		buf = buf[:min(len(buf), len(dst))]
		splat(buf, x)
		for done := 0; done < len(dst); done += len(buf) {
			n := min(len(dst)-done, len(buf))
			if bad := f(dst[done:done+n], buf[:n], y[done:done+n]); bad >= 0 {
				return done + bad
			}
		}
		blocks.Put(b)
		return -1
	}
}

func binaryInt32(op Op) func(dst, x, y []int32) int {
	if f := asmBinaryInt32(op); f != nil {
		return f
	}
	return binarySigned[int32](op)
}

func binaryInt64(op Op) func(dst, x, y []int64) int {
	if f := asmBinaryInt64(op); f != nil {
		return f
	}
	return binarySigned[int64](op)
}

func binaryFloat32(op Op) func(dst, x, y []float32) int {
	if f := asmBinaryFloat32(op); f != nil {
		return f
	}
	return binaryFloat[float32](op)
}

func binaryFloat64(op Op) func(dst, x, y []float64) int {
	if f := asmBinaryFloat64(op); f != nil {
		return f
	}
	return binaryFloat[float64](op)
}

func binaryHalf[H half](op Op, inf H) func(dst, x, y []H) int {
	if op == NextAfter {
		return halfNextAfter(inf)
	}
	return half2[H](binaryFloat32(op))
}

func binaryBool(op Op) func(dst, x, y []bool) int {
	switch op {
	case LogicalAnd, BitwiseAnd, Minimum, Mul:
		return boolWords(andWords, func(x, y byte) byte { return x & y })
	case LogicalOr, BitwiseOr, Maximum, Add:
		return boolWords(orWords, func(x, y byte) byte { return x | y })
	case LogicalXor, BitwiseXor:
		return boolWords(xorWords, func(x, y byte) byte { return x ^ y })
	}
	return nil
}

// commutes reports whether op is commutative.
func commutes(op Op) bool {
	switch op {
	case Add, Mul, Maximum, Minimum, SquaredDifference, BitwiseAnd, BitwiseOr, BitwiseXor:
		return true
	}
	return false
}
