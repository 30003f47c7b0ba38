package ops

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var reverseOp = op.Register(&op.Op{
	Name: "reverse", Statement: moves(op.Select, 0), Doc: "The elements in reverse order along some axes.", Strided: true,
	Params: []op.Param{{Name: "x"}, {Name: "axis", Kind: op.Attr, Type: op.IntsType}}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		_, _, err := c.SortedAxes(c.Tensor(0).Shape())
		return c.Tensor(0).Shape(), err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		axes, _, err := c.SortedAxes(c.Tensor(0).Shape())
		return []tensor.Tensor{move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense { return reversed(x, axes) })}, err
	},
})

var _ = gradient(reverseOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{op.Eval(reverseOp, ct[0], c.Ints(1))}
})

// Reverse returns the elements of x in the opposite order along the given axes. The
// result is a view; strings are copied.
//
//	x: [a, b], axes 0 → [a, b], any element type. Gradient: the cotangent reversed.
func Reverse(x any, axes ...int) tensor.Tensor {
	return op.Eval(reverseOp, x, append([]int{}, axes...))
}

// reversed returns a view of x with some axes reversed.
func reversed(x *tensor.Dense, axes []int) *tensor.Dense {
	if x.Len() == 0 {
		return x
	}
	offset, strides := 0, x.Strides()
	for _, a := range axes {
		offset += (x.Dim(a) - 1) * strides[a]
		strides[a] = -strides[a]
	}
	return x.View(offset, x.Shape(), strides)
}

var rollOp = op.Register(&op.Op{
	Name: "roll", Statement: moves(op.Select, two), Doc: "The elements rotated along some axes.", Strided: true,
	Params: []op.Param{{Name: "x"}, {Name: "shift", Takes: op.Indices}, {Name: "axis", Kind: op.Attr, Type: op.IntsType}}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		x, s := c.Tensor(0).Shape(), c.Tensor(1).Shape()
		if s.Rank() > 1 || s.Rank() == 1 && s.Dim(0) >= 0 && s.Dim(0) != len(c.Ints(2)) {
			return x, c.Errorf(tenon.ErrShape, "shift has the shape %v for %d axes", s, len(c.Ints(2)))
		}
		for _, a := range c.Ints(2) {
			if _, err := c.Axis(a, x); err != nil {
				return x, err
			}
		}
		return x, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		shifts, _ := c.ConstInts(1)
		return c.Result(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense {
			for i, a := range c.Ints(2) {
				axis, _ := x.Shape().Axis(a)
				x = rolled(x, axis, shifts[min(i, len(shifts)-1)])
			}
			return x
		}))
	},
})

var _ = gradient(rollOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{op.Eval(rollOp, ct[0], Neg(c.Value(1)), c.Ints(2)), nil}
})

// Roll returns the elements of x moved along axes by shift, an integer for all axes or a vector
// with one integer for each. Elements that are moved beyond one end reappear at the other. The
// shifts of an axis that is named twice add up, as in NumPy and TensorFlow.
//
//	x: [a, b], shift: int[] or int[axes] → [a, b], any element type. Gradient: the cotangent rolled back.
func Roll(x, shift any, axes ...int) tensor.Tensor {
	return op.Eval(rollOp, x, shift, append([]int{}, axes...))
}

func rolled(x *tensor.Dense, axis, shift int) *tensor.Dense {
	n := x.Dim(axis)
	if n == 0 {
		return x
	}
	if shift %= n; shift < 0 {
		shift += n
	}
	if shift == 0 || x.Len() == 0 {
		return x
	}
	out := tensor.Uninit(x.DType(), x.Shape())
	to, from := out.Strides(), x.Strides()
	head, tail := x.Shape().With(axis, n-shift), x.Shape().With(axis, shift)
	move.CopyTo(out.View(shift*to[axis], head, to), x.View(0, head, from))
	move.CopyTo(out.View(0, tail, to), x.View((n-shift)*from[axis], tail, from))
	return out
}

var reverseSequenceOp = op.Register(&op.Op{
	Name: "reverse_sequence", Statement: moves(op.Select, two), Doc: "The first elements of each row in reverse order.",
	Params: []op.Param{{Name: "x"}, {Name: "lengths", Takes: op.Indices}, {Name: "seq_axis", Kind: op.Attr, Type: op.IntType}, {Name: "batch_axis", Kind: op.Attr, Type: op.IntType, Default: 0}}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		s := c.Tensor(0).Shape()
		_, ranked, err := c.AxesOf([]int{c.Int(2), c.Int(3)}, s)
		if err != nil || !ranked {
			return s, err
		}
		b, _ := s.Axis(c.Int(3))
		if ls := c.Tensor(1).Shape(); !ls.CompatibleWith(shape.Of(s.Dim(b))) {
			return s, c.Errorf(tenon.ErrShape, "lengths has the shape %v, want %v", ls, shape.Of(s.Dim(b)))
		}
		return s, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := c.Tensor(0).Shape()
		seq, _ := s.Axis(c.Int(2))
		batch, _ := s.Axis(c.Int(3))
		lengths := wide(c.Dense(1))
		for i, n := range lengths {
			if n < 0 || n > int64(s.Dim(seq)) {
				return nil, c.Errorf(tenon.ErrInvalid, "lengths[%d] is %d, rows have %d elements", i, n, s.Dim(seq))
			}
		}
		return c.Result(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense { return reversedRows(x, lengths, seq, batch) }))
	},
})

var _ = gradient(reverseSequenceOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{op.Eval(reverseSequenceOp, ct[0], c.Value(1), c.Int(2), c.Int(3)), nil}
})

// ReverseSequence returns x with the first lengths[b] elements along seqAxis in the
// opposite order, for each position b along batchAxis.
//
//	x: [b, n, a], lengths: int[b], axes 1, 0 → [b, n, a], any element type. Gradient: the cotangent reversed.
func ReverseSequence(x, lengths any, seqAxis, batchAxis int) tensor.Tensor {
	return op.Eval(reverseSequenceOp, x, lengths, seqAxis, batchAxis)
}

func reversedRows(x *tensor.Dense, lengths []int64, seq, batch int) *tensor.Dense {
	out := move.Copied(x)
	strides := out.Strides()
	row := x.Shape().With(batch, 1)
	for b, n := range lengths {
		part := row.With(seq, int(n))
		if part.Size() == 0 {
			continue
		}
		back := slices.Clone(strides)
		back[seq] = -back[seq]
		move.CopyTo(out.View(b*strides[batch], part, strides), x.View(b*strides[batch]+int(n-1)*strides[seq], part, back))
	}
	return out
}
