//go:build amd64 && !purego

package elementwise

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/cpu"
)

// conversion is a pair of element types as a comparable value.
type conversion struct{ to, from dtype.DType }

// castStep is a multiple of the elements that every conversion kernel takes at a
// time; what is left over is converted by plain Go.
const castStep = 16

// asmConvert returns the loop for a conversion that has a kernel, of which plain
// does the last elements.
func asmConvert[D, S ordered](plain func(dst []D, x []S)) func(dst []D, x []S) {
	var k any
	c := conversion{dtype.Of[D](), dtype.Of[S]()}
	switch {
	case level == cpu.AVX512:
		k = convertAVX512(c)
	case level == cpu.AVX2:
		k = convertAVX2(c)
	}
	f, _ := k.(func(dst *D, x *S, n int))
	if f == nil {
		return nil
	}
	return func(dst []D, x []S) {
		x = x[:len(dst)]
		for len(dst) >= castStep {
			n := min(len(dst), maxCall) &^ (castStep - 1)
			callConvert(f, &dst[0], &x[0], n)
			dst, x = dst[n:], x[n:]
		}
		plain(dst, x)
	}
}

func convertAVX512(c conversion) any {
	switch c {
	case conversion{dtype.Float64, dtype.Float32}:
		return f32ToF64AVX512
	case conversion{dtype.Float32, dtype.Float64}:
		return f64ToF32AVX512
	case conversion{dtype.Float32, dtype.Int32}:
		return i32ToF32AVX512
	case conversion{dtype.Float64, dtype.Int32}:
		return i32ToF64AVX512
	case conversion{dtype.Int64, dtype.Int32}:
		return i32ToI64AVX512
	case conversion{dtype.Float32, dtype.Uint8}:
		return u8ToF32AVX512
	case conversion{dtype.Int32, dtype.Uint8}:
		return u8ToI32AVX512
	case conversion{dtype.Int32, dtype.Float32}:
		return f32ToI32AVX512
	case conversion{dtype.Int32, dtype.Float64}:
		return f64ToI32AVX512
	case conversion{dtype.Int64, dtype.Float32}:
		return f32ToI64AVX512
	case conversion{dtype.Int64, dtype.Float64}:
		return f64ToI64AVX512
	case conversion{dtype.Int32, dtype.Int64}:
		return i64ToI32AVX512
	case conversion{dtype.Float64, dtype.Int64}:
		return i64ToF64AVX512
	case conversion{dtype.Float32, dtype.Int64}:
		return i64ToF32AVX512
	}
	return nil
}

func convertAVX2(c conversion) any {
	switch c {
	case conversion{dtype.Float64, dtype.Float32}:
		return f32ToF64AVX2
	case conversion{dtype.Float32, dtype.Float64}:
		return f64ToF32AVX2
	case conversion{dtype.Float32, dtype.Int32}:
		return i32ToF32AVX2
	case conversion{dtype.Float64, dtype.Int32}:
		return i32ToF64AVX2
	case conversion{dtype.Int64, dtype.Int32}:
		return i32ToI64AVX2
	case conversion{dtype.Float32, dtype.Uint8}:
		return u8ToF32AVX2
	case conversion{dtype.Int32, dtype.Uint8}:
		return u8ToI32AVX2
	case conversion{dtype.Int32, dtype.Float32}:
		return f32ToI32AVX2
	}
	return nil
}

func widenF16(dst []float32, x []dtype.F16) {
	n := halves(f16ToF32AVX512, f16ToF32AVX2, dst, raw(x))
	widenF16Go(dst[n:], x[n:])
}

func widenBF16(dst []float32, x []dtype.BF16) {
	n := halves(bf16ToF32AVX512, bf16ToF32AVX2, dst, raw(x))
	widenBF16Go(dst[n:], x[n:])
}

func narrowF16(dst []dtype.F16, x []float32) {
	n := halves(f32ToF16AVX512, f32ToF16AVX2, raw(dst), x)
	narrowF16Go(dst[n:], x[n:])
}

func narrowBF16(dst []dtype.BF16, x []float32) {
	n := halves(f32ToBF16AVX512, f32ToBF16AVX2, raw(dst), x)
	narrowBF16Go(dst[n:], x[n:])
}

// halves converts as many elements as the kernel of the present level can and
// returns how many.
func halves[D, S any](avx512, avx2 func(dst *D, x *S, n int), dst []D, x []S) (done int) {
	k := avx512
	switch level {
	case cpu.Generic:
		return 0
	case cpu.AVX2:
		k = avx2
	}
	x = x[:len(dst)]
	for len(dst)-done >= castStep {
		n := min(len(dst)-done, maxCall) &^ (castStep - 1)
		callConvert(k, &dst[done], &x[done], n)
		done += n
	}
	return done
}

// raw returns the same memory as bare bits.
func raw[H half](x []H) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
