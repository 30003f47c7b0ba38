package rows

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/hashing"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/tensor"
)

// Kernels that look at the elements are found by element type: a table has one
// entry for each type, whose methods are the instances of the generic kernels.

// numberKernels are those that all numbers have.
type numberKernels interface {
	sum(out, values *tensor.Dense, splits []int64, inner int)
	prod(out, values *tensor.Dense, splits []int64, inner int)
	countNonzero(out, values *tensor.Dense, splits []int64, inner int)
	cumSum(out, values *tensor.Dense, splits []int64, inner int, how segment.Cumulation)
	cumProd(out, values *tensor.Dense, splits []int64, inner int, how segment.Cumulation)
	unique(inverse []int64, values *tensor.Dense, splits []int64) segment.Distinct
	runs(values *tensor.Dense, splits []int64, inner int) (lengths, runSplits []int64)
	hashed(tables []*tensor.Dense) []hashing.Column
}

// realKernels are those of numbers that have an order.
type realKernels interface {
	max(out, values *tensor.Dense, splits []int64, inner int)
	min(out, values *tensor.Dense, splits []int64, inner int)
	argMax(out, values *tensor.Dense, splits []int64, inner int)
	argMin(out, values *tensor.Dense, splits []int64, inner int)
	sort(out, values *tensor.Dense, splits []int64, inner int, descending bool)
	argSort(out []int64, values *tensor.Dense, splits []int64, inner int, descending bool)
	topK(outValues *tensor.Dense, outAt []int64, values *tensor.Dense, outSplits, splits []int64)
	firstByFiber(largest bool, out, values *tensor.Dense, f *folding)
	rangeSplits(out []int64, starts, limits, deltas *tensor.Dense) (int64, error)
	rangeFill(out *tensor.Dense, splits []int64, starts, deltas *tensor.Dense)
}

// averageKernels are those whose results are real or complex numbers.
type averageKernels interface {
	mean(out, values *tensor.Dense, splits []int64, inner int)
	variance(out, values *tensor.Dense, splits []int64, inner, ddof int)
}

// floatKernels are those of floating numbers.
type floatKernels interface {
	softmax(out, values *tensor.Dense, splits []int64, inner int)
	logSoftmax(out, values *tensor.Dense, splits []int64, inner int)
	logSumExp(out, values *tensor.Dense, splits []int64, inner int)
}

type numbers[T dtype.Number] struct{}

type reals[T dtype.Real] struct{}

type floats[T segment.Float] struct{}

type integers[T dtype.Integer] struct{}

var numberTable = [dtype.String + 1]numberKernels{
	dtype.Int8: numbers[int8]{}, dtype.Int16: numbers[int16]{}, dtype.Int32: numbers[int32]{}, dtype.Int64: numbers[int64]{},
	dtype.Uint8: numbers[uint8]{}, dtype.Uint16: numbers[uint16]{}, dtype.Uint32: numbers[uint32]{}, dtype.Uint64: numbers[uint64]{},
	dtype.Float16: numbers[dtype.F16]{}, dtype.BFloat16: numbers[dtype.BF16]{}, dtype.Float32: numbers[float32]{}, dtype.Float64: numbers[float64]{},
	dtype.Complex64: numbers[complex64]{}, dtype.Complex128: numbers[complex128]{},
}

var realTable = [dtype.String + 1]realKernels{
	dtype.Int8: reals[int8]{}, dtype.Int16: reals[int16]{}, dtype.Int32: reals[int32]{}, dtype.Int64: reals[int64]{},
	dtype.Uint8: reals[uint8]{}, dtype.Uint16: reals[uint16]{}, dtype.Uint32: reals[uint32]{}, dtype.Uint64: reals[uint64]{},
	dtype.Float16: reals[dtype.F16]{}, dtype.BFloat16: reals[dtype.BF16]{}, dtype.Float32: reals[float32]{}, dtype.Float64: reals[float64]{},
}

