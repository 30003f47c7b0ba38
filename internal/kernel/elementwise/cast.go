package elementwise

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// Cast sets dst[i] to x[i] as a D for all i < len(dst). Strings are not cast.
//
//   - A float becomes an integer by dropping its fraction; what is out of range
//     saturates, and NaN gives 0.
//   - An integer becomes a narrower integer, or one of other signedness, by
//     wrapping.
//   - Anything becomes true unless it is zero; true becomes 1.
//   - A float or an integer is rounded to a narrower float once, half to even.
//   - A complex number loses its imaginary part, except toward bool; a real one
//     gets the imaginary part 0.
func Cast[D, S dtype.Native](dst []D, x []S) {
	if f := CastOf(dtype.Of[D](), dtype.Of[S]()); f != nil {
		f(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(x[:len(dst)])), len(dst))
	}
}

// CastFunc is an untyped cast, for types known only at run time: it converts n elements of S at x
// to n elements of D at dst.
type CastFunc = func(dst, x unsafe.Pointer, n int)

// castOf builds the cast between two types, or nil where there is none.
func castOf(to, from dtype.DType) CastFunc {
	switch from {
	case dtype.Bool:
		if to == dtype.Bool {
			return untyped1(copyTo[uint8])
		}
		return castInt[uint8](to)
	case dtype.Int8:
		return castInt[int8](to)
	case dtype.Int16:
		return castInt[int16](to)
	case dtype.Int32:
		return castInt[int32](to)
	case dtype.Int64:
		return castInt[int64](to)
	case dtype.Uint8:
		return castInt[uint8](to)
	case dtype.Uint16:
		return castInt[uint16](to)
	case dtype.Uint32:
		return castInt[uint32](to)
	case dtype.Uint64:
		return castInt[uint64](to)
	case dtype.Float16:
		return castHalf[dtype.F16](to, from)
	case dtype.BFloat16:
		return castHalf[dtype.BF16](to, from)
	case dtype.Float32:
		return castFloat[float32](to)
	case dtype.Float64:
		return castFloat[float64](to)
	case dtype.Complex64:
		return castComplex[complex64](to)
	case dtype.Complex128:
		return castComplex[complex128](to)
	}
	return nil
}

// untyped1 hides the types of a kernel of one operand.
func untyped1[D, S any](f func(dst []D, x []S)) func(dst, x unsafe.Pointer, n int) {
	if f == nil {
		return nil
	}
	return func(dst, x unsafe.Pointer, n int) {
		f(unsafe.Slice((*D)(dst), n), unsafe.Slice((*S)(x), n))
	}
}

func castInt[S integer](to dtype.DType) CastFunc {
	switch to {
	case dtype.Bool:
		return untyped1(nonzero[S])
	case dtype.Int8:
		return untyped1(convert[int8, S])
	case dtype.Int16:
		return untyped1(convert[int16, S])
	case dtype.Int32:
		return untyped1(converter[int32, S]())
	case dtype.Int64:
		return untyped1(converter[int64, S]())
	case dtype.Uint8:
		return untyped1(convert[uint8, S])
	case dtype.Uint16:
		return untyped1(convert[uint16, S])
	case dtype.Uint32:
		return untyped1(convert[uint32, S])
	case dtype.Uint64:
		return untyped1(convert[uint64, S])
	case dtype.Float16:
		return untyped1(intToHalf[dtype.F16, S](dtype.F16From64))
	case dtype.BFloat16:
		return untyped1(intToHalf[dtype.BF16, S](dtype.BF16From64))
	case dtype.Float32:
		return untyped1(converter[float32, S]())
	case dtype.Float64:
		return untyped1(converter[float64, S]())
	case dtype.Complex64:
		return untyped1(toComplex[complex64, S])
	case dtype.Complex128:
		return untyped1(toComplex[complex128, S])
	}
	return nil
}

func castFloat[S float](to dtype.DType) CastFunc {
	switch to {
	case dtype.Bool:
		return untyped1(nonzero[S])
	case dtype.Int8:
		return untyped1(saturate[int8, S])
	case dtype.Int16:
		return untyped1(saturate[int16, S])
	case dtype.Int32:
		return untyped1(saturator[int32, S]())
	case dtype.Int64:
		return untyped1(saturator[int64, S]())
	case dtype.Uint8:
		return untyped1(saturate[uint8, S])
	case dtype.Uint16:
		return untyped1(saturate[uint16, S])
	case dtype.Uint32:
		return untyped1(saturate[uint32, S])
	case dtype.Uint64:
		return untyped1(saturate[uint64, S])
	case dtype.Float16:
		return untyped1(floatToF16[S]())
	case dtype.BFloat16:
		return untyped1(floatToBF16[S]())
	case dtype.Float32:
		return untyped1(converter[float32, S]())
	case dtype.Float64:
		return untyped1(converter[float64, S]())
	case dtype.Complex64:
		return untyped1(toComplex[complex64, S])
	case dtype.Complex128:
		return untyped1(toComplex[complex128, S])
	}
	return nil
}

