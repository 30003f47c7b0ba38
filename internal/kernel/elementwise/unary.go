package elementwise

import "github.com/tenonml/tenon/dtype"

// Unary returns the kernel that sets dst[i] to op(x[i]) for all i < len(dst),
// or nil if op is not a function of one T. x is at least as long as dst; dst
// and x are the same memory or do not overlap.
func Unary[T dtype.Native](op Op) func(dst, x []T) {
	var f any
	switch any((*T)(nil)).(type) {
	case *bool:
		f = unaryBool(op)
	case *int8:
		f = unarySigned[int8](op)
	case *int16:
		f = unarySigned[int16](op)
	case *int32:
		f = unaryInt32(op)
	case *int64:
		f = unaryInt64(op)
	case *uint8:
		f = unaryUnsigned[uint8](op)
	case *uint16:
		f = unaryUnsigned[uint16](op)
	case *uint32:
		f = unaryUnsigned[uint32](op)
	case *uint64:
		f = unaryUnsigned[uint64](op)
	case *dtype.F16:
		f = unaryHalf[dtype.F16](op)
	case *dtype.BF16:
		f = unaryHalf[dtype.BF16](op)
	case *float32:
		f = unaryFloat32(op)
	case *float64:
		f = unaryFloat64(op)
	case *complex64:
		f = unaryComplex[complex64](op)
	case *complex128:
		f = unaryComplex[complex128](op)
	}
	k, _ := f.(func(dst, x []T))
	return k
}

func unaryInt32(op Op) func(dst, x []int32) {
	if f := asmUnaryInt32(op); f != nil {
		return f
	}
	return unarySigned[int32](op)
}

func unaryInt64(op Op) func(dst, x []int64) {
	if f := asmUnaryInt64(op); f != nil {
		return f
	}
	return unarySigned[int64](op)
}

func unaryFloat32(op Op) func(dst, x []float32) {
	if f := asmUnaryFloat32(op); f != nil {
		return f
	}
	return unaryFloat[float32](op)
}

func unaryFloat64(op Op) func(dst, x []float64) {
	if f := asmUnaryFloat64(op); f != nil {
		return f
	}
	return unaryFloat[float64](op)
}

func unaryHalf[H half](op Op) func(dst, x []H) {
	switch op {
	case Abs: // signs are cleared and flipped in place, NaNs keep their bits
		return func(dst, x []H) {
			for i, v := range x[:len(dst)] {
				dst[i] = v &^ 0x8000
			}
		}
	case Neg:
		return func(dst, x []H) {
			for i, v := range x[:len(dst)] {
				dst[i] = v ^ 0x8000
			}
		}
	}
	return half1[H](unaryFloat32(op))
}
