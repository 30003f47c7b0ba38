package elementwise

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

// Ternary returns the kernel that sets dst[i] to op(x[i], y[i], z[i]) for all
// i < len(dst), or nil if op is not a function of three T.
//
//	FMA   x·y + z, for float32 and float64 with a single rounding
//	Lerp  x + z·(y - x)
//	Clip  min(max(x, y), z); NaN where any of them is
//
// Each operand must be the same memory as dst or not overlap it.
func Ternary[T dtype.Native](op Op) func(dst, x, y, z []T) {
	var f any
	switch any((*T)(nil)).(type) {
	case *int8:
		f = ternaryInt[int8](op)
	case *int16:
		f = ternaryInt[int16](op)
	case *int32:
		f = ternaryInt[int32](op)
	case *int64:
		f = ternaryInt[int64](op)
	case *uint8:
		f = ternaryInt[uint8](op)
	case *uint16:
		f = ternaryInt[uint16](op)
	case *uint32:
		f = ternaryInt[uint32](op)
	case *uint64:
		f = ternaryInt[uint64](op)
	case *dtype.F16:
		f = half3[dtype.F16](Ternary[float32](op))
	case *dtype.BF16:
		f = half3[dtype.BF16](Ternary[float32](op))
	case *float32:
		f = ternaryFloat32(op)
	case *float64:
		f = ternaryFloat64(op)
	case *complex64:
		f = ternaryComplex[complex64](op)
	case *complex128:
		f = ternaryComplex[complex128](op)
	}
	k, _ := f.(func(dst, x, y, z []T))
	return k
}

func ternaryFloat32(op Op) func(dst, x, y, z []float32) {
	if f := asmTernaryFloat32(op); f != nil {
		return f
	}
	switch op {
	case FMA:
		return fma32
	case Lerp:
		return lerp[float32]
	case Clip:
		return clip[float32]
	}
	return nil
}

func ternaryFloat64(op Op) func(dst, x, y, z []float64) {
	if f := asmTernaryFloat64(op); f != nil {
		return f
	}
	switch op {
	case FMA:
		return fma64
	case Lerp:
		return lerp[float64]
	case Clip:
		return clip[float64]
	}
	return nil
}

func ternaryInt[T integer](op Op) func(dst, x, y, z []T) {
	switch op {
	case FMA:
		return multiplyAdd[T]
	case Lerp:
		return lerp[T]
	case Clip:
		return clip[T]
	}
	return nil
}

func ternaryComplex[T complexNumber](op Op) func(dst, x, y, z []T) {
	switch op {
	case FMA:
		return multiplyAdd[T]
	case Lerp:
		return lerp[T]
	}
	return nil
}

func multiplyAdd[T number](dst, x, y, z []T) {
	x, y, z = x[:len(dst)], y[:len(dst)], z[:len(dst)]
	for i := range dst {
		dst[i] = x[i]*y[i] + z[i]
	}
}

func lerp[T number](dst, x, y, z []T) {
	x, y, z = x[:len(dst)], y[:len(dst)], z[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + z[i]*(y[i]-x[i])
	}
}

func clip[T ordered](dst, x, y, z []T) {
	x, y, z = x[:len(dst)], y[:len(dst)], z[:len(dst)]
	for i := range dst {
		dst[i] = min(max(x[i], y[i]), z[i])
	}
}

func fma64(dst, x, y, z []float64) {
	x, y, z = x[:len(dst)], y[:len(dst)], z[:len(dst)]
	for i := range dst {
		dst[i] = math.FMA(x[i], y[i], z[i])
	}
}

// fma32 rounds once: the product is exact in float64, and the sum is rounded to odd there, so that
// the second rounding gives the correctly rounded result (Boldo and Melquiond, "Emulation of FMA
// and correctly rounded sums", 2008).
func fma32(dst, x, y, z []float32) {
	x, y, z = x[:len(dst)], y[:len(dst)], z[:len(dst)]
	for i := range dst {
		p, c := float64(x[i])*float64(y[i]), float64(z[i])
		s := p + c
		if b := math.Float64bits(s); b&1 == 0 && !math.IsInf(s, 0) && s == s {
			// The error of the sum, exactly (Knuth's two-sum).
			t := s - p
			e := (p - (s - t)) + (c - t)
			if e != 0 {
				if e > 0 == (s > 0) {
					b++
				} else {
					b--
				}
				s = math.Float64frombits(b)
			}
		}
		dst[i] = float32(s)
	}
}

// ClipScalar sets dst[i] to min(max(x[i], lo), hi), the common case of [Clip].
func ClipScalar[T dtype.Native](dst, x []T, lo, hi T) {
	if asmClip(dst, x, lo, hi) {
		return
	}
	f := Ternary[T](Clip)
	if f == nil {
		return
	}
	bl, bh := blocks.Get().(*block), blocks.Get().(*block)
	los, his := as[T](bl), as[T](bh)
	los = los[:min(len(los), len(dst))]
	his = his[:len(los)]
	splat(los, lo)
	splat(his, hi)
	for len(dst) > 0 {
		n := min(len(dst), len(los))
		f(dst[:n], x[:n], los[:n], his[:n])
		dst, x = dst[n:], x[n:]
	}
	blocks.Put(bl)
	blocks.Put(bh)
}

// NaNToNum sets dst[i] to x[i], or to nan, posInf or negInf where x[i] is NaN
// or infinite. For integers it copies.
func NaNToNum[T dtype.Native](dst, x []T, nan, posInf, negInf T) {
	others := []T{nan, posInf, negInf}
	switch any(dst).(type) {
	case []float32:
		nanToNum(bitsAs[uint32](dst), bitsAs[uint32](x), bitsAs[uint32](others), 0x7f800000)
	case []float64:
		nanToNum(bitsAs[uint64](dst), bitsAs[uint64](x), bitsAs[uint64](others), 0x7ff0000000000000)
	case []dtype.F16:
		nanToNum(bitsAs[uint16](dst), bitsAs[uint16](x), bitsAs[uint16](others), 0x7c00)
	case []dtype.BF16:
		nanToNum(bitsAs[uint16](dst), bitsAs[uint16](x), bitsAs[uint16](others), 0x7f80)
	default:
		copy(dst, x[:len(dst)])
	}
}

// nanToNum is [NaNToNum] on the bits of floats; others holds the replacements for NaN, +Inf and
// -Inf, and inf is the bit pattern of +Inf. Working on bits compiles to conditional moves; branches
// would be mispredicted if some of the data is NaN.
func nanToNum[U uint16 | uint32 | uint64](dst, x, others []U, inf U) {
	all := ^U(0)
	nan, posInf, negInf := others[0], others[1], others[2]
	for i, bits := range x[:len(dst)] {
		size, other := bits&(all>>1), posInf
		if bits != size {
			other = negInf
		}
		if size > inf {
			other = nan
		}
		if size >= inf {
			bits = other
		}
		dst[i] = bits
	}
}
