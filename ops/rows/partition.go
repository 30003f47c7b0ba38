package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// perValue registers an operation on row splits that has a result for each value.
func perValue(name, doc string, places op.Results, rows func(dtype.DType) *op.RowLoop, kernel func(out, splits []int64)) *op.Op {
	o := &op.Op{
		Name: name, Statement: makes(places, 0), Doc: doc, Rows: rows,
		Params: []op.Param{splitsParam, {Name: "nvals", Kind: op.Attr, Type: op.IntType, Default: shape.Unknown}}, Results: 1,
		Elem: same,
		Shape: func(c *op.Call) (shape.Shape, error) {
			_, nvals := partition(c, 0)
			return shape.Of(max(nvals, c.Int(1))), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			splits := rowSplits(c, 0, c.Int(1))
			n := splits[len(splits)-1]
			if c.Fits(dtype.Int64, shape.Of(int(n))) != nil {
				return nil, c.Errorf(tenon.ErrInvalid, "%d values are more than memory holds", n)
			}
			out := make([]int64, n)
			kernel(out, splits)
			return results(indexTensor(c, c.Tensor(0).DType(), out))
		},
	}
	return op.Register(o)
}

var (
	rowIDsOp  = perValue("ragged.row_ids", "The row of each value.", op.First, nil, segment.RowIDs)
	offsetsOp = perValue("ragged.offsets", "The position of each value in its row.", op.First, offsetsLoops.of, segment.Offsets)
)

// RowIDs returns the row of each value.
//
//	splits: int[rows+1] → int[nvals]. No gradient.
func RowIDs(splits any, nvals int) tensor.Tensor { return op.Eval(rowIDsOp, splits, nvals) }

// Offsets returns the position of each value in its row.
//
//	splits: int[rows+1] → int[nvals]. No gradient.
func Offsets(splits any, nvals int) tensor.Tensor { return op.Eval(offsetsOp, splits, nvals) }

var lengthsOp = op.Register(&op.Op{
	Name: "ragged.lengths", Statement: makes(0, op.First), Doc: "The length of each row.", Rows: lengthsLoops.of,
	Params: []op.Param{splitsParam}, Results: 1,
	Elem: same,
	Shape: func(c *op.Call) (shape.Shape, error) {
		nrows, _ := partition(c, 0)
		return shape.Of(nrows), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 0, -1)
		to, out := fresh(len(splits) - 1)
		segment.Lengths(out, splits)
		return results(indexIn(c, c.Tensor(0).DType(), to))
	},
})

// Lengths returns the length of each row.
//
//	splits: int[rows+1] → int[rows]. No gradient.
func Lengths(splits any) tensor.Tensor {
	return op.Eval(lengthsOp, splits)
}

var fromLengthsOp = op.Register(&op.Op{
	Name: "ragged.lengths_to_splits", Statement: makes(op.First, 0), Doc: "The row splits of rows with given lengths.",
	Params: []op.Param{indices("lengths")}, Results: 1,
	Elem:  same,
	Shape: func(c *op.Call) (shape.Shape, error) { return shape.Of(plusOne(length(c, 0))), nil },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		lengths := wide(c.Dense(0))
		to, out := fresh(len(lengths) + 1)
		tenon.Throw(rowError(c, "lengths", segment.SplitsFromLengths(out, lengths)))
		return results(splitsIn(c, c.Tensor(0).DType(), to))
	},
})

// FromLengths returns the row splits of rows with the given lengths. A negative
// length is an error that names it.
//
//	lengths: int[rows] → int[rows+1]. No gradient.
func FromLengths(lengths any) tensor.Tensor {
	return op.Eval(fromLengthsOp, lengths)
}

func plusOne(n int) int {
	if n < 0 {
		return n
	}
	return n + 1
}

