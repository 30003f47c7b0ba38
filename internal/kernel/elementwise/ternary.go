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
// Each operand is the same memory as dst or does not overlap it.
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

// fma32 rounds once: the product is exact in float64, and the sum is rounded
// to odd there, so that the second rounding gives what one would have given
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
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
	switch d := any(dst).(type) {
	case []float32:
		nanToNum32(d, any(x).([]float32), any(nan).(float32), any(posInf).(float32), any(negInf).(float32))
	case []float64:
		nanToNum64(d, any(x).([]float64), any(nan).(float64), any(posInf).(float64), any(negInf).(float64))
	case []dtype.F16:
		nanToNumHalf(d, any(x).([]dtype.F16), any(nan).(dtype.F16), any(posInf).(dtype.F16), any(negInf).(dtype.F16), 0x7c00)
	case []dtype.BF16:
		nanToNumHalf(d, any(x).([]dtype.BF16), any(nan).(dtype.BF16), any(posInf).(dtype.BF16), any(negInf).(dtype.BF16), 0x7f80)
	default:
		copy(dst, x[:len(dst)])
	}
}

// Whether an element is finite is looked up in its bits: what data with some NaN would be
// guessed wrong all the time becomes a conditional move.

func nanToNum32(dst, x []float32, nan, posInf, negInf float32) {
	const inf = 0x7f800000
	forNaN, forInf, forNeg := math.Float32bits(nan), math.Float32bits(posInf), math.Float32bits(negInf)
	for i, v := range x[:len(dst)] {
		bits := math.Float32bits(v)
		size, other := bits&^(1<<31), forInf
		if bits != size {
			other = forNeg
		}
		if size > inf {
			other = forNaN
		}
		if size >= inf {
			bits = other
		}
		dst[i] = math.Float32frombits(bits)
	}
}

func nanToNum64(dst, x []float64, nan, posInf, negInf float64) {
	const inf = 0x7ff0000000000000
	forNaN, forInf, forNeg := math.Float64bits(nan), math.Float64bits(posInf), math.Float64bits(negInf)
	for i, v := range x[:len(dst)] {
		bits := math.Float64bits(v)
		size, other := bits&^(1<<63), forInf
		if bits != size {
			other = forNeg
		}
		if size > inf {
			other = forNaN
		}
		if size >= inf {
			bits = other
		}
		dst[i] = math.Float64frombits(bits)
	}
}

func nanToNumHalf[H half](dst, x []H, nan, posInf, negInf, inf H) {
	for i, v := range x[:len(dst)] {
		switch {
		case v == inf:
			v = posInf
		case v == inf|0x8000:
			v = negInf
		case v&^0x8000 > inf:
			v = nan
		}
		dst[i] = v
	}
}
