package str

import (
	"encoding/binary"
	"math/bits"
)

// SipHashes writes [SipHash] of each string to out.
func SipHashes(out []uint64, x Column, key [2]uint64) {
	inChunks(x.Len(), keyed{hashed{out, x}, key}, func(lo, hi int, with keyed) {
		for i := lo; i < hi; i++ {
			with.out[i] = SipHash(with.x.At(i), with.key)
		}
	})
}

// keyed is the arguments of a chunk of [SipHashes].
type keyed struct {
	hashed
	key [2]uint64
}

// SipHash returns SipHash-2-4 of s (J.-P. Aumasson, D. Bernstein, "SipHash: a fast short-input
// PRF", 2012). Without knowledge of the key, strings that collide cannot be constructed.
// TensorFlow's to_hash_bucket_strong uses it.
func SipHash(s []byte, key [2]uint64) uint64 {
	v := [4]uint64{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573}
	last := uint64(len(s)) << 56
	for ; len(s) >= 8; s = s[8:] {
		m := binary.LittleEndian.Uint64(s)
		v[3] ^= m
		sipRound(&v)
		sipRound(&v)
		v[0] ^= m
	}
	for i, b := range s {
		last |= uint64(b) << (8 * i)
	}
	v[3] ^= last
	sipRound(&v)
	sipRound(&v)
	v[0] ^= last
	v[2] ^= 0xff
	for range 4 {
		sipRound(&v)
	}
	return v[0] ^ v[1] ^ v[2] ^ v[3]
}

func sipRound(v *[4]uint64) {
	v[0] += v[1]
	v[1] = bits.RotateLeft64(v[1], 13) ^ v[0]
	v[0] = bits.RotateLeft64(v[0], 32)
	v[2] += v[3]
	v[3] = bits.RotateLeft64(v[3], 16) ^ v[2]
	v[0] += v[3]
	v[3] = bits.RotateLeft64(v[3], 21) ^ v[0]
	v[2] += v[1]
	v[1] = bits.RotateLeft64(v[1], 17) ^ v[2]
	v[2] = bits.RotateLeft64(v[2], 32)
}
