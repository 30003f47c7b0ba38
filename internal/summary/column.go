package summary

import (
	"math"
	"math/bits"

	"github.com/tenonml/tenon/internal/kernel/sorting"
)

// A Column collects statistics of a column. The zero value is not ready for use; see [newColumn].
type Column struct {
	Path string
	Type string
	Of   string // what the numbers describe: the value, the size of a string in bytes, or the length of a list

	Count   int64 // number of values that are present
	Missing int64
	NaN     int64 // included in Count, but in no other number
	Min     float64
	Max     float64
	Mean    float64

	squares  float64 // sum of squared distances from the mean
	sample   reservoir
	distinct counter
}

func newColumn(path, of string) *Column {
	return &Column{Path: path, Of: of, Min: math.Inf(1), Max: math.Inf(-1), sample: reservoir{}}
}

// Std is the standard deviation of the values.
func (c *Column) Std() float64 {
	if n := c.Count - c.NaN; n > 0 {
		return math.Sqrt(c.squares / float64(n))
	}
	return math.NaN()
}

// Quantile returns the value below which a share q of the values lies: exactly for up to 65,536 values, and
// otherwise estimated from a sample of that size.
func (c *Column) Quantile(q float64) float64 { return c.sample.quantile(q) }

// Distinct estimates the number of distinct values, with a standard error of one percent.
func (c *Column) Distinct() int64 { return min(c.distinct.estimate(), c.Count) }

// Histogram returns how many of the values, or of a sample of them, are in each of n intervals of
// equal width between the minimum and the maximum.
func (c *Column) Histogram(n int) []int {
	out := make([]int, n)
	width := (c.Max - c.Min) / float64(n)
	for _, x := range c.sample.kept {
		i := 0
		if width > 0 && !math.IsInf(width, 0) {
			i = min(int((x-c.Min)/width), n-1)
		}
		if i >= 0 {
			out[i]++
		}
	}
	return out
}

// merge adds the moments of n numbers: T. Chan, G. Golub, R. LeVeque, "Updating formulae and a pairwise
// algorithm for computing sample variances", 1979.
func (c *Column) merge(n int64, mean, squares float64) {
	if n == 0 {
		return
	}
	have := float64(c.Count - c.NaN)
	total := have + float64(n)
	d := mean - c.Mean
	c.Mean += d * float64(n) / total
	c.squares += squares + d*d*have*float64(n)/total
}

type real interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// blockSize is the number of numbers processed at a time, in several passes while they are in the
// cache.
const blockSize = 4096

// addNumbers adds numbers, or those for which a mask is true.
func addNumbers[T real](c *Column, data []T, mask []bool) {
	var chosen [blockSize]T
	for len(data) > 0 {
		n := min(len(data), blockSize)
		block := data[:n]
		if mask != nil {
			k := 0
			for i, ok := range mask[:n] {
				if ok {
					chosen[k] = block[i]
					k++
				}
			}
			c.Missing += int64(n - k)
			block, mask = chosen[:k], mask[n:]
		}
		addBlock(c, block)
		data = data[n:]
	}
}

func addBlock[T real](c *Column, block []T) {
	if len(block) == 0 {
		return
	}
	r := c.distinct.all()
	lo, hi, sum := block[0], block[0], 0.0
	for _, x := range block {
		f := float64(x)
		note(r, mixed(math.Float64bits(f)))
		if x < lo {
			lo = x
		}
		if x > hi {
			hi = x
		}
		sum += f
	}
	nan := 0
	if sum != sum { // NaN, or infinity minus infinity
		for _, x := range block {
			if x != x {
				nan++
			}
		}
	}
	if nan > 0 { // rare: process the block again without them
		kept := make([]T, 0, len(block)-nan)
		for _, x := range block {
			if x == x {
				kept = append(kept, x)
			}
		}
		c.Count += int64(nan)
		c.NaN += int64(nan)
		addMoments(c, kept)
		return
	}
	c.moments(len(block), float64(lo), float64(hi), sum, func(mean float64) (s float64) {
		for _, x := range block {
			d := float64(x) - mean
			s += d * d
		}
		return s
	})
	addSample(c, block)
}