func castHalf[H half](to, from dtype.DType) CastFunc {
	switch to {
	case from:
		return untyped1(copyTo[uint16])
	case dtype.Float32:
		return untyped1(widen[H])
	case dtype.String, dtype.None:
		return nil
	}
	size := uintptr(to.Size())
	if size == 0 {
		return nil
	}
	rest := castFloat[float32](to) // halves are converted through float32
	return func(dst, x unsafe.Pointer, n int) {
		b := blocks.Get().(*block)
		buf := as[float32](b)
		for xs := unsafe.Slice((*H)(x), n); len(xs) > 0; {
			m := min(len(xs), len(buf))
			widen(buf[:m], xs[:m])
			rest(dst, unsafe.Pointer(&buf[0]), m)
			if xs = xs[m:]; len(xs) > 0 {
				dst = unsafe.Add(dst, uintptr(m)*size)
			}
		}
		blocks.Put(b)
	}
}

func castComplex[S complexNumber](to dtype.DType) CastFunc {
	switch to {
	case dtype.Bool:
		return untyped1(func(dst []bool, x []S) {
			for i, v := range x[:len(dst)] {
				dst[i] = v != 0
			}
		})
	case dtype.Complex64:
		return untyped1(convertComplex[complex64, S])
	case dtype.Complex128:
		return untyped1(convertComplex[complex128, S])
	case dtype.String, dtype.None:
		return nil
	}
	size := uintptr(to.Size())
	rest := castFloat[float64](to)
	if rest == nil {
		return nil
	}
	return func(dst, x unsafe.Pointer, n int) {
		b := blocks.Get().(*block)
		buf := as[float64](b)
		for xs := unsafe.Slice((*S)(x), n); len(xs) > 0; {
			m := min(len(xs), len(buf))
			for i, v := range xs[:m] {
				buf[i] = real(complex128(v))
			}
			rest(dst, unsafe.Pointer(&buf[0]), m)
			if xs = xs[m:]; len(xs) > 0 {
				dst = unsafe.Add(dst, uintptr(m)*size)
			}
		}
		blocks.Put(b)
	}
}

// converter returns the fastest loop for a conversion that Go's own conversion computes correctly.
func converter[D, S ordered]() func(dst []D, x []S) {
	if f := asmConvert(convert[D, S]); f != nil {
		return f
	}
	return convert[D, S]
}

// saturator is the counterpart of converter for conversions from float to integer.
func saturator[D integer, S float]() func(dst []D, x []S) {
	if f := asmConvert(saturate[D, S]); f != nil {
		return f
	}
	return saturate[D, S]
}

func convert[D, S ordered](dst []D, x []S) {
	for i, v := range x[:len(dst)] {
		dst[i] = D(v)
	}
}

func convertComplex[D, S complexNumber](dst []D, x []S) {
	for i, v := range x[:len(dst)] {
		dst[i] = D(v)
	}
}

func toComplex[D complexNumber, S ordered](dst []D, x []S) {
	var d D
	if _, ok := any(d).(complex64); ok {
		for i, v := range x[:len(dst)] {
			dst[i] = D(complex(float32(v), 0)) // converting through float64 would round twice
		}
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] = D(complex(float64(v), 0))
	}
}

func nonzero[S ordered](dst []bool, x []S) {
	for i, v := range x[:len(dst)] {
		dst[i] = v != 0
	}
}

func saturate[D integer, S float](dst []D, x []S) {
	lo, hi := limits[D]()
	// hi+1 is a power of two, which S holds, while hi itself may not fit.
	below, above := S(lo), S(float64(hi/2+1)*2)
	for i, v := range x[:len(dst)] {
		switch {
		case v >= above:
			dst[i] = hi
		case v > below:
			dst[i] = D(v)
		case v == v:
			dst[i] = lo
		default:
			dst[i] = 0
		}
	}
}

// limits returns the least and the greatest D.
func limits[D integer]() (lo, hi D) {
	bits := width[D]()
	if ^D(0) > 0 {
		return 0, ^D(0)
	}
	return D(1) << (bits - 1), D(uint64(1)<<(bits-1) - 1)
}

func intToHalf[H half, S integer](round func(float64) H) func(dst []H, x []S) {
	return func(dst []H, x []S) {
		for i, v := range x[:len(dst)] {
			dst[i] = round(oddFloat(v))
		}
	}
}

// oddFloat returns v as a float64, rounded to odd if v has more than 53 significant bits, so that a
// later rounding to fewer bits gives the correctly rounded result.
func oddFloat[S integer](v S) float64 {
	const low = 1<<11 - 1 // mask of the bits of 64 that do not fit into 53
	u, negative := uint64(v), v < 0
	if negative {
		u = -u
	}
	if u >= 1<<53 && u&low != 0 {
		u = u&^low | (low + 1)
	}
	if negative {
		return -float64(u)
	}
	return float64(u)
}

func floatToF16[S float]() func(dst []dtype.F16, x []S) {
	var f any = func(dst []dtype.F16, x []float64) {
		for i, v := range x[:len(dst)] {
			dst[i] = dtype.F16From64(v)
		}
	}
	if _, ok := any(S(0)).(float32); ok {
		f = func(dst []dtype.F16, x []float32) { narrowF16(dst, x) }
	}
	return f.(func(dst []dtype.F16, x []S))
}

func floatToBF16[S float]() func(dst []dtype.BF16, x []S) {
	var f any = func(dst []dtype.BF16, x []float64) {
		for i, v := range x[:len(dst)] {
			dst[i] = dtype.BF16From64(v)
		}
	}
	if _, ok := any(S(0)).(float32); ok {
		f = func(dst []dtype.BF16, x []float32) { narrowBF16(dst, x) }
	}
	return f.(func(dst []dtype.BF16, x []S))
}
