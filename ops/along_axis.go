package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var takeAlongAxisOp *op.Op

func init() {
	takeAlongAxisOp = op.Register(&op.Op{
		Name: "take_along_axis", Statement: moves(op.Select, two), Doc: "One element along an axis for each index.",
		Params: []op.Param{{Name: "x"}, {Name: "indices", Takes: op.Indices}, {Name: "axis", Kind: op.Attr, Type: op.IntType}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) { return alongShape(c, 1, 2) },
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			s, idx := outShape(c, 0), c.Dense(1)
			axis, _ := s.Axis(c.Int(2))
			var err error
			out := move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense {
				y := tensor.Uninit(x.DType(), s)
				dims := x.Shape().Dims()
				if err = moverOf(x.DType()).along(y, x, idx, product(dims[:axis]), dims[axis], s.Dim(axis), product(dims[axis+1:])); err != nil {
					return tensor.NewDense(x.DType(), shape.Of(0))
				}
				return y
			})
			if err != nil {
				return nil, indexError(c, 1, err)
			}
			return c.Result(out)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			x := c.Tensor(0)
			return []tensor.Tensor{op.Eval(putAlongAxisOp, zerosOf(x, ct[0]), c.Value(1), ct[0], c.Int(2), true), nil}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			v := allInFront(c.Values(), batched)
			return c.Result(TakeAlongAxis(v[0], v[1], shiftAxis(c.Int(2))))
		},
	})
}

// TakeAlongAxis returns, for each index, the element of x at that position along an axis, and at
// the index's own position along the others. With the result of [ArgSort], for example, it sorts.
//
//	x: [a, n, b], indices: int[a, m, b], axis 1 → [a, m, b], any element type.
//	Gradient: the cotangents added up at their positions.
func TakeAlongAxis(x, indices any, axis int) tensor.Tensor {
	return op.Eval(takeAlongAxisOp, x, indices, axis)
}

// alongShape returns the shape of argument i, the indices, which must match
// argument 0 except along the axis that parameter p holds.
func alongShape(c *op.Call, i, p int) (shape.Shape, error) {
	s, is := c.Tensor(0).Shape(), c.Tensor(i).Shape()
	axis, err := c.Axis(c.Int(p), s)
	if err != nil || !s.HasRank() {
		return is, err
	}
	out, err := shape.Merge(s.With(axis, shape.Unknown), is)
	if err != nil {
		return is, c.Errorf(tenon.ErrShape, "the indices have the shape %v, which differs from %v outside axis %d", is, s, axis)
	}
	return out, nil
}

var putAlongAxisOp *op.Op

func init() {
	putAlongAxisOp = op.Register(&op.Op{
		Name: "put_along_axis", Statement: scatters(op.Sums), Doc: "A tensor with other elements at positions along an axis.",
		Params: []op.Param{{Name: "x", Group: 1}, {Name: "indices", Takes: op.Indices}, {Name: "updates", Group: 1},
			{Name: "axis", Kind: op.Attr, Type: op.IntType}, {Name: "add", Kind: op.Attr, Type: op.BoolType, Default: false}}, Results: 1,
		Elem: func(c *op.Call, d dtype.DType) dtype.DType {
			if c.Bool(4) && !d.IsNumeric() {
				return dtype.None
			}
			return d
		},
		Check: func(c *op.Call) error {
			s, err := alongShape(c, 1, 3)
			if us := c.Tensor(2).Shape(); err == nil && !us.CompatibleWith(s) {
				return c.Errorf(tenon.ErrShape, "the updates have the shape %v, the indices %v", us, s)
			}
			return err
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			at, err := alongIndex(c)
			if err != nil {
				return nil, err
			}
			if x := c.Dense(0); c.Bool(4) {
				out := move.Copied(x)
				return []tensor.Tensor{out}, byType[x.DType()].scatterAdd(out, c.Dense(2), at, 1)
			}
			return c.Result(move.ApplyList([]tenon.Value{c.Value(0), c.Value(2)}, func(ds []*tensor.Dense) *tensor.Dense {
				out := move.Copied(ds[0])
				tenon.Throw(moverOf(out.DType()).update(out, ds[1], at, 1))
				return out
			}))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			x, idx, u, axis := c.Tensor(0), c.Value(1), c.Tensor(2), c.Int(3)
			gu := TakeAlongAxis(ct[0], idx, axis)
			if c.Bool(4) {
				return []tensor.Tensor{ct[0], nil, gu}
			}
			number := Reshape(Range(0, Size(u), 1), Shape(u))
			there := TakeAlongAxis(PutAlongAxis(zerosOf(x, number), idx, number, axis), idx, axis)
			gu = Where(Equal(there, number), gu, Cast(0, gu.DType()))
			return []tensor.Tensor{PutAlongAxis(ct[0], idx, zerosOf(u, ct[0]), axis), nil, gu}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			v := allInFront(c.Values(), batched)
			return c.Result(op.Eval(putAlongAxisOp, v[0], v[1], v[2], shiftAxis(c.Int(3)), c.Bool(4)))
		},
	})
}

// PutAlongAxis returns x with the elements that [TakeAlongAxis] would take replaced by updates. If
// several updates have the same position, the last one is kept.
//
//	x: [a, n, b], indices: int[a, m, b], updates: [a, m, b], axis 1 → [a, n, b], any element type.
//	Gradient: for x the cotangent with zeros at the positions, for updates the cotangent there.
func PutAlongAxis(x, indices, updates any, axis int) tensor.Tensor {
	return op.Eval(putAlongAxisOp, x, indices, updates, axis, false)
}

// AddAlongAxis returns x with the updates added at the positions of [PutAlongAxis]. Several updates
// at the same position are all added.
//
//	x: [a, n, b], indices: int[a, m, b], updates: [a, m, b], axis 1 → [a, n, b], numbers.
//	Gradient: for x the cotangent, for updates the cotangent taken along the axis.
func AddAlongAxis(x, indices, updates any, axis int) tensor.Tensor {
	return op.Eval(putAlongAxisOp, x, indices, updates, axis, true)
}

// alongIndex converts positions along an axis (arguments 1 and 3) to positions among all elements
// of argument 0.
func alongIndex(c *op.Call) ([]int64, error) {
	s, idx := c.Tensor(0).Shape(), c.Dense(1)
	axis, _ := s.Axis(c.Int(3))
	n, m := s.Dim(axis), idx.Dim(axis)
	if err := checkIndex(idx, n); err != nil {
		return nil, indexError(c, 1, err)
	}
	inner := product(s.Dims()[axis+1:])
	at := make([]int64, idx.Len())
	for i, p := range wide(idx) {
		j := i % inner
		o := i / inner / m
		at[i] = int64((o*n+int(p))*inner + j)
	}
	return at, nil
}
