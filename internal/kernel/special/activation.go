package special

import "math"

// Sigmoid returns 1/(1+e^-x).
func Sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + Exp(-x))
	}
	// e^x stays accurate where 1+e^-x would overflow.
	e := Exp(x)
	return e / (1 + e)
}

// Softplus returns log(1+e^x).
func Softplus(x float64) float64 {
	return math.Max(x, 0) + math.Log1p(Exp(-math.Abs(x)))
}

// LogSigmoid returns log(1/(1+e^-x)).
func LogSigmoid(x float64) float64 { return -Softplus(-x) }

// Silu returns x·Sigmoid(x), also called swish. Silu(-Inf) is its limit, -0.
func Silu(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Copysign(0, -1)
	}
	return x * Sigmoid(x)
}

// Mish returns x·tanh(Softplus(x)). With n = e^x(e^x+2) the factor is n/(n+2), which needs only one
// exponential. Mish(-Inf) is its limit, -0.
func Mish(x float64) float64 {
	switch {
	case math.IsInf(x, -1):
		return math.Copysign(0, -1)
	case x > 20: // the factor rounds to 1
		return x
	}
	e := Exp(x)
	n := e * (e + 2)
	return x * (n / (n + 2))
}

// Gelu returns x·Φ(x), where Φ is the normal distribution function. Gelu(-Inf) is its limit, -0.
func Gelu(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Copysign(0, -1)
	}
	const hi, lo = math.Sqrt2 / 2, -4.833646656726457e-17 // hi+lo is √½ to 107 bits
	a := -x * hi
	e := math.Erfc(a)
	if a > 1 && e > 0 {
		// In the tail, erfc(a+d) ≈ erfc(a)(1-2ad), so the rounding error of a matters.
		d := math.FMA(-x, hi, -a) - x*lo
		e -= e * 2 * a * d
	}
	return 0.5 * x * e
}

// GeluTanh returns the approximation x/2·(1+tanh u), u = √(2/π)(x+0.044715x³), of Hendrycks and
// Gimpel (arXiv:1606.08415). It is computed as x·Sigmoid(2u), which is equal and stays accurate for
// negative x.
func GeluTanh(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Copysign(0, -1)
	}
	const sqrt2OverPi = 0.797884560802865355879892119868763737
	return x * Sigmoid(2*sqrt2OverPi*(x+0.044715*x*x*x))
}

// Elu returns x for positive x and alpha·(e^x-1) otherwise (arXiv:1511.07289).
func Elu(x, alpha float64) float64 {
	if x > 0 || x != x {
		return x
	}
	return alpha * math.Expm1(x)
}

// Selu returns scale·Elu(x, alpha) with the constants of arXiv:1706.02515.
func Selu(x float64) float64 {
	const (
		alpha = 1.6732632423543772848170429916717
		scale = 1.0507009873554804934193349852946
	)
	return scale * Elu(x, alpha)
}
