package random

// A Key names a sequence of random numbers.
type Key struct{ Lo, Hi uint32 }

// A Block is four random words.
type Block [4]uint32

// Purposes of blocks, the fourth word of a counter.
const (
	forNumbers = iota
	forKeys
	forFolds
)

// Block returns block i of the key's numbers; stream distinguishes the sequences of an operation
// that needs several.
func (k Key) Block(i uint64, stream uint32) Block {
	return philox(Block{uint32(i), uint32(i >> 32), stream, forNumbers}, k)
}

// Derive returns the ith of the keys that a key is split into.
func (k Key) Derive(i uint64) Key {
	b := philox(Block{uint32(i), uint32(i >> 32), 0, forKeys}, k)
	return Key{b[0], b[1]}
}

// Fold returns a key that depends on the key and a number, such as a step or the
// index of a layer.
func (k Key) Fold(data uint64) Key {
	b := philox(Block{uint32(data), uint32(data >> 32), 0, forFolds}, k)
	return Key{b[0], b[1]}
}

// Seed returns the key for a seed.
func Seed(seed uint64) Key { return Key{uint32(seed), uint32(seed >> 32)} }

// The multipliers and key increments of Philox4x32.
const (
	mul0, mul1 = 0xD2511F53, 0xCD9E8D57
	add0, add1 = 0x9E3779B9, 0xBB67AE85
)

func philox(c Block, k Key) Block {
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	k0, k1 := k.Lo, k.Hi
	for range 10 {
		p0, p1 := mul0*uint64(c0), mul1*uint64(c2)
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += add0
		k1 += add1
	}
	return Block{c0, c1, c2, c3}
}

// pair returns blocks i and i+1. Their rounds are interleaved to hide the latency of the
// multiplications.
func (k Key) pair(i uint64) [8]uint32 {
	a0, a1, a2, a3 := uint32(i), uint32(i>>32), uint32(0), uint32(forNumbers)
	j := i + 1
	b0, b1, b2, b3 := uint32(j), uint32(j>>32), uint32(0), uint32(forNumbers)
	k0, k1 := k.Lo, k.Hi
	for range 10 {
		p0, p1 := mul0*uint64(a0), mul1*uint64(a2)
		q0, q1 := mul0*uint64(b0), mul1*uint64(b2)
		a0, a1, a2, a3 = uint32(p1>>32)^a1^k0, uint32(p1), uint32(p0>>32)^a3^k1, uint32(p0)
		b0, b1, b2, b3 = uint32(q1>>32)^b1^k0, uint32(q1), uint32(q0>>32)^b3^k1, uint32(q0)
		k0 += add0
		k1 += add1
	}
	return [8]uint32{a0, a1, a2, a3, b0, b1, b2, b3}
}
