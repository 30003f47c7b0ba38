package jsoncol

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/tenonml/tenon/dtype"
)

// digits8 returns the 8 decimal digits of v, which is below 10^8, as the bytes of a word: the most
// significant digit in the lowest byte, each digit as its value.
//
// It goes from two lanes of four digits to four of two and eight of one: each step divides all
// lanes by a power of ten with one multiplication.
func digits8(v uint64) uint64 {
	halves := v/10000 | v%10000<<32
	high := halves * 10486 >> 20 & (0x7f | 0x7f<<32)
	pairs := halves - 100*high
	pairs = high | pairs<<16
	const nibbles = 0xf | 0xf<<16 | 0xf<<32 | 0xf<<48
	tens := pairs * 103 >> 10 & nibbles
	return tens | (pairs-10*tens)<<8
}

// putInt writes v at buf[n:], which has room for maxNumber bytes, and returns the end.
func putInt(buf []byte, n int, v int64) int {
	u := uint64(v)
	if v < 0 {
		u = -u
		buf[n] = '-'
		n++
	}
	switch {
	case u < 10:
		buf[n] = byte(u) + '0'
		return n + 1
	case u < 1e8:
		d := digits8(u)
		lead := bits.TrailingZeros64(d|1<<56) >> 3 // leading zeros, but not all 8
		putWord(buf, n, (d|zeros)>>(8*lead))
		return n + 8 - lead
	case u < 1e16:
		d := digits8(u / 1e8)
		lead := bits.TrailingZeros64(d) >> 3
		putWord(buf, n, (d|zeros)>>(8*lead))
		n += 8 - lead
		putWord(buf, n, digits8(u%1e8)|zeros)
		return n + 8
	}
	d := digits8(u / 1e16)
	lead := bits.TrailingZeros64(d) >> 3
	putWord(buf, n, (d|zeros)>>(8*lead))
	n += 8 - lead
	u %= 1e16
	putWord(buf, n, digits8(u/1e8)|zeros)
	putWord(buf, n+8, digits8(u%1e8)|zeros)
	return n + 16
}

// putFloat writes v at buf[n:], which has room for maxNumber bytes, and returns the end. It returns
// 0 and writes nothing if v has more than 15 digits or needs an exponent.
//
// A decimal of at most 15 digits is the only one of that length, and the shortest of all, that is
// parsed as its float64. So it is enough to find an m below 10^15 and a k with m / 10^k = v,
// rounded as a parser would round it: both are exact, so one division does that. The error of the
// product v 10^k is too small to lead to a wrong m if there is a right one.
func putFloat(buf []byte, n int, v float64) int {
	b := math.Float64bits(v)
	neg := int(b >> 63)
	exp := int(b>>52&0x7ff) - 1023
	if exp < -19 || exp > 46 { // below about 10^-6, at least 10^14, 0 or not finite
		if b<<1 != 0 {
			return 0
		}
		buf[n] = '-'
		return putPoint(buf, n+neg+copy(buf[n+neg:], "0"))
	}
	abs := math.Float64frombits(b &^ (1 << 63))
	// v is in [2^exp, 2^(exp+1)), and 1233/4096 approximates the decimal logarithm of 2, so that v
	// 10^k is in [10^6, 2 10^7], or in [10^13, 2 10^14] for the longer form, to which a digit is
	// added if that is too few.
	e := (exp * 1233) >> 12
	if k := 6 - e; k >= 0 {
		if m := int64(abs*pow10float[k] + 0.5); float64(m)/pow10float[k] == abs {
			buf[n] = '-'
			return putShortDecimal(buf, n+neg, uint64(m), k)
		}
	}
	k := 13 - e
	m := int64(abs*pow10float[k] + 0.5)
	if float64(m)/pow10float[k] != abs {
		k++
		m = int64(abs*pow10float[k] + 0.5)
		if m >= 1e15 || float64(m)/pow10float[k] != abs {
			return 0
		}
	}
	buf[n] = '-'
	return putDecimal(buf, n+neg, uint64(m), k)
}

// putPoint writes ".0", which distinguishes a float that is a whole number from an integer, and
// returns the end.
func putPoint(buf []byte, n int) int {
	buf[n], buf[n+1] = '.', '0'
	return n + 2
}