var averageTable = [dtype.String + 1]averageKernels{
	dtype.Int8: integers[int8]{}, dtype.Int16: integers[int16]{}, dtype.Int32: integers[int32]{}, dtype.Int64: integers[int64]{},
	dtype.Uint8: integers[uint8]{}, dtype.Uint16: integers[uint16]{}, dtype.Uint32: integers[uint32]{}, dtype.Uint64: integers[uint64]{},
	dtype.Float16: floats[dtype.F16]{}, dtype.BFloat16: floats[dtype.BF16]{}, dtype.Float32: floats[float32]{}, dtype.Float64: floats[float64]{},
}

var floatTable = [dtype.String + 1]floatKernels{
	dtype.Float16: floats[dtype.F16]{}, dtype.BFloat16: floats[dtype.BF16]{}, dtype.Float32: floats[float32]{}, dtype.Float64: floats[float64]{},
}

func (numbers[T]) sum(out, values *tensor.Dense, splits []int64, inner int) {
	segment.Sum(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner)
}

func (numbers[T]) prod(out, values *tensor.Dense, splits []int64, inner int) {
	segment.Prod(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner)
}

func (numbers[T]) countNonzero(out, values *tensor.Dense, splits []int64, inner int) {
	segment.CountNonzero(tensor.Elems[int64](out), tensor.Elems[T](values), splits, inner)
}

func (numbers[T]) cumSum(out, values *tensor.Dense, splits []int64, inner int, how segment.Cumulation) {
	segment.CumSum(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner, how)
}

func (numbers[T]) cumProd(out, values *tensor.Dense, splits []int64, inner int, how segment.Cumulation) {
	segment.CumProd(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner, how)
}

func (numbers[T]) unique(inverse []int64, values *tensor.Dense, splits []int64) segment.Distinct {
	return segment.Unique(inverse, tensor.Elems[T](values), splits)
}

func (numbers[T]) runs(values *tensor.Dense, splits []int64, inner int) (lengths, runSplits []int64) {
	return segment.Runs(tensor.Elems[T](values), splits, inner)
}

func (reals[T]) max(out, values *tensor.Dense, splits []int64, inner int) {
	segment.Max(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner)
}

func (reals[T]) min(out, values *tensor.Dense, splits []int64, inner int) {
	segment.Min(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner)
}

func (reals[T]) argMax(out, values *tensor.Dense, splits []int64, inner int) {
	segment.ArgMax(tensor.Elems[int64](out), tensor.Elems[T](values), splits, inner)
}

func (reals[T]) argMin(out, values *tensor.Dense, splits []int64, inner int) {
	segment.ArgMin(tensor.Elems[int64](out), tensor.Elems[T](values), splits, inner)
}

func (reals[T]) sort(out, values *tensor.Dense, splits []int64, inner int, descending bool) {
	segment.Sort(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner, descending)
}

func (reals[T]) argSort(out []int64, values *tensor.Dense, splits []int64, inner int, descending bool) {
	segment.ArgSort(out, tensor.Elems[T](values), splits, inner, descending)
}

func (reals[T]) topK(outValues *tensor.Dense, outAt []int64, values *tensor.Dense, outSplits, splits []int64) {
	segment.TopK(tensor.Elems[T](outValues), outAt, tensor.Elems[T](values), outSplits, splits)
}

func (reals[T]) rangeSplits(out []int64, starts, limits, deltas *tensor.Dense) (int64, error) {
	return segment.RangeSplits(out, tensor.Elems[T](starts), tensor.Elems[T](limits), tensor.Elems[T](deltas))
}

func (reals[T]) rangeFill(out *tensor.Dense, splits []int64, starts, deltas *tensor.Dense) {
	segment.Range(tensor.Elems[T](out), splits, tensor.Elems[T](starts), tensor.Elems[T](deltas))
}

func (floats[T]) mean(out, values *tensor.Dense, splits []int64, inner int) {
	segment.Mean(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner)
}

func (floats[T]) variance(out, values *tensor.Dense, splits []int64, inner, ddof int) {
	segment.Var(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner, ddof)
}

func (floats[T]) softmax(out, values *tensor.Dense, splits []int64, inner int) {
	segment.Softmax(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner)
}

func (floats[T]) logSoftmax(out, values *tensor.Dense, splits []int64, inner int) {
	segment.LogSoftmax(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner)
}

