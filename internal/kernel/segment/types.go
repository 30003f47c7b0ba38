package segment

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

// Index is the set of types of positions and ids.
type Index interface{ ~int32 | ~int64 }

// Float is the set of real floating-point types.
type Float interface {
	float32 | float64 | dtype.F16 | dtype.BF16
}

// Inexact is the set of floating-point and complex types.
type Inexact interface {
	Float | complex64 | complex128
}

// rowsOf returns the number of rows of a partition, 0 if there are no splits at all.
func rowsOf(splits []int64) int { return max(len(splits)-1, 0) }

// widen returns x as float32 where T is a half-precision type.
func widen[T any](x []T) ([]float32, bool) {
	switch x := any(x).(type) {
	case []dtype.F16:
		w := make([]float32, len(x), len(x)+slack)
		for i, v := range x {
			w[i] = v.Float32()
		}
		return w, true
	case []dtype.BF16:
		w := make([]float32, len(x), len(x)+slack)
		for i, v := range x {
			w[i] = v.Float32()
		}
		return w, true
	}
	return nil, false
}

// narrow rounds x to out, which has a half-precision type.
func narrow[T any](out []T, x []float32) {
	switch out := any(out).(type) {
	case []dtype.F16:
		for i, v := range x {
			out[i] = dtype.F16From(v)
		}
	case []dtype.BF16:
		for i, v := range x {
			out[i] = dtype.BF16From(v)
		}
	}
}

// slack is the number of float32 after a temporary slice that vector loads may read.
const slack = 16

// lowest returns the identity of max: -∞ for floats, the smallest integer otherwise.
func lowest[T dtype.Real]() T {
	var t T
	switch p := any(&t).(type) {
	case *float32:
		*p = float32(math.Inf(-1))
	case *float64:
		*p = math.Inf(-1)
	case *int8:
		*p = math.MinInt8
	case *int16:
		*p = math.MinInt16
	case *int32:
		*p = math.MinInt32
	case *int64:
		*p = math.MinInt64
	case *int:
		*p = math.MinInt
	case *dtype.F16:
		*p = 0xfc00
	case *dtype.BF16:
		*p = 0xff80
	}
	return t
}

// highest returns the identity of min: +∞ for floats, the largest integer otherwise.
func highest[T dtype.Real]() T {
	var t T
	switch p := any(&t).(type) {
	case *float32:
		*p = float32(math.Inf(1))
	case *float64:
		*p = math.Inf(1)
	case *int8:
		*p = math.MaxInt8
	case *int16:
		*p = math.MaxInt16
	case *int32:
		*p = math.MaxInt32
	case *int64:
		*p = math.MaxInt64
	case *int:
		*p = math.MaxInt
	case *uint8:
		*p = math.MaxUint8
	case *uint16:
		*p = math.MaxUint16
	case *uint32:
		*p = math.MaxUint32
	case *uint64:
		*p = math.MaxUint64
	case *dtype.F16:
		*p = 0x7c00
	case *dtype.BF16:
		*p = 0x7f80
	}
	return t
}
