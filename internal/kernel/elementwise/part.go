package elementwise

import (
	"math"
	"math/cmplx"
)

// Part returns the kernel of a real function of one complex number, or nil if
// op is none: [RealPart], [ImagPart], [Modulus] (the absolute value) and
// [Angle] (in radians, between -π and π). R holds the parts of C.
func Part[R float, C complexNumber](op Op) func(dst []R, x []C) {
	switch op {
	case RealPart:
		return part[R, C](func(x complex128) float64 { return real(x) })
	case ImagPart:
		return part[R, C](func(x complex128) float64 { return imag(x) })
	case Modulus:
		return part[R, C](cmplx.Abs)
	case Angle:
		return part[R, C](cmplx.Phase)
	}
	return nil
}

func part[R float, C complexNumber](f func(complex128) float64) func(dst []R, x []C) {
	return func(dst []R, x []C) {
		for i, v := range x[:len(dst)] {
			dst[i] = R(f(complex128(v)))
		}
	}
}

// AngleReal sets dst[i] to the angle of the real number x[i]: 0, or π if it is negative, or NaN if
// it is NaN.
func AngleReal[T float](dst, x []T) {
	for i, v := range x[:len(dst)] {
		switch {
		case v < 0:
			dst[i] = T(math.Pi)
		case v == v:
			dst[i] = 0
		default:
			dst[i] = v
		}
	}
}

// Complex sets dst[i] to re[i] + im[i]·i.
func Complex[C complexNumber, R float](dst []C, re, im []R) {
	re, im = re[:len(dst)], im[:len(dst)]
	for i := range dst {
		dst[i] = C(complex(float64(re[i]), float64(im[i])))
	}
}
