package elementwise

import (
	"math"
	"math/cmplx"

	"github.com/tenonml/tenon/internal/kernel/special"
)

type float interface{ float32 | float64 }

// unaryFloat returns the plain Go kernels. The functions of package math are
// computed in float64 and rounded once, so a float32 result is almost always
// the correctly rounded one.
func unaryFloat[T float](op Op) func(dst, x []T) {
	switch op {
	case Abs:
		return absFloat[T]
	case Neg:
		return neg[T]
	case Sign:
		return signFloat[T]
	case Reciprocal:
		return reciprocal[T]
	case Square:
		return square[T]
	case Sqrt:
		return sqrtFloat[T]
	case Rsqrt:
		return through64[T](func(x float64) float64 { return 1 / math.Sqrt(x) })
	case Relu:
		return relu[T]
	case Relu6:
		return relu6[T]
	case Softsign:
		return softsign[T]
	case HardSigmoid:
		return hardSigmoid[T]
	case HardSilu:
		return hardSilu[T]
	}
	if f := scalarFunc(op); f != nil {
		return through64[T](f)
	}
	return nil
}

// scalarFunc returns the float64 function of those that have no loop of their own.
func scalarFunc(op Op) func(float64) float64 {
	switch op {
	case Cbrt:
		return math.Cbrt
	case Exp:
		return math.Exp
	case Exp2:
		return math.Exp2
	case Expm1:
		return math.Expm1
	case Log:
		return math.Log
	case Log2:
		return special.Log2
	case Log10:
		return special.Log10
	case Log1p:
		return math.Log1p
	case Sin:
		return math.Sin
	case Cos:
		return math.Cos
	case Tan:
		return math.Tan
	case Asin:
		return math.Asin
	case Acos:
		return math.Acos
	case Atan:
		return math.Atan
	case Sinh:
		return math.Sinh
	case Cosh:
		return math.Cosh
	case Tanh:
		return math.Tanh
	case Asinh:
		return math.Asinh
	case Acosh:
		return math.Acosh
	case Atanh:
		return math.Atanh
	case Erf:
		return math.Erf
	case Erfc:
		return math.Erfc
	case Erfinv:
		return math.Erfinv
	case Ndtri:
		return special.Ndtri
	case Lgamma:
		return special.LogGamma
	case Digamma:
		return special.Digamma
	case Floor:
		return math.Floor
	case Ceil:
		return math.Ceil
	case Round:
		return math.RoundToEven
	case Trunc:
		return math.Trunc
	case Sigmoid:
		return special.Sigmoid
	case LogSigmoid:
		return special.LogSigmoid
	case Softplus:
		return special.Softplus
	case Selu:
		return special.Selu
	case Gelu:
		return special.Gelu
	case GeluTanh:
		return special.GeluTanh
	case Silu:
		return special.Silu
	case Mish:
		return special.Mish
	}
	return nil
}

func through64[T float](f func(float64) float64) func(dst, x []T) {
	return func(dst, x []T) {
		for i, v := range x[:len(dst)] {
			dst[i] = T(f(float64(v)))
		}
	}
}

func absFloat[T float](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = T(math.Abs(float64(v)))
	}
}

func neg[T number](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = -v
	}
}

// signFloat is -1, 1, the zero itself or NaN.
func signFloat[T float](dst, x []T) {
	for i, v := range x[:len(dst)] {
		switch {
		case v > 0:
			v = 1
		case v < 0:
			v = -1
		}
		dst[i] = v
	}
}

func reciprocal[T float | complexNumber](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = 1 / v
	}
}

func square[T number](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = v * v
	}
}

// sqrtFloat may round twice for float32: from 53 bits the second rounding of a
// square root to 24 bits is harmless.
func sqrtFloat[T float](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = T(math.Sqrt(float64(v)))
	}
}

func relu[T ordered](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = max(v, 0)
	}
}

func relu6[T ordered](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = min(max(v, 0), 6)
	}
}

// softsign is x/(1+|x|), with its limits at the infinities.
func softsign[T float](dst, x []T) {
	for i, v := range x[:len(dst)] {
		a := math.Abs(float64(v))
		if math.IsInf(a, 1) {
			dst[i] = T(math.Copysign(1, float64(v)))
			continue
		}
		dst[i] = T(float64(v) / (1 + a))
	}
}

// hardSigmoid is Relu6(x+3)/6, the piecewise linear stand-in for the sigmoid
// of Howard et al. (arXiv:1905.02244).
func hardSigmoid[T float](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = min(max(v+3, 0), 6) / 6
	}
}

// hardSilu is x·hardSigmoid(x); at -Inf it is the limit -0.
func hardSilu[T float](dst, x []T) {
	for i, v := range x[:len(dst)] {
		h := min(max(v+3, 0), 6) / 6
		if h == 0 {
			v = T(math.Copysign(1, float64(v))) // v may be infinite
		}
		dst[i] = v * h
	}
}

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
		return throughComplex[T](cmplx.Log)
	case Log1p:
		return throughComplex[T](log1pComplex)
	case Log10:
		return throughComplex[T](cmplx.Log10)
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
	return cmplx.Log(1 + x)
}

func sigmoidComplex(x complex128) complex128 {
	if real(x) >= 0 {
		return 1 / (1 + cmplx.Exp(-x))
	}
	e := cmplx.Exp(x)
	return e / (1 + e)
}
