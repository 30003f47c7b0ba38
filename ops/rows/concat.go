package rows

import (
	"errors"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// partitions checks a list of row splits, argument i, and returns their numbers of
// rows and of values, as far as they are known.
func partitions(c *op.Call, i int) (nrows, nvals []int) {
	list := c.List(i)
	if len(list) == 0 {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "%s is empty, want row splits", name(c, i)))
	}
	nrows, nvals = make([]int, len(list)), make([]int, len(list))
	for k, v := range list {
		var err error
		nrows[k], nvals[k], err = c.Rows(v.(tensor.Tensor), name(c, i))
		tenon.Throw(err)
	}
	return nrows, nvals
}

// partitionsOf returns the row splits of a list, argument i of a kernel's call.
func partitionsOf(c *op.Call, i int) [][]int64 {
	out := make([][]int64, len(c.List(i)))
	for k, v := range c.List(i) {
		out[k] = splitsOf(c, v.(*tensor.Dense), name(c, i), -1)
	}
	return out
}

// zippedStrings returns the rows of vectors of strings joined row by row.
func zippedStrings(values []tenon.Value, parts [][]int64, splits []int64) *tensor.Strings {
	columns := make([]str.Column, len(values))
	for k, v := range values {
		columns[k] = move.Column(v.(*tensor.Strings))
	}
	return move.Tensor(str.ZipRows(columns, parts, splits), outer(int(splits[len(splits)-1]), shape.Shape{}))
}

// sameRows returns the number of rows that partitions share. It is an error if they differ.
func sameRows(c *op.Call, nrows []int) int {
	n := shape.Unknown
	for k, m := range nrows {
		if n >= 0 && m >= 0 && n != m {
			tenon.Throw(c.Errorf(tenon.ErrShape, "partition %d has %d rows, those before it %d", k, m, n))
		}
		n = max(n, m)
	}
	return n
}

// total adds up sizes, if they are all known.
func total(sizes []int) int {
	sum := 0
	for _, n := range sizes {
		if n < 0 {
			return shape.Unknown
		}
		sum += n
	}
	return sum
}

// partsError completes a kernel's error about one of several partitions.
func partsError(c *op.Call, err error) error {
	if err == nil {
		return nil
	}
	var row *segment.RowError
	if errors.As(err, &row) {
		return c.Errorf(tenon.ErrInvalid, "partition %d: %s", row.Row, row.Detail)
	}
	return err
}

var splitsList = op.Param{Name: "splits", Kind: op.Tensors, Group: 1, Takes: op.Indices, Rank: op.Vector}

var concatOp, concatIndexOp *op.Op

