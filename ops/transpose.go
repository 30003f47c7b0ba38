package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var transposeOp *op.Op

func init() {
	transposeOp = op.Register(&op.Op{
		Name: "transpose", Statement: moves(op.Permute, 0), Doc: "The axes in another order.", Strided: true,
		Params: []op.Param{{Name: "x"}, {Name: "perm", Kind: op.Attr, Type: op.IntsType, Optional: true}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s, perm := c.Tensor(0).Shape(), c.Ints(1)
			if !s.HasRank() {
				if perm == nil {
					return s, nil
				}
				s = shape.OfRank(len(perm))
			}
			order, err := permutation(c, perm, s)
			dims := make([]int, len(order))
			for i, a := range order {
				dims[i] = s.Dim(a)
			}
			return shape.Of(dims...), err
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			order, err := permutation(c, c.Ints(1), c.Tensor(0).Shape())
			if err != nil {
				return nil, err
			}
			return c.Result(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense { return permuted(x, order) }))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			perm := c.Ints(1)
			if perm == nil {
				return []tensor.Tensor{Transpose(ct[0])}
			}
			back := make([]int, len(perm))
			for i, a := range perm {
				if a < 0 {
					a += len(perm)
				}
				back[a] = i
			}
			return []tensor.Tensor{Transpose(ct[0], back...)}
		},
		Batch: func(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
			rank, err := batchRank(c, c.Tensor(0))
			if err != nil {
				return nil, err
			}
			order := []int{0}
			for i := range rank - 1 {
				a := rank - 1 - i
				if perm := c.Ints(1); perm != nil {
					a = shiftAxis(perm[i])
				}
				order = append(order, a)
			}
			return c.Result(Transpose(c.Value(0), order...))
		},
	})
}

// Transpose returns x with its axes permuted: axis i of the result is axis perm[i] of x. Without
// perm, the order of the axes is reversed. The result is a view; strings are copied.
//
//	x: [a, b, c], perm 2, 0, 1 → [c, a, b], any element type. Gradient: the inverse transposition.
func Transpose(x any, perm ...int) tensor.Tensor {
	if len(perm) == 0 {
		return op.Eval(transposeOp, x)
	}
	return op.Eval(transposeOp, x, perm)
}

// SwapAxes returns x with two axes swapped.
//
//	x: [a, b, c], axes 0 and -1 → [c, b, a], any element type.
func SwapAxes(x any, a, b int) tensor.Tensor {
	t := tenon.Must(tensor.Convert(x))
	return Transpose(t, edited(t, func(order []int) {
		i, j := tenon.Must(t.Shape().Axis(a)), tenon.Must(t.Shape().Axis(b))
		order[i], order[j] = j, i
	})...)
}

// MoveAxis returns x with one axis moved to another position; the others keep their order.
//
//	x: [a, b, c], from 0 to -1 → [b, c, a], any element type.
func MoveAxis(x any, from, to int) tensor.Tensor {
	t := tenon.Must(tensor.Convert(x))
	return Transpose(t, edited(t, func(order []int) {
		i, j := tenon.Must(t.Shape().Axis(from)), tenon.Must(t.Shape().Axis(to))
		for ; i < j; i++ {
			order[i], order[i+1] = order[i+1], order[i]
		}
		for ; i > j; i-- {
			order[i], order[i-1] = order[i-1], order[i]
		}
	})...)
}

// edited returns the order of t's axes after f has changed it.
func edited(t tensor.Tensor, f func(order []int)) []int {
	if !t.Shape().HasRank() {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "ops.Transpose", "the rank is not known"))
	}
	order := make([]int, t.Shape().Rank())
	for i := range order {
		order[i] = i
	}
	f(order)
	return order
}

// permutation returns perm with axes counted from the start; nil means reversed.
func permutation(c *op.Call, perm []int, s shape.Shape) ([]int, error) {
	rank := s.Rank()
	order := make([]int, rank)
	if perm == nil {
		for i := range order {
			order[i] = rank - 1 - i
		}
		return order, nil
	}
	if _, _, err := c.AxesOf(perm, s); err != nil {
		return nil, err
	}
	if len(perm) != rank {
		return nil, c.Errorf(tenon.ErrAxis, "perm %v lists %d axes, the tensor has %d", perm, len(perm), rank)
	}
	for i, a := range perm {
		if a < 0 {
			a += rank
		}
		order[i] = a
	}
	return order, nil
}

// permuted returns a view of x with its axes in another order.
func permuted(x *tensor.Dense, order []int) *tensor.Dense {
	s, strides := x.Shape(), make([]int, len(order))
	from, out := x.Strides(), s
	for i, a := range order {
		strides[i] = from[a]
		out = out.With(i, s.Dim(a))
	}
	return x.View(0, out, strides)
}
