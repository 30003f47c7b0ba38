package elementwise

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/cpu"
	"github.com/tenonml/tenon/internal/kernel/special"
)

// vectors are the assembly kernels of one instruction set for one element type.
type vectors[T any] struct {
	unary     [opCount]func(dst, x *T, n int)
	binary    [opCount]func(dst, x, y *T, n int)
	vs        [opCount]func(dst, x *T, n int, y T)
	sv        [opCount]func(dst, y *T, n int, x T)
	compare   [opCount]func(dst *bool, x, y *T, n int) // AVX2: n must be a multiple of 32
	compareVS [opCount]func(dst *bool, x *T, n int, y T)
	ternary   [opCount]func(dst, x, y, z *T, n int)
	partial   [opCount]func(dst, x *T, n int) int // stops at an element that is out of range
	pow       func(dst, x, y *T, n int) int       // likewise
	powVS     func(dst, x *T, n int, y T) int
	clip      func(dst, x *T, n int, lo, hi T)

	// The same functions with non-temporal stores; dst must be aligned to 64 bytes.
	unaryPast  [opCount]func(dst, x *T, n int)
	binaryPast [opCount]func(dst, x, y *T, n int)
	vsPast     [opCount]func(dst, x *T, n int, y T)
}

// A kernelSet holds the kernels for one instruction set. Missing kernels are nil.
type kernelSet struct {
	f32 *vectors[float32]
	f64 *vectors[float64]
	i32 *vectors[int32]
	i64 *vectors[int64]

	// Elements of four and eight bytes are selected as floats; only their bits are copied.
	select32 func(dst *float32, cond *bool, x, y *float32, n int)
	select64 func(dst *float64, cond *bool, x, y *float64, n int)

	convert map[conversion]any // func(dst *D, x *S, n int)

	widenF16, widenBF16   func(dst *float32, x *uint16, n int)
	narrowF16, narrowBF16 func(dst *uint16, x *float32, n int)
}

var table = cpu.NewTable(kernelSet{})

// maxCall is the largest number of elements that one call into assembly covers: a goroutine can be
// stopped for the garbage collector only between calls, at the start of a Go function.
const maxCall = 64 << 10

// vectorsOf returns the kernels for T, all nil where there are none.
func vectorsOf[T any]() *vectors[T] {
	var v any
	switch any((*T)(nil)).(type) {
	case *float32:
		v = table.Now().f32
	case *float64:
		v = table.Now().f64
	case *int32:
		v = table.Now().i32
	case *int64:
		v = table.Now().i64
	}
	if t, _ := v.(*vectors[T]); t != nil {
		return t
	}
	return &vectors[T]{}
}

func asmUnaryInt32(op Op) func(dst, x []int32) { return loop1(vectorsOf[int32]().unary[op]) }
func asmUnaryInt64(op Op) func(dst, x []int64) { return loop1(vectorsOf[int64]().unary[op]) }

func asmUnaryFloat32(op Op) func(dst, x []float32) { return asmUnaryFloat[float32](op) }
func asmUnaryFloat64(op Op) func(dst, x []float64) { return asmUnaryFloat[float64](op) }

func asmUnaryFloat[T float](op Op) func(dst, x []T) {
	t := vectorsOf[T]()
	if k := t.partial[op]; k != nil {
		return loopPartial(k, scalarFunc(op))
	}
	return loop1(t.unary[op])
}

func asmBinaryInt32(op Op) func(dst, x, y []int32) int { return loop2(vectorsOf[int32]().binary[op]) }
func asmBinaryInt64(op Op) func(dst, x, y []int64) int { return loop2(vectorsOf[int64]().binary[op]) }
func asmBinaryFloat32(op Op) func(dst, x, y []float32) int {
	return loop2(vectorsOf[float32]().binary[op])
}
func asmBinaryFloat64(op Op) func(dst, x, y []float64) int {
	return loop2(vectorsOf[float64]().binary[op])
}

func asmBinaryVS[T any](op Op) func(dst, x []T, y T) int {
	t := vectorsOf[T]()
	k := t.vs[op]
	if op == Pow && t.powVS != nil {
		return any(powScalar(any(t.powVS).(func(dst, x *float32, n int, y float32) int))).(func(dst, x []T, y T) int)
	}
	if k == nil {
		return nil
	}
	return func(dst, x []T, y T) int {
		x = x[:len(dst)]
		for len(dst) > 0 {
			n := min(len(dst), maxCall)
			callScalar(k, &dst[0], &x[0], n, y)
			dst, x = dst[n:], x[n:]
		}
		return -1
	}
}

func asmBinarySV[T any](op Op) func(dst []T, x T, y []T) int {
	k := vectorsOf[T]().sv[op]
	if k == nil {
		if !commutes(op) {
			return nil
		}
		k = vectorsOf[T]().vs[op]
	}
	if k == nil {
		return nil
	}
	return func(dst []T, x T, y []T) int {
		y = y[:len(dst)]
		for len(dst) > 0 {
			n := min(len(dst), maxCall)
			callScalar(k, &dst[0], &y[0], n, x)
			dst, y = dst[n:], y[n:]
		}
		return -1
	}
}