func init() {
	concatOp = op.Register(&op.Op{
		Name: "ragged.concat", Statement: op.Statement{Axes: op.Join, By: op.ByRows, Moves: one, Control: two, Zero: movedZero}, Doc: "Several tensors' rows joined row by row.",
		Params: []op.Param{{Name: "values", Kind: op.Tensors, Group: 2}, splitsList}, Results: 2,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			nrows, nvals := partitions(c, 1)
			n := sameRows(c, nrows)
			values := c.List(0)
			if len(values) != len(nrows) {
				return nil, c.Errorf(tenon.ErrInvalid, "there are %d tensors of values and %d of row splits", len(values), len(nrows))
			}
			item := shape.UnknownRank
			for k, v := range values {
				s := v.(tensor.Tensor).Shape()
				if !s.HasRank() {
					continue
				}
				if s.Rank() == 0 || s.Dim(0) >= 0 && nvals[k] >= 0 && s.Dim(0) != nvals[k] {
					return nil, c.Errorf(tenon.ErrInvalid, "row splits %d end at %d, the values have the shape %v", k, nvals[k], s)
				}
				var err error
				if item, err = shape.Merge(item, s.Tail(1)); err != nil {
					return nil, c.Errorf(tenon.ErrShape, "items of tensor %d have the shape %v, which differs from the others", k, s.Tail(1))
				}
			}
			d := values[0].(tensor.Tensor).DType()
			return specs(spec(d, outer(total(nvals), item)), spec(c.List(1)[0].(tensor.Tensor).DType(), shape.Of(plusOne(n))))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			parts := partitionsOf(c, 1)
			to, out := fresh(len(parts[0]))
			tenon.Throw(partsError(c, segment.ZipSplits(out, parts...)))
			for k, v := range c.List(0) {
				if n := lead(v.(tensor.Tensor)); int64(n) != parts[k][len(parts[k])-1] {
					return nil, c.Errorf(tenon.ErrInvalid, "row splits %d end at %d, there are %d values", k, parts[k][len(parts[k])-1], n)
				}
			}
			s := outer(int(out[len(out)-1]), c.List(0)[0].(tensor.Tensor).Shape().Tail(1))
			fits(c, outType(c, 0), s)
			if outType(c, 0).IsString() && s.Rank() == 1 {
				return results(zippedStrings(c.List(0), parts, out), splitsIn(c, outType(c, 1), to))
			}
			values := move.ApplyList(c.List(0), func(ds []*tensor.Dense) *tensor.Dense {
				y := tensor.Uninit(ds[0].DType(), s)
				if y.Len() > 0 {
					moverOf(y).zip(y, out, ds, parts, innerSize(y))
				}
				return y
			})
			return results(values, splitsIn(c, outType(c, 1), to))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			values := c.List(0)
			_, at := ConcatIndex(c.List(1))
			sizes := make([]any, len(values))
			for k, v := range values {
				sizes[k] = ops.Reshape(ops.Index(ops.Shape(v), 0), []int{1})
			}
			lengths := ops.Concat(sizes, 0)
			return ops.Split(ops.SegmentSum(ct[0], at, ops.Sum(lengths)), lengths, 0)
		},
	})
	concatIndexOp = op.Register(&op.Op{
		Name: "ragged.concat_index", Statement: makes(op.First, 0), Doc: "Several partitions' rows joined row by row, as an index.",
		Params: []op.Param{splitsList}, Results: 2,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			nrows, nvals := partitions(c, 0)
			return specs(spec(c.List(0)[0].(tensor.Tensor).DType(), shape.Of(plusOne(sameRows(c, nrows)))), positions(total(nvals)))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			parts := partitionsOf(c, 0)
			to, out := fresh(len(parts[0]))
			tenon.Throw(partsError(c, segment.ZipSplits(out, parts...)))
			n := out[len(out)-1]
			fits(c, dtype.Int64, shape.Of(int(n)))
			at := make([]int64, n)
			segment.ZipPositions(at, out, parts...)
			return results(splitsIn(c, outType(c, 0), to), tensor.Vector(at))
		},
	})
}

// Concat joins the rows of several tensors row by row: row r of the result is row r
// of the first, then row r of the second, and so on. Both arguments are slices of
// tensors; element types are promoted.
//
//	values: [nvalsₖ, a], splits: int[rows+1] each → [Σ nvalsₖ, a], int[rows+1], any element type.
//	Gradient: each value gets the cotangent at its position in the result.
func Concat(values, splits any) (outValues, outSplits tensor.Tensor) {
	out := op.EvalN(concatOp, values, splits)
	return out[0], out[1]
}

// ConcatIndex returns the row splits of several partitions' rows joined row by row, and the
// position of each value in the concatenated values of all partitions.
//
//	splits: int[rows+1] each → int[rows+1], int64[Σ nvalsₖ]. No gradient.
func ConcatIndex(splits any) (outSplits, index tensor.Tensor) {
	out := op.EvalN(concatIndexOp, splits)
	return out[0], out[1]
}

var stackSplitsOp = op.Register(&op.Op{
	Name: "ragged.stack_splits", Statement: makes(op.First, 0), Doc: "The row splits of several partitions' rows, one partition after the other.",
	Params: []op.Param{splitsList}, Results: 1,
	Elem: same,
	Shape: func(c *op.Call) (shape.Shape, error) {
		nrows, _ := partitions(c, 0)
		return shape.Of(plusOne(total(nrows))), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		parts := partitionsOf(c, 0)
		n := 1
		for _, p := range parts {
			n += len(p) - 1
		}
		to, out := fresh(n)
		tenon.Throw(partsError(c, segment.StackSplits(out, parts...)))
		return results(splitsIn(c, outType(c, 0), to))
	},
})

// StackSplits returns the row splits of several partitions' rows, one partition
// after the other; ops.Concat joins their values.
//
//	splits: int[rowsₖ+1] each → int[Σ rowsₖ+1]. No gradient.
func StackSplits(splits any) tensor.Tensor { return op.Eval(stackSplitsOp, splits) }