func (floats[T]) logSumExp(out, values *tensor.Dense, splits []int64, inner int) {
	segment.LogSumExp(tensor.Elems[T](out), tensor.Elems[T](values), splits, inner)
}

func (integers[T]) mean(out, values *tensor.Dense, splits []int64, inner int) {
	segment.MeanInt(tensor.Elems[float64](out), tensor.Elems[T](values), splits, inner)
}

func (integers[T]) variance(out, values *tensor.Dense, splits []int64, inner, ddof int) {
	segment.VarInt(tensor.Elems[float64](out), tensor.Elems[T](values), splits, inner, ddof)
}

// A mover has the kernels that move elements of one size.
type mover interface {
	gather(out, values *tensor.Dense, outSplits, starts []int64, inner int)
	zip(out *tensor.Dense, outSplits []int64, values []*tensor.Dense, splits [][]int64, inner int)
	repeat(out, perRow *tensor.Dense, splits []int64, inner int)
	pad(out, values *tensor.Dense, splits []int64, width, inner int, fill *tensor.Dense)
	unpad(out, dense *tensor.Dense, splits []int64, width, inner int) error
	pick(out *tensor.Dense, found []bool, values *tensor.Dense, splits, at []int64, inner int, fill *tensor.Dense)
	choose(out, values *tensor.Dense, outSplits, splits []int64, s segment.Slice, inner int)
	reverse(out, values *tensor.Dense, splits []int64, inner int)
	roll(out, values *tensor.Dense, splits []int64, inner int, shift int64)
	unpadded(out []int64, dense *tensor.Dense, width, inner int, padding *tensor.Dense)
}

type sized[T comparable] struct{}

var movers = [17]mover{1: sized[uint8]{}, 2: sized[uint16]{}, 4: sized[uint32]{}, 8: sized[uint64]{}, 16: sized[[2]uint64]{}}

func moverOf(d *tensor.Dense) mover { return movers[d.DType().Size()] }

func (sized[T]) gather(out, values *tensor.Dense, outSplits, starts []int64, inner int) {
	segment.Gather(move.Words[T](out), move.Words[T](values), outSplits, starts, inner)
}

func (sized[T]) zip(out *tensor.Dense, outSplits []int64, values []*tensor.Dense, splits [][]int64, inner int) {
	vs := make([][]T, len(values))
	for i, v := range values {
		vs[i] = move.Words[T](v)
	}
	segment.Zip(move.Words[T](out), outSplits, vs, splits, inner)
}

func (sized[T]) repeat(out, perRow *tensor.Dense, splits []int64, inner int) {
	segment.Repeat(move.Words[T](out), move.Words[T](perRow), splits, inner)
}

func (sized[T]) pad(out, values *tensor.Dense, splits []int64, width, inner int, fill *tensor.Dense) {
	segment.Pad(move.Words[T](out), move.Words[T](values), splits, width, inner, move.Words[T](fill))
}

func (sized[T]) unpad(out, dense *tensor.Dense, splits []int64, width, inner int) error {
	return segment.Unpad(move.Words[T](out), move.Words[T](dense), splits, width, inner)
}

func (sized[T]) pick(out *tensor.Dense, found []bool, values *tensor.Dense, splits, at []int64, inner int, fill *tensor.Dense) {
	segment.Pick(move.Words[T](out), found, move.Words[T](values), splits, at, inner, move.Words[T](fill))
}

func (sized[T]) choose(out, values *tensor.Dense, outSplits, splits []int64, s segment.Slice, inner int) {
	segment.Select(move.Words[T](out), move.Words[T](values), outSplits, splits, s, inner)
}

func (sized[T]) reverse(out, values *tensor.Dense, splits []int64, inner int) {
	segment.Reverse(move.Words[T](out), move.Words[T](values), splits, inner)
}

func (sized[T]) roll(out, values *tensor.Dense, splits []int64, inner int, shift int64) {
	segment.Roll(move.Words[T](out), move.Words[T](values), splits, inner, shift)
}

func (sized[T]) unpadded(out []int64, dense *tensor.Dense, width, inner int, padding *tensor.Dense) {
	segment.UnpaddedLengths(out, move.Words[T](dense), width, inner, move.Words[T](padding))
}
