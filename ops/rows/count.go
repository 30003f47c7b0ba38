package rows

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/memory"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var binCountOp = op.Register(&op.Op{
	Name: "ragged.bincount", Statement: opaque("the elements are positions in the result"), Doc: "How often each number occurs in each row.",
	Params: []op.Param{{Name: "values", Takes: op.Integers}, splitsParam, {Name: "weights", Optional: true, Takes: op.Numbers}, sizeParam("bins"),
		{Name: "binary", Kind: op.Attr, Type: op.BoolType, Default: false}}, Results: 1,
	Elem: func(c *op.Call, _ dtype.DType) dtype.DType {
		if w := c.Tensor(2); w != nil {
			return w.DType()
		}
		return dtype.Int64
	},
	Shape: func(c *op.Call) (shape.Shape, error) {
		nrows, w := vectorRows(c), c.Tensor(2)
		switch x := c.Tensor(0).Shape(); {
		case w != nil && !w.Shape().CompatibleWith(x):
			return x, c.Errorf(tenon.ErrShape, "the weights have the shape %v, the values %v", w.Shape(), x)
		case w != nil && c.Bool(4):
			return x, c.Errorf(tenon.ErrInvalid, "a binary count has no weights")
		}
		return shape.Of(nrows, count(c, 3)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		splits := rowSplits(c, 1, lead(c.Tensor(0)))
		x := tensor.Data[int64](ops.Cast(c.Value(0), dtype.Int64))
		ids := cells(c, x, splits, s.Dim(1))
		if c.Bool(4) {
			out, n := tensor.Make[int64](s)
			for _, id := range ids {
				if id >= 0 {
					n[id] = 1
				}
			}
			return results(out)
		}
		w := c.Tensor(2)
		if w == nil {
			w = ops.Ones(dtype.Int64, []int{len(ids)})
		}
		return results(ops.Reshape(ops.SegmentSum(w, tensor.Vector(ids), s.Size()), s))
	},
	VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		x, bins := ops.Cast(c.Value(0), dtype.Int64), ops.Cast(c.Value(3), dtype.Int64)
		inside := ops.Less(x, bins)
		row := ops.Cast(RowIDs(c.Value(1), c.Tensor(0).Shape().Dim(0)), dtype.Int64)
		at := ops.Where(inside, ops.Add(ops.Mul(row, bins), x), int64(0))
		flat := ops.Concat([]any{ops.Reshape(ct[0], []int{-1}), ops.Zeros(ct[0].DType(), []int{1})}, 0)
		return []tensor.Tensor{nil, nil, ops.Where(inside, ops.Gather(flat, at, 0), ops.Cast(0, ct[0].DType()))}
	},
})

// cells returns the number of the cell in which each value is counted, or -1 if it has no bin.
func cells(c *op.Call, x, splits []int64, bins int) []int64 {
	ids := make([]int64, len(x))
	segment.RowIDs(ids, splits)
	for i, v := range x {
		switch {
		case v < 0:
			tenon.Throw(c.Errorf(tenon.ErrInvalid, "%d is negative", v).At(fmt.Sprintf("values[%d], row %d", i, ids[i])))
		case v >= int64(bins):
			ids[i] = -1
		default:
			ids[i] = ids[i]*int64(bins) + v
		}
	}
	return ids
}

// BinCountOptions says what [BinCount] counts.
type BinCountOptions struct {
	Weights any  // what to add up instead of ones: a number for each value
	Binary  bool // whether a number occurs, 0 or 1, instead of how often
}

// BinCount returns how often each number from 0 up to, but not including, bins occurs in each row
// or, given weights, the sum of their weights. bins is an integer or a scalar tensor. Larger
// numbers are ignored; a negative one is an error.
//
//	values: int[nvals], splits, bins: int[] → int64[rows, bins], or the weights' type.
//	Gradient: for weights, the cotangent of the cell they are counted in.
func BinCount(values, splits, bins any, o BinCountOptions) tensor.Tensor {
	return op.Eval(binCountOp, values, splits, o.Weights, bins, o.Binary)
}

var rangeOp = op.Register(&op.Op{
	Name: "ragged.range", Statement: makes(0, 0), Doc: "A row of numbers in steps for each start, limit and step.",
	Params: []op.Param{{Name: "starts", Group: 1, Takes: op.Reals}, {Name: "limits", Group: 1}, {Name: "deltas", Group: 1},
		{Name: "splits_dtype", Kind: op.Attr, Type: op.DTypeType, Default: dtype.Int64}}, Results: 2,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		if !isIndex(c.DType(3)) {
			return nil, c.Errorf(tenon.ErrDType, "row splits are int32 or int64, not %v", c.DType(3))
		}
		n, scalars := shape.Unknown, 0
		for i := range 3 {
			s := c.Tensor(i).Shape()
			switch {
			case !s.HasRank():
			case s.Rank() > 1:
				return nil, c.Errorf(tenon.ErrShape, "%s has the shape %v, want a scalar or a vector", name(c, i), s)
			case s.Rank() == 0:
				scalars++
			case n >= 0 && s.Dim(0) >= 0 && n != s.Dim(0):
				return nil, c.Errorf(tenon.ErrShape, "%s has %d entries, those before it %d", name(c, i), s.Dim(0), n)
			default:
				n = max(n, s.Dim(0))
			}
		}
		if scalars == 3 {
			n = 1
		}
		return specs(like(c, 0, shape.Of(shape.Unknown)), spec(c.DType(3), shape.Of(plusOne(n))))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		k := byType[c.Tensor(0).DType()]
		n := outShape(c, 1).Dim(0)
		splits := make([]int64, n)
		total, err := k.rangeSplits(splits, c.Dense(0), c.Dense(1), c.Dense(2))
		if err != nil {
			var row *segment.RowError
			if errors.As(err, &row) {
				return nil, c.Errorf(tenon.ErrInvalid, "%s", row.Detail).At(fmt.Sprintf("row %d", row.Row))
			}
			return nil, c.Errorf(tenon.ErrInvalid, "%v", err)
		}
		s := shape.Of(int(total))
		fits(c, outType(c, 0), s)
		if total > memory.Budget()/16 {
			return nil, c.Errorf(tenon.ErrInvalid, "%d values are more than memory holds", total)
		}
		out := tensor.Uninit(outType(c, 0), s)
		k.rangeFill(out, splits, c.Dense(0), c.Dense(2))
		return results(out, splitsTensor(c, c.DType(3), splits))
	},
})

// Range returns the rows start, start+delta, … up to, but not including, limit. Each argument holds
// one number for each row, or is a scalar for all rows. The row splits have type d, Int64 or Int32.
//
//	starts, limits, deltas: [] or [rows] → [nvals], int[rows+1], real numbers. No gradient.
func Range(starts, limits, deltas any, d dtype.DType) (values, splits tensor.Tensor) {
	out := op.EvalN(rangeOp, starts, limits, deltas, d)
	return out[0], out[1]
}
