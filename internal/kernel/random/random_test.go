package random

import (
	"math"
	"slices"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

// The known answers are those that come with Random123, the authors' library.
func TestPhilox(t *testing.T) {
	for _, c := range []struct {
		counter Block
		key     Key
		want    Block
	}{
		{Block{}, Key{}, Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{Block{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, Key{0xffffffff, 0xffffffff}, Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{Block{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, Key{0xa4093822, 0x299f31d0}, Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := philox(c.counter, c.key); got != c.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

func TestLogAndQuantile(t *testing.T) {
	for i := 1; i < 2000; i++ {
		p := float64(i) / 2000
		for _, x := range []float64{p, p * 1e-9, 1 + 3*p} {
			if got, want := log(x), math.Log(x); math.Abs(got-want) > 4e-16*math.Max(math.Abs(want), 1e-3) {
				t.Fatalf("log(%v) = %v, want %v", x, got, want)
			}
		}
		if back := math.Erfc(-quantile(p)/math.Sqrt2) / 2; math.Abs(back-p) > 1e-15 {
			t.Fatalf("quantile(%v) = %v, below which are %v", p, quantile(p), back)
		}
	}
}

// These numbers may not change: programs rely on getting the same ones again.
func TestNumbersStayTheSame(t *testing.T) {
	k := Seed(42)
	f64 := make([]float64, 3)
	f32 := make([]float32, 3)
	Of(f64, k, Normal)
	if want := []float64{-0.07882346885253179, -0.41011294279565147, -0.4480366278979277}; !slices.Equal(f64, want) {
		t.Errorf("normal float64: %v", f64)
	}
	Uniform(f32, k)
	if want := []float32{0.61295986, 0.4685865, 0.0732317}; !slices.Equal(f32, want) {
		t.Errorf("uniform float32: %v", f32)
	}
	p := make([]int64, 8)
	Permutation(p, k)
	if want := []int64{6, 1, 0, 4, 7, 5, 3, 2}; !slices.Equal(p, want) {
		t.Errorf("permutation: %v", p)
	}
}

// Moments, range and quantiles of each distribution, within four standard errors.
func TestDistributions(t *testing.T) {
	const n = 200000
	x := make([]float64, n)
	moments := func() (mean, variance float64) {
		for _, v := range x {
			mean += v / n
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / n
		}
		return mean, variance
	}
	for _, c := range []struct {
		name           string
		fill           func()
		mean, variance float64
	}{
		{"uniform", func() { Uniform(x, Seed(1)) }, 0.5, 1.0 / 12},
		{"normal", func() { Of(x, Seed(2), Normal) }, 0, 1},
		{"truncated", func() { Of(x, Seed(3), Truncated) }, 0, 0.7737413035499231},
		{"exponential", func() { Of(x, Seed(4), Exponential) }, 1, 1},
		{"gumbel", func() { Of(x, Seed(5), Gumbel) }, 0.5772156649015329, math.Pi * math.Pi / 6},
	} {
		c.fill()
		mean, variance := moments()
		if math.Abs(mean-c.mean) > 4*math.Sqrt(c.variance/n) || math.Abs(variance-c.variance) > 16*c.variance/math.Sqrt(n) {
			t.Errorf("%s: mean %v, variance %v; want %v, %v", c.name, mean, variance, c.mean, c.variance)
		}
	}
	Of(x, Seed(3), Truncated)
	if lo, hi := slices.Min(x), slices.Max(x); lo < -2 || hi > 2 || lo > -1.99 || hi < 1.99 {
		t.Errorf("truncated numbers from %v to %v", lo, hi)
	}
	h := make([]dtype.BF16, n)
	Uniform(h, Seed(6))
	if slices.Contains(h, dtype.BF16From(1)) {
		t.Error("a uniform number is 1")
	}
}

func TestInts(t *testing.T) {
	x := make([]int8, 60000)
	Ints(x, Seed(7), -3, 6)
	counts := map[int8]int{}
	for _, v := range x {
		counts[v]++
	}
	for v := int8(-3); v < 3; v++ {
		if n := counts[v]; n < 9600 || n > 10400 {
			t.Errorf("%d comes %d times in %d", v, n, len(x))
		}
	}
	if len(counts) != 6 {
		t.Errorf("numbers out of range: %v", counts)
	}
}

// Every permutation of three is about equally likely.
func TestPermutation(t *testing.T) {
	counts := map[[3]int64]int{}
	for i := range uint64(6000) {
		var p [3]int64
		Permutation(p[:], Seed(8).Derive(i))
		counts[p]++
	}
	for p, n := range counts {
		if n < 870 || n > 1130 {
			t.Errorf("%v comes %d times in 6000", p, n)
		}
	}
	if len(counts) != 6 {
		t.Errorf("%d permutations of three", len(counts))
	}
}

func TestKeysDiffer(t *testing.T) {
	k := Seed(9)
	seen := map[Key]bool{k: true}
	for i := range uint64(1000) {
		for _, d := range []Key{k.Derive(i), k.Fold(i)} {
			if seen[d] {
				t.Fatalf("key %v comes twice", d)
			}
			seen[d] = true
		}
	}
}

func BenchmarkNormal(b *testing.B) {
	x := make([]float32, 4096)
	b.SetBytes(4 * 4096)
	for b.Loop() {
		Of(x, Seed(1), Normal)
	}
}

func BenchmarkUniform(b *testing.B) {
	x := make([]float32, 4096)
	b.SetBytes(4 * 4096)
	for b.Loop() {
		Uniform(x, Seed(1))
	}
}
