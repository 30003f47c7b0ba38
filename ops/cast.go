package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Cast converts the elements of x to another type. Floats become integers by
// rounding toward zero and saturating, and NaN becomes 0. Integers wrap when they
// become narrower. Anything but zero becomes true. Floats are rounded to narrower
// floats, ties to even. Complex numbers lose their imaginary parts. Strings
// cannot be cast; see [StringToNumber] and [AsString].
//
// Gradient: the cotangent, cast back.
func Cast(x any, to dtype.DType) tensor.Tensor {
	return op.Eval(castOp, x, to)
}

var castOp = op.Register(&op.Op{
	Name: "cast", Statement: keepsZero, Doc: "converts elements to another type",
	Params:  []op.Param{{Name: "x"}, {Name: "dtype", Kind: op.Attr, Type: op.DTypeType}},
	Results: 1, Strided: true,
	Elem: func(c *op.Call, _ dtype.DType) dtype.DType { return c.DType(1) },
	Check: func(c *op.Call) error {
		from, to := c.Tensor(0).DType(), c.DType(1)
		if from == to || elementwise.CastOf(to, from) != nil {
			return nil
		}
		e := c.Errorf(tenon.ErrDType, "elements of type %v cannot be cast to %v", from, to)
		switch dtype.String {
		case to:
			e.Hint = "use ops.AsString"
		case from:
			e.Hint = "use ops.ToNumber"
		}
		return e
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		if s := c.Strings(0); s != nil {
			return c.Result(s)
		}
		return c.Result(castDense(c.Dense(0), c.DType(1)))
	},
})

func init() {
	op.SetCast(castOp)
	gradient(castOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Cast(ct, x.DType()) })
}

// Bitcast returns the memory of x as elements of another type. If that type is
// narrower, the result has one more axis, whose size is the number of elements
// that fit; if it is wider, x's last axis must have that size and is removed.
// Numbers are stored in little-endian order on every machine.
func Bitcast(x any, to dtype.DType) tensor.Tensor { return op.Eval(bitcastOp, x, to) }

var bitcastOp = op.Register(&op.Op{
	Name: "bitcast", Statement: op.Statement{Axes: op.Regroup, Core: 1}, Doc: "the same memory as elements of another type",
	Params:  []op.Param{{Name: "x"}, {Name: "dtype", Kind: op.Attr, Type: op.DTypeType}},
	Results: 1, Nondifferentiable: true,
	Elem: func(c *op.Call, _ dtype.DType) dtype.DType { return c.DType(1) },
	Shape: func(c *op.Call) (shape.Shape, error) {
		s, from, to := c.Tensor(0).Shape(), c.Tensor(0).DType(), c.DType(1)
		if from.Size() == 0 || to.Size() == 0 || to == dtype.Bool && from != dtype.Bool {
			return s, c.Errorf(tenon.ErrDType, "the memory of %v elements cannot be read as %v elements", from, to)
		}
		switch a, b := from.Size(), to.Size(); {
		case !s.HasRank() && a != b:
			return shape.UnknownRank, nil
		case a > b:
			return s.Insert(s.Rank(), a/b), nil
		case a < b:
			if s.Rank() == 0 || s.Dim(-1) >= 0 && s.Dim(-1) != b/a {
				return s, c.Errorf(tenon.ErrShape, "the last axis must have size %d for elements of type %v", b/a, to)
			}
			return s.Remove(-1), nil
		}
		return s, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		out, err := tensor.FromBytes(c.DType(1), outShape(c, 0), c.Dense(0).Bytes())
		if err != nil {
			return nil, err
		}
		return c.Result(out)
	},
})
