package elementwise

import "math/bits"

type (
	signed   interface{ int8 | int16 | int32 | int64 }
	unsigned interface {
		uint8 | uint16 | uint32 | uint64
	}
	integer interface{ signed | unsigned }
	ordered interface{ integer | float }
	number  interface{ ordered | complexNumber }
)

func unarySigned[T signed](op Op) func(dst, x []T) {
	switch op {
	case Abs:
		return absInt[T]
	case Sign:
		return signInt[T]
	}
	return unaryInteger[T](op)
}

func unaryUnsigned[T unsigned](op Op) func(dst, x []T) {
	switch op {
	case Abs:
		return copyTo[T]
	case Sign:
		return signInt[T]
	}
	return unaryInteger[T](op)
}

func unaryInteger[T integer](op Op) func(dst, x []T) {
	switch op {
	case Neg:
		return neg[T]
	case Square:
		return square[T]
	case Floor, Ceil, Round, Trunc:
		return copyTo[T]
	case Relu:
		return relu[T]
	case Relu6:
		return relu6[T]
	case BitwiseNot:
		return bitwiseNot[T]
	case Popcount:
		return popcount[T]
	}
	return nil
}

func unaryBool(op Op) func(dst, x []bool) {
	switch op {
	case LogicalNot, BitwiseNot:
		return func(dst, x []bool) {
			d, b := boolBytes(dst), boolBytes(x[:len(dst)])
			for i := notWords(d, b); i < len(d); i++ {
				d[i] = b[i] ^ 1
			}
		}
	}
	return nil
}

func copyTo[T any](dst, x []T) { copy(dst, x) }

func absInt[T signed](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = max(v, -v) // the most negative number is its own negation
	}
}

func signInt[T integer](dst, x []T) {
	for i, v := range x[:len(dst)] {
		switch {
		case v > 0:
			dst[i] = 1
		case v < 0:
			dst[i] = ^T(0) // -1; an unsigned number never gets here
		default:
			dst[i] = 0
		}
	}
}

func bitwiseNot[T integer](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = ^v
	}
}

// popcount counts the bits that are set; a negative number is taken in two's complement.
func popcount[T integer](dst, x []T) {
	mask := ^uint64(0) >> (64 - width[T]())
	for i, v := range x[:len(dst)] {
		dst[i] = T(bits.OnesCount64(uint64(v) & mask))
	}
}
