package rows

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
)

// How fusible operations run on some rows at a time: reductions of the most common element types,
// repeated elements, and what is computed from the splits alone.

// loops holds the Rows of an operation by the element type of its values.
type loops map[dtype.DType]*op.RowLoop

func (l loops) of(d dtype.DType) *op.RowLoop { return l[d] }

var (
	sumLoops = loops{
		dtype.Float32: blockLoop(dtype.Float32, segment.SumInBlock[float32]), dtype.Float64: blockLoop(dtype.Float64, segment.SumInBlock[float64]),
		dtype.Int32: reduceLoop(dtype.Int32, segment.Sum[int32]), dtype.Int64: reduceLoop(dtype.Int64, segment.Sum[int64]),
	}
	prodLoops = loops{
		dtype.Float32: reduceLoop(dtype.Float32, segment.Prod[float32]), dtype.Float64: reduceLoop(dtype.Float64, segment.Prod[float64]),
	}
	meanLoops = loops{
		dtype.Float32: blockLoop(dtype.Float32, segment.MeanInBlock[float32]), dtype.Float64: blockLoop(dtype.Float64, segment.MeanInBlock[float64]),
		dtype.Int32: reduceLoop(dtype.Float64, segment.MeanInt[int32]), dtype.Int64: reduceLoop(dtype.Float64, segment.MeanInt[int64]),
	}
	maxLoops = loops{
		dtype.Float32: blockLoop(dtype.Float32, segment.MaxInBlock[float32]), dtype.Float64: blockLoop(dtype.Float64, segment.MaxInBlock[float64]),
		dtype.Int32: reduceLoop(dtype.Int32, segment.Max[int32]), dtype.Int64: reduceLoop(dtype.Int64, segment.Max[int64]),
	}
	minLoops = loops{
		dtype.Float32: blockLoop(dtype.Float32, segment.MinInBlock[float32]), dtype.Float64: blockLoop(dtype.Float64, segment.MinInBlock[float64]),
		dtype.Int32: reduceLoop(dtype.Int32, segment.Min[int32]), dtype.Int64: reduceLoop(dtype.Int64, segment.Min[int64]),
	}
	logSumExpLoops = loops{
		dtype.Float32: reduceLoop(dtype.Float32, segment.LogSumExp[float32]), dtype.Float64: reduceLoop(dtype.Float64, segment.LogSumExp[float64]),
	}
	anyLoops     = loops{dtype.Bool: reduceLoop(dtype.Bool, segment.Any)}
	allLoops     = loops{dtype.Bool: reduceLoop(dtype.Bool, segment.All)}
	softmaxLoops = loops{
		dtype.Float32: alongLoop(dtype.Float32, segment.Softmax[float32]), dtype.Float64: alongLoop(dtype.Float64, segment.Softmax[float64]),
	}
	logSoftmaxLoops = loops{
		dtype.Float32: alongLoop(dtype.Float32, segment.LogSoftmax[float32]), dtype.Float64: alongLoop(dtype.Float64, segment.LogSoftmax[float64]),
	}
	lengthsLoops = loops{dtype.Int64: splitsLoop(op.PerRow, segment.Lengths)}
	offsetsLoops = loops{dtype.Int64: splitsLoop(op.PerValue, segment.Offsets)}
)

// repeatLoops returns the Rows of operations that repeat elements, which depend
// only on the size of an element.
func repeatLoops(d dtype.DType) *op.RowLoop {
	l := &op.RowLoop{From: op.PerRow, To: op.PerValue, DType: d}
	switch d.Size() {
	case 1:
		l.Run = repeatLoop[uint8]
	case 4:
		l.Run = repeatLoop[uint32]
	case 8:
		l.Run = repeatLoop[uint64]
	default:
		return nil
	}
	return l
}

// Heads returns the loop that gives each row the first elements of its operand, a table of type d,
// as many as the row is long. It returns nil for strings and 16-byte complex numbers.
func Heads(d dtype.DType) *op.RowLoop {
	l := &op.RowLoop{From: op.PerRow, To: op.PerValue, DType: d}
	switch d.Size() {
	case 1:
		l.Run = headLoop[uint8]
	case 2:
		l.Run = headLoop[uint16]
	case 4:
		l.Run = headLoop[uint32]
	case 8:
		l.Run = headLoop[uint64]
	default:
		return nil
	}
	return l
}

func headLoop[T segment.Word](dst, src []byte, splits []int64) bool {
	return segment.HeadsInRoom(elements[T](dst), elements[T](src), splits)
}

// reduceLoop returns the loop of a reduction to elements of type d.
func reduceLoop[R, T any](d dtype.DType, f func(out []R, values []T, splits []int64, inner int)) *op.RowLoop {
	return &op.RowLoop{From: op.PerValue, To: op.PerRow, DType: d, Run: func(dst, src []byte, splits []int64) bool {
		f(elements[R](dst), elements[T](src), splits, 1)
		return true
	}}
}

// blockLoop is reduceLoop for functions of single elements.
func blockLoop[T any](d dtype.DType, f func(out, values []T, splits []int64)) *op.RowLoop {
	return reduceLoop(d, func(out, values []T, splits []int64, _ int) { f(out, values, splits) })
}

// alongLoop returns the loop of an operation whose result has the shape of its
// values.
func alongLoop[T any](d dtype.DType, f func(out, values []T, splits []int64, inner int)) *op.RowLoop {
	l := reduceLoop(d, f)
	l.To = op.PerValue
	return l
}

func repeatLoop[T segment.Word](dst, src []byte, splits []int64) bool {
	segment.RepeatInRoom(elements[T](dst), elements[T](src), splits)
	return true
}

// splitsLoop returns the loop of an operation on splits alone.
func splitsLoop(to op.RowPart, f func(out, splits []int64)) *op.RowLoop {
	return &op.RowLoop{From: op.Nothing, To: to, DType: dtype.Int64, Run: func(dst, _ []byte, splits []int64) bool {
		f(elements[int64](dst), splits)
		return true
	}}
}

// elements returns bytes as elements, including those within the capacity.
func elements[T any](b []byte) []T {
	size := int(unsafe.Sizeof(*new(T)))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), cap(b)/size)[:len(b)/size]
}
