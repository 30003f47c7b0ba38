package jsoncol

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/tenonml/tenon/dtype"
)

// fastFloat reads the number at i if it is written as most are: at most 7 digits, then a fraction,
// 19 significant digits in all and no exponent. It returns -1 for everything else, whether valid or
// not.
//
// The digits make an integer m, and the number is m / 10^k. With m below 2^53
// and k at most 22 both are exact in a float64, so the one division rounds once
// (W. D. Clinger, "How to read floating point numbers accurately", 1990). A
// larger m is divided as an integer.
func fastFloat(t text, i int) (float64, int) {
	neg := bit(t.byte(i) == '-')
	i += neg
	d := t.word(i) ^ zeros
	m := allNonDigits(d)
	if m == 0 {
		return 0, -1
	}
	whole := trailing(m) // digits before the point
	if whole == 0 || byte(d) == 0 && whole != 1 {
		return 0, -1
	}
	if c := t.byte(i + whole); c != '.' {
		if c|0x20 == 'e' {
			return 0, -1
		}
		return withSign(float64(int64(decimal(d, whole))), neg), i + whole
	}
	end := trailing(m & (m - 1)) // 8 if the number extends beyond the word
	c := t.byte(i + end)
	if c-'0' <= 9 {
		return longFraction(t, i+whole+1, decimal(d, whole), neg)
	}
	k := end - whole - 1
	if k == 0 || c|0x20 == 'e' {
		return 0, -1
	}
	// The digits without the point form one number of at most 7 digits.
	before := uint64(1)<<(uint(8*whole)&63) - 1
	d = d&before | d>>8&^before
	return withSign(float64(int64(decimal(d, end-1)))/pow10float[k], neg), i + end
}

// longFraction continues fastFloat with the fraction at i, of any length; whole
// is the part before the point.
func longFraction(t text, i int, whole uint64, neg int) (float64, int) {
	frac, k := uint64(0), 0
	for {
		d := t.word(i+k) ^ zeros
		m := nonDigits(d)
		if m != 0 {
			if n := trailing(m); n != 0 {
				k += n
				if k > 19 {
					return 0, -1
				}
				frac = frac*pow10int[n] + decimal(d, n)
			}
			break
		}
		k += 8
		if k > 16 {
			return 0, -1
		}
		frac = frac*pow10int[8] + decimal8(d)
	}
	if k == 0 || t.byte(i+k)|0x20 == 'e' || whole >= pow10int[19-k] {
		return 0, -1
	}
	mant := whole*pow10int[k] + frac
	if mant < 1<<53 {
		return withSign(float64(int64(mant))/pow10float[k], neg), i + k
	}
	return withSign(quotient(mant, pow10int[k]), neg), i + k
}

// Scaled returns the float64 nearest to digits times a power of ten, if both are exact and one operation computes
// it.
func Scaled(digits uint64, exp int) (v float64, ok bool) {
	if digits >= 1<<53 || exp >= len(pow10float) || exp <= -len(pow10float) {
		return 0, false
	}
	if exp < 0 {
		return float64(digits) / pow10float[-exp], true
	}
	return float64(digits) * pow10float[exp], true
}

// Narrowed returns the float32 nearest to a number, given the float64 nearest to that number. ok is false if that
// does not determine the result: v is out of range, or halfway between two float32 values, so that the number may be
// on either side.
func Narrowed(v float64) (f float32, ok bool) {
	const cut = 1<<29 - 1 // bits of a float64 that a float32 does not have
	abs := math.Abs(v)
	if v != 0 && abs < 0x1p-126 || abs > math.MaxFloat32 || math.Float64bits(v)&cut == (cut+1)/2 {
		return 0, false
	}
	return float32(v), true
}

// quotient returns m/d rounded once, to even. m is at least 2^53, and d at most 10^19.
func quotient(m, d uint64) float64 {
	lm, ld := bits.LeadingZeros64(m), bits.LeadingZeros64(d)
	m <<= lm
	d <<= ld
	// Both are in [2^63, 2^64), so q = m 2^63 / d is in (2^62, 2^64).
	q, r := bits.Div64(m>>1, m<<63, d)
	top := bits.Len64(q)
	shift := top - 53
	half := uint64(1) << (shift - 1)
	low := q & (2*half - 1)
	q >>= shift
	if low > half || low == half && (r != 0 || q&1 == 1) {
		q++ // also correct for 2^53: the mantissa becomes 0 and the exponent increases by one
	}
	exp := uint64(shift - 63 + ld - lm + 1023 + 52)
	return math.Float64frombits(exp<<52 + (q - 1<<52))
}

// number returns the end of the number at i if it conforms to the grammar, and whether it is
// written as an integer.
func (p *parser) number(i int) (end int, integer bool) {
	t := p.t
	if t.byte(i) == '-' {
		i++
	}
	switch c := t.byte(i); {
	case c == '0':
		i++
		if t.byte(i)-'0' <= 9 {
			return p.failf(i, Syntax, "a number must not begin with 0"), false
		}
	case c-'1' < 9:
		i = p.digits(i)
	default:
		return p.expected(i, "a digit"), false
	}
	integer = true
	if t.byte(i) == '.' {
		integer = false
		if t.byte(i+1)-'0' > 9 {
			return p.expected(i+1, "a digit after the decimal point"), false
		}
		i = p.digits(i + 1)
	}
	if t.byte(i)|0x20 == 'e' {
		integer = false
		i++
		if c := t.byte(i); c == '+' || c == '-' {
			i++
		}
		if t.byte(i)-'0' > 9 {
			return p.expected(i, "a digit in the exponent"), false
		}
		i = p.digits(i)
	}
	return i, integer
}

