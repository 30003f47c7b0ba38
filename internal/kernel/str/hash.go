package str

import (
	"hash/maphash"
	"math/bits"
)

var (
	seed = maphash.MakeSeed()
	// secrets make the hashes of short strings differ from process to process.
	secrets = [2]uint64{maphash.Bytes(seed, []byte{0}), maphash.Bytes(seed, []byte{1})}
)

// hashWords writes the hashes of the strings from lo on to out. They differ from process to
// process, so that inputs cannot be constructed to collide.
func hashWords(out []uint64, x Column, lo int) {
	offsets := x.Offsets[lo : lo+len(out)+1]
	s0, s1 := secrets[0], secrets[1]
	for i := range out {
		a, b := offsets[i], offsets[i+1]
		n := uint64(b - a)
		var u, v uint64
		switch {
		case n > 16:
			out[i] = maphash.Bytes(seed, x.Bytes[a:b])
			continue
		case a+16 <= int64(len(x.Bytes)):
			u, v = halves(x.Bytes[a:a+16], n)
		default:
			var word [16]byte
			copy(word[:], x.Bytes[a:b])
			u, v = halves(word[:], n)
		}
		out[i] = mixWords(u, v, n, s0, s1)
	}
}

// halves returns the first n of sixteen bytes as two numbers.
func halves(s []byte, n uint64) (u, v uint64) {
	_ = s[15]
	front, back := min(n, 8), max(n, 8)-8
	return load64(s) & (1<<(8*front) - 1), load64(s[8:]) & (1<<(8*back) - 1)
}

// mixWords hashes a string of up to sixteen bytes by two 128-bit multiplications of its halves,
// each folded to 64 bits.
func mixWords(u, v, n, s0, s1 uint64) uint64 {
	hi, lo := bits.Mul64(u^s0, v^s1^n)
	hi, lo = bits.Mul64(hi^s1, lo^s0^n)
	return hi ^ lo
}
