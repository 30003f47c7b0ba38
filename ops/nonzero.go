package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var nonzeroOp = op.Register(&op.Op{
	Name: "nonzero", Statement: opaque("the number of results depends on the elements"), Doc: "The coordinates of the nonzero elements.", Nondifferentiable: true,
	Params: unaryOf(op.NumbersBools), Results: 1,
	Elem: always(dtype.Int64),
	Shape: func(c *op.Call) (shape.Shape, error) {
		return shape.Of(shape.Unknown, c.Tensor(0).Shape().Rank()), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		at := trueAt(truth(x))
		if x.Rank() == 1 {
			return c.Result(tensor.Wrap(at, shape.Of(len(at), 1)))
		}
		out, coords := tensor.Make[int64](shape.Of(len(at), x.Rank()))
		gather.Coordinates(coords, at, x.Shape().Dims())
		return c.Result(out)
	},
})

// Nonzero returns the coordinates of the elements of x that are nonzero, or true, in row-major
// order.
//
//	x: [n…] → int64[count, rank], numbers and booleans. No gradient.
func Nonzero(x any) tensor.Tensor { return op.Eval(nonzeroOp, x) }

// truth returns which elements are nonzero.
func truth(x *tensor.Dense) []bool {
	if x.DType().IsBool() {
		return tensor.Elems[bool](x)
	}
	out := make([]bool, x.Len())
	byType[x.DType()].nonzero(out, x)
	return out
}

// trueAt returns the positions of the true elements.
func trueAt(mask []bool) []int64 {
	at := make([]int64, gather.CountTrue(mask))
	gather.TrueAt(at, mask)
	return at
}

var booleanMaskOp = op.Register(&op.Op{
	Name: "boolean_mask", Statement: moves(op.Select, two), Doc: "The slices for which a mask is true.",
	Params: []op.Param{{Name: "x"}, {Name: "mask", Takes: op.Bools, Rank: 1}, {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: 0}}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		s, ms := c.Tensor(0).Shape(), c.Tensor(1).Shape()
		axis, err := c.Axis(c.Int(2), s)
		if err != nil || !s.HasRank() || !ms.HasRank() {
			return shape.UnknownRank, err
		}
		if axis+ms.Rank() > s.Rank() || !s.Slice(axis, axis+ms.Rank()).CompatibleWith(ms) {
			return s, c.Errorf(tenon.ErrShape, "the mask has the shape %v, which differs from %v from axis %d on", ms, s, axis)
		}
		return shape.Concat(s.Slice(0, axis), shape.Of(shape.Unknown), s.Tail(axis+ms.Rank())), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s, mask := c.Tensor(0).Shape(), tensor.Elems[bool](c.Dense(1))
		axis, _ := s.Axis(c.Int(2))
		return c.Result(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense {
			return masked(x, mask, axis, c.Tensor(1).Shape().Rank())
		}))
	},
})

var _ = gradient(booleanMaskOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	x, mask := c.Tensor(0), c.Tensor(1)
	s := x.Shape()
	rankOf(c, x)
	rankOf(c, mask)
	axis := tenon.Must(s.Axis(c.Int(2)))
	at := Reshape(Nonzero(Reshape(mask, []int{-1})), []int{-1})
	g := SegmentSum(MoveAxis(ct[0], axis, 0), at, Size(mask))
	return []tensor.Tensor{reshapedLike(MoveAxis(g, 0, axis), x), nil}
})

// BooleanMask returns the slices of x for which mask is true, in order. The mask
// has the sizes of some axes of x, starting with the given one; those axes become
// one.
//
//	x: [a, n, b], mask: bool[n], axis 1 → [a, count, b], any element type.
//	Gradient: the cotangent where the mask is true, 0 elsewhere.
func BooleanMask(x, mask any, axis int) tensor.Tensor {
	return op.Eval(booleanMaskOp, x, mask, axis)
}

// masked keeps the slices along the k axes from axis on for which mask is true.
func masked(x *tensor.Dense, mask []bool, axis, k int) *tensor.Dense {
	outer, inner := x.Shape().Slice(0, axis).Size(), x.Shape().Tail(axis+k).Size()
	count := gather.CountTrue(mask)
	s := shape.Concat(x.Shape().Slice(0, axis), shape.Of(count), x.Shape().Tail(axis+k))
	if outer == 1 && inner > 0 {
		out := tensor.Uninit(x.DType(), s)
		moverOf(x.DType()).compact(out, x, mask, inner)
		return out
	}
	flat := shape.Concat(x.Shape().Slice(0, axis), shape.Of(len(mask)), x.Shape().Tail(axis+k))
	return taken(x.Reshaped(flat), tensor.Vector(trueAt(mask)), s, axis)
}
