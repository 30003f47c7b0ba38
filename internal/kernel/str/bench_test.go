package str

import (
	"math/rand/v2"
	"testing"
)

// A million words of 4 to 16 letters, and positions of them in random order.
func benchWords(b *testing.B) (Column, []int64) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 1_000_000
	var c builder
	for range n {
		for range 4 + rng.IntN(13) {
			c.bytes = append(c.bytes, 'A'+byte(rng.IntN(50)))
		}
		c.end()
	}
	idx := make([]int64, n)
	for i, p := range rng.Perm(n) {
		idx[i] = int64(p)
	}
	return c.column(), idx
}

func BenchmarkStrings(b *testing.B) {
	x, idx := benchWords(b)
	shuffled, err := Gather(x, idx)
	if err != nil {
		b.Fatal(err)
	}
	n := x.Len()
	out8, outBool, out64 := make([]int8, n), make([]bool, n), make([]int64, n)
	hashes := make([]uint64, n)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"gather", func() { _, _ = Gather(x, idx) }},
		{"lower", func() { Lower(x) }},
		{"lower_utf8", func() { LowerUTF8(x) }},
		{"compare", func() { Compare(out8, x, shuffled) }},
		{"equal", func() { Equal(outBool, x, x) }},
		{"join", func() { Join([]Column{x, shuffled}, n, "-") }},
		{"split", func() { Split(make([]int64, x.Len()+1), x, "Z", 0) }},
		{"decode", func() { _, _, _, _ = decode(x, UTF8, UnicodeOptions{}) }},
		{"length", func() { Lengths(out64, x, Char) }},
		{"fingerprint", func() { Fingerprints(hashes, x) }},
		{"unique", func() { Unique(out64, x) }},
		{"argsort", func() { ArgSort(out64, x, false) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(x.Size())
			for b.Loop() {
				c.f()
			}
		})
	}
}
