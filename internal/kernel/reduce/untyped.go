package reduce

import (
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// Func is a reduction for element types known only at run time. x points to outer·n·inner elements
// in row-major order; the middle dimension is reduced, and outer·inner results of type [Op.Result]
// are written to dst. Large inputs are divided among the workers of package par; the result does
// not depend on their number.
type Func = func(dst, x unsafe.Pointer, outer, n, inner int)

var cached [dtype.String + 1]atomic.Pointer[[opCount]Func]

// Of returns the reduction of elements of type dt, or nil if there is none: [Any] and [All] take
// only bool, and complex numbers have no order.
func Of(op Op, dt dtype.DType) Func {
	if op >= opCount || int(dt) >= len(cached) {
		return nil
	}
	if k := cached[dt].Load(); k != nil {
		return k[op]
	}
	k := build(dt)
	cached[dt].Store(k)
	return k[op]
}

// VarianceOf returns the reduction [Variance] that divides by n-ddof instead of n, or nil if there
// is none. If n does not exceed ddof, the result is NaN or infinite.
func VarianceOf(dt dtype.DType, ddof int) Func {
	if ddof < 0 || ddof >= len(variances[0]) || int(dt) >= len(variances) {
		return newVariance(dt, ddof)
	}
	kept := &variances[dt][ddof]
	if f := kept.Load(); f != nil {
		return *f
	}
	f := newVariance(dt, ddof)
	if f != nil {
		kept.Store(&f)
	}
	return f
}

// variances caches the reductions for the usual divisors, by element type.
var variances [dtype.String + 1][2]atomic.Pointer[Func]

func newVariance(dt dtype.DType, ddof int) Func {
	switch dt {
	case dtype.Int8:
		return untyped(varianceInt[int8](ddof))
	case dtype.Int16:
		return untyped(varianceInt[int16](ddof))
	case dtype.Int32:
		return untyped(varianceInt[int32](ddof))
	case dtype.Int64:
		return untyped(varianceInt[int64](ddof))
	case dtype.Uint8:
		return untyped(varianceInt[uint8](ddof))
	case dtype.Uint16:
		return untyped(varianceInt[uint16](ddof))
	case dtype.Uint32:
		return untyped(varianceInt[uint32](ddof))
	case dtype.Uint64:
		return untyped(varianceInt[uint64](ddof))
	case dtype.Float16:
		return untyped(halved[dtype.F16](variance[float32](ddof)))
	case dtype.BFloat16:
		return untyped(halved[dtype.BF16](variance[float32](ddof)))
	case dtype.Float32:
		return untyped(variance[float32](ddof))
	case dtype.Float64:
		return untyped(variance[float64](ddof))
	}
	return nil
}

// untyped hides the types of a reducer.
func untyped[S, A, D any](r *reducer[S, A, D]) Func {
	return func(dst, x unsafe.Pointer, outer, n, inner int) {
		r.run(unsafe.Slice((*D)(dst), outer*inner), unsafe.Slice((*S)(x), outer*n*inner), outer, n, inner)
	}
}

func build(dt dtype.DType) *[opCount]Func {
	k := new([opCount]Func)
	switch dt {
	case dtype.Bool:
		k[Any], k[All] = untyped(anyTrue()), untyped(allTrue())
		k[Max], k[Min] = k[Any], k[All]
		k[CountNonzero] = untyped(countNonzero[uint8]())
		k[ArgMax], k[ArgMin] = untyped(arg[uint8](false)), untyped(arg[uint8](true))
	case dtype.Int8:
		buildInt[int8](k)
	case dtype.Int16:
		buildInt[int16](k)
	case dtype.Int32:
		buildInt[int32](k)
	case dtype.Int64:
		buildInt[int64](k)
	case dtype.Uint8:
		buildInt[uint8](k)
	case dtype.Uint16:
		buildInt[uint16](k)
	case dtype.Uint32:
		buildInt[uint32](k)
	case dtype.Uint64:
		buildInt[uint64](k)
	case dtype.Float16:
		buildHalf[dtype.F16](k)
	case dtype.BFloat16:
		buildHalf[dtype.BF16](k)
	case dtype.Float32:
		buildFloat[float32](k)
	case dtype.Float64:
		buildFloat[float64](k)
	case dtype.Complex64:
		buildComplex[complex64](k)
	case dtype.Complex128:
		buildComplex[complex128](k)
	}
	k[Variance] = VarianceOf(dt, 0)
	return k
}

func buildInt[T integer](k *[opCount]Func) {
	k[Sum] = untyped(sumInt[T]())
	k[Mean] = untyped(meanInt[T]())
	k[Prod] = untyped(prod[T]())
	k[Max] = untyped(maximum[T]())
	k[Min] = untyped(minimum[T]())
	k[ArgMax] = untyped(arg[T](false))
	k[ArgMin] = untyped(arg[T](true))
	k[SumSquares] = untyped(sumSquaresInt[T]())
	k[CountNonzero] = untyped(countNonzero[T]())
}

func buildFloat[T float](k *[opCount]Func) {
	k[Sum] = untyped(sumFloat[T](false))
	k[Mean] = untyped(sumFloat[T](true))
	k[Prod] = untyped(prodFloat[T]())
	k[Max] = untyped(maximum[T]())
	k[Min] = untyped(minimum[T]())
	k[ArgMax] = untyped(arg[T](false))
	k[ArgMin] = untyped(arg[T](true))
	k[LogSumExp] = untyped(logSumExp[T]())
	k[SumSquares] = untyped(sumSquaresFloat[T]())
	k[CountNonzero] = untyped(countNonzero[T]())
}

func buildHalf[H half](k *[opCount]Func) {
	k[Sum] = untyped(halved[H](sumFloat[float32](false)))
	k[Mean] = untyped(halved[H](sumFloat[float32](true)))
	k[Prod] = untyped(halved[H](prodFloat[float32]()))
	k[Max] = untyped(halved[H](maximum[float32]()))
	k[Min] = untyped(halved[H](minimum[float32]()))
	k[ArgMax] = untyped(halvedTo[H](arg[float32](false)))
	k[ArgMin] = untyped(halvedTo[H](arg[float32](true)))
	k[LogSumExp] = untyped(halved[H](logSumExp[float32]()))
	k[SumSquares] = untyped(halved[H](sumSquaresFloat[float32]()))
	k[CountNonzero] = untyped(halvedTo[H](countNonzero[float32]()))
}

func buildComplex[T complexNumber](k *[opCount]Func) {
	k[Sum] = untyped(sumComplex[T](false))
	k[Mean] = untyped(sumComplex[T](true))
	k[Prod] = untyped(prod[T]())
	k[CountNonzero] = untyped(countNonzero[T]())
}

// Row returns the reduction of the contiguous run x; ok is false if T has no such reduction, or if
// D is not its result type.
func Row[D, T dtype.Native](op Op, x []T) (result D, ok bool) {
	f := Of(op, dtype.Of[T]())
	if f == nil || op.Result(dtype.Of[T]()) != dtype.Of[D]() {
		return result, false
	}
	f(unsafe.Pointer(&result), unsafe.Pointer(unsafe.SliceData(x)), 1, len(x), 1)
	return result, true
}