// digits returns the position after the digits from i on.
func (p *parser) digits(i int) int {
	for {
		m := nonDigits(p.t.word(i) ^ zeros)
		if m != 0 {
			return i + trailing(m)
		}
		i += 8
	}
}

// integer reads the number at i, which begins as one, as a row of n.
func (p *parser) integer(i int, n *node) int {
	end, integer := p.number(i)
	if end < 0 {
		return -1
	}
	if !integer {
		return p.mismatch(i, n)
	}
	neg := bit(p.t.byte(i) == '-')
	if n.op == opUint {
		v, ok := parseUint(p.t, i+neg, end)
		if n.inferred && neg != 0 {
			return p.mismatch(i, n)
		}
		if !ok || neg != 0 && v != 0 {
			return p.outOfRange(i, end, n)
		}
		n.pushInt(int64(v))
		return end
	}
	v, ok := parseUint(p.t, i+neg, end)
	if !ok || v > math.MaxInt64+uint64(neg) {
		if n.inferred {
			return p.mismatch(i, n)
		}
		return p.outOfRange(i, end, n)
	}
	if n.inferred && v == 0 && neg != 0 {
		return p.mismatch(i, n) // -0 is a float, because an integer would lose the sign
	}
	x := (int64(v) ^ -int64(neg)) + int64(neg)
	if uint64(x)-uint64(n.lo) > n.span {
		return p.outOfRange(i, end, n)
	}
	n.pushInt(x)
	return end
}

func (p *parser) outOfRange(i, end int, n *node) int {
	return p.failf(i, OutOfRange, "%s is out of range of %v", p.show(i), n.schema.dtype())
}

// parseUint returns the number whose digits are at [i, end), and whether it fits 64 bits.
func parseUint(t text, i, end int) (uint64, bool) {
	if end-i > 20 {
		return 0, false
	}
	var v uint64
	for ; end-i >= 8; i += 8 {
		if v > math.MaxUint64/pow10int[8] {
			return 0, false
		}
		hi, lo := bits.Mul64(v, pow10int[8])
		sum, carry := bits.Add64(lo, decimal8(t.word(i)^zeros), 0)
		if hi|carry != 0 {
			return 0, false
		}
		v = sum
	}
	for ; i < end; i++ {
		hi, lo := bits.Mul64(v, 10)
		sum, carry := bits.Add64(lo, uint64(t.byte(i)-'0'), 0)
		if hi|carry != 0 {
			return 0, false
		}
		v = sum
	}
	return v, true
}

// float reads the number at i, which begins as one, as a row of n.
func (p *parser) float(i int, n *node) int {
	if n.op == opFloat {
		if v, j := fastFloat(p.t, i); j >= 0 {
			n.pushFloat(v)
			return j
		}
	}
	if p.nonFinite {
		if v, j := p.literal(i); j >= 0 {
			n.pushFloat(v)
			return j
		}
	}
	end, integer := p.number(i)
	if end < 0 {
		return -1
	}
	if integer && n.inferred && p.overflow == OverflowError && end-i >= 19 {
		// The same literal would be rejected if all other values were integers.
		neg := bit(p.t.byte(i) == '-')
		if v, ok := parseUint(p.t, i+neg, end); !ok || v > math.MaxInt64+uint64(neg) {
			return p.outOfRange(i, end, &node{schema: &Schema{Kind: Int64}})
		}
	}
	text := p.t.string(i, end)
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && n.op == opNarrow {
		v, err = n.roundText(v, text)
	}
	if err != nil {
		return p.outOfRange(i, end, n)
	}
	n.pushFloat(v)
	return end
}

// round returns v, which was read as a float64, rounded to the node's narrower type, and whether
// the result is certain.
func (n *node) round(v float64) (float64, bool) {
	switch n.schema.DType {
	case dtype.Float16:
		r := float64(dtype.F16From64(v).Float32())
		return r, r-r == 0
	case dtype.BFloat16:
		r := float64(dtype.BF16From64(v).Float32())
		return r, r-r == 0
	}
	r, ok := Narrowed(v)
	return float64(r), ok
}

// roundText is round for results that are not certain; text is the number.
func (n *node) roundText(v float64, text string) (float64, error) {
	r, ok := n.round(v)
	if !ok && n.schema.DType == dtype.Float32 {
		return strconv.ParseFloat(text, 32)
	}
	if !ok {
		return v, strconv.ErrRange
	}
	return r, nil
}

// literal returns the value of the literal NaN, Infinity or -Infinity at i and its end, which is -1
// if there is none.
func (p *parser) literal(i int) (float64, int) {
	const infinity = "Infinity"
	t := p.t
	neg := bit(t.byte(i) == '-')
	switch t.byte(i + neg) {
	case 'N':
		if neg == 0 && t.byte(i+1) == 'a' && t.byte(i+2) == 'N' {
			return math.NaN(), i + 3
		}
	case 'I':
		if t.string(i+neg, i+neg+len(infinity)) == infinity {
			return math.Inf(1 - 2*neg), i + neg + len(infinity)
		}
	}
	return 0, -1
}
