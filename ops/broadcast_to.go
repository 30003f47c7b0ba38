package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var broadcastToOp *op.Op

func init() {
	broadcastToOp = op.Register(&op.Op{
		Name: "broadcast_to", Statement: moves(op.Broadcast, two), Doc: "The tensor repeated along new axes and axes of size 1.", Strided: true,
		Params: []op.Param{{Name: "x"}, sizesParam("shape")}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s, err := shapeFrom(c, 1)
			if err == nil && s.IsFull() {
				err = stretches(c, c.Tensor(0).Shape(), s)
			}
			return s, err
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			s := outShape(c, 0)
			return c.Result(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense { return move.Stretched(x, s) }))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{sumTo(ct[0], c.Tensor(0)), nil}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if batched[1] {
				return nil, op.NotHandled
			}
			x, to := c.Tensor(0), c.Tensor(1)
			rank, err := batchRank(c, x)
			if err != nil || !to.Shape().HasRank() || to.Shape().Dim(0) < 0 {
				return nil, op.NotHandled
			}
			// The axes of a row are aligned at the end, so axes of size 1 go after the batch axis.
			y := tensor.Tensor(x)
			for range to.Shape().Dim(0) - (rank - 1) {
				y = ExpandDims(y, 1)
			}
			return c.Result(BroadcastTo(y, prepended(rowsOf(x), to)))
		},
	})
}

// BroadcastTo returns x broadcast to a shape, which is a []int, a shape.Shape or a vector of
// integers: axes are aligned at the end, and axes that are absent or of size 1 are stretched. The
// result is a view; strings are copied.
//
//	x: [a, 1] → [n, a, b], any element type. Gradient: the cotangent summed over the stretched axes.
func BroadcastTo(x, shape any) tensor.Tensor {
	return op.Eval(broadcastToOp, x, shape)
}

// stretches returns an error if a tensor of shape s does not broadcast to a full
// shape.
func stretches(c *op.Call, s, to shape.Shape) error {
	if !s.HasRank() {
		return nil
	}
	off := to.Rank() - s.Rank()
	if off < 0 {
		return c.Errorf(tenon.ErrShape, "rank %d does not broadcast to the shape %v", s.Rank(), to)
	}
	for i, d := range s.Dims() {
		if d >= 0 && d != 1 && d != to.Dim(off+i) {
			return c.Errorf(tenon.ErrShape, "size %d of axis %d does not broadcast to %d", d, i, to.Dim(off+i))
		}
	}
	return nil
}
