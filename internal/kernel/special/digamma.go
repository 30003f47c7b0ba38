package special

import "math"

// The positive zero of the digamma function, 1.46163214496836234126…, in three parts whose sum is
// accurate to 100 bits.
const (
	digammaRootHi  = 1569415565.0 / (1 << 30)
	digammaRootMid = 381566830.0 / (1 << 60)
	digammaRootLo  = 0.9016312093258695918615325266959189453125e-19
)

// Digamma returns ψ(x), the derivative of log Γ at x.
//
//	Digamma(+Inf) = +Inf
//	Digamma(-Inf) = NaN
//	Digamma(±0) = ∓Inf
//	Digamma(x) = NaN for negative integers x
//
// Negative x use ψ(1-x) - ψ(x) = π cot πx. Between 1 and 2 it is (x - x0)·R(x - 1) with x0 the zero
// and R the rational minimax approximation of Boost.Math (John Maddock,
// boost/math/special_functions/digamma.hpp), so that the relative error stays small around the
// zero; other arguments below 10 are reduced to that interval by ψ(x+1) = ψ(x) + 1/x, and from 10
// on the asymptotic series is used (Abramowitz and Stegun 6.3.18).
func Digamma(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case math.IsInf(x, -1):
		return math.NaN()
	case x == 0:
		return math.Copysign(math.Inf(1), -x)
	case x < 0:
		if x == math.Trunc(x) {
			return math.NaN()
		}
		if x > -0x1p-27 {
			return -1/x + Digamma(1+x)
		}
		// cot πx has period 1, so reduce x first, which is exact.
		r := x - math.Floor(x)
		if r > 0.5 {
			r--
		}
		var cot float64
		if math.Abs(r) < 0.25 {
			cot = 1 / math.Tan(math.Pi*r)
		} else {
			cot = math.Tan(math.Pi * (math.Copysign(0.5, r) - r))
		}
		return Digamma(1-x) - math.Pi*cot
	case x >= 10:
		return digammaAsymptotic(x)
	}
	shift := 0.0
	for x > 2 {
		x--
		shift += 1 / x
	}
	for x < 1 {
		shift -= 1 / x
		x++
	}
	return shift + digamma12(x)
}

func digamma12(x float64) float64 {
	const y = 0.99558162689208984
	g := x - digammaRootHi
	g -= digammaRootMid
	g -= digammaRootLo
	t := x - 1
	p := 0.25479851061131551 + t*(-0.32555031186804491+t*(-0.65031853770896507+t*(-0.28919126444774784+t*(-0.045251321448739056+t*-0.0020713321167745952))))
	q := 1 + t*(2.0767117023730469+t*(1.4606242909763515+t*(0.43593529692665969+t*(0.054151797245674225+t*(0.0021284987017821144+t*-0.55789841321675513e-6)))))
	return g*y + g*(p/q)
}

func digammaAsymptotic(x float64) float64 {
	z := 1 / (x * x)
	// The coefficients are B(2k)/2k, where B(2k) are the Bernoulli numbers.
	s := z * (1./12 - z*(1./120-z*(1./252-z*(1./240-z*(1./132-z*(691./32760-z*(1./12-z*3617./8160)))))))
	return math.Log(x) - 0.5/x - s
}
