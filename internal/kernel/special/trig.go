package special

import (
	"math"
	"math/bits"
)

// π/2 as a sum, accurate to 161 bits.
const (
	halfPi1 = 1.5707963267948966
	halfPi2 = 6.123233995736766e-17
	halfPi3 = -1.4973849048591698e-33
)

// twoOverPi is the first 1280 bits of 2/π after the binary point.
var twoOverPi = [20]uint64{
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
}

// reduce returns the number of quarter turns in x, modulo 4, and the remainder, between -π/4 and
// π/4, as r + lo. x must be finite.
func reduce(x float64) (quarter int, r, lo float64) {
	if math.Abs(x) < math.Pi/4 {
		return 0, x, 0
	}
	if math.Abs(x) >= 1<<26 {
		return reduceLarge(x)
	}
	// Cody and Waite's method: the first difference is exact, as its operands are
	// multiples of 2^-53 and it is below 1.
	n := math.RoundToEven(x * (2 / math.Pi))
	a := math.FMA(-n, halfPi1, x)
	w := n * halfPi2
	wLo := math.FMA(n, halfPi2, -w) + n*halfPi3
	r = a - w
	t := a - r
	lo = (t - w) + ((a - r) - t) - wLo
	s := r + lo
	return int(int64(n) & 3), s, (r - s) + lo
}

// reduceLarge multiplies by 256 bits of 2/π, starting with the first one that matters: those before
// it contribute only whole turns (M. Payne, R. Hanek, "Radian reduction for trigonometric
// functions", 1983).
func reduceLarge(x float64) (quarter int, r, lo float64) {
	b := math.Float64bits(x)
	exp := int(b>>52&0x7ff) - 1075
	m := b&(1<<52-1) | 1<<52
	// x = ±m·2^exp. Bit i of 2/π, of weight 2^-i, contributes m·2^(exp-i) quarter turns, which is a
	// multiple of 4 for i < exp-1.
	first := max(exp-1, 1) - 1 // bits to skip
	var window [4]uint64
	for k := range window {
		at := first/64 + k
		window[k] = twoOverPi[at] << (first % 64)
		if s := first % 64; s > 0 {
			window[k] |= twoOverPi[at+1] >> (64 - s)
		}
	}
	// The low 256 bits of m·window, whose lowest bit has the weight 2^(exp-first-256).
	var product [4]uint64
	var carry uint64
	for k := 3; k >= 0; k-- {
		hi, low := bits.Mul64(m, window[k])
		var c uint64
		product[k], c = bits.Add64(low, carry, 0)
		carry = hi + c
	}
	// Move the binary point to after the two highest bits.
	for shift := exp - first - 2; shift < 0; shift++ {
		// Only exponents near the lower end of the range need this, one step each.
		product = [4]uint64{
			product[0]>>1 | carry<<63, product[1]>>1 | product[0]<<63, product[2]>>1 | product[1]<<63, product[3]>>1 | product[2]<<63,
		}
		carry >>= 1
	}
	quarter = int(product[0] >> 62)
	product[0] = product[0]<<2 | product[1]>>62
	product[1] = product[1]<<2 | product[2]>>62
	product[2] = product[2]<<2 | product[3]>>62
	// The fraction of a quarter turn; if it is at least one half, count back from the next one.
	negative := product[0]>>63 != 0
	if negative {
		quarter++
		product[0], product[1], product[2] = ^product[0], ^product[1], ^product[2]
	}
	hi, low := toFloats(product[0], product[1], product[2])
	// Multiply by π/2.
	r = hi * halfPi1
	lo = math.FMA(hi, halfPi1, -r) + (hi*halfPi2 + low*halfPi1)
	if negative {
		r, lo = -r, -lo
	}
	if x < 0 {
		quarter, r, lo = -quarter, -r, -lo
	}
	return quarter & 3, r, lo
}

// toFloats returns the fraction 0.abc, given in words, as hi + lo.
func toFloats(a, b, c uint64) (hi, lo float64) {
	exp := 0
	if a == 0 {
		a, b, c, exp = b, c, 0, -64
	}
	s := bits.LeadingZeros64(a)
	a, b = a<<s|b>>(64-s), b<<s|c>>(64-s)
	top := a &^ (1<<11 - 1)
	rest := a<<53 | b>>11
	return math.Ldexp(float64(top), exp-s-64), math.Ldexp(float64(rest), exp-s-117)
}

// sinKernel returns sin(r+lo), and cosKernel cos(r+lo), for |r| <= π/4, by minimax polynomials
// accurate to 2^-68 and 2^-74.
func sinKernel(r, lo float64) float64 {
	z := r * r
	p := -0.16666666666666666 + z*(0.008333333333333321+z*(-0.0001984126984125322+z*(2.755731921324084e-06+z*(-2.505210466596082e-08+z*(1.6058335510440253e-10+z*-7.577162483387934e-13)))))
	return r + (r*z*p + lo*(1-z/2))
}

func cosKernel(r, lo float64) float64 {
	z := r * r
	p := 0.041666666666666664 + z*(-0.001388888888888887+z*(2.480158730156878e-05+z*(-2.755731921424743e-07+z*(2.087675411941246e-09+z*(-1.1470265992484533e-11+z*4.736907475280397e-14)))))
	h := z / 2
	w := 1 - h
	return w + (((1 - w) - h) + (z*z*p - r*lo) - 0.5*math.FMA(r, r, -z))
}

// Sin returns the sine of x, within one ulp for every x.
func Sin(x float64) float64 {
	if x == 0 || x-x != 0 {
		return math.Sin(x) // ±0 or NaN
	}
	q, r, lo := reduce(x)
	y := sinKernel(r, lo)
	if q&1 != 0 {
		y = cosKernel(r, lo)
	}
	if q&2 != 0 {
		y = -y
	}
	return y
}

// Cos returns the cosine of x, within one ulp for every x.
func Cos(x float64) float64 {
	if x-x != 0 {
		return math.NaN()
	}
	q, r, lo := reduce(x)
	y := cosKernel(r, lo)
	if q&1 != 0 {
		y = sinKernel(r, lo)
	}
	if q == 1 || q == 2 {
		y = -y
	}
	return y
}

// Tan returns the tangent of x, within about two ulps for every x.
func Tan(x float64) float64 {
	if x == 0 || x-x != 0 {
		return math.Tan(x)
	}
	q, r, lo := reduce(x)
	s, c := sinKernel(r, lo), cosKernel(r, lo)
	if q&1 != 0 {
		return -c / s
	}
	return s / c
}
