package elementwise

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// conversion is a pair of element types as a comparable value.
type conversion struct{ to, from dtype.DType }

// castStep is a multiple of the number of elements that any conversion kernel takes at a time; the
// remainder is converted in plain Go.
const castStep = 16

// asmConvert returns the loop for a conversion that has a kernel; plain converts the last elements.
func asmConvert[D, S ordered](plain func(dst []D, x []S)) func(dst []D, x []S) {
	f, _ := table.Now().convert[conversion{dtype.Of[D](), dtype.Of[S]()}].(func(dst *D, x *S, n int))
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

func widenF16(dst []float32, x []dtype.F16) {
	n := halves(table.Now().widenF16, dst, raw(x))
	widenF16Go(dst[n:], x[n:])
}

func widenBF16(dst []float32, x []dtype.BF16) {
	n := halves(table.Now().widenBF16, dst, raw(x))
	widenBF16Go(dst[n:], x[n:])
}

func narrowF16(dst []dtype.F16, x []float32) {
	n := halves(table.Now().narrowF16, raw(dst), x)
	narrowF16Go(dst[n:], x[n:])
}

func narrowBF16(dst []dtype.BF16, x []float32) {
	n := halves(table.Now().narrowBF16, raw(dst), x)
	narrowBF16Go(dst[n:], x[n:])
}

// halves converts as many elements as the kernel can and returns how many.
func halves[D, S any](k func(dst *D, x *S, n int), dst []D, x []S) (done int) {
	if k == nil {
		return 0
	}
	x = x[:len(dst)]
	for len(dst)-done >= castStep {
		n := min(len(dst)-done, maxCall) &^ (castStep - 1)
		callConvert(k, &dst[done], &x[done], n)
		done += n
	}
	return done
}

// raw returns the memory of x as uint16.
func raw[H half](x []H) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
