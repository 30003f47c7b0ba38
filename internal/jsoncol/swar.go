package jsoncol

import "math/bits"

// Arithmetic on the 8 bytes of a word at once. Tests mark bytes in their top bits. The lowest mark
// is exact; marks above it may be wrong because of carries, so callers look only at the lowest one.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	zeros = 0x3030303030303030 // "00000000"

	// slack is the number of bytes after the end of input, and of every buffer, that may be read or
	// overwritten.
	slack = 64
)

// stops marks the bytes that end a run of plain ASCII inside a string: the
// quote, the backslash, control characters, and bytes of non-ASCII characters.
func stops(x uint64) uint64 {
	return (((x ^ 0x22*ones) - ones) | ((x ^ 0x5c*ones) - ones) | (x - 0x20*ones) | x) & highs
}

// breaks is stops without the bytes of non-ASCII characters.
func breaks(x uint64) uint64 {
	q, s := x^0x22*ones, x^0x5c*ones
	return (((q - ones) &^ q) | ((s - ones) &^ s) | ((x - 0x20*ones) &^ x)) & highs
}

// nonDigits marks the bytes of d that are not digits. d is text ^ zeros, so that each digit is
// represented by its value.
func nonDigits(d uint64) uint64 { return ((d + 0x76*ones) | d) & highs }

// allNonDigits is nonDigits with all marks exact.
func allNonDigits(d uint64) uint64 { return ((d&^highs + 0x76*ones) | d) & highs }

// trailing returns the number of bytes below the lowest mark of m, or 8 if there is none.
func trailing(m uint64) int { return bits.TrailingZeros64(m) >> 3 }

// decimal returns the number whose digits are the first n bytes of d, for n from 1 to 8.
func decimal(d uint64, n int) uint64 { return decimal8(d << (uint(64-8*n) & 63)) }

// decimal8 returns the number whose 8 decimal digits are the bytes of d, the
// lowest byte being the most significant digit.
//
// Pairs, then fours, then eight digits are combined, two of the steps with one
// multiplication each (Johnny Lee's method, described by Daniel Lemire,
// "Quickly parsing eight digits", 2018).
func decimal8(d uint64) uint64 {
	d = d*10 + d>>8
	const mask = 0x000000ff000000ff
	return ((d&mask)*(100+1000000<<32) + (d>>16&mask)*(1+10000<<32)) >> 32
}
