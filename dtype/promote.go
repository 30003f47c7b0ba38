package dtype

import "fmt"

// Promote returns the type in which an operation on a and b is computed: their
// least upper bound in the lattice
//
//	bool < integers < float16, bfloat16 < float32 < float64
//	float32 < complex64 < complex128, float64 < complex128
//
// An unsigned and a signed integer promote to the next wider signed type.
// Promotion is commutative and associative where it is defined. Strings combine
// with strings only; uint64 with a signed integer is an error.
func Promote(a, b DType) (DType, error) {
	if a == b {
		return a, nil
	}
	if a > b {
		a, b = b, a
	}
	ca, cb := a.class(), b.class()
	switch {
	case ca == classNone || cb == classNone || ca == classString || cb == classString:
		return None, fmt.Errorf("dtype: %v and %v do not combine", a, b)
	case ca == classBool:
		return b, nil
	case ca == cb:
		if a == Float16 && b == BFloat16 {
			return Float32, nil
		}
		return b, nil // the constants are ordered by width
	case ca == classSigned && cb == classUnsigned:
		if b == Uint64 {
			return None, fmt.Errorf("dtype: %v and %v do not combine, because no integer type can hold both: cast one of them", a, b)
		}
		wider := Int16 + (b - Uint8) // the signed type that holds all of b
		return max(a, wider), nil
	case cb == classFloat: // integer with float
		return b, nil
	case cb == classComplex:
		if a == Float64 {
			return Complex128, nil
		}
		return b, nil
	}
	return None, fmt.Errorf("dtype: %v and %v do not combine", a, b)
}
