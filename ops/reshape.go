package ops

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var reshapeOp *op.Op

func init() {
	reshapeOp = op.Register(&op.Op{
		Name: "reshape", Statement: moves(op.Regroup, two), Doc: "The same elements in row-major order with another shape.",
		Params: []op.Param{{Name: "x"}, sizesParam("shape")}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			dims, n := sizes(c, 1)
			switch {
			case dims != nil:
				return reshaped(c, c.Tensor(0).Shape(), dims)
			case n == 1:
				return shape.Of(c.Tensor(0).Shape().Size()), nil
			}
			return shape.OfRank(n), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) { return c.Result(underShape(c.Tensor(0), outShape(c, 0))) },
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{reshapedLike(ct[0], c.Tensor(0)), nil}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if batched[1] {
				return nil, op.NotHandled
			}
			return c.Result(Reshape(c.Value(0), prepended(rowsOf(c.Tensor(0)), c.Tensor(1))))
		},
	})
}

// Reshape returns the elements of x, in row-major order, under another shape: a
// []int, a shape.Shape or a vector of integers. One size may be -1, which stands
// for whatever is left. Nothing is copied unless x is a view with gaps.
//
//	x: [n…] → [shape…], any element type. Gradient: the cotangent in x's shape.
func Reshape(x, shape any) tensor.Tensor {
	return op.Eval(reshapeOp, x, shape)
}

// reshaped replaces a -1 in dims and checks the size.
func reshaped(c *op.Call, s shape.Shape, dims []int) (shape.Shape, error) {
	if i := slices.IndexFunc(dims, func(d int) bool { return d < -1 }); i >= 0 {
		return s, c.Errorf(tenon.ErrShape, "size %d of axis %d is negative", dims[i], i)
	}
	free := slices.Index(dims, -1)
	if free >= 0 && slices.Contains(dims[free+1:], -1) {
		return s, c.Errorf(tenon.ErrShape, "the shape %v leaves two sizes open", dims)
	}
	if free >= 0 && slices.Contains(dims, 0) {
		return s, c.Errorf(tenon.ErrShape, "the open size of %v could be anything, as another one is 0", dims)
	}
	open, err := shape.From(dims)
	if err != nil {
		return s, c.Errorf(tenon.ErrShape, "%v", err)
	}
	if s.Size() < 0 {
		return open, nil
	}
	if out, ok := resolved(s, dims); ok {
		return out, nil
	}
	return s, c.Errorf(tenon.ErrShape, "%d elements do not fill the shape %v", s.Size(), open)
}

// resolved returns the shape dims, with a -1 replaced, for a tensor of shape s,
// if both have the same size.
func resolved(s shape.Shape, dims []int) (shape.Shape, bool) {
	n, rest, free, none := s.Size(), 1, -1, false
	for i, d := range dims {
		switch {
		case d < -1 || d == -1 && free >= 0:
			return s, false
		case d == -1:
			free = i
		case d == 0:
			none = true
		case rest > math.MaxInt/d:
			rest = math.MaxInt // more than any tensor has, unless another size is 0
		default:
			rest *= d
		}
	}
	if none {
		rest = 0
	}
	if free < 0 {
		if rest != n || len(dims) > shape.MaxRank {
			return s, false
		}
		return shape.Of(dims...), true
	}
	if rest == 0 || n%rest != 0 || len(dims) > shape.MaxRank {
		return s, false
	}
	return shape.Of(dims...).With(free, n/rest), true
}

// underShape gives concrete elements another shape of the same size.
func underShape(x tensor.Tensor, s shape.Shape) tensor.Tensor {
	if x, ok := x.(*tensor.Strings); ok {
		return x.Reshaped(s)
	}
	return x.(*tensor.Dense).Reshaped(s)
}

var expandDimsOp = op.Register(&op.Op{
	Name: "expand_dims", Statement: moves(op.Insert, 0), Doc: "New axes of size 1.", Strided: true,
	Params: []op.Param{{Name: "x"}, {Name: "axis", Kind: op.Attr, Type: op.IntsType}}, Results: 1,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) { return c.Result(withoutOnes(c.Tensor(0), outShape(c, 0))) },
})

var _ = gradient(expandDimsOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{Squeeze(ct[0], c.Ints(1)...)}
})

