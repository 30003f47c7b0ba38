package elementwise

import (
	"math"
	"math/cmplx"

	"github.com/tenonml/tenon/internal/kernel/special"
)

type complexNumber interface{ complex64 | complex128 }

// unaryComplex computes complex64 in complex128 and rounds once.
func unaryComplex[T complexNumber](op Op) func(dst, x []T) {
	switch op {
	case Neg:
		return neg[T]
	case Square:
		return square[T]
	case Reciprocal:
		return reciprocal[T]
	case Conj:
		return throughComplex[T](cmplx.Conj)
	case Sign:
		return throughComplex[T](signComplex)
	case Sqrt:
		return throughComplex[T](cmplx.Sqrt)
	case Rsqrt:
		return throughComplex[T](func(x complex128) complex128 { return 1 / cmplx.Sqrt(x) })
	case Exp:
		return throughComplex[T](cmplx.Exp)
	case Expm1:
		return throughComplex[T](expm1Complex)
	case Log:
		return throughComplex[T](logComplex)
	case Log1p:
		return throughComplex[T](log1pComplex)
	case Log10:
		return throughComplex[T](func(x complex128) complex128 { return logComplex(x) * (1 / math.Ln10) })
	case Sin:
		return throughComplex[T](cmplx.Sin)
	case Cos:
		return throughComplex[T](cmplx.Cos)
	case Tan:
		return throughComplex[T](cmplx.Tan)
	case Asin:
		return throughComplex[T](cmplx.Asin)
	case Acos:
		return throughComplex[T](cmplx.Acos)
	case Atan:
		return throughComplex[T](cmplx.Atan)
	case Sinh:
		return throughComplex[T](cmplx.Sinh)
	case Cosh:
		return throughComplex[T](cmplx.Cosh)
	case Tanh:
		return throughComplex[T](cmplx.Tanh)
	case Asinh:
		return throughComplex[T](cmplx.Asinh)
	case Acosh:
		return throughComplex[T](cmplx.Acosh)
	case Atanh:
		return throughComplex[T](cmplx.Atanh)
	case Sigmoid:
		return throughComplex[T](sigmoidComplex)
	}
	return nil
}

func throughComplex[T complexNumber](f func(complex128) complex128) func(dst, x []T) {
	return func(dst, x []T) {
		for i, v := range x[:len(dst)] {
			dst[i] = T(f(complex128(v)))
		}
	}
}

// signComplex is x/|x|, and 0 for 0.
func signComplex(x complex128) complex128 {
	if x == 0 {
		return 0
	}
	return x / complex(cmplx.Abs(x), 0)
}

// expm1Complex uses e^(a+bi)-1 = expm1(a)·cos b + (cos b - 1) + i·e^a·sin b
// with cos b - 1 = -2 sin²(b/2).
func expm1Complex(x complex128) complex128 {
	a, b := real(x), imag(x)
	sin, cos := math.Sincos(b)
	half := math.Sin(b / 2)
	return complex(math.Expm1(a)*cos-2*half*half, math.Exp(a)*sin)
}

// log1pComplex uses log|1+x| = log1p(a(2+a)+b²)/2 where x is small.
func log1pComplex(x complex128) complex128 {
	a, b := real(x), imag(x)
	if math.Abs(a) < 0.5 && math.Abs(b) < 0.5 {
		return complex(0.5*math.Log1p(a*(2+a)+b*b), math.Atan2(b, 1+a))
	}
	return logComplex(1 + x)
}

func logComplex(x complex128) complex128 {
	return complex(special.Log(cmplx.Abs(x)), cmplx.Phase(x))
}

func sigmoidComplex(x complex128) complex128 {
	if real(x) >= 0 {
		return 1 / (1 + cmplx.Exp(-x))
	}
	e := cmplx.Exp(x)
	return e / (1 + e)
}
