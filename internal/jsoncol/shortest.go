package jsoncol

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// The shortest decimal that is parsed as a given float64 and, among those, the nearest to it, by R.
// Giulietti's Schubfach ("The Schubfach way to render doubles", 2020).
//
// Let v = c 2^q, and let the numbers that round to v form an interval around it. Choose the largest
// k for which every such interval contains at least one decimal s 10^k. Then only the neighbours of
// v among these decimals, and among those one digit shorter, need to be considered. All of them are
// compared in units of 10^k/4, with a product of 64 by 128 bits that is rounded so that no
// comparison goes wrong.

// powers holds the first 128 bits, rounded up, of the powers of ten from 10^minPower on, as high
// and low words.
type powers [maxPower - minPower + 1][2]uint64

const (
	minPower = -292
	maxPower = 324
)

// tenPowers computes the table on first use. It takes less than a millisecond, and numbers with few
// digits do not need it.
var tenPowers = sync.OnceValue(func() *powers {
	var t powers
	ten, one := big.NewInt(10), big.NewInt(1)
	word := new(big.Int).SetUint64(math.MaxUint64)
	for e := minPower; e <= maxPower; e++ {
		p := new(big.Int).Exp(ten, big.NewInt(int64(max(e, -e))), nil)
		if e < 0 {
			// 2^n / 10^-e with n for 128 bits or one more.
			n := uint(p.BitLen() + 128)
			p.Div(new(big.Int).Lsh(one, n), p)
			p.Add(p, one) // round up: no power of ten divides a power of two
		}
		if n := p.BitLen(); n > 128 {
			rest := uint(n - 128)
			up := p.TrailingZeroBits() < rest
			p.Rsh(p, rest)
			if up {
				p.Add(p, one)
			}
		} else {
			p.Lsh(p, uint(128-n))
		}
		t[e-minPower][1] = new(big.Int).And(p, word).Uint64()
		t[e-minPower][0] = p.Rsh(p, 64).Uint64()
	}
	return &t
})

// shortest64 returns the decimal m 10^k for v, which is finite and positive. m may end in zeros and
// is below 10^17.
func shortest64(v float64) (m uint64, k int) {
	b := math.Float64bits(v)
	c, exp := b&(1<<52-1), int(b>>52)
	if exp == 0 {
		return shortest(c, -1074, false)
	}
	return shortest(c|1<<52, exp-1075, c == 0 && exp > 1)
}

// shortest32 is shortest64 for a float32.
func shortest32(v float32) (m uint64, k int) {
	b := math.Float32bits(v)
	c, exp := uint64(b&(1<<23-1)), int(b>>23)
	if exp == 0 {
		return shortest(c, -149, false)
	}
	return shortest(c|1<<23, exp-150, c == 0 && exp > 1)
}

// shortest returns the decimal for c 2^q; uneven says that the next lower number is half as far
// away as the next higher one.
func shortest(c uint64, q int, uneven bool) (m uint64, k int) {
	below := uint64(2) // distance to the lower end of the interval, in quarters of 2^q
	if uneven {
		below = 1
	}
	// k is the floor of the decimal logarithm of 2^q, or of 3/4 of it.
	k = q * 1262611 >> 22
	if below == 1 {
		k = (q*1262611 - 524031) >> 22
	}
	h := q + (-k*1741647)>>19 + 1
	g := &tenPowers()[-k-minPower]
	odd := c & 1
	low := scaled(g, (4*c-below)<<h) + odd
	mid := scaled(g, 4*c<<h)
	high := scaled(g, (4*c+2)<<h) - odd
	s := mid / 4
	if s >= 10 {
		t := s / 10
		down, up := low <= 40*t, 40*t+40 <= high
		if down != up {
			return t + uint64(bit(up)), k + 1
		}
	}
	down, up := low <= 4*s, 4*s+4 <= high
	if down == up {
		half := 4*s + 2
		up = mid > half || mid == half && s&1 == 1
	}
	return s + uint64(bit(up)), k
}

// scaled returns the upper 64 bits of g c / 2^64, with the lowest bit set if
// anything was cut off.
func scaled(g *[2]uint64, c uint64) uint64 {
	x, _ := bits.Mul64(g[1], c)
	hi, lo := bits.Mul64(g[0], c)
	lo, carry := bits.Add64(lo, x, 0)
	return hi + carry | uint64(bit(lo > 1))
}

// putFloat64 writes v, which is finite and not 0, at buf[n:], which has room for maxNumber bytes,
// and returns the end.
func putFloat64(buf []byte, n int, v float64) int {
	if v < 0 {
		buf[n] = '-'
		n++
	}
	m, k := shortest64(math.Abs(v))
	return putDigits(buf, n, m, k)
}

// putFloat32 is putFloat64 for a float32.
func putFloat32(buf []byte, n int, v float32) int {
	if v < 0 {
		buf[n] = '-'
		n++
		v = -v
	}
	m, k := shortest32(v)
	return putDigits(buf, n, m, k)
}

// putDigits writes m 10^k. Below 10^-6 and from 10^21 on it uses an exponent, like ECMAScript and
// encoding/json. A number without an exponent always gets a point, so that a reader takes it for a
// float.
func putDigits(buf []byte, n int, m uint64, k int) int {
	// The digits, without leading and trailing zeros.
	var digits [24]byte
	first := m / 1e16
	digits[0] = byte(first) + '0'
	high, low := digits8(m%1e16/1e8), digits8(m%1e8)
	putWord(digits[:], 1, high|zeros)
	putWord(digits[:], 9, low|zeros)
	lead := 0
	if first == 0 {
		lead = 1 + bits.TrailingZeros64(high)>>3
		if high == 0 {
			lead = 9 + bits.TrailingZeros64(low)>>3
		}
	}
	end := 17 - bits.LeadingZeros64(low)>>3
	if low == 0 {
		end = 9 - bits.LeadingZeros64(high)>>3
		if high == 0 {
			end = 1
		}
	}
	d := digits[lead:end]
	point := 17 - lead + k // number of digits before the point
	switch {
	case point > 21 || point < -5:
		return putExponent(buf, n, d, point-1)
	case point <= 0:
		n += copy(buf[n:], "0.00000"[:2-point])
		return n + copy(buf[n:], d)
	case point >= len(d):
		n += copy(buf[n:], d)
		return putPoint(buf, n+copy(buf[n:], "000000000000000000000"[:point-len(d)]))
	}
	n += copy(buf[n:], d[:point])
	buf[n] = '.'
	return n + 1 + copy(buf[n+1:], d[point:])
}

// putExponent writes the digits d, with a point after the first, and the exponent exp.
func putExponent(buf []byte, n int, d []byte, exp int) int {
	buf[n] = d[0]
	n++
	if len(d) > 1 {
		buf[n] = '.'
		n += 1 + copy(buf[n+1:], d[1:])
	}
	buf[n], buf[n+1] = 'e', '+'
	if exp < 0 {
		buf[n+1] = '-'
		exp = -exp
	}
	return putInt(buf, n+2, int64(exp))
}
