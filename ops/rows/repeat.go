package rows

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var repeatOp = op.Register(&op.Op{
	Name: "ragged.repeat", Statement: moves(op.Broadcast, two), Doc: "Each row's item, for every value of the row.",
	Params: []op.Param{{Name: "items", Rank: 1}, splitsParam, {Name: "nvals", Kind: op.Attr, Type: op.IntType, Default: shape.Unknown}}, Results: 1, Rows: repeatLoops,
	Shape: func(c *op.Call) (shape.Shape, error) {
		nrows, nvals := partition(c, 1)
		s := c.Tensor(0).Shape()
		if !s.HasRank() {
			return s, nil
		}
		agree(c, tenon.ErrShape, "there are %d items for %d rows", s.Dim(0), nrows)
		return outer(max(nvals, c.Int(2)), s.Tail(1)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 1, c.Int(2))
		s := outer(int(splits[len(splits)-1]), c.Tensor(0).Shape().Tail(1))
		return results(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense {
			out := tensor.Uninit(x.DType(), s)
			if out.Len() > 0 {
				moverOf(x).repeat(out, x, splits, innerSize(x))
			}
			return out
		}))
	},
	VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{Sum(ct[0], c.Value(1)), nil}
	},
})

// Repeat gives every value the item of its row. It broadcasts a tensor with one entry for each row.
//
//	items: [rows, a], splits → [nvals, a], any element type. Gradient: the sum of each row's cotangents.
func Repeat(items, splits any, nvals int) tensor.Tensor {
	return op.Eval(repeatOp, items, splits, nvals)
}

var repeatIndexOp = op.Register(&op.Op{
	Name: "ragged.repeat_index", Statement: makes(op.First, 0), Doc: "Each row repeated within itself, as an index.",
	Params: []op.Param{splitsParam, {Name: "times", Takes: op.Indices}}, Results: 2,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		nrows, _ := partition(c, 0)
		forRows(c, 1, nrows)
		return specs(ends(c, 0, nrows), positions(shape.Unknown))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 0, -1)
		times := wide(c.Dense(1))
		if c.Tensor(1).Shape().IsScalar() {
			one := times[0]
			times = make([]int64, len(splits)-1)
			for i := range times {
				times[i] = one
			}
		}
		out := make([]int64, len(splits))
		for r, t := range times {
			n := splits[r+1] - splits[r]
			if t < 0 || n > 0 && t > (math.MaxInt64/16-out[r])/n {
				return nil, c.Errorf(tenon.ErrInvalid, "row %d of %d values cannot be repeated %d times", r, n, t)
			}
			out[r+1] = out[r] + n*t
		}
		total := out[len(out)-1]
		fits(c, dtype.Int64, shape.Of(int(total)))
		at := make([]int64, 0, total)
		for r, t := range times {
			for n := splits[r+1] - splits[r]; n > 0 && t > 0; t-- {
				for i := splits[r]; i < splits[r+1]; i++ {
					at = append(at, i)
				}
			}
		}
		return results(splitsTensor(c, c.Tensor(0).DType(), out), tensor.Vector(at))
	},
})

// RepeatIndex returns the row splits and the positions of the values when each row is repeated
// within itself: [1 2] twice is [1 2 1 2]. times is one integer for all rows, or one for each.
//
//	splits, times: int[] or int[rows] → int[rows+1], int64[m]. No gradient.
func RepeatIndex(splits, times any) (outSplits, index tensor.Tensor) {
	out := op.EvalN(repeatIndexOp, splits, times)
	return out[0], out[1]
}
