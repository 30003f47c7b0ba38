package sorting

import (
	"cmp"
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
)

const (
	insertionMax = 24   // length up to which insertion sort is fastest
	radixMin     = 1024 // length from which radix sort is
)

// ArgSort writes to out, which has len(x) elements, the positions of x's elements in ascending or
// descending order. Equal elements keep their order, and NaN is last.
func ArgSort[T dtype.Real](out []int64, x []T, descending bool) {
	out = out[:len(x)]
	var small [insertionMax]uint64
	words := small[:0]
	if len(x) <= insertionMax {
		words = small[:len(x)]
	} else if uint64(len(x)) <= math.MaxUint32 {
		words = make([]uint64, len(x))
	}
	if len(words) == len(x) && packed(words, x, descending) {
		sortWords(words)
		for i, w := range words {
			out[i] = int64(uint32(w))
		}
		return
	}
	p := make([]pair, len(x))
	switch any(x).(type) {
	case []float64, []int64, []int, []uint64:
		pairs(p, x, descending)
	default: // more than 2^32 elements of a narrow type
		for i := range x {
			var w [1]uint64
			packed(w[:], x[i:i+1], descending)
			p[i] = pair{w[0] >> 32, int64(i)}
		}
	}
	sortPairs(p)
	for i, w := range p {
		out[i] = w.at
	}
}

func sortWords(w []uint64) {
	switch {
	case len(w) <= insertionMax:
		for i := 1; i < len(w); i++ {
			v, j := w[i], i
			for ; j > 0 && w[j-1] > v; j-- {
				w[j] = w[j-1]
			}
			w[j] = v
		}
	case len(w) < radixMin:
		slices.Sort(w)
	default:
		radix(w, make([]uint64, len(w)), 4)
	}
}

func sortPairs(p []pair) {
	switch {
	case len(p) <= insertionMax:
		for i := 1; i < len(p); i++ {
			v, j := p[i], i
			for ; j > 0 && p[j-1].key > v.key; j-- {
				p[j] = p[j-1]
			}
			p[j] = v
		}
	case len(p) < radixMin:
		slices.SortFunc(p, func(a, b pair) int {
			if c := cmp.Compare(a.key, b.key); c != 0 {
				return c
			}
			return cmp.Compare(a.at, b.at)
		})
	default:
		radixPairs(p)
	}
}
