package ops

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/sorting"
	"github.com/tenonml/tenon/tensor"
)

// kernels are the instances, for one element type, of the generic kernels that look at elements;
// nil if the type has none.
type kernels struct {
	scatterAdd, scatterMax, scatterMin                       indexed
	sumByID, prodByID, meanByID, sqrtNByID, maxByID, minByID indexed

	unique    func(inverse []int64, x *tensor.Dense) (first, counts []int64)
	nonzero   func(out []bool, x *tensor.Dense)
	binSum    func(out, x, weights *tensor.Dense) error
	binCount  func(out []int64, x *tensor.Dense) error
	binLimit  func(x *tensor.Dense) int64
	histogram func(out []int64, x *tensor.Dense, low, high float64)

	sort         func(x *tensor.Dense, n int, descending bool)
	argSort      func(out []int64, x *tensor.Dense, n int, descending bool)
	topK         func(values *tensor.Dense, at []int64, x *tensor.Dense, n, k int)
	searchSorted func(out []int64, sorted, x *tensor.Dense, rows int, right bool)

	rangeLen  func(start, limit, delta *tensor.Dense) (int64, error)
	rangeFill func(out, start, delta *tensor.Dense)
}

// An indexed kernel moves elements to the positions at of out, width elements to each.
type indexed = func(out, x *tensor.Dense, at []int64, width int) error

// byType holds the kernels by element type.
var byType = [dtype.String + 1]kernels{
	dtype.Int8: integers[int8](), dtype.Int16: integers[int16](), dtype.Int32: integers[int32](), dtype.Int64: integers[int64](),
	dtype.Uint8: integers[uint8](), dtype.Uint16: integers[uint16](), dtype.Uint32: integers[uint32](), dtype.Uint64: integers[uint64](),
	dtype.Float16: floats[dtype.F16](), dtype.BFloat16: floats[dtype.BF16](), dtype.Float32: floats[float32](), dtype.Float64: floats[float64](),
	dtype.Complex64: numbers[complex64](), dtype.Complex128: numbers[complex128](),
}

// typed returns a kernel for all types that have one.
func typed(of func(k *kernels) indexed) indexed {
	return func(out, x *tensor.Dense, at []int64, width int) error {
		return of(&byType[x.DType()])(out, x, at, width)
	}
}

// on turns a kernel on slices into one on tensors.
func on[R, T dtype.Number](f func(out []R, x []T, at []int64, width int) error) indexed {
	return func(out, x *tensor.Dense, at []int64, width int) error {
		return f(tensor.Elems[R](out), tensor.Elems[T](x), at, width)
	}
}

func numbers[T dtype.Number]() kernels {
	return kernels{
		scatterAdd: on(gather.Add[T, int64]), sumByID: on(segment.SumByID[T]), prodByID: on(segment.ProdByID[T]), binSum: binSum[T],
		unique: func(inverse []int64, x *tensor.Dense) (first, counts []int64) {
			return sorting.Unique(inverse, tensor.Elems[T](x))
		},
		nonzero: func(out []bool, x *tensor.Dense) { gather.Nonzero(out, tensor.Elems[T](x)) },
	}
}

func reals[T dtype.Real]() kernels {
	k := numbers[T]()
	k.scatterMax, k.scatterMin, k.maxByID, k.minByID = on(gather.Max[T, int64]), on(gather.Min[T, int64]), on(segment.MaxByID[T]), on(segment.MinByID[T])
	k.histogram = func(out []int64, x *tensor.Dense, low, high float64) {
		sorting.Histogram(out, tensor.Elems[T](x), low, high)
	}
	k.sort, k.argSort, k.topK, k.searchSorted = sortRows[T], argSortRows[T], topKOfRows[T], searchRows[T]
	k.rangeLen, k.rangeFill = rangeLen[T], rangeFill[T]
	return k
}

func floats[T segment.Float]() kernels {
	k := reals[T]()
	k.meanByID, k.sqrtNByID = on(segment.MeanByID[T]), on(segment.SqrtNByID[T])
	return k
}

func integers[T dtype.Integer]() kernels {
	k := reals[T]()
	k.meanByID = on(segment.MeanIntByID[T])
	k.binCount = func(out []int64, x *tensor.Dense) error { return sorting.BinCount(out, tensor.Elems[T](x)) }
	k.binLimit = func(x *tensor.Dense) int64 { return sorting.MaxValue(tensor.Elems[T](x)) + 1 }
	return k
}

func binSum[T dtype.Number](out, x, weights *tensor.Dense) error {
	o, w := tensor.Elems[T](out), tensor.Elems[T](weights)
	switch x.DType() {
	case dtype.Int8:
		return sorting.BinSum(o, tensor.Elems[int8](x), w)
	case dtype.Int16:
		return sorting.BinSum(o, tensor.Elems[int16](x), w)
	case dtype.Int32:
		return sorting.BinSum(o, tensor.Elems[int32](x), w)
	case dtype.Uint8:
		return sorting.BinSum(o, tensor.Elems[uint8](x), w)
	case dtype.Uint16:
		return sorting.BinSum(o, tensor.Elems[uint16](x), w)
	case dtype.Uint32:
		return sorting.BinSum(o, tensor.Elems[uint32](x), w)
	case dtype.Uint64:
		return sorting.BinSum(o, tensor.Elems[uint64](x), w)
	}
	return sorting.BinSum(o, tensor.Elems[int64](x), w)
}

// wide returns the elements of an index tensor as int64.
func wide(d *tensor.Dense) []int64 {
	if d.DType() == dtype.Int64 {
		return tensor.Elems[int64](d)
	}
	out := make([]int64, d.Len())
	segment.Widen(out, tensor.Elems[int32](d))
	return out
}
