package sorting

import (
	"cmp"
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// Sort orders x in place, ascending or descending. NaN is last either way. Zeros of both signs are
// equal, and their order is unspecified.
func Sort[T dtype.Real](x []T, descending bool) {
	n := len(x)
	switch s := any(x).(type) {
	case []float32:
		n = nanLast(s)
		if n <= insertionMax {
			insert(s[:n])
		} else {
			sortKeys(cast[uint32](s[:n]), 1<<31, true)
		}
	case []float64:
		n = nanLast(s)
		if n <= insertionMax {
			insert(s[:n])
		} else {
			sortKeys(cast[uint64](s[:n]), 1<<63, true)
		}
	case []dtype.F16:
		n = halfNaNLast(cast[uint16](s), 0x7c00)
		sortKeys(cast[uint16](s[:n]), 1<<15, true)
	case []dtype.BF16:
		n = halfNaNLast(cast[uint16](s), 0x7f80)
		sortKeys(cast[uint16](s[:n]), 1<<15, true)
	case []int8:
		sortKeys(cast[uint8](s), 1<<7, false)
	case []int16:
		sortKeys(cast[uint16](s), 1<<15, false)
	case []int32:
		sortKeys(cast[uint32](s), 1<<31, false)
	case []int64:
		sortKeys(cast[uint64](s), 1<<63, false)
	case []int:
		sortKeys(cast[uint64](s), 1<<63, false)
	case []uint8:
		sortKeys(s, 0, false)
	case []uint16:
		sortKeys(s, 0, false)
	case []uint32:
		sortKeys(s, 0, false)
	case []uint64:
		sortKeys(s, 0, false)
	default:
		slices.Sort(x)
	}
	if descending {
		slices.Reverse(x[:n])
	}
}

// nanLast moves NaNs after the other elements and returns the number of the latter.
func nanLast[T float32 | float64](x []T) int {
	n := 0
	for i, v := range x {
		if v == v {
			if i != n {
				x[i], x[n] = x[n], v
			}
			n++
		}
	}
	return n
}

// halfNaNLast is nanLast for the bits of half-precision numbers; infinity is the bits of +∞.
func halfNaNLast(x []uint16, infinity uint16) int {
	n := 0
	for i, v := range x {
		if v&0x7fff <= infinity {
			x[i], x[n] = x[n], v
			n++
		}
	}
	return n
}

// sortKeys sorts bits in place. Flipping sign and, for negative floats, all other bits makes their
// unsigned order that of the numbers.
func sortKeys[K unsigned](x []K, sign K, float bool) {
	if sign != 0 {
		for i, k := range x {
			if float && k&sign != 0 {
				x[i] = ^k
			} else {
				x[i] = k ^ sign
			}
		}
	}
	switch {
	case len(x) <= insertionMax:
		insert(x)
	case len(x) < radixMin:
		slices.Sort(x)
	default:
		radix(x, make([]K, len(x)), 0)
	}
	if sign != 0 {
		for i, k := range x {
			if float && k&sign == 0 {
				x[i] = ^k
			} else {
				x[i] = k ^ sign
			}
		}
	}
}

// insert sorts a few elements, none of which is NaN.
func insert[T cmp.Ordered](x []T) {
	for i := 1; i < len(x); i++ {
		v, j := x[i], i
		for ; j > 0 && v < x[j-1]; j-- {
			x[j] = x[j-1]
		}
		x[j] = v
	}
}
