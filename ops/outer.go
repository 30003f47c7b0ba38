package ops

import (
	"slices"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Outer returns the products of all pairs of elements. Its shape is x's followed by y's.
//
//	x: [s…], y: [t…]  →  [s…, t…]
//
// Gradient: Σ ct·y over y's axes for x, Σ ct·x over x's axes for y.
func Outer(x, y any) tensor.Tensor { return op.Eval(outerOp, x, y) }

var outerOp = op.Register(&op.Op{
	Name: "outer", Statement: contracts, Doc: "products of all pairs of elements", Results: 1, Strided: true,
	Params: []op.Param{{Name: "x", Group: 1, Takes: op.Numbers}, {Name: "y", Group: 1}},
	Shape: func(c *op.Call) (shape.Shape, error) {
		return shape.Concat(c.Tensor(0).Shape(), c.Tensor(1).Shape()), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, y, s := c.Dense(0), c.Dense(1), outShape(c, 0)
		wide := shape.Concat(x.Shape(), shape.Of(slices.Repeat([]int{1}, y.Rank())...))
		strides := append(x.Strides(), make([]int, y.Rank())...)
		out, _ := binaryDense(elementwise.Mul, x.View(0, wide, strides), y, s, grainCheap)
		return c.Result(out)
	},
	Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		values := c.Values()
		xr, err := batchRank(c, values[0].(tensor.Tensor))
		if err != nil {
			return nil, err
		}
		yr, err := batchRank(c, values[1].(tensor.Tensor))
		if err != nil {
			return nil, err
		}
		x, y := values[0].(tensor.Tensor), values[1].(tensor.Tensor)
		if batched[1] {
			yr--
			own := xr
			if batched[0] {
				own--
			}
			y = ExpandDims(y, span(1, 1+own)...)
		}
		return c.Result(Mul(ExpandDims(x, span(xr, xr+yr)...), y))
	},
})

var _ = gradient(outerOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x, y, g := c.Tensor(0), c.Tensor(1), ct[0]
	xr, yr := rankOf(c, x), rankOf(c, y)
	gx, gy := Mul(g, conj(y)), Mul(g, ExpandDims(conj(x), span(xr, xr+yr)...))
	return []tensor.Tensor{
		op.Eval(sumOp, gx, span(xr, xr+yr), false), op.Eval(sumOp, gy, span(0, xr), false),
	}
})

// span returns the integers from lo up to, but not including, hi.
func span(lo, hi int) []int {
	out := make([]int, 0, hi-lo)
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}
