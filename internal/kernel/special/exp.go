package special

import "math"

// Exp returns e^x. It does not overflow until the result does, unlike math.Exp on some machines,
// which overflows from about x = 709.4 on.
func Exp(x float64) float64 {
	if x > 709 && x < 710 {
		return math.Exp(x-1) * math.E
	}
	return math.Exp(x)
}

// Expm1 returns e^x-1. It does not overflow until the result does.
func Expm1(x float64) float64 {
	if x > 709 {
		return Exp(x)
	}
	return math.Expm1(x)
}

// Sinh returns the hyperbolic sine of x. It does not overflow until the result does.
func Sinh(x float64) float64 {
	if math.Abs(x) > 709 {
		h := math.Exp(math.Abs(x) / 2)
		return math.Copysign(h/2*h, x)
	}
	return math.Sinh(x)
}

// Cosh returns the hyperbolic cosine of x. It does not overflow until the result does.
func Cosh(x float64) float64 {
	if math.Abs(x) > 709 {
		h := math.Exp(math.Abs(x) / 2)
		return h / 2 * h
	}
	return math.Cosh(x)
}
