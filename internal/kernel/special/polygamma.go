package special

import (
	"math"
	"sync/atomic"
)

// MaxPolygamma is the highest derivative that [Polygamma] computes.
const MaxPolygamma = 20

// bernoulli are the Bernoulli numbers B(2), B(4), …
var bernoulli = [...]float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510, 43867. / 798, -174611. / 330}

// Polygamma is a derivative of the digamma function, with everything precomputed that does not
// depend on the argument.
type Polygamma struct {
	n         int
	factorial float64                 // n!
	lead      float64                 // (n-1)!
	tail      [len(bernoulli)]float64 // B(2k)·(2k+n-1)!/(2k)!, from k = 1 on
}

// derivatives caches the derivatives.
var derivatives [MaxPolygamma + 1]atomic.Pointer[Polygamma]

// PolygammaOf returns derivative n, for n from 1 to [MaxPolygamma].
func PolygammaOf(n int) *Polygamma {
	if p := derivatives[n].Load(); p != nil {
		return p
	}
	order := float64(n)
	p := &Polygamma{n: n, factorial: math.Gamma(order + 1)}
	p.lead = p.factorial / order
	f := p.factorial * (order + 1) / 2
	for i, b := range bernoulli {
		k := 2 * float64(i+1)
		p.tail[i] = b * f
		f *= (k + order) * (k + order + 1) / ((k + 1) * (k + 2))
	}
	derivatives[n].Store(p)
	return p
}

// At returns the derivative at x: +Inf or -Inf at 0 and the negative integers (for odd n,
// and NaN for even n, where the two sides differ in sign).
//
// Small x are raised to where the asymptotic series holds (Abramowitz and Stegun 6.4.11) by ψⁿ(x+1)
// = ψⁿ(x) + (-1)ⁿ n!/xⁿ⁺¹; negative x use the derivative of the reflection formula, (-1)ⁿψⁿ(1-x) -
// ψⁿ(x) = dⁿ/dxⁿ π cot πx.
func (p *Polygamma) At(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, -1):
		return math.NaN()
	case math.IsInf(x, 1):
		return 0
	case x <= 0:
		if x == math.Trunc(x) {
			if p.n%2 == 0 {
				return math.NaN()
			}
			return math.Inf(1)
		}
		y := p.At(1 - x)
		if p.n%2 == 1 {
			y = -y
		}
		return y - cotDerivative(p.n, x)
	}
	sum := 0.0
	least := 16 + float64(p.n)/2
	for p.n == 1 && x < least && x > 0x1p-48 { // the most common derivative, without the inner loop
		sum += 1 / (x * x)
		x++
	}
	for x < least {
		sum += p.factorial * inversePower(x, p.n+1)
		x++
	}
	z := inversePower(x, p.n)
	sum += z * (p.lead + p.factorial/(2*x))
	square := x * x
	for _, t := range p.tail {
		z /= square
		sum += t * z
	}
	if p.n%2 == 0 { // the factor (-1)ⁿ⁺¹
		return -sum
	}
	return sum
}

// inversePower returns 1/xⁿ for x > 0 and n up to 21, as [math.Pow] computes it.
func inversePower(x float64, n int) float64 {
	if x < 0x1p-48 || x > 0x1p48 { // the power could overflow or be subnormal
		return math.Pow(x, -float64(n))
	}
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return 1 / y
}

// cotDerivative returns the nth derivative of π cot πx. With c = cot πx it is πⁿ⁺¹ P(c), where P
// starts as c and each derivative replaces it by -(1+c²)P'.
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