// putShortDecimal writes m / 10^k without trailing zeros, except for one after the point; m is below
// 10^8 and not 0, and k is at most 14.
func putShortDecimal(buf []byte, n int, m uint64, k int) int {
	d := digits8(m)
	last := 8 - bits.LeadingZeros64(d)>>3
	// Of the 8 digits, those from whole on are after the point.
	whole := 8 - k
	if whole <= 0 {
		putWord(buf, n, zeros^('0'^'.')<<8)
		n += 2 - whole
		putWord(buf, n, d|zeros)
		return n + last
	}
	lead := min(bits.TrailingZeros64(d)>>3, whole-1)
	putWord(buf, n, (d|zeros)>>(8*lead))
	n += whole - lead
	if last <= whole {
		return putPoint(buf, n)
	}
	// The point and the remaining digits overwrite the excess digits.
	buf[n] = '.'
	putWord(buf, n+1, (d|zeros)>>(8*whole))
	return n + 1 + last - whole
}

// putDecimal writes m / 10^k without trailing zeros, except for one after the point; m is below 10^16
// and k is at most 22.
func putDecimal(buf []byte, n int, m uint64, k int) int {
	high, low := digits8(m/1e8), digits8(m%1e8)
	// Of the 16 digits, those from whole on are after the point.
	whole := 16 - k
	last := 16 - bits.LeadingZeros64(low)>>3
	if low == 0 {
		last = 8 - bits.LeadingZeros64(high)>>3
	}
	if whole <= 0 {
		// 0.000ddd
		putWord(buf, n, zeros^('0'^'.')<<8)
		putWord(buf, n+8, zeros)
		n += 2 - whole
		putWord(buf, n, high|zeros)
		putWord(buf, n+8, low|zeros)
		return n + last
	}
	lead := bits.TrailingZeros64(high) >> 3
	if high == 0 {
		lead = 8 + bits.TrailingZeros64(low|1<<56)>>3
	}
	lead = min(lead, whole-1)
	// Write the digits before the point, and then overwrite the excess with the point and the
	// digits after it.
	h, l := shiftDigits(high|zeros, low|zeros, lead)
	putWord(buf, n, h)
	putWord(buf, n+8, l)
	n += whole - lead
	if last <= whole {
		return putPoint(buf, n)
	}
	h, l = shiftDigits(high|zeros, low|zeros, whole)
	buf[n] = '.'
	putWord(buf, n+1, h)
	putWord(buf, n+9, l)
	return n + 1 + last - whole
}

// shiftDigits drops the first n of the 16 bytes h and l.
func shiftDigits(h, l uint64, n int) (uint64, uint64) {
	if n >= 8 {
		return l >> (8 * (n - 8)), 0
	}
	return h>>(8*n) | l<<1<<(63-8*n), l >> (8 * n)
}

// appendInteger appends v in decimal.
func appendInteger[T dtype.Integer](dst []byte, v T) []byte {
	if v < 0 {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return strconv.AppendUint(dst, uint64(v), 10)
}

// appendFloat32 appends v to dst, which has room for it, or nothing if v is not finite.
func appendFloat32(dst []byte, v float32) []byte {
	switch {
	case v == 0:
		if math.Signbit(float64(v)) {
			dst = append(dst, '-')
		}
		return append(dst, "0.0"...)
	case v != v || v > math.MaxFloat32 || v < -math.MaxFloat32:
		return dst
	}
	return dst[:putFloat32(dst[:cap(dst)], len(dst), v)]
}

// small sets the elements of s to v; add writes one element into the room of a row.
func small[T dtype.Real](s *source, v []T, add func([]byte, T) []byte) int {
	s.small = func(dst []byte, row int) ([]byte, error) {
		b := add(dst, v[row])
		if len(b) == len(dst) {
			return dst, notFinite(toFloat(v[row]))
		}
		return b, nil
	}
	return len(v)
}

// toFloat returns v as a float64.
func toFloat[T dtype.Real](v T) float64 {
	switch v := any(v).(type) {
	case dtype.F16:
		return float64(v.Float32())
	case dtype.BF16:
		return float64(v.Float32())
	}
	return float64(v)
}
