package sorting

import (
	"hash/maphash"
	"math"

	"github.com/tenonml/tenon/dtype"
)

// Unique finds the distinct elements of x in the order of their first appearance. It writes to
// inverse, which has len(x) elements, the index of each element's value among them, and returns the
// position of each value's first appearance and its number of occurrences. All NaNs are one value,
// and so are both floating-point zeros.
func Unique[T dtype.Number](inverse []int64, x []T) (first, counts []int64) {
	inverse = inverse[:len(x)]
	if z, ok := any(x).([]complex128); ok {
		return uniqueBy(inverse, len(z), func(i int) [2]uint64 {
			return [2]uint64{canonical64(real(z[i])), canonical64(imag(z[i]))}
		})
	}
	t := newTable(len(x))
	var block [256]uint64
	for base := 0; base < len(x); base += len(block) {
		part := x[base:min(base+len(block), len(x))]
		canonicalBits(block[:len(part)], part)
		for i, key := range block[:len(part)] {
			id := t.id(key)
			if id == int64(len(first)) {
				first = append(first, int64(base+i))
				counts = append(counts, 0)
			}
			counts[id]++
			inverse[base+i] = id
		}
	}
	return first, counts
}

func uniqueBy[K comparable](inverse []int64, n int, key func(int) K) (first, counts []int64) {
	ids := map[K]int64{}
	for i := range n {
		k := key(i)
		id, ok := ids[k]
		if !ok {
			id = int64(len(first))
			ids[k] = id
			first = append(first, int64(i))
			counts = append(counts, 0)
		}
		counts[id]++
		inverse[i] = id
	}
	return first, counts
}

// canonicalBits writes bits that are equal exactly if the values are equal.
func canonicalBits[T dtype.Number](dst []uint64, x []T) {
	switch x := any(x).(type) {
	case []float32:
		for i, v := range x {
			dst[i] = canonical32(v)
		}
	case []float64:
		for i, v := range x {
			dst[i] = canonical64(v)
		}
	case []dtype.F16:
		for i, v := range x {
			dst[i] = canonical32(v.Float32())
		}
	case []dtype.BF16:
		for i, v := range x {
			dst[i] = canonical32(v.Float32())
		}
	case []complex64:
		for i, v := range x {
			dst[i] = canonical32(real(v))<<32 | canonical32(imag(v))
		}
	case []int8:
		integerBits(dst, x)
	case []int16:
		integerBits(dst, x)
	case []int32:
		integerBits(dst, x)
	case []int64:
		integerBits(dst, x)
	case []int:
		integerBits(dst, x)
	case []uint8:
		integerBits(dst, x)
	case []uint16:
		integerBits(dst, x)
	case []uint32:
		integerBits(dst, x)
	case []uint64:
		integerBits(dst, x)
	}
}

func integerBits[T dtype.Integer](dst []uint64, x []T) {
	for i, v := range x {
		dst[i] = uint64(v)
	}
}

func canonical32(v float32) uint64 {
	if v != v {
		return 0x7fc00000
	}
	return uint64(math.Float32bits(v + 0))
}

func canonical64(v float64) uint64 {
	if v != v {
		return 0x7ff8000000000000
	}
	return math.Float64bits(v + 0)
}

// A table numbers distinct keys in the order of their first appearance, by open addressing. Its
// hash is seeded differently in each process, so that inputs cannot be constructed to collide; the
// numbering does not depend on the hash.
type table struct {
	slots []slot
	shift uint
	used  int
}

type slot struct {
	key uint64
	id  int64 // one more than the number, 0 for a free slot
}

var seed = maphash.Bytes(maphash.MakeSeed(), nil) | 1

func newTable(n int) *table {
	bits := uint(4)
	for 1<<bits < min(2*n, 1<<12) {
		bits++
	}
	return &table{slots: make([]slot, 1<<bits), shift: 64 - bits}
}

// hash multiplies and folds twice, so that every bit of the key affects the top bits.
func hash(key uint64) uint64 {
	key ^= seed
	key ^= key >> 32
	key *= 0x9e3779b97f4a7c15
	key ^= key >> 29
	return key * (seed ^ 0xbf58476d1ce4e5b8)
}

// id returns the number of key, and assigns a new one if it has none yet.
func (t *table) id(key uint64) int64 {
	mask := uint64(len(t.slots) - 1)
	for h := hash(key) >> t.shift; ; h = (h + 1) & mask {
		s := &t.slots[h]
		if s.id == 0 {
			t.used++
			s.key, s.id = key, int64(t.used)
			if 2*t.used > len(t.slots) {
				t.grow()
			}
			return int64(t.used) - 1
		}
		if s.key == key {
			return s.id - 1
		}
	}
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 4*len(old))
	t.shift -= 2
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		h := hash(s.key) >> t.shift
		for t.slots[h].id != 0 {
			h = (h + 1) & mask
		}
		t.slots[h] = s
	}
}
