package ops

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/sorting"
	"github.com/tenonml/tenon/tensor"
)

// Kernels that look at the elements are found by element type: a table has one
// entry for each type, whose methods are the instances of the generic kernels.

// numberKernels are those that all numbers have.
type numberKernels interface {
	scatterAdd(dst, updates *tensor.Dense, idx []int64, width int) error
	sumByID(out, values *tensor.Dense, ids []int64, inner int) error
	prodByID(out, values *tensor.Dense, ids []int64, inner int) error
	unique(inverse []int64, x *tensor.Dense) (first, counts []int64)
	nonzero(out []bool, x *tensor.Dense)
	binSum(out, x, weights *tensor.Dense) error
}

// realKernels are those of numbers that have an order.
type realKernels interface {
	scatterMax(dst, updates *tensor.Dense, idx []int64, width int) error
	scatterMin(dst, updates *tensor.Dense, idx []int64, width int) error
	maxByID(out, values *tensor.Dense, ids []int64, inner int) error
	minByID(out, values *tensor.Dense, ids []int64, inner int) error
	sort(x *tensor.Dense, n int, descending bool)
	argSort(out []int64, x *tensor.Dense, n int, descending bool)
	topK(values *tensor.Dense, at []int64, x *tensor.Dense, n, k int)
	searchSorted(out []int64, sorted, x *tensor.Dense, rows int, right bool)
	histogram(out []int64, x *tensor.Dense, low, high float64)
	rangeLen(start, limit, delta *tensor.Dense) (int64, error)
	rangeFill(out, start, delta *tensor.Dense)
}

// floatKernels are those of floating numbers.
type floatKernels interface {
	meanByID(out, values *tensor.Dense, ids []int64, inner int) error
	sqrtNByID(out, values *tensor.Dense, ids []int64, inner int) error
}

// integerKernels are those of integers.
type integerKernels interface {
	meanByID(out, values *tensor.Dense, ids []int64, inner int) error
	binCount(out []int64, x *tensor.Dense) error
	binLimit(x *tensor.Dense) int64
}

type numbers[T dtype.Number] struct{}

type reals[T dtype.Real] struct{}

type floats[T segment.Float] struct{}

type integers[T dtype.Integer] struct{}

var numberTable = map[dtype.DType]numberKernels{
	dtype.Int8: numbers[int8]{}, dtype.Int16: numbers[int16]{}, dtype.Int32: numbers[int32]{}, dtype.Int64: numbers[int64]{},
	dtype.Uint8: numbers[uint8]{}, dtype.Uint16: numbers[uint16]{}, dtype.Uint32: numbers[uint32]{}, dtype.Uint64: numbers[uint64]{},
	dtype.Float16: numbers[dtype.F16]{}, dtype.BFloat16: numbers[dtype.BF16]{}, dtype.Float32: numbers[float32]{}, dtype.Float64: numbers[float64]{},
	dtype.Complex64: numbers[complex64]{}, dtype.Complex128: numbers[complex128]{},
}

var realTable = map[dtype.DType]realKernels{
	dtype.Int8: reals[int8]{}, dtype.Int16: reals[int16]{}, dtype.Int32: reals[int32]{}, dtype.Int64: reals[int64]{},
	dtype.Uint8: reals[uint8]{}, dtype.Uint16: reals[uint16]{}, dtype.Uint32: reals[uint32]{}, dtype.Uint64: reals[uint64]{},
	dtype.Float16: reals[dtype.F16]{}, dtype.BFloat16: reals[dtype.BF16]{}, dtype.Float32: reals[float32]{}, dtype.Float64: reals[float64]{},
}

var floatTable = map[dtype.DType]floatKernels{
	dtype.Float16: floats[dtype.F16]{}, dtype.BFloat16: floats[dtype.BF16]{}, dtype.Float32: floats[float32]{}, dtype.Float64: floats[float64]{},
}

var integerTable = map[dtype.DType]integerKernels{
	dtype.Int8: integers[int8]{}, dtype.Int16: integers[int16]{}, dtype.Int32: integers[int32]{}, dtype.Int64: integers[int64]{},
	dtype.Uint8: integers[uint8]{}, dtype.Uint16: integers[uint16]{}, dtype.Uint32: integers[uint32]{}, dtype.Uint64: integers[uint64]{},
}

func (numbers[T]) scatterAdd(dst, updates *tensor.Dense, idx []int64, width int) error {
	return gather.Add(tensor.Elems[T](dst), tensor.Elems[T](updates), idx, width)
}

func (numbers[T]) sumByID(out, values *tensor.Dense, ids []int64, inner int) error {
	return segment.SumByID(tensor.Elems[T](out), tensor.Elems[T](values), ids, inner)
}

func (numbers[T]) prodByID(out, values *tensor.Dense, ids []int64, inner int) error {
	return segment.ProdByID(tensor.Elems[T](out), tensor.Elems[T](values), ids, inner)
}

func (numbers[T]) unique(inverse []int64, x *tensor.Dense) (first, counts []int64) {
	return sorting.Unique(inverse, tensor.Elems[T](x))
}

func (numbers[T]) nonzero(out []bool, x *tensor.Dense) { gather.Nonzero(out, tensor.Elems[T](x)) }

func (numbers[T]) binSum(out, x, weights *tensor.Dense) error {
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

func (reals[T]) scatterMax(dst, updates *tensor.Dense, idx []int64, width int) error {
	return gather.Max(tensor.Elems[T](dst), tensor.Elems[T](updates), idx, width)
}

func (reals[T]) scatterMin(dst, updates *tensor.Dense, idx []int64, width int) error {
	return gather.Min(tensor.Elems[T](dst), tensor.Elems[T](updates), idx, width)
}

func (reals[T]) maxByID(out, values *tensor.Dense, ids []int64, inner int) error {
	return segment.MaxByID(tensor.Elems[T](out), tensor.Elems[T](values), ids, inner)
}

func (reals[T]) minByID(out, values *tensor.Dense, ids []int64, inner int) error {
	return segment.MinByID(tensor.Elems[T](out), tensor.Elems[T](values), ids, inner)
}

func (reals[T]) histogram(out []int64, x *tensor.Dense, low, high float64) {
	sorting.Histogram(out, tensor.Elems[T](x), low, high)
}

func (floats[T]) meanByID(out, values *tensor.Dense, ids []int64, inner int) error {
	return segment.MeanByID(tensor.Elems[T](out), tensor.Elems[T](values), ids, inner)
}

func (floats[T]) sqrtNByID(out, values *tensor.Dense, ids []int64, inner int) error {
	return segment.SqrtNByID(tensor.Elems[T](out), tensor.Elems[T](values), ids, inner)
}

func (integers[T]) meanByID(out, values *tensor.Dense, ids []int64, inner int) error {
	return segment.MeanIntByID(tensor.Elems[float64](out), tensor.Elems[T](values), ids, inner)
}

func (integers[T]) binCount(out []int64, x *tensor.Dense) error {
	return sorting.BinCount(out, tensor.Elems[T](x))
}

func (integers[T]) binLimit(x *tensor.Dense) int64 { return sorting.MaxValue(tensor.Elems[T](x)) + 1 }

// wide returns an index tensor's elements as int64.
func wide(d *tensor.Dense) []int64 {
	if d.DType() == dtype.Int64 {
		return tensor.Elems[int64](d)
	}
	out := make([]int64, d.Len())
	segment.Widen(out, tensor.Elems[int32](d))
	return out
}