var fromRowIDsOp = op.Register(&op.Op{
	Name: "ragged.row_ids_to_splits", Statement: makes(op.First, 0), Doc: "The row splits of values whose rows are given.",
	Params: []op.Param{indices("ids"), optional(sizeParam("nrows"))}, Results: 1,
	Elem: same,
	Shape: func(c *op.Call) (shape.Shape, error) {
		n := count(c, 1)
		if t, ok := c.Const(0); ok && !c.Has(1) {
			n = rowCount(c, wide(t.(*tensor.Dense)))
		}
		return shape.Of(plusOne(n)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		ids := wide(c.Dense(0))
		n := outShape(c, 0).Dim(0) - 1
		tenon.Throw(rowError(c, "ids", segment.CheckRowIDs(ids, int64(n))))
		out := make([]int64, n+1)
		segment.SplitsFromRowIDs(out, ids)
		return results(splitsTensor(c, c.Tensor(0).DType(), out))
	},
})

// rowCount returns the number of rows that row ids require, which is one more than the last id,
// since they are sorted. It is 0 for ids that will be rejected. A few ids alone cannot request more
// than maxRows rows.
func rowCount(c *op.Call, ids []int64) int {
	n := len(ids)
	if n == 0 || ids[n-1] < 0 {
		return 0
	}
	if last := ids[n-1]; last >= maxRows && last/1024 >= int64(n) {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "the last of %d ids is %d, which would make as many rows", n, last).WithHint("give the number of rows as nrows"))
	}
	return int(ids[n-1]) + 1
}

const maxRows = 1 << 27

// FromRowIDs returns the row splits of values whose rows are given in ascending order. nrows, an
// integer or a scalar tensor, is the number of rows; nil means one more than the last id. An id
// that is smaller than the one before or out of range is an error that names it.
//
//	ids: int[nvals] → int[nrows+1]. No gradient.
func FromRowIDs(ids, nrows any) tensor.Tensor {
	return op.Eval(fromRowIDsOp, ids, nrows)
}

var uniformOp = op.Register(&op.Op{
	Name: "ragged.uniform_splits", Statement: makes(op.First, 0), Doc: "The row splits of rows of equal length.",
	Params: []op.Param{sizeParam("length"), sizeParam("nrows")}, Results: 1,
	Elem: same,
	Shape: func(c *op.Call) (shape.Shape, error) {
		count(c, 0)
		return shape.Of(plusOne(count(c, 1))), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		length, _ := c.ConstInts(0)
		n, _ := c.ConstInts(1)
		if _, err := shape.Of(length[0], n[0]).CheckedSize(1); err != nil {
			return nil, c.Errorf(tenon.ErrInvalid, "%d rows of %d values are more than memory holds", n[0], length[0])
		}
		out := make([]int64, n[0]+1)
		segment.UniformSplits(out, int64(length[0]))
		return results(splitsTensor(c, c.Tensor(0).DType(), out))
	},
})

// Uniform returns the row splits of nrows rows of equal length. Both arguments
// are integers or scalar tensors. The result has the type of length.
//
//	length, nrows: int[] → int[nrows+1]. No gradient.
func Uniform(length, nrows any) tensor.Tensor {
	return op.Eval(uniformOp, length, nrows)
}

var uniformLengthOp = op.Register(&op.Op{
	Name: "ragged.uniform_length", Statement: makes(0, op.First), Doc: "The common length of all rows, or -1.",
	Params: []op.Param{splitsParam}, Results: 1,
	Elem:  same,
	Shape: func(c *op.Call) (shape.Shape, error) { partition(c, 0); return shape.Shape{}, nil },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 0, -1)
		n, ok := segment.IsUniform(splits)
		if !ok {
			n = -1
		}
		return results(ops.Cast(n, c.Tensor(0).DType()))
	},
})

// UniformLength returns the common length of all rows, or -1 if they differ or there are none.
//
//	splits: int[rows+1] → int[]. No gradient.
func UniformLength(splits any) tensor.Tensor { return op.Eval(uniformLengthOp, splits) }

var maxLengthOp = op.Register(&op.Op{
	Name: "ragged.max_length", Statement: makes(0, op.First), Doc: "The length of the longest row.",
	Params: []op.Param{splitsParam}, Results: 1,
	Elem:  same,
	Shape: func(c *op.Call) (shape.Shape, error) { partition(c, 0); return shape.Shape{}, nil },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 0, -1)
		return results(ops.Cast(segment.MaxLength(splits), c.Tensor(0).DType()))
	},
})

// MaxLength returns the length of the longest row, or 0 if there is none.
//
//	splits: int[rows+1] → int[]. No gradient.
func MaxLength(splits any) tensor.Tensor { return op.Eval(maxLengthOp, splits) }
