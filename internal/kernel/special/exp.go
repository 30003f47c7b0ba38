package special

import "math"

// Exp returns e^x. Unlike math.Exp on some machines it does not overflow before
// the result does, from about 709.4 on.
func Exp(x float64) float64 {
	if x > 709 && x < 710 {
		return math.Exp(x-1) * math.E
	}
	return math.Exp(x)
}

// Expm1 returns e^x-1, up to where the result overflows.
func Expm1(x float64) float64 {
	if x > 709 {
		return Exp(x)
	}
	return math.Expm1(x)
}

// Sinh returns the hyperbolic sine of x, up to where the result overflows.
func Sinh(x float64) float64 {
	if math.Abs(x) > 709 {
		h := math.Exp(math.Abs(x) / 2)
		return math.Copysign(h/2*h, x)
	}
	return math.Sinh(x)
}

// Cosh returns the hyperbolic cosine of x, up to where the result overflows.
func Cosh(x float64) float64 {
	if math.Abs(x) > 709 {
		h := math.Exp(math.Abs(x) / 2)
		return h / 2 * h
	}
	return math.Cosh(x)
}