// shortWay adds a fast path to kernels in assembly for calls that need only one kernel call: for a
// handful of elements the general path takes longer than the work.
func shortWay[T any](k *[forms]BinaryFunc, op Op) {
	t := vectorsOf[T]()
	if f, long := t.binary[op], k[VV]; f != nil {
		k[VV] = func(dst, x, y unsafe.Pointer, n int) int {
			if uint(n-1) >= maxCall {
				return long(dst, x, y, n)
			}
			call2(f, (*T)(dst), (*T)(x), (*T)(y), n)
			return -1
		}
	}
	f := t.vs[op]
	if op == Pow || f == nil {
		return
	}
	long := k[VS]
	k[VS] = func(dst, x, y unsafe.Pointer, n int) int {
		if uint(n-1) >= maxCall {
			return long(dst, x, y, n)
		}
		callScalar(f, (*T)(dst), (*T)(x), n, *(*T)(y))
		return -1
	}
}

func asmCompareInt32(op Op) func(dst []bool, x, y []int32)     { return loopCompare[int32](op) }
func asmCompareInt64(op Op) func(dst []bool, x, y []int64)     { return loopCompare[int64](op) }
func asmCompareFloat32(op Op) func(dst []bool, x, y []float32) { return loopCompare[float32](op) }
func asmCompareFloat64(op Op) func(dst []bool, x, y []float64) { return loopCompare[float64](op) }

func loopCompare[T ordered](op Op) func(dst []bool, x, y []T) {
	if op == Greater || op == GreaterEqual {
		f := loopCompare[T](mirrored(op))
		if f == nil {
			return nil
		}
		return func(dst []bool, x, y []T) { f(dst, y, x) }
	}
	k, plain := vectorsOf[T]().compare[op], comparison[T](op)
	if k == nil {
		return nil
	}
	return func(dst []bool, x, y []T) {
		x, y = x[:len(dst)], y[:len(dst)]
		for len(dst) >= byteStep {
			n := min(len(dst), maxCall)
			callCompare(k, &dst[0], &x[0], &y[0], n)
			n &^= byteStep - 1
			dst, x, y = dst[n:], x[n:], y[n:]
		}
		plain(dst, x, y)
	}
}

// byteStep is the number of elements that the AVX2 comparisons take at a time. Those of AVX-512
// take more, but redoing what they did beyond a multiple of byteStep is cheaper than keeping track
// of it.
const byteStep = 32

func asmCompareVS[T dtype.Native](op Op) func(dst []bool, x []T, y T) {
	k := vectorsOf[T]().compareVS[op]
	if k == nil {
		return nil
	}
	plain := Compare[T](op)
	return func(dst []bool, x []T, y T) {
		x = x[:len(dst)]
		for len(dst) >= byteStep {
			n := min(len(dst), maxCall)
			callCompareScalar(k, &dst[0], &x[0], n, y)
			n &^= byteStep - 1
			dst, x = dst[n:], x[n:]
		}
		for i := range dst {
			plain(dst[i:i+1], x[i:i+1], []T{y})
		}
	}
}

func asmTernaryFloat32(op Op) func(dst, x, y, z []float32) {
	return loop3(vectorsOf[float32]().ternary[op])
}
func asmTernaryFloat64(op Op) func(dst, x, y, z []float64) {
	return loop3(vectorsOf[float64]().ternary[op])
}

// asmClip performs ClipScalar if there is a kernel for it, and reports whether there is.
func asmClip[T any](dst, x []T, lo, hi T) bool {
	k := vectorsOf[T]().clip
	if k == nil {
		return false
	}
	x = x[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), maxCall)
		callClip(k, &dst[0], &x[0], n, lo, hi)
		dst, x = dst[n:], x[n:]
	}
	return true
}

// selects reports whether asmSelect has kernels for the element type T.
func selects[T any]() bool {
	size := unsafe.Sizeof(*new(T))
	return size == 4 && table.Now().select32 != nil || size == 8 && table.Now().select64 != nil
}

// asmSelect performs Select for elements of four and eight bytes, and returns the number of
// elements done.
func asmSelect[T any](dst []T, cond []bool, x, y []T) (done int) {
	to, xs, ys := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
	switch unsafe.Sizeof(*new(T)) {
	case 4:
		return runSelect(table.Now().select32, to, cond, xs, ys, len(dst))
	case 8:
		return runSelect(table.Now().select64, to, cond, xs, ys, len(dst))
	}
	return 0
}

func runSelect[T float](k func(dst *T, cond *bool, x, y *T, n int), dst unsafe.Pointer, cond []bool, x, y unsafe.Pointer, size int) (done int) {
	const step = 16
	if k == nil || size < step {
		return 0
	}
	d, xs, ys := unsafe.Slice((*T)(dst), size), unsafe.Slice((*T)(x), size), unsafe.Slice((*T)(y), size)
	for size-done >= step {
		n := min(size-done, maxCall) &^ (step - 1)
		callSelect(k, &d[done], &cond[done], &xs[done], &ys[done], n)
		done += n
	}
	return done
}

