package elementwise

import (
	"math"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// Compare returns the kernel that sets dst[i] to whether op holds between x[i] and y[i], or nil if
// T has no such comparison: complex numbers are equal or not, but have no order. false is less than
// true. NaN is unequal to everything, and neither less nor greater than anything.
func Compare[T dtype.Native](op Op) func(dst []bool, x, y []T) {
	var f any
	switch any((*T)(nil)).(type) {
	case *bool:
		if k := comparison[uint8](op); k != nil {
			f = func(dst, x, y []bool) { k(dst, bytesOf(x), bytesOf(y)) }
		}
	case *int8:
		f = comparison[int8](op)
	case *int16:
		f = comparison[int16](op)
	case *int32:
		f = pick(asmCompareInt32(op), comparison[int32](op))
	case *int64:
		f = pick(asmCompareInt64(op), comparison[int64](op))
	case *uint8:
		f = comparison[uint8](op)
	case *uint16:
		f = comparison[uint16](op)
	case *uint32:
		f = comparison[uint32](op)
	case *uint64:
		f = comparison[uint64](op)
	case *dtype.F16:
		f = halfCompare[dtype.F16](Compare[float32](op))
	case *dtype.BF16:
		f = halfCompare[dtype.BF16](Compare[float32](op))
	case *float32:
		f = pick(asmCompareFloat32(op), comparison[float32](op))
	case *float64:
		f = pick(asmCompareFloat64(op), comparison[float64](op))
	case *complex64:
		f = equality[complex64](op)
	case *complex128:
		f = equality[complex128](op)
	}
	k, _ := f.(func(dst []bool, x, y []T))
	return k
}

// pick returns the assembly kernel if there is one.
func pick[T any](asm, plain func(dst []bool, x, y []T)) func(dst []bool, x, y []T) {
	if asm != nil {
		return asm
	}
	return plain
}

// CompareVS returns the kernel of [Compare] for a vector and a scalar: dst[i] reports whether op
// holds between x[i] and y.
func CompareVS[T dtype.Native](op Op) func(dst []bool, x []T, y T) {
	if k := asmCompareVS[T](op); k != nil {
		return k
	}
	f := Compare[T](op)
	if f == nil {
		return nil
	}
	return func(dst []bool, x []T, y T) {
		b := blocks.Get().(*block)
		buf := as[T](b)
		buf = buf[:min(len(buf), len(dst))]
		splat(buf, y)
		for len(dst) > 0 {
			n := min(len(dst), len(buf))
			f(dst[:n], x[:n], buf[:n])
			dst, x = dst[n:], x[n:]
		}
		blocks.Put(b)
	}
}

// CompareSV returns the kernel of [Compare] for a scalar and a vector: dst[i] reports whether op
// holds between x and y[i].
func CompareSV[T dtype.Native](op Op) func(dst []bool, x T, y []T) {
	f := CompareVS[T](mirrored(op))
	if f == nil {
		return nil
	}
	return func(dst []bool, x T, y []T) { f(dst, y, x) }
}

// mirrored returns the comparison that holds between y and x if op holds between x and y.
func mirrored(op Op) Op {
	switch op {
	case Less:
		return Greater
	case LessEqual:
		return GreaterEqual
	case Greater:
		return Less
	case GreaterEqual:
		return LessEqual
	}
	return op
}

func comparison[T ordered](op Op) func(dst []bool, x, y []T) {
	switch op {
	case Less:
		return less[T]
	case LessEqual:
		return lessEqual[T]
	case Greater:
		return func(dst []bool, x, y []T) { less(dst, y, x) }
	case GreaterEqual:
		return func(dst []bool, x, y []T) { lessEqual(dst, y, x) }
	}
	return equality[T](op)
}

func equality[T number](op Op) func(dst []bool, x, y []T) {
	switch op {
	case Equal:
		return equal[T]
	case NotEqual:
		return notEqual[T]
	}
	return nil
}

func less[T ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] < y[i]
	}
}

func lessEqual[T ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] <= y[i]
	}
}

func equal[T number](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] == y[i]
	}
}

func notEqual[T number](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] != y[i]
	}
}

// Predicate returns the kernel that sets dst[i] to whether op ([IsNaN], [IsInf], [IsFinite]) holds
// of x[i], or nil if op is not a predicate or T is not a number type. Integers are finite; a
// complex number is NaN or infinite if either part is, and finite if both are.
func Predicate[T dtype.Native](op Op) func(dst []bool, x []T) {
	var f any
	switch any((*T)(nil)).(type) {
	case *int8, *int16, *int32, *int64, *uint8, *uint16, *uint32, *uint64:
		switch op {
		case IsNaN, IsInf:
			return func(dst []bool, x []T) { clear(dst) }
		case IsFinite:
			return func(dst []bool, x []T) { splat(dst, true) }
		}
	case *dtype.F16:
		f = halfTo[dtype.F16](Predicate[float32](op))
	case *dtype.BF16:
		f = halfTo[dtype.BF16](Predicate[float32](op))
	case *float32:
		f = predicateFloat[float32](op)
	case *float64:
		f = predicateFloat[float64](op)
	case *complex64:
		f = predicateComplex[complex64](op)
	case *complex128:
		f = predicateComplex[complex128](op)
	}
	k, _ := f.(func(dst []bool, x []T))
	return k
}

func predicateFloat[T float](op Op) func(dst []bool, x []T) {
	switch op {
	case IsNaN:
		differs := Compare[T](NotEqual)
		return func(dst []bool, x []T) { differs(dst, x, x) }
	case IsInf:
		return func(dst []bool, x []T) {
			for i, v := range x[:len(dst)] {
				dst[i] = math.IsInf(float64(v), 0)
			}
		}
	case IsFinite:
		return func(dst []bool, x []T) {
			for i, v := range x[:len(dst)] {
				dst[i] = v-v == 0
			}
		}
	}
	return nil
}

func predicateComplex[T complexNumber](op Op) func(dst []bool, x []T) {
	parts := predicateFloat[float64](op)
	if parts == nil {
		return nil
	}
	return func(dst []bool, x []T) {
		var holds [2]bool
		for i, v := range x[:len(dst)] {
			c := complex128(v)
			parts(holds[:], []float64{real(c), imag(c)})
			if op == IsFinite {
				dst[i] = holds[0] && holds[1]
			} else {
				dst[i] = holds[0] || holds[1]
			}
		}
	}
}

// bytesOf returns the memory of x as bytes; Go represents false as 0 and true as 1.
func bytesOf(x []bool) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
