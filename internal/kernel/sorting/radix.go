package sorting

// radix sorts x by the bytes of its words from byte first upwards, least significant byte first; it
// is stable. Bytes that are the same in all words are skipped. tmp has the length of x.
func radix[K unsigned](x, tmp []K, first int) {
	const width = 8
	var counts [width][256]int
	size := sizeOf[K]()
	for _, v := range x {
		w := uint64(v)
		for b := first; b < size; b++ {
			counts[b][byte(w>>(8*b))]++
		}
	}
	src, dst := x, tmp
	for b := first; b < size; b++ {
		c := &counts[b]
		if len(x) > 0 && c[byte(uint64(x[0])>>(8*b))] == len(x) {
			continue
		}
		sum := 0
		for i, n := range c {
			c[i] = sum
			sum += n
		}
		for _, v := range src {
			d := byte(uint64(v) >> (8 * b))
			dst[c[d]] = v
			c[d]++
		}
		src, dst = dst, src
	}
	if len(x) > 0 && &src[0] != &x[0] {
		copy(x, src)
	}
}

func sizeOf[K unsigned]() int {
	n := 0
	for k := ^K(0); k != 0; n++ {
		k = K(uint64(k) >> 8)
	}
	return n
}

// radixPairs is radix for pairs, by key.
func radixPairs(p []pair) {
	var counts [8][256]int
	for _, v := range p {
		for b := range 8 {
			counts[b][byte(v.key>>(8*b))]++
		}
	}
	src, dst := p, make([]pair, len(p))
	for b := range 8 {
		c := &counts[b]
		if len(p) > 0 && c[byte(p[0].key>>(8*b))] == len(p) {
			continue
		}
		sum := 0
		for i, n := range c {
			c[i] = sum
			sum += n
		}
		for _, v := range src {
			d := byte(v.key >> (8 * b))
			dst[c[d]] = v
			c[d]++
		}
		src, dst = dst, src
	}
	if len(p) > 0 && &src[0] != &p[0] {
		copy(p, src)
	}
}
