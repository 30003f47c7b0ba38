package str

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Fingerprints writes [Fingerprint64] of each string to out. The strings of a block are grouped by
// length before they are hashed, which avoids an unpredictable branch for each.
func Fingerprints(out []uint64, x Column) {
	inChunks(x.Len(), hashed{out, x}, func(lo, hi int, with hashed) {
		var kinds [farmKinds][farmBlock]uint8
		for ; lo < hi; lo += farmBlock {
			n := min(farmBlock, hi-lo)
			offsets, out := with.x.Offsets[lo:lo+n+1], with.out[lo:lo+n]
			var often [farmKinds]uint8
			for k := range n {
				kind := farmKind[min(uint64(offsets[k+1]-offsets[k]), 17)]
				kinds[kind][often[kind]%farmBlock] = uint8(k)
				often[kind]++
			}
			for kind := range kinds {
				for _, k := range kinds[kind][:often[kind]] {
					s := with.x.Bytes[offsets[k]:offsets[k+1]]
					switch kind {
					case 0:
						out[k] = farm1to3(s)
					case 1:
						out[k] = farm4to7(s)
					case 2:
						out[k] = farm8to16(s)
					default:
						out[k] = Fingerprint64(s)
					}
				}
			}
		}
	})
}

// hashed is the arguments of a chunk of [Fingerprints].
type hashed struct {
	out []uint64
	x   Column
}

// farmBlock is the number of strings in a block; counts of strings must fit into a byte.
const farmBlock = 128

// farmKinds is the number of groups of lengths: 1 to 3, 4 to 7, 8 to 16, and all others.
const farmKinds = 4

// farmKind maps each length up to 16, and 17 for all longer strings, to its group.
var farmKind = [18]uint8{3, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3}

const (
	farm0 = 0xc3a5c85c97cb3127
	farm1 = 0xb492b66fbe98f273
	farm2 = 0x9ae16a3b2f90404f
)

// Fingerprint64 returns the 64-bit fingerprint of FarmHash (G. Pike, 2014), which is the same on
// every machine and in every version; TensorFlow's to_hash_bucket_fast and fingerprint use it. It
// is fast but does not resist inputs constructed to collide.
func Fingerprint64(s []byte) uint64 {
	switch n := len(s); {
	case n <= 16:
		return farmShort(s)
	case n <= 32:
		return farm17to32(s)
	case n <= 64:
		return farm33to64(s)
	}
	return farmLong(s)
}

func load64(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }

func rotate(v uint64, right int) uint64 { return bits.RotateLeft64(v, -right) }

func fold47(v uint64) uint64 { return v ^ v>>47 }

// farm16 hashes two words into one.
func farm16(u, v, mul uint64) uint64 {
	a := fold47((u ^ v) * mul)
	return fold47((v^a)*mul) * mul
}

func farmShort(s []byte) uint64 {
	switch n := len(s); {
	case n >= 8:
		return farm8to16(s)
	case n >= 4:
		return farm4to7(s)
	case n > 0:
		return farm1to3(s)
	}
	return farm2
}

func farm8to16(s []byte) uint64 {
	n := uint64(len(s))
	mul := farm2 + n*2
	a := load64(s) + farm2
	b := load64(s[n-8:])
	c := rotate(b, 37)*mul + a
	d := (rotate(a, 25) + b) * mul
	return farm16(c, d, mul)
}

func farm4to7(s []byte) uint64 {
	n := uint64(len(s))
	a := uint64(binary.LittleEndian.Uint32(s))
	b := uint64(binary.LittleEndian.Uint32(s[n-4:]))
	return farm16(n+a<<3, b, farm2+n*2)
}

func farm1to3(s []byte) uint64 {
	n := uint64(len(s))
	y := uint64(s[0]) + uint64(s[n>>1])<<8
	z := n + uint64(s[n-1])<<2
	return fold47(y*farm2^z*farm0) * farm2
}

