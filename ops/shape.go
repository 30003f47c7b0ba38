package ops

import (
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A rowShaper is a batch whose rows differ in shape, such as a ragged tensor. It
// returns their shapes as int64[rows, rank of a row].
type rowShaper interface{ RowShapes() tensor.Tensor }

var shapeOp *op.Op

func init() {
	shapeOp = op.Register(&op.Op{
		Name: "shape", Statement: tells, Doc: "The sizes of the axes.", Strided: true,
		Params: unaryParams, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) { return shape.Of(c.Tensor(0).Shape().Rank()), nil },
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			return c.Result(tensor.Vector(c.Tensor(0).Shape().Dims()))
		},
		Batch: func(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
			x := c.Tensor(0)
			if r, ok := x.(rowShaper); ok {
				return c.Result(r.RowShapes())
			}
			rank, err := batchRank(c, x)
			if err != nil {
				return nil, err
			}
			row := Index(Shape(x), key.From(1))
			return c.Result(BroadcastTo(row, prepended(rowsOf(x), tensor.Vector([]int{rank - 1}))))
		},
	})
}

// Shape returns the sizes of x's axes. If all are known, the result is a
// constant, even for a symbolic tensor.
//
//	x: [n…] → int64[rank]. No gradient.
func Shape(x any) tensor.Tensor {
	if t, ok := plain(x); ok && t.Shape().IsFull() {
		return tensor.Vector(t.Shape().Dims())
	}
	return op.Eval(shapeOp, x)
}

var sizeOp = op.Register(&op.Op{
	Name: "size", Statement: tells, Doc: "The number of elements.", Strided: true,
	Params: unaryParams, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) { return shape.Shape{}, nil },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		return c.Result(tensor.Scalar(int64(c.Tensor(0).Shape().Size())))
	},
	Batch: func(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
		if r, ok := c.Tensor(0).(rowShaper); ok {
			return c.Result(Prod(r.RowShapes(), 1))
		}
		s := Shape(c.Tensor(0))
		return c.Result(BroadcastTo(Prod(Index(s, key.From(1))), Index(s, key.To(1))))
	},
})

// Size returns the number of x's elements.
//
//	x: [n…] → int64[]. No gradient.
func Size(x any) tensor.Tensor {
	if t, ok := plain(x); ok && t.Shape().Size() >= 0 {
		return tensor.Scalar(int64(t.Shape().Size()))
	}
	return op.Eval(sizeOp, x)
}

var rankOp = op.Register(&op.Op{
	Name: "rank", Statement: tells, Doc: "The number of axes.", Strided: true,
	Params: unaryParams, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) { return shape.Shape{}, nil },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		return c.Result(tensor.Scalar(int64(c.Tensor(0).Shape().Rank())))
	},
	Batch: func(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
		rank, err := batchRank(c, c.Tensor(0))
		if err != nil {
			return nil, err
		}
		return c.Result(BroadcastTo(rank-1, Reshape(rowsOf(c.Tensor(0)), []int{1})))
	},
})

// Rank returns the number of x's axes.
//
//	x: [n…] → int64[]. No gradient.
func Rank(x any) tensor.Tensor {
	if t, ok := plain(x); ok && t.Shape().HasRank() {
		return tensor.Scalar(int64(t.Shape().Rank()))
	}
	return op.Eval(rankOp, x)
}

// plain returns x as a tensor if no handler can answer for it: it holds data or
// records.
func plain(x any) (tensor.Tensor, bool) {
	switch x := x.(type) {
	case *tensor.Dense:
		return x, x != nil
	case *tensor.Strings:
		return x, x != nil
	case op.Recorder:
		return x, true
	}
	return nil, false
}
