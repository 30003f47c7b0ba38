package rows

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/hashing"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/tensor"
)

// A rowLoop runs over rows of one element type. ddof is the delta degrees of freedom, for the
// reductions that use it.
type rowLoop = func(out, values *tensor.Dense, splits []int64, inner, ddof int)

// kernels are the instances of the generic kernels for one element type; nil if it has none.
type kernels struct {
	sum, countNonzero, prod, mean, variance, max, min, any, all, argMax, argMin, softmax, logSoftmax, logSumExp rowLoop

	cumSum, cumProd func(out, values *tensor.Dense, splits []int64, inner int, how segment.Cumulation)
	sort, argSort   func(out, values *tensor.Dense, splits []int64, inner int, descending bool)
	topK            func(outValues *tensor.Dense, outAt []int64, values *tensor.Dense, outSplits, splits []int64)
	unique          func(inverse []int64, values *tensor.Dense, splits []int64) segment.Distinct
	runs            func(values *tensor.Dense, splits []int64, inner int) (lengths, runSplits []int64)
	hashed          func(tables []*tensor.Dense) []hashing.Column
	firstByFiber    func(largest bool, out, values *tensor.Dense, f *folding)
	rangeSplits     func(out []int64, starts, limits, deltas *tensor.Dense) (int64, error)
	rangeFill       func(out *tensor.Dense, splits []int64, starts, deltas *tensor.Dense)
}

// byType holds the kernels by element type.
var byType = [dtype.String + 1]kernels{
	dtype.Bool: {
		sum: on(segment.CountNonzero[bool]), countNonzero: on(segment.CountNonzero[bool]), any: on(segment.Any), all: on(segment.All),
	},
	dtype.Int8: integers[int8](), dtype.Int16: integers[int16](), dtype.Int32: integers[int32](), dtype.Int64: integers[int64](),
	dtype.Uint8: integers[uint8](), dtype.Uint16: integers[uint16](), dtype.Uint32: integers[uint32](), dtype.Uint64: integers[uint64](),
	dtype.Float16: floats[dtype.F16](), dtype.BFloat16: floats[dtype.BF16](), dtype.Float32: floats[float32](), dtype.Float64: floats[float64](),
	dtype.Complex64: numbers[complex64](), dtype.Complex128: numbers[complex128](),
}

// on turns a kernel on slices into one on tensors, and with does so for a kernel that takes an
// option.
func on[R, T dtype.Number | ~bool](f func(out []R, values []T, splits []int64, inner int)) rowLoop {
	return func(out, values *tensor.Dense, splits []int64, inner, _ int) {
		f(tensor.Elems[R](out), tensor.Elems[T](values), splits, inner)
	}
}

func with[R, T dtype.Number | ~bool, O any](f func(out []R, values []T, splits []int64, inner int, o O)) func(out, values *tensor.Dense, splits []int64, inner int, o O) {
	return func(out, values *tensor.Dense, splits []int64, inner int, o O) {
		f(tensor.Elems[R](out), tensor.Elems[T](values), splits, inner, o)
	}
}

func numbers[T dtype.Number]() kernels {
	return kernels{
		sum: on(segment.Sum[T]), countNonzero: on(segment.CountNonzero[T]), prod: on(segment.Prod[T]),
		cumSum: with(segment.CumSum[T]), cumProd: with(segment.CumProd[T]),
		unique: func(inverse []int64, values *tensor.Dense, splits []int64) segment.Distinct {
			return segment.Unique(inverse, tensor.Elems[T](values), splits)
		},
		runs: func(values *tensor.Dense, splits []int64, inner int) (lengths, runSplits []int64) {
			return segment.Runs(tensor.Elems[T](values), splits, inner)
		},
		hashed: func(tables []*tensor.Dense) []hashing.Column {
			lists := make([][]T, len(tables))
			for i, t := range tables {
				lists[i] = tensor.Elems[T](t)
			}
			return hashing.Numbers(lists...)
		},
	}
}

func reals[T dtype.Real]() kernels {
	k := numbers[T]()
	k.max, k.min, k.argMax, k.argMin = on(segment.Max[T]), on(segment.Min[T]), on(segment.ArgMax[T]), on(segment.ArgMin[T])
	k.sort, k.argSort = with(segment.Sort[T]), with(segment.ArgSort[T])
	k.topK = func(outValues *tensor.Dense, outAt []int64, values *tensor.Dense, outSplits, splits []int64) {
		segment.TopK(tensor.Elems[T](outValues), outAt, tensor.Elems[T](values), outSplits, splits)
	}
	k.firstByFiber = func(largest bool, out, values *tensor.Dense, f *folding) {
		segment.ArgByFiber(largest, tensor.Elems[int64](out), tensor.Elems[T](values), f.splits, f.starts, f.lists, f.inner)
	}
	k.rangeSplits = func(out []int64, starts, limits, deltas *tensor.Dense) (int64, error) {
		return segment.RangeSplits(out, tensor.Elems[T](starts), tensor.Elems[T](limits), tensor.Elems[T](deltas))
	}
	k.rangeFill = func(out *tensor.Dense, splits []int64, starts, deltas *tensor.Dense) {
		segment.Range(tensor.Elems[T](out), splits, tensor.Elems[T](starts), tensor.Elems[T](deltas))
	}
	return k
}

func floats[T segment.Float]() kernels {
	k := reals[T]()
	k.mean, k.variance = on(segment.Mean[T]), with(segment.Var[T])
	k.softmax, k.logSoftmax, k.logSumExp = on(segment.Softmax[T]), on(segment.LogSoftmax[T]), on(segment.LogSumExp[T])
	return k
}

func integers[T dtype.Integer]() kernels {
	k := reals[T]()
	k.mean, k.variance = on(segment.MeanInt[T]), with(segment.VarInt[T])
	return k
}

// A mover holds the kernels that move elements of one size.
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
