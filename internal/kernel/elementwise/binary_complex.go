package elementwise

import "math/cmplx"

func binaryComplex[T complexNumber](op Op) func(dst, x, y []T) int {
	switch op {
	case Div:
		return div[T]
	case Pow:
		return func(dst, x, y []T) int {
			x, y = x[:len(dst)], y[:len(dst)]
			for i := range dst {
				dst[i] = T(cmplx.Pow(complex128(x[i]), complex128(y[i])))
			}
			return -1
		}
	case SquaredDifference: // |x-y|²
		return func(dst, x, y []T) int {
			x, y = x[:len(dst)], y[:len(dst)]
			for i := range dst {
				d := complex128(x[i] - y[i])
				dst[i] = T(d * cmplx.Conj(d))
			}
			return -1
		}
	}
	return arithmetic[T](op)
}
