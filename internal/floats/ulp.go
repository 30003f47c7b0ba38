package floats

import "math"

// Far is the distance between NaN and any number.
const Far = math.MaxUint64

// ULP64 returns the distance of a and b in float64.
func ULP64(a, b float64) uint64 {
	if a != a || b != b {
		return nan(a != a && b != b)
	}
	return apart(line(int64(math.Float64bits(a)), math.MinInt64), line(int64(math.Float64bits(b)), math.MinInt64))
}

// ULP32 returns the distance of a and b in float32.
func ULP32(a, b float32) uint64 {
	if a != a || b != b {
		return nan(a != a && b != b)
	}
	return apart(line32(math.Float32bits(a)), line32(math.Float32bits(b)))
}

// ULP16 returns the distance of two 16-bit floating-point numbers of the same format, given as
// bits: sign, exponent of expBits bits, fraction.
func ULP16(a, b uint16, expBits int) uint64 {
	inf := uint16(1<<expBits-1) << (15 - expBits)
	if na, nb := a&0x7fff > inf, b&0x7fff > inf; na || nb {
		return nan(na && nb)
	}
	return apart(line16(a), line16(b))
}

func nan(both bool) uint64 {
	if both {
		return 0
	}
	return Far
}

// line maps the bits of a number to its position on the line of all numbers, where zero is at 0.
func line(bits, sign int64) int64 {
	if bits < 0 {
		return sign - bits
	}
	return bits
}

func line32(bits uint32) int64 {
	if bits>>31 != 0 {
		return -int64(bits & 0x7fffffff)
	}
	return int64(bits)
}

func line16(bits uint16) int64 {
	if bits>>15 != 0 {
		return -int64(bits & 0x7fff)
	}
	return int64(bits)
}

func apart(a, b int64) uint64 {
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}