// ExpandDims returns x with new axes of size 1 at the given positions in the result. It copies
// nothing.
//
//	x: [a, b], axes 0, -1 → [1, a, b, 1], any element type. Gradient: the cotangent in x's shape.
func ExpandDims(x any, axes ...int) tensor.Tensor {
	return op.Eval(expandDimsOp, x, append([]int{}, axes...))
}

var squeezeOp *op.Op

func init() {
	squeezeOp = op.Register(&op.Op{
		Name: "squeeze", Statement: moves(op.Remove, 0), Doc: "The tensor without axes of size 1.", Strided: true,
		Params: []op.Param{{Name: "x"}, {Name: "axis", Kind: op.Attr, Type: op.IntsType, Optional: true}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s := c.Tensor(0).Shape()
			axes, known, err := c.SortedAxes(s)
			if err != nil || !known {
				return s, err
			}
			if c.Ints(1) == nil {
				var ones []int
				for i, d := range s.Dims() {
					if d < 0 { // whether this axis stays depends on data
						return shape.UnknownRank, nil
					}
					if d == 1 {
						ones = append(ones, i)
					}
				}
				axes = ones
			}
			for _, a := range axes {
				if d := s.Dim(a); d >= 0 && d != 1 {
					return s, c.Errorf(tenon.ErrShape, "axis %d has size %d, not 1", a, d)
				}
			}
			return op.Reduced(s, axes, false), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) { return c.Result(withoutOnes(c.Tensor(0), outShape(c, 0))) },
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{reshapedLike(ct[0], c.Tensor(0))}
		},
		Batch: func(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
			axes := c.Ints(1)
			if axes == nil {
				s := c.Tensor(0).Shape()
				if !s.IsFull() {
					return nil, op.NotHandled
				}
				axes = []int{}
				for i, d := range s.Tail(1).Dims() {
					if d == 1 {
						axes = append(axes, i)
					}
				}
			}
			return c.Result(op.Eval(squeezeOp, c.Value(0), shiftAxes(axes, 0)))
		},
	})
}

// Squeeze returns x without the given axes, which must have size 1, or without all axes of size 1
// if none is given. It copies nothing.
//
//	x: [1, a, 1, b], axes 0 → [a, 1, b], any element type. Gradient: the cotangent in x's shape.
func Squeeze(x any, axes ...int) tensor.Tensor {
	if len(axes) == 0 {
		return op.Eval(squeezeOp, x)
	}
	return op.Eval(squeezeOp, x, axes)
}

// withoutOnes returns a view of x with a shape that differs from its own by axes
// of size 1.
func withoutOnes(x tensor.Tensor, s shape.Shape) tensor.Tensor {
	d, ok := x.(*tensor.Dense)
	if !ok || d.IsContiguous() {
		return underShape(x, s)
	}
	strides := make([]int, s.Rank())
	from, k := d.Strides(), 0
	for i := range strides {
		if s.Dim(i) == 1 {
			continue
		}
		for d.Dim(k) == 1 {
			k++
		}
		strides[i] = from[k]
		k++
	}
	return d.View(0, s, strides)
}

var ensureShapeOp *op.Op

func init() {
	ensureShapeOp = op.Register(&op.Op{
		Name: "ensure_shape", Statement: op.Statement{Axes: op.Map, Checks: true, Moves: one, Zero: movedZero}, Doc: "The tensor itself, with what is known about its shape.", Strided: true,
		Params: []op.Param{{Name: "x"}, {Name: "shape", Kind: op.Attr, Type: op.ShapeType}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			return mergeShapes(c, c.Tensor(0).Shape(), c.Shape(1))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) { return c.Result(c.Tensor(0)) },
		VJP:    func(_ *op.Call, _, ct []tensor.Tensor) []tensor.Tensor { return ct },
		Batch: func(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
			return c.Result(EnsureShape(c.Value(0), c.Shape(1).Insert(0, shape.Unknown)))
		},
	})
}

// EnsureShape returns x itself. It throws an error unless the shape of x is compatible with s. In a
// graph it provides sizes that could not be inferred.
//
//	x: [n…] → [n…], any element type. Gradient: the cotangent.
func EnsureShape(x any, s shape.Shape) tensor.Tensor { return op.Eval(ensureShapeOp, x, s) }