func loop1[T any](k func(dst, x *T, n int)) func(dst, x []T) {
	if k == nil {
		return nil
	}
	return func(dst, x []T) {
		x = x[:len(dst)]
		for len(dst) > 0 {
			n := min(len(dst), maxCall)
			call1(k, &dst[0], &x[0], n)
			dst, x = dst[n:], x[n:]
		}
	}
}

func loop2[T any](k func(dst, x, y *T, n int)) func(dst, x, y []T) int {
	if k == nil {
		return nil
	}
	return func(dst, x, y []T) int {
		x, y = x[:len(dst)], y[:len(dst)]
		for len(dst) > 0 {
			n := min(len(dst), maxCall)
			call2(k, &dst[0], &x[0], &y[0], n)
			dst, x, y = dst[n:], x[n:], y[n:]
		}
		return -1
	}
}

func loop3[T any](k func(dst, x, y, z *T, n int)) func(dst, x, y, z []T) {
	if k == nil {
		return nil
	}
	return func(dst, x, y, z []T) {
		x, y, z = x[:len(dst)], y[:len(dst)], z[:len(dst)]
		for len(dst) > 0 {
			n := min(len(dst), maxCall)
			call3(k, &dst[0], &x[0], &y[0], &z[0], n)
			dst, x, y, z = dst[n:], x[n:], y[n:], z[n:]
		}
	}
}

// loopPartial applies f to the elements that the kernel cannot handle, and only to them, so that an
// element's result does not depend on its neighbours.
func loopPartial[T float](k func(dst, x *T, n int) int, f func(float64) float64) func(dst, x []T) {
	const group = 32 // at least as many as the kernel has in flight
	return func(dst, x []T) {
		x = x[:len(dst)]
		for len(dst) > 0 {
			n := min(len(dst), maxCall)
			done := callPartial(k, &dst[0], &x[0], n)
			for end := min(done+group, n); done < end; done++ {
				v := x[done]
				if callPartial(k, &dst[done], &x[done], 1) == 0 {
					dst[done] = T(f(float64(v)))
				}
			}
			dst, x = dst[done:], x[done:]
		}
	}
}

// powScalar uses plain Go for the elements that the kernel cannot handle.
func powScalar(k func(dst, x *float32, n int, y float32) int) func(dst, x []float32, y float32) int {
	const group = 8
	return func(dst, x []float32, y float32) int {
		x = x[:len(dst)]
		for len(dst) > 0 {
			n := min(len(dst), maxCall)
			done := callPowScalar(k, &dst[0], &x[0], n, y)
			for end := min(done+group, n); done < end; done++ {
				a := x[done]
				if callPowScalar(k, &dst[done], &x[done], 1, y) == 0 {
					dst[done] = float32(special.Pow(float64(a), float64(y)))
				}
			}
			dst, x = dst[done:], x[done:]
		}
		return -1
	}
}

// The functions below are ordinary Go functions so that goroutines can be preempted in their
// prologue, which assembly does not have.

//go:noinline
func call1[T any](k func(dst, x *T, n int), dst, x *T, n int) { k(dst, x, n) }

//go:noinline
func call2[T any](k func(dst, x, y *T, n int), dst, x, y *T, n int) { k(dst, x, y, n) }

//go:noinline
func call3[T any](k func(dst, x, y, z *T, n int), dst, x, y, z *T, n int) { k(dst, x, y, z, n) }

//go:noinline
func callScalar[T any](k func(dst, x *T, n int, y T), dst, x *T, n int, y T) { k(dst, x, n, y) }

//go:noinline
func callClip[T any](k func(dst, x *T, n int, lo, hi T), dst, x *T, n int, lo, hi T) {
	k(dst, x, n, lo, hi)
}

//go:noinline
func callCompare[T any](k func(dst *bool, x, y *T, n int), dst *bool, x, y *T, n int) {
	k(dst, x, y, n)
}

//go:noinline
func callCompareScalar[T any](k func(dst *bool, x *T, n int, y T), dst *bool, x *T, n int, y T) {
	k(dst, x, n, y)
}

//go:noinline
func callSelect[T any](k func(dst *T, cond *bool, x, y *T, n int), dst *T, cond *bool, x, y *T, n int) {
	k(dst, cond, x, y, n)
}

//go:noinline
func callPartial[T any](k func(dst, x *T, n int) int, dst, x *T, n int) int { return k(dst, x, n) }

//go:noinline
func callPowScalar[T any](k func(dst, x *T, n int, y T) int, dst, x *T, n int, y T) int {
	return k(dst, x, n, y)
}

//go:noinline
func callConvert[D, S any](k func(dst *D, x *S, n int), dst *D, x *S, n int) { k(dst, x, n) }
