package special

import "math"

// Pow returns x^y, with the special cases of math.Pow, within two ulps. math.Pow multiplies
// repeatedly and can be thousands of ulps off.
//
// The logarithm of |x| is computed as a sum of two numbers, accurate to about 65 bits, so that its
// product with y determines all digits of e^(y·log|x|).
func Pow(x, y float64) float64 {
	a := math.Abs(x)
	if !(a > 0 && a <= math.MaxFloat64) || !(math.Abs(y) <= math.MaxFloat64) || y == 0 || x < 0 && y != math.Trunc(y) {
		return math.Pow(x, y)
	}
	hi, lo := logParts(a)
	p := y * hi
	q := math.FMA(y, hi, -p) + y*lo
	var r float64
	switch {
	case p > 800:
		r = math.Inf(1)
	case p < -800:
		r = 0
	case p > 700 || p < -700:
		// Compute the square root of the result and square it, so that overflow and subnormal
		// numbers occur only if the result requires them.
		h := math.Exp(p / 2)
		r = h * (h + h*q)
	default:
		r = math.Exp(p)
		r += r * q
	}
	if x < 0 && math.Mod(y, 2) != 0 {
		return -r
	}
	return r
}

// logParts returns log x for positive x as hi + lo, computed as 2·atanh(s) for s = (m-1)/(m+1) and
// x = m·2^e, with m between √½ and √2. The first two terms of the series, 1 and s²/3, are carried
// with their rounding errors.
func logParts(x float64) (hi, lo float64) {
	const (
		ln2Hi = 0x1.62e42fefap-1 // short enough that products with exponents are exact
		ln2Lo = 0x1.cf79abc9e3b39803f2f6af40f343267p-40
	)
	m, exp := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		exp--
	}
	f := m - 1
	t := m + 1
	tLo := (1 - t) + m
	if m > 1 {
		tLo = (m - t) + 1
	}
	s := f / t
	sLo := (math.FMA(-s, t, f) - s*tLo) / t
	z := s * s
	zLo := math.FMA(s, s, -z) + 2*s*sLo
	c := z / 3
	cLo := (math.FMA(-3, c, z) + zLo) / 3
	rest := 1.0 / 27
	for k := 25; k >= 5; k -= 2 {
		rest = rest*z + 1/float64(k)
	}
	rest *= z * z
	series := c + rest
	a := 1 + series
	aLo := (1 - a) + series + ((c - series) + rest + cLo)
	p := 2 * s * a
	pLo := math.FMA(2*s, a, -p) + 2*(s*aLo+sLo*a)
	e := float64(exp)
	hi = e*ln2Hi + p
	lo = (e*ln2Hi - hi) + p
	if math.Abs(p) > math.Abs(e*ln2Hi) {
		lo = (p - hi) + e*ln2Hi
	}
	return hi, lo + (pLo + e*ln2Lo)
}
