package ops

import (
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var concatOp = op.Register(&op.Op{
	Name: "concat", Statement: moves(op.Join, 0), Doc: "Tensors concatenated along an axis.", Strided: true,
	Params: []op.Param{{Name: "values", Kind: op.Tensors, Group: 1}, {Name: "axis", Kind: op.Attr, Type: op.IntType}}, Results: 1,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		axis, _ := s.Axis(c.Int(1))
		if _, ok := c.List(0)[0].(*tensor.Strings); ok && axis == 0 {
			return c.Result(move.Behind(c.List(0), s))
		}
		return c.Result(move.ApplyList(c.List(0), func(ds []*tensor.Dense) *tensor.Dense {
			return concatenated(ds, s, axis)
		}))
	},
})

var _ = gradient(concatOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	xs, axis := c.List(0), c.Int(1)
	parts := make([]any, len(xs))
	for i, x := range xs {
		parts[i] = Reshape(sizeOperand(x.(tensor.Tensor), axis), []int{1})
	}
	out := Split(ct[0], Concat(parts, 0), axis)
	for i, x := range xs {
		out[i] = known(out[i], x.(tensor.Tensor).Shape())
	}
	return out
})

// Concat returns the tensors in values, a slice, concatenated along an axis. They must have the
// same sizes along the other axes; element types are promoted.
//
//	values: [a₀, b], [a₁, b], …, axis 0 → [a₀+a₁+…, b], any element type.
//	Gradient: the parts of the cotangent.
func Concat(values any, axis int) tensor.Tensor {
	return op.Eval(concatOp, values, axis)
}

func concatenated(ds []*tensor.Dense, s shape.Shape, axis int) *tensor.Dense {
	out := tensor.Uninit(ds[0].DType(), s)
	if s.Slice(0, axis).Size() == 1 { // the tensors are consecutive in memory
		to := out.Bytes()
		for _, d := range ds {
			if d.IsContiguous() {
				move.CopyPart(to, d.Bytes(), len(out.Bytes()))
			} else if d.Len() > 0 {
				move.CopyTo(out.View(out.Len()-len(to)/d.DType().Size(), d.Shape(), tensor.RowMajor(d.Shape())), d)
			}
			to = to[d.Len()*d.DType().Size():]
		}
		return out
	}
	strides := out.Strides()
	at := 0
	for _, d := range ds {
		if d.Len() > 0 {
			move.CopyTo(out.View(at*strides[axis], d.Shape(), strides), d)
		}
		at += d.Dim(axis)
	}
	return out
}

var stackOp = op.Register(&op.Op{
	Name: "stack", Statement: moves(op.Stack, 0), Doc: "Tensors of equal shape stacked along a new axis.", Strided: true,
	Params: []op.Param{{Name: "values", Kind: op.Tensors, Group: 1}, {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: 0}}, Results: 1,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		axis, _ := s.Axis(c.Int(1))
		one := s.With(axis, 1)
		return c.Result(move.ApplyList(c.List(0), func(ds []*tensor.Dense) *tensor.Dense {
			rows := make([]*tensor.Dense, len(ds))
			for i, d := range ds {
				rows[i] = withoutOnes(d, one).(*tensor.Dense)
			}
			return concatenated(rows, s, axis)
		}))
	},
})

var _ = gradient(stackOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return Unstack(known(ct[0], out[0].Shape()), c.Int(1)) // the result determines their number
})

// Stack returns the tensors in values, a slice, along a new axis. They must have the same shape;
// element types are promoted.
//
//	values: n of [a, b], axis 1 → [a, n, b], any element type. Gradient: the cotangent unstacked.
func Stack(values any, axis int) tensor.Tensor {
	return op.Eval(stackOp, values, axis)
}