func addMoments[T real](c *Column, block []T) {
	if len(block) == 0 {
		return
	}
	lo, hi, sum := block[0], block[0], 0.0
	for _, x := range block {
		lo, hi = min(lo, x), max(hi, x)
		sum += float64(x)
	}
	c.moments(len(block), float64(lo), float64(hi), sum, func(mean float64) (s float64) {
		for _, x := range block {
			d := float64(x) - mean
			s += d * d
		}
		return s
	})
	addSample(c, block)
}

func (c *Column) moments(n int, lo, hi, sum float64, squares func(mean float64) float64) {
	c.Min, c.Max = min(c.Min, lo), max(c.Max, hi)
	mean := sum / float64(n)
	c.merge(int64(n), mean, squares(mean))
	c.Count += int64(n)
}

func addSample[T real](c *Column, block []T) {
	c.sample.add(len(block), func(i int) float64 { return float64(block[i]) })
}

// reservoirSize is the number of values from which quantiles are computed.
const reservoirSize = 1 << 16

// A reservoir is a uniform sample, which is the same for the same values: value n replaces a random kept one with
// probability reservoirSize/n (J. Vitter, "Random sampling with a reservoir", 1985: algorithm R). Skipping values
// instead would need logarithms, which take longer than a random number for each value.
type reservoir struct {
	kept   []float64
	seen   uint64
	state  uint64 // state of the random number generator
	sorted bool
}

func (r *reservoir) add(n int, at func(i int) float64) {
	r.sorted = false
	i := min(n, reservoirSize-len(r.kept))
	for k := range i {
		r.kept = append(r.kept, at(k))
	}
	r.seen += uint64(i)
	seen, state := r.seen, r.state
	for ; i < n; i++ {
		seen++
		state += 0xa0761d6478bd642f
		if place, _ := bits.Mul64(fold(state, state^0xe7037ed1a0b428db), seen); place < reservoirSize {
			r.kept[place] = at(i)
		}
	}
	r.seen, r.state = seen, state
}

func (r *reservoir) sort() {
	if !r.sorted {
		sorting.Sort(r.kept, false) // without NaN
		r.sorted = true
	}
}

func (r *reservoir) quantile(q float64) float64 {
	if len(r.kept) == 0 {
		return math.NaN()
	}
	r.sort()
	at := q * float64(len(r.kept)-1)
	i := int(at)
	if i+1 == len(r.kept) {
		return r.kept[i]
	}
	return r.kept[i] + (at-float64(i))*(r.kept[i+1]-r.kept[i])
}

// A counter estimates the number of distinct values from the leading zeros of their hashes (P. Flajolet
// et al., "HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm", 2007).
type counter struct{ registers []uint8 }

const registerBits = 14

func (c *counter) all() []uint8 {
	if c.registers == nil {
		c.registers = make([]uint8, 1<<registerBits)
	}
	return c.registers
}

func note(r []uint8, h uint64) {
	at := h >> (64 - registerBits)
	if z := uint8(bits.LeadingZeros64(h<<registerBits|1<<(registerBits-1))) + 1; z > r[at] {
		r[at] = z
	}
}

// mixed mixes the bits of a number (the finalizer of MurmurHash3, A. Appleby).
func mixed(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func (c *counter) estimate() int64 {
	if c.registers == nil {
		return 0
	}
	m := float64(len(c.registers))
	sum, zeros := 0.0, 0.0
	for _, z := range c.registers {
		sum += math.Ldexp(1, -int(z))
		if z == 0 {
			zeros++
		}
	}
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e <= 2.5*m && zeros > 0 {
		e = m * math.Log(m/zeros)
	}
	return int64(math.Round(e))
}