func farm17to32(s []byte) uint64 {
	n := uint64(len(s))
	mul := farm2 + n*2
	a := load64(s) * farm1
	b := load64(s[8:])
	c := load64(s[n-8:]) * mul
	d := load64(s[n-16:]) * farm2
	return farm16(rotate(a+b, 43)+rotate(c, 30)+d, a+rotate(b+farm2, 18)+c, mul)
}

func farm33to64(s []byte) uint64 {
	n := uint64(len(s))
	mul := farm2 + n*2
	a := load64(s) * farm2
	b := load64(s[8:])
	c := load64(s[n-8:]) * mul
	d := load64(s[n-16:]) * farm2
	y := rotate(a+b, 43) + rotate(c, 30) + d
	z := farm16(y, a+rotate(b+farm2, 18)+c, mul)
	e := load64(s[16:]) * mul
	f := load64(s[24:])
	g := (y + load64(s[n-32:])) * mul
	h := (z + load64(s[n-24:])) * mul
	return farm16(rotate(e+f, 43)+rotate(g, 30)+h, e+rotate(f+a, 18)+g, mul)
}

// farm32 mixes 32 bytes into two words.
func farm32(s []byte, a, b uint64) (uint64, uint64) {
	w, x, y, z := load64(s), load64(s[8:]), load64(s[16:]), load64(s[24:])
	a += w
	b = rotate(b+a+z, 21)
	c := a
	a += x + y
	return a + z, b + rotate(a, 44) + c
}

func farmLong(s []byte) uint64 {
	const seed uint64 = 81
	k1 := uint64(farm1)
	x, y := seed, seed*k1+113
	z := fold47(y*farm2+113) * farm2
	var v0, v1, w0, w1 uint64
	x = x*farm2 + load64(s)
	rest := (len(s) - 1) & 63
	last := s[len(s)-64:]
	for len(s) > 64 {
		x = rotate(x+y+v0+load64(s[8:]), 37) * farm1
		y = rotate(y+v1+load64(s[48:]), 42) * farm1
		x ^= w1
		y += v0 + load64(s[40:])
		z = rotate(z+w0, 33) * farm1
		v0, v1 = farm32(s, v1*farm1, x+w0)
		w0, w1 = farm32(s[32:], z+w1, y+load64(s[16:]))
		z, x = x, z
		s = s[64:]
	}
	mul := farm1 + (z&0xff)<<1
	s = last
	w0 += uint64(rest)
	v0 += w0
	w0 += v0
	x = rotate(x+y+v0+load64(s[8:]), 37) * mul
	y = rotate(y+v1+load64(s[48:]), 42) * mul
	x ^= w1 * 9
	y += v0*9 + load64(s[40:])
	z = rotate(z+w0, 33) * mul
	v0, v1 = farm32(s, v1*mul, x+w0)
	w0, w1 = farm32(s[32:], z+w1, y+load64(s[16:]))
	z, x = x, z
	return farm16(farm16(v0, w0, mul)+fold47(y)*farm0+z, farm16(v1, w1, mul)+x, mul)
}

// Buckets replaces hashes by their remainders modulo n, which is at least 1.
func Buckets(hashes []uint64, n uint64) {
	// A division takes longer than hashing a short string, so multiply by the reciprocal.
	const all = 1<<63 - 1
	switch {
	case n&(n-1) == 0:
		for i, h := range hashes {
			hashes[i] = h & (n - 1)
		}
	case n == all: // 2⁶³ leaves 1
		for i, h := range hashes {
			if h = h&all + h>>63; h >= all {
				h -= all
			}
			hashes[i] = h
		}
	case n > 1<<62:
		for i, h := range hashes {
			hashes[i] = h % n
		}
	default:
		inverse := math.MaxUint64 / n // the quotient computed from it is at most 2 too small
		for i, h := range hashes {
			q, _ := bits.Mul64(h, inverse)
			h -= q * n
			h = min(h, h-n) // unsigned: h-n wraps to a large number if h < n
			hashes[i] = min(h, h-n)
		}
	}
}
