package sorting

import (
	"math"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// Bytes returns booleans as bytes that are 0 or 1, without copying, so that they
// can be sorted and counted like other numbers.
func Bytes(x []bool) []uint8 { return cast[uint8](x) }

// cast returns the memory of x as elements of another type of the same size.
func cast[U, T any](x []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// unsigned is the set of key types.
type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

// narrow is the set of signed types whose order fits into a 32-bit key.
type narrow interface{ int8 | int16 | int32 }

// packed writes a word for each element to dst, with a 32-bit key above the element's position, and
// reports false for types that need 64-bit keys. Sorting the words sorts the elements stably. There
// are fewer than 2^32 elements.
func packed[T dtype.Real](dst []uint64, x []T, descending bool) bool {
	var flip uint32
	if descending {
		flip = math.MaxUint32
	}
	switch x := any(x).(type) {
	case []float32:
		for i, v := range x {
			dst[i] = uint64(keyOfFloat32(v, flip))<<32 | uint64(i)
		}
	case []dtype.F16:
		for i, v := range x {
			dst[i] = uint64(keyOfFloat32(v.Float32(), flip))<<32 | uint64(i)
		}
	case []dtype.BF16:
		for i, v := range x {
			dst[i] = uint64(keyOfFloat32(v.Float32(), flip))<<32 | uint64(i)
		}
	case []int8:
		packSigned(dst, x, flip)
	case []int16:
		packSigned(dst, x, flip)
	case []int32:
		packSigned(dst, x, flip)
	case []uint8:
		packUnsigned(dst, x, flip)
	case []uint16:
		packUnsigned(dst, x, flip)
	case []uint32:
		packUnsigned(dst, x, flip)
	default:
		return false
	}
	return true
}

func packSigned[T narrow](dst []uint64, x []T, flip uint32) {
	flip ^= 1 << 31
	for i, v := range x {
		dst[i] = uint64(uint32(int32(v))^flip)<<32 | uint64(i)
	}
}

func packUnsigned[T uint8 | uint16 | uint32](dst []uint64, x []T, flip uint32) {
	for i, v := range x {
		dst[i] = uint64(uint32(v)^flip)<<32 | uint64(i)
	}
}

// keyOfFloat32 maps floats to unsigned numbers that have the same order: negative ones have all
// bits flipped, others the sign bit. flip is all ones for descending order; NaN has the greatest
// key either way.
func keyOfFloat32(v float32, flip uint32) uint32 {
	if v != v {
		return math.MaxUint32
	}
	b := math.Float32bits(v + 0) // -0 becomes +0
	return b ^ (uint32(int32(b)>>31) | 1<<31) ^ flip
}

func keyOfFloat64(v float64, flip uint64) uint64 {
	if v != v {
		return math.MaxUint64
	}
	b := math.Float64bits(v + 0)
	return b ^ (uint64(int64(b)>>63) | 1<<63) ^ flip
}

// A pair is a 64-bit key and a position.
type pair struct {
	key uint64
	at  int64
}

// pairs writes the key and position of each element of a 64-bit type.
func pairs[T dtype.Real](dst []pair, x []T, descending bool) {
	var flip uint64
	if descending {
		flip = math.MaxUint64
	}
	switch x := any(x).(type) {
	case []float64:
		for i, v := range x {
			dst[i] = pair{keyOfFloat64(v, flip), int64(i)}
		}
	case []uint64:
		for i, v := range x {
			dst[i] = pair{v ^ flip, int64(i)}
		}
	case []int64:
		for i, v := range x {
			dst[i] = pair{uint64(v) ^ 1<<63 ^ flip, int64(i)}
		}
	case []int:
		for i, v := range x {
			dst[i] = pair{uint64(v) ^ 1<<63 ^ flip, int64(i)}
		}
	}
}
