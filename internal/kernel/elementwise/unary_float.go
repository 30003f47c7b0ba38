package elementwise

import (
	"math"

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
		return rsqrtFloat[T]
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

// scalarFunc returns the float64 function of an op that has no loop of its own.
func scalarFunc(op Op) func(float64) float64 {
	switch op {
	case Cbrt:
		return math.Cbrt
	case Exp:
		return special.Exp
	case Exp2:
		return math.Exp2
	case Expm1:
		return special.Expm1
	case Log:
		return special.Log
	case Log2:
		return special.Log2
	case Log10:
		return special.Log10
	case Log1p:
		return math.Log1p
	case Sin:
		return special.Sin
	case Cos:
		return special.Cos
	case Tan:
		return special.Tan
	case Asin:
		return special.Asin
	case Acos:
		return special.Acos
	case Atan:
		return math.Atan
	case Sinh:
		return special.Sinh
	case Cosh:
		return special.Cosh
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

// rsqrtFloat rounds both the root and its reciprocal, as the assembly kernels do.
func rsqrtFloat[T float](dst, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = 1 / T(math.Sqrt(float64(v)))
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

// sqrtFloat rounds twice for float32, which is harmless: the square root rounded to 53 bits rounds
// correctly to 24.
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
