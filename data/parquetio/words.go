package parquetio

import (
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
)

// words is the dictionary of a column chunk being written: it holds each distinct value once, and the indices of
// all values. It is given up if it gets large, or if it does not make the column smaller.
type words struct {
	values
	numbers []uint32
}

const (
	sampled      = 4096    // number of values sampled to decide whether a column repeats
	maxWords     = 1 << 20 // maximum size of a dictionary in bytes
	probesAValue = 16      // average number of search steps above which the values appear to collide on purpose
)

// wordsOf returns the dictionary of values, or nil if they are better stored without one.
func wordsOf(v *values) *words {
	if v.width == 1 && v.ends == nil || v.n == 0 || !repeats(v) {
		return nil
	}
	d := &words{}
	d.width = v.width
	ok := false
	switch {
	case v.ends == nil && v.width == 4:
		ok = fill[uint32](d, v)
	case v.ends == nil && v.width == 8:
		ok = fill[uint64](d, v)
	default:
		ok = d.fillTexts(v)
	}
	if !ok || d.size()+v.n*d.bits()/8 >= v.size() {
		return nil
	}
	return d
}

// size returns the size in bytes of values stored without a dictionary.
func (v *values) size() int {
	if v.ends != nil {
		return int(v.ends[v.n]-v.ends[0]) + 4*v.n
	}
	return v.n * v.width
}

// bits returns the number of bits of a dictionary index.
func (d *words) bits() int { return max(1, bits.Len(uint(d.n-1))) }

// repeats reports whether a dictionary is likely to make values smaller by a tenth. Of n values drawn uniformly from
// d distinct ones, about n²/2d are repetitions, so an evenly spaced sample of values yields an estimate of d, even if
// d is much larger than the sample.
func repeats(v *values) bool {
	step := max(1, v.n/sampled)
	seen := make(map[string]bool, sampled)
	n := 0
	for i := 0; i < v.n; i += step {
		seen[string(v.at(i))] = true
		n++
	}
	again := n - len(seen)
	if n < sampled/16 || again == 0 {
		return n < sampled/16
	}
	all, size := float64(v.n), float64(v.size())
	d := float64(n) * float64(n) / float64(2*again)
	distinct := d * (1 - math.Exp(-all/d))
	words := distinct * size / all
	return words <= maxWords && words+all*math.Log2(max(2, distinct))/8 < 0.9*size
}

// A search finds the index of a dictionary entry by hashing with linear probing.
type search struct {
	places []uint32 // 1 plus the index of an entry, or 0 if free
	shift  int
	left   int // number of steps until the search is given up
}

func newSearch(n int) search {
	const first = 10
	return search{places: make([]uint32, 1<<first), shift: 64 - first, left: probesAValue*n + 1024}
}

// grow doubles the number of places. hash returns the hash of an entry.
func (s *search) grow(n int, hash func(i int) uint64) {
	s.shift--
	s.places = make([]uint32, 2*len(s.places))
	for i := range n {
		at := hash(i) >> s.shift
		for s.places[at] != 0 {
			at = (at + 1) & uint64(len(s.places)-1)
			s.left--
		}
		s.places[at] = uint32(i + 1)
	}
}

// mixed is a hash in which all bits depend on all bits of the number. With a weaker hash, some seeds map numbers
// that are multiples of each other, or decimal fractions, so close together that a search is given up, and the
// output would depend on chance.
func mixed(w, seed uint64) uint64 {
	hi, lo := bits.Mul64(w^seed, 0x9e3779b97f4a7c15)
	hi, lo = bits.Mul64(hi^lo^seed, 0xa0761d6478bd642f)
	return hi ^ lo
}

// fill adds numbers of 4 or 8 bytes.
func fill[T uint32 | uint64](d *words, v *values) bool {
	x := numbers[T](v)
	seed := rand.Uint64() // collisions cannot be constructed
	s := newSearch(len(x))
	var list []T
	d.numbers = make([]uint32, len(x))
	for i, w := range x {
		at := mixed(uint64(w), seed) >> s.shift
		for {
			k := s.places[at]
			if k == 0 {
				if (len(list)+1)*v.width > maxWords || s.left < 0 {
					return false
				}
				list = append(list, w)
				k = uint32(len(list))
				s.places[at] = k
				d.numbers[i] = k - 1
				if 2*len(list) > len(s.places) {
					s.grow(len(list), func(i int) uint64 { return mixed(uint64(list[i]), seed) })
				}
				break
			}
			if list[k-1] == w {
				d.numbers[i] = k - 1
				break
			}
			at = (at + 1) & uint64(len(s.places)-1)
			s.left--
		}
	}
	d.n = len(list)
	d.fixed = asBytes(list)
	return true
}

// fillTexts adds texts, and values of other widths.
func (d *words) fillTexts(v *values) bool {
	seed := maphash.MakeSeed()
	s := newSearch(v.n)
	d.ends = []int64{0}
	d.numbers = make([]uint32, v.n)
	var hashes []uint64
	for i := range v.n {
		w := v.at(i)
		h := maphash.Bytes(seed, w)
		at := h >> s.shift
		for {
			k := s.places[at]
			if k == 0 {
				if len(d.text)+len(w)+4*len(d.ends) > maxWords || s.left < 0 {
					return false
				}
				d.text = append(d.text, w...)
				d.ends = append(d.ends, int64(len(d.text)))
				hashes = append(hashes, h)
				s.places[at] = uint32(len(hashes))
				d.numbers[i] = uint32(len(hashes) - 1)
				if 2*len(hashes) > len(s.places) {
					s.grow(len(hashes), func(i int) uint64 { return hashes[i] })
				}
				break
			}
			if hashes[k-1] == h && string(d.text[d.ends[k-1]:d.ends[k]]) == string(w) {
				d.numbers[i] = k - 1
				break
			}
			at = (at + 1) & uint64(len(s.places)-1)
			s.left--
		}
	}
	d.n = len(hashes)
	if v.ends == nil { // entries have the width of the values
		d.fixed, d.text, d.ends = d.text, nil, nil
	}
	return true
}
