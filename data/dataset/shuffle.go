package dataset

import "math/bits"

// Shuffle returns all elements in an order that is determined by the seed and differs in each
// epoch. The order is a permutation computed from numbers alone: it takes no memory and no time at
// the start, and element i is found in constant time. Shuffling a stream is an error of kind
// tenon.ErrUnsupported, unless it is filtered from numbered elements.
func (d *Dataset[T]) Shuffle(seed uint64) *Dataset[T] {
	return onNumbered("Shuffle", d, nil, func(up *node[T]) *node[T] {
		return moved("Shuffle", up, nil, func(all, i int64) int64 {
			epoch := i / all
			return epoch*all + permuted(mix(seed^mix(uint64(epoch))), all, i%all)
		})
	})
}

// rounds of the Feistel network; four are hard to distinguish from random (M. Luby and C. Rackoff,
// 1988), and small domains need a few more.
const rounds = 6

// permuted maps i by a permutation of [0, n). It is a Feistel network over the numbers with as many
// bits as n-1, applied again while the result is n or more (J. Black and P. Rogaway, "Ciphers with
// Arbitrary Finite Domains", 2002).
func permuted(key uint64, n, i int64) int64 {
	if n < 2 {
		return i
	}
	width := bits.Len64(uint64(n - 1))
	low := (width + 1) / 2
	a, b := uint64(1)<<low-1, uint64(1)<<(width-low)-1
	for {
		x, y := uint64(i)&a, uint64(i)>>low
		for r := range uint64(rounds) {
			if r%2 == 0 {
				x ^= mix(key+r<<58+y) & a
			} else {
				y ^= mix(key+r<<58+x) & b
			}
		}
		if i = int64(y<<low | x); i < n {
			return i
		}
	}
}

// mix is the finaliser of SplitMix64 (G. Steele, D. Lea and C. Flood, 2014).
func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
