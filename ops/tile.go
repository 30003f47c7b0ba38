package ops

import (
	"math/bits"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var tileOp *op.Op

func init() {
	tileOp = op.Register(&op.Op{
		Name: "tile", Statement: moves(op.Select, two), Doc: "A tensor repeated as a whole along its axes.", Strided: true,
		Params: []op.Param{{Name: "x"}, sizesParam("multiples")}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s := c.Tensor(0).Shape()
			m, n := sizes(c, 1)
			if n >= 0 && s.HasRank() && n != s.Rank() {
				return s, c.Errorf(tenon.ErrShape, "multiples has %d entries, the tensor has rank %d", n, s.Rank())
			}
			if m == nil || !s.HasRank() {
				return shape.OfRank(max(n, s.Rank())), nil
			}
			dims := s.Dims()
			for i, d := range dims {
				if m[i] < 0 {
					return s, c.Errorf(tenon.ErrInvalid, "multiple %d of axis %d is negative", m[i], i)
				}
				if hi, lo := bits.Mul64(uint64(max(d, 1)), uint64(m[i])); hi != 0 || lo > 1<<62 {
					return s, c.Errorf(tenon.ErrShape, "%d times size %d of axis %d is too large", m[i], d, i)
				}
				if d >= 0 {
					dims[i] = d * m[i]
				}
			}
			return shape.Of(dims...), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			s := outShape(c, 0)
			return c.Result(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense { return tiled(x, s) }))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			// The copies become separate axes: [m₀, d₀, m₁, d₁, …].
			x, m := c.Tensor(0), castIndex(c.Tensor(1))
			rank := rankOf(c, x)
			if rank == 0 {
				return []tensor.Tensor{ct[0], nil}
			}
			apart := Reshape(Stack([]any{m, Shape(x)}, 1), []int{2 * rank})
			axes := make([]int, rank)
			for i := range axes {
				axes[i] = 2 * i
			}
			return []tensor.Tensor{known(Sum(Reshape(ct[0], apart), axes...), x.Shape()), nil}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if batched[1] {
				return nil, op.NotHandled
			}
			return c.Result(Tile(c.Value(0), prepended(tensor.Scalar(int64(1)), c.Tensor(1))))
		},
	})
}

// Tile repeats x as a whole, multiples[i] times along axis i. multiples is a
// []int or a vector of integers with an entry for each axis.
//
//	x: [a, b], multiples m, n → [m·a, n·b], any element type.
//	Gradient: the sum of the cotangent's copies.
func Tile(x, multiples any) tensor.Tensor { return op.Eval(tileOp, x, multiples) }

// tiled repeats x to fill the shape.
func tiled(x *tensor.Dense, s shape.Shape) *tensor.Dense {
	out := tensor.Uninit(x.DType(), s)
	if out.Len() == 0 {
		return out
	}
	var dims, to, from []int
	own := x.Strides()
	for i, st := range out.Strides() {
		d := x.Dim(i)
		dims = append(dims, s.Dim(i)/d, d)
		to = append(to, st*d, st)
		from = append(from, 0, own[i])
	}
	v := shape.Of(dims...)
	move.CopyTo(out.View(0, v, to), x.View(0, v, from))
	return out
}

var repeatOp = op.Register(&op.Op{
	Name: "repeat", Statement: moves(op.Select, two), Doc: "Each slice along an axis repeated.", Strided: true,
	Params: []op.Param{{Name: "x"}, {Name: "repeats", Takes: op.Indices}, {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: 0}}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		s, rs := c.Tensor(0).Shape(), c.Tensor(1).Shape()
		axis, err := c.Axis(c.Int(2), s)
		if err != nil {
			return s, err
		}
		if rs.Rank() > 1 {
			return s, c.Errorf(tenon.ErrShape, "repeats has shape %v, want a scalar or a vector", rs)
		}
		if !s.HasRank() {
			return s, nil
		}
		if rs.Rank() == 1 {
			if err := sameSize(c, "the number of repeats and the size of the axis", rs.Dim(0), s.Dim(axis)); err != nil {
				return s, err
			}
		}
		total, err := repeatTotal(c, s.Dim(axis))
		if err != nil {
			return s, err
		}
		return s.With(axis, total), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		axis, _ := s.Axis(c.Int(2))
		times, _ := c.ConstInts(1)
		return c.Result(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense {
			if len(times) == 1 && c.Tensor(1).Shape().IsScalar() {
				return repeatedEvenly(x, s, axis, times[0])
			}
			return repeated(x, s, axis, times)
		}))
	},
})

var _ = gradient(repeatOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	x, axis := c.Tensor(0), c.Int(2)
	n := sizeOperand(x, axis)
	from := Repeat(Range(0, n, 1), c.Value(1), 0) // the origin of each slice
	rankOf(c, x)
	g := MoveAxis(SegmentSum(MoveAxis(ct[0], axis, 0), from, n), 0, axis)
	return []tensor.Tensor{known(g, x.Shape()), nil}
})

// Repeat repeats each slice of x along an axis. repeats is an integer for all slices, or a vector
// with one for each.
//
//	x: [n, a], repeats: int[] or int[n], axis 0 → [Σ repeats, a], any element type.
//	Gradient: the sum over each slice's copies.
func Repeat(x, repeats any, axis int) tensor.Tensor { return op.Eval(repeatOp, x, repeats, axis) }

// repeatTotal returns the size of the axis after repeating.
func repeatTotal(c *op.Call, n int) (int, error) {
	times, ok := c.ConstInts(1)
	if !ok {
		return shape.Unknown, nil
	}
	var total uint64
	for i, t := range times {
		if t < 0 {
			return 0, c.Errorf(tenon.ErrInvalid, "repeats[%d] is %d, want at least 0", i, t)
		}
		if total += uint64(t); total > 1<<62 {
			return 0, c.Errorf(tenon.ErrShape, "the repeats add up to more than memory holds")
		}
	}
	if !c.Tensor(1).Shape().IsScalar() {
		return int(total), nil
	}
	if n < 0 {
		return shape.Unknown, nil
	}
	if hi, lo := bits.Mul64(total, uint64(n)); hi != 0 || lo > 1<<62 {
		return 0, c.Errorf(tenon.ErrShape, "%d slices repeated %d times are more than memory holds", n, total)
	}
	return int(total) * n, nil
}

// repeatedEvenly repeats with a view in which each slice is followed by an axis
// of stride 0.
func repeatedEvenly(x *tensor.Dense, s shape.Shape, axis, times int) *tensor.Dense {
	out := tensor.Uninit(x.DType(), s)
	if out.Len() == 0 {
		return out
	}
	to, from := out.Strides(), x.Strides()
	to = append(to[:axis:axis], append([]int{to[axis] * times}, to[axis:]...)...)
	from = append(from[:axis+1:axis+1], append([]int{0}, from[axis+1:]...)...)
	v := x.Shape().Insert(axis+1, times)
	move.CopyTo(out.View(0, v, to), x.View(0, v, from))
	return out
}

// repeated gathers each slice by the row that it belongs to.
func repeated(x *tensor.Dense, s shape.Shape, axis int, times []int) *tensor.Dense {
	splits := make([]int64, len(times)+1)
	for i, t := range times {
		splits[i+1] = splits[i] + int64(t)
	}
	ids := make([]int64, splits[len(times)])
	segment.RowIDs(ids, splits)
	return taken(x, tensor.Vector(ids), s, axis)
}
