package ops

import (
	"errors"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var fillOp *op.Op

func init() {
	fillOp = op.Register(&op.Op{
		Name: "fill", Statement: op.Statement{Axes: op.Create, Control: one, Moves: two, Zero: op.Zero{Keeps: true, Linear: []op.Operands{two}}}, Doc: "A tensor with one value for all elements.",
		Params: []op.Param{sizesParam("shape"), {Name: "value", Rank: op.Scalar}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) { return shapeFrom(c, 0) },
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			s := outShape(c, 0)
			return c.Result(move.Apply(c.Tensor(1), func(v *tensor.Dense) *tensor.Dense { return move.Stretched(v, s) }))
		},
		VJP: func(_ *op.Call, _, ct []tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{nil, Sum(ct[0])} },
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if batched[0] || c.Tensor(0).Shape().Dim(0) < 0 {
				return nil, op.NotHandled
			}
			return c.Result(tailed(c.Tensor(1), c.Tensor(0)))
		},
	})
}

// tailed repeats each element of a vector to a shape of known rank: [n] → [n, shape…].
func tailed(v, shape tensor.Tensor) tensor.Tensor {
	ones := append([]int{-1}, slices.Repeat([]int{1}, shape.Shape().Dim(0))...)
	return BroadcastTo(Reshape(v, ones), prepended(rowsOf(v), shape))
}

// Fill returns a tensor of the given sizes, which are a []int, a shape.Shape or a vector of
// integers. All elements are value, a scalar. Only one element is stored until an operation needs
// more.
//
//	sizes: int[rank], value: [] → [sizes…], any element type. Gradient: for value, the sum of the cotangent.
func Fill(sizes, value any) tensor.Tensor {
	return op.Eval(fillOp, sizes, value)
}

// Zeros returns a tensor of zeros (false for booleans, empty strings) of the given element type and
// shape; see [Fill]. With a known shape, the result is a constant even while tracing.
//
//	shape: int[rank] → [shape…], any element type.
func Zeros(d dtype.DType, shape any) tensor.Tensor { return Fill(shape, zeroOf(d)) }

// Ones returns a tensor of ones (true for booleans) of the given element type and shape; see
// [Fill].
//
//	shape: int[rank] → [shape…], numbers and booleans.
func Ones(d dtype.DType, shape any) tensor.Tensor {
	return Fill(shape, Cast(tensor.Scalar(true), d))
}

var eyeOp = op.Register(&op.Op{
	Name: "eye", Statement: op.Statement{Axes: op.Create, Control: op.Every, Missing: op.Refuse}, Doc: "A matrix with ones on the diagonal.", Nondifferentiable: true,
	Params: []op.Param{sizeParam("rows"), sizeParam("columns"), {Name: "dtype", Kind: op.Attr, Type: op.DTypeType}}, Results: 1,
	Elem: func(c *op.Call, _ dtype.DType) dtype.DType { return c.DType(2) },
	Check: func(c *op.Call) error {
		if d := c.DType(2); !d.IsNumeric() && !d.IsBool() {
			return c.Errorf(tenon.ErrDType, "there is no one of type %v", d)
		}
		return nil
	},
	Shape: func(c *op.Call) (shape.Shape, error) {
		n, err1 := count(c, 0)
		m, err2 := count(c, 1)
		return shape.Of(n, m), errors.Join(err1, err2)
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		out := tensor.NewDense(c.DType(2), s)
		diagonal := out.View(0, shape.Of(min(s.Dim(0), s.Dim(1))), []int{s.Dim(1) + 1})
		move.CopyTo(diagonal, move.Stretched(castDense(tensor.Scalar(true).(*tensor.Dense), c.DType(2)), diagonal.Shape()))
		return c.Result(out)
	},
})

// Eye returns a matrix with ones on the diagonal and zeros elsewhere. Its sizes are integers or
// scalar tensors.
//
//	rows, columns: int[] → [rows, columns], numbers and booleans. No gradient.
func Eye(d dtype.DType, rows, columns any) tensor.Tensor { return op.Eval(eyeOp, rows, columns, d) }
