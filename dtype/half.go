package dtype

import (
	"math"
	"strconv"
)

// F16 is an IEEE 754 binary16 number: 1 sign, 5 exponent and 10 fraction bits.
type F16 uint16

// BF16 is the upper half of a float32: 1 sign, 8 exponent and 7 fraction bits.
type BF16 uint16

// Float32 returns the same number as a float32. It is exact.
func (h F16) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h>>10) & 0x1f
	frac := uint32(h & 0x3ff)
	switch {
	case exp == 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case exp != 0:
		return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
	}
	// Zero or subnormal: frac * 2^-24 is exact in float32.
	return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
}

// F16From rounds f to the nearest F16, ties to even. A number that is too large
// becomes infinite; a NaN stays a NaN.
func F16From(f float32) F16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	abs := b & 0x7fffffff
	switch {
	case abs > 0x7f800000:
		return F16(sign | 0x7e00 | uint16(abs>>13)&0x1ff)
	case abs >= 0x477ff000: // 65520, halfway to the first number out of range
		return F16(sign | 0x7c00)
	case abs < 0x38800000: // below 2^-14: subnormal
		// Adding 0.5 lines the last kept bit up with the float32's own last bit.
		sum := math.Float32frombits(abs) + 0.5
		return F16(sign | uint16(math.Float32bits(sum)-math.Float32bits(0.5)))
	}
	abs += 0xfff + (abs>>13)&1 // round half to even; may carry into the exponent
	return F16(sign | uint16((abs-112<<23)>>13))
}

// F16From64 rounds f to the nearest F16 with a single rounding.
func F16From64(f float64) F16 { return F16From(roundToOdd(f)) }

// Float32 returns the same number as a float32. It is exact.
func (h BF16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// BF16From rounds f to the nearest BF16, ties to even.
func BF16From(f float32) BF16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return BF16(b>>16 | 0x40)
	}
	return BF16((b + 0x7fff + (b>>16)&1) >> 16)
}

// BF16From64 rounds f to the nearest BF16 with a single rounding.
func BF16From64(f float64) BF16 { return BF16From(roundToOdd(f)) }

// roundToOdd narrows to float32 in such a way that rounding again to fewer bits
// gives the same result as a single rounding: an inexact result gets an odd last
// bit (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums",
// 2008).
func roundToOdd(f float64) float32 {
	r := float32(f)
	back := float64(r)
	if back == f || f != f || math.IsInf(back, 0) && math.IsInf(f, 0) {
		return r
	}
	b := math.Float32bits(r)
	if math.Abs(back) > math.Abs(f) {
		b-- // truncate toward zero
	}
	return math.Float32frombits(b | 1)
}

// String returns the shortest decimal that reads back as the same F16's float32.
func (h F16) String() string { return strconv.FormatFloat(float64(h.Float32()), 'g', -1, 32) }

// String returns the shortest decimal that reads back as the same BF16's float32.
func (h BF16) String() string { return strconv.FormatFloat(float64(h.Float32()), 'g', -1, 32) }
