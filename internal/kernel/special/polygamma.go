package special

import "math"

// MaxPolygamma is the highest derivative that [Polygamma] computes.
const MaxPolygamma = 20

// bernoulli are the Bernoulli numbers B(2), B(4), …
var bernoulli = [...]float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510, 43867. / 798, -174611. / 330}

// Polygamma returns derivative n of the digamma function at x, for n from 1 to
// [MaxPolygamma]: +Inf or -Inf at 0 and the negative integers (for odd n, and NaN
// for even n, where the two sides differ in sign).
//
// Small x get to where the asymptotic series holds (Abramowitz and Stegun
// 6.4.11) by ψⁿ(x+1) = ψⁿ(x) + (-1)ⁿ n!/xⁿ⁺¹; negative x use the derivative of the
// reflection formula, (-1)ⁿψⁿ(1-x) - ψⁿ(x) = dⁿ/dxⁿ π cot πx.
func Polygamma(n int, x float64) float64 {
	switch {
	case x != x || math.IsInf(x, -1) || n < 1 || n > MaxPolygamma:
		return math.NaN()
	case math.IsInf(x, 1):
		return 0
	case x <= 0:
		if x == math.Trunc(x) {
			if n%2 == 0 {
				return math.NaN()
			}
			return math.Inf(1)
		}
		y := Polygamma(n, 1-x)
		if n%2 == 1 {
			y = -y
		}
		return y - cotDerivative(n, x)
	}
	sign := 1.0 // of (-1)ⁿ⁺¹
	if n%2 == 0 {
		sign = -1
	}
	factorial := math.Gamma(float64(n) + 1)
	sum := 0.0
	for x < 16+float64(n)/2 {
		sum += factorial * math.Pow(x, -float64(n)-1)
		x++
	}
	p := math.Pow(x, -float64(n))
	sum += p * (factorial/float64(n) + factorial/(2*x))
	// (2k+n-1)!/(2k)!, from k = 1 on.
	f := factorial * (float64(n) + 1) / 2
	z := p / (x * x)
	for i, b := range bernoulli {
		k := 2 * float64(i+1)
		sum += b * f * z
		f *= (k + float64(n)) * (k + float64(n) + 1) / ((k + 1) * (k + 2))
		z /= x * x
	}
	return sign * sum
}

// cotDerivative returns derivative n of π cot πx. With c = cot πx it is
// πⁿ⁺¹ P(c), where P starts as c and each derivative makes it -(1+c²)P'.
func cotDerivative(n int, x float64) float64 {
	r := x - math.Floor(x)
	c := 1 / math.Tan(math.Pi*r)
	p := []float64{0, 1}
	for range n {
		q := make([]float64, len(p)+1)
		for i := 1; i < len(p); i++ {
			d := -float64(i) * p[i]
			q[i-1] += d
			q[i+1] += d
		}
		p = q
	}
	y := 0.0
	for i := len(p) - 1; i >= 0; i-- {
		y = y*c + p[i]
	}
	return y * math.Pow(math.Pi, float64(n+1))
}
