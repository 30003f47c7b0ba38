package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Aligned rows. A fiber consists of the values with the same position in the rows of one segment;
// an axis with ragged axes below it divides the values into fibers. They are described by the fiber
// of each row's first value; the other values of the row belong to the fibers that follow.

var (
	startsParam = indices("starts")
	fibersParam = sizeParam("n")
)

var alignOp = op.Register(&op.Op{
	Name: "ragged.align", Statement: makes(op.First|op.Second, 0), Doc: "The rows of each segment, aligned.",
	Params: []op.Param{splitsParam, optional(indices("ids")), optional(sizeParam("n"))}, Results: 2,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		nrows, _ := partition(c, 0)
		n := 1
		if c.Has(1) {
			nrows = agree(c, tenon.ErrShape, "there are %d ids for %d rows", length(c, 1), nrows)
			if !c.Has(2) {
				return nil, c.Errorf(tenon.ErrInvalid, "n is missing: how many segments there are")
			}
			n = count(c, 2)
		}
		return specs(ends(c, 0, n), positions(nrows))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 0, -1)
		to, aligned := fresh(outShape(c, 0).Dim(0))
		var ids []int64
		if c.Has(1) {
			ids = wide(c.Dense(1))
			tenon.Throw(rowError(c, "ids", segment.CheckIDs(ids, int64(len(aligned)-1))))
			if ids == nil {
				ids = []int64{}
			}
		}
		segment.AlignedSplits(aligned, splits, ids)
		at, starts := fresh(len(splits) - 1)
		segment.AlignedStarts(starts, aligned, ids)
		return results(splitsIn(c, c.Tensor(0).DType(), to), at)
	},
})

// Align aligns the rows of each segment. ids are the segments of the rows, and n is the number of
// segments; a row with a negative id belongs to none. If ids is nil, all rows form one segment. It
// returns the row splits of the fibers of each segment, whose number is the length of its longest
// row, and, for each row, the number of the fiber of its first value.
//
//	splits: int[rows+1], ids: int[rows], n: int[] → int[n+1], int64[rows]. No gradient.
func Align(splits, ids, n any) (aligned, starts tensor.Tensor) {
	out := op.EvalN(alignOp, splits, ids, n)
	return out[0], out[1]
}

// startsOf checks splits and starts, arguments i and i+1, and returns the number of values.
func startsOf(c *op.Call, i int) (nvals int) {
	nrows, nvals := partition(c, i)
	agree(c, tenon.ErrShape, "there are %d starts for %d rows", length(c, i+1), nrows)
	return nvals
}

// alignedRows returns splits and starts, arguments i and i+1, of rows that lie within n fibers.
func alignedRows(c *op.Call, i, nvals int, n int64) (splits, starts []int64) {
	splits, starts = rowSplits(c, i, nvals), wide(c.Dense(i+1))
	tenon.Throw(rowError(c, "starts", segment.CheckStarts(splits, starts, n)))
	return splits, starts
}

var fiberIDsOp = op.Register(&op.Op{
	Name: "ragged.fiber_ids", Statement: makes(op.First, 0), Doc: "The fiber of each value of aligned rows.",
	Params: []op.Param{splitsParam, startsParam}, Results: 1,
	Elem: asInt64,
	Shape: func(c *op.Call) (shape.Shape, error) {
		return shape.Of(startsOf(c, 0)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 0, -1)
		fits(c, dtype.Int64, shape.Of(int(splits[len(splits)-1])))
		out, ids := fresh(int(splits[len(splits)-1]))
		segment.FiberIDs(ids, splits, wide(c.Dense(1)))
		return results(out)
	},
})

// FiberIDs returns the fiber of each value of aligned rows (see [Align]), or -1 for the values of
// rows that belong to no segment.
//
//	splits: int[rows+1], starts: int[rows] → int64[nvals]. No gradient.
func FiberIDs(splits, starts any) tensor.Tensor { return op.Eval(fiberIDsOp, splits, starts) }

var fiberLengthsOp = op.Register(&op.Op{
	Name: "ragged.fiber_lengths", Statement: makes(0, op.First), Doc: "The number of values in each fiber of aligned rows.",
	Params: []op.Param{splitsParam, startsParam, fibersParam}, Results: 1,
	Elem: asInt64,
	Shape: func(c *op.Call) (shape.Shape, error) {
		startsOf(c, 0)
		return shape.Of(count(c, 2)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		n := outShape(c, 0).Dim(0)
		splits, starts := alignedRows(c, 0, -1, int64(n))
		out, lengths := fresh(n)
		segment.FiberLengths(lengths, splits, starts)
		return results(out)
	},
})

// FiberLengths returns the number of values of each of n fibers.
//
//	splits: int[rows+1], starts: int[rows], n: int[] → int64[n]. No gradient.
func FiberLengths(splits, starts, n any) tensor.Tensor {
	return op.Eval(fiberLengthsOp, splits, starts, n)
}

var fiberOrderOp = op.Register(&op.Op{
	Name: "ragged.fiber_order", Statement: makes(op.First|op.Second|op.Third, 0), Doc: "The values of each fiber in turn, as an index.",
	Params: []op.Param{splitsParam, startsParam, fibersParam}, Results: 3,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		nvals := startsOf(c, 0)
		return specs(positions(nvals), ends(c, 0, count(c, 2)), positions(nvals))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		n := outShape(c, 1).Dim(0) - 1
		splits, starts := alignedRows(c, 0, -1, int64(n))
		for r, at := range starts {
			if at < 0 && splits[r] < splits[r+1] {
				return nil, c.Errorf(tenon.ErrInvalid, "the values of row %d are in no fiber", r)
			}
		}
		order, index := fresh(int(splits[len(splits)-1]))
		back, places := fresh(len(index))
		to, ends := fresh(n + 1)
		segment.FiberOrder(index, places, ends, splits, starts)
		return results(order, splitsIn(c, c.Tensor(0).DType(), to), back)
	},
})

// FiberOrder returns the positions of the values of each of n fibers in turn, the row splits of the
// fibers among them, and the new position of each value. All rows must belong to a segment.
//
//	splits: int[rows+1], starts: int[rows], n: int[] → int64[nvals], int[n+1], int64[nvals].
//	No gradient.
func FiberOrder(splits, starts, n any) (order, fibers, back tensor.Tensor) {
	out := op.EvalN(fiberOrderOp, splits, starts, n)
	return out[0], out[1], out[2]
}
