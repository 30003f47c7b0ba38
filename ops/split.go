package ops

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var unstackOp = op.Register(&op.Op{
	Name: "unstack", Statement: moves(op.Remove, 0), Doc: "The parts of a tensor along an axis.", Strided: true,
	Params: []op.Param{{Name: "x"}, {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: 0}}, Results: -1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		x := c.Tensor(0)
		axis, err := c.Axis(c.Int(1), x.Shape())
		if err != nil {
			return nil, err
		}
		n := shape.Unknown
		if x.Shape().HasRank() {
			n = x.Shape().Dim(axis)
		}
		if n < 0 {
			return nil, c.Errorf(tenon.ErrShape, "the size of axis %d is not known, so neither is the number of results", axis).
				WithHint("control.Map runs a function over the rows")
		}
		return slices.Repeat([]tenon.Spec{tensor.NewSpec(x.DType(), x.Shape().Remove(axis))}, n), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Tensor(0)
		axis, _ := x.Shape().Axis(c.Int(1))
		strides := stridesOf(x)
		rest := slices.Delete(slices.Clone(strides), axis, axis+1)
		out := make([]tensor.Tensor, len(c.Out))
		for i := range out {
			out[i] = viewed(x, view{offset: i * strides[axis], shape: outShape(c, i), strides: rest})
		}
		return out, nil
	},
})

var _ = gradient(unstackOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{Stack(filled(out, ct), c.Int(1))}
})

// Unstack returns the slices of x along an axis, which is removed; its size must be known. The
// results are views.
//
//	x: [a, n, b], axis 1 → n of [a, b], any element type. Gradient: the cotangents stacked.
func Unstack(x any, axis int) []tensor.Tensor { return op.EvalN(unstackOp, x, axis) }

// filled replaces missing cotangents by zeros.
func filled(out, ct []tensor.Tensor) []tensor.Tensor {
	full := slices.Clone(ct)
	for i, g := range full {
		if g == nil {
			full[i] = zerosOf(out[i], out[i])
		}
	}
	return full
}

var splitOp = op.Register(&op.Op{
	Name: "split", Statement: moves(op.Select, two), Doc: "A tensor cut into parts along an axis.", Strided: true,
	Params: []op.Param{{Name: "x"}, {Name: "sizes", Optional: true}, {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: 0},
		{Name: "parts", Kind: op.Attr, Type: op.IntType, Default: 0}}, Results: -1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		x := c.Tensor(0)
		parts, err := splitSizes(c)
		if err != nil {
			return nil, err
		}
		out := make([]tenon.Spec, len(parts))
		for i, n := range parts {
			s := x.Shape()
			if s.HasRank() {
				s = s.With(c.Int(2), n)
			}
			out[i] = tensor.NewSpec(x.DType(), s)
		}
		return out, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Tensor(0)
		axis, _ := x.Shape().Axis(c.Int(2))
		strides := stridesOf(x)
		out := make([]tensor.Tensor, len(c.Out))
		at := 0
		for i := range out {
			v := view{offset: at * strides[axis], shape: outShape(c, i), strides: strides}
			if v.shape.Size() == 0 {
				v.offset = 0
			}
			out[i] = viewed(x, v)
			at += v.shape.Dim(axis)
		}
		return out, nil
	},
})

var _ = gradient(splitOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	g := []tensor.Tensor{known(Concat(filled(out, ct), c.Int(2)), c.Tensor(0).Shape())}
	if c.Has(1) {
		g = append(g, nil)
	}
	return g
})

// Split returns x cut into parts along an axis. Given an integer, it makes that many parts of equal
// size; given sizes ([]int or a vector of known length), it makes parts of those sizes, one of
// which may be -1 for whatever is left. The results are views.
//
//	x: [a, b], sizes 1, -1, axis 1 → [a, 1], [a, b-1], any element type.
//	Gradient: the cotangents concatenated.
func Split(x, sizes any, axis int) []tensor.Tensor {
	if n, ok := sizes.(int); ok {
		return op.EvalN(splitOp, x, nil, axis, n)
	}
	return op.EvalN(splitOp, x, sizes, axis)
}

// splitSizes returns the sizes of the parts, Unknown for those that are not
// known.
func splitSizes(c *op.Call) ([]int, error) {
	s := c.Tensor(0).Shape()
	axis, err := c.Axis(c.Int(2), s)
	if err != nil {
		return nil, err
	}
	n := shape.Unknown
	if s.HasRank() {
		n = s.Dim(axis)
	}
	if !c.Has(1) {
		return evenParts(c, n, c.Int(3))
	}
	parts, count := sizes(c, 1)
	if count < 0 {
		return nil, c.Errorf(tenon.ErrShape, "the number of sizes is not known, so neither is the number of results")
	}
	if parts == nil {
		return slices.Repeat([]int{shape.Unknown}, count), nil
	}
	total, free := 0, -1
	for i, p := range parts {
		switch {
		case p == -1 && free < 0:
			free = i
		case p < 0:
			return nil, c.Errorf(tenon.ErrInvalid, "size %d of part %d is negative", p, i)
		default:
			total += p
		}
	}
	switch {
	case n < 0: // the open part stays unknown
	case free >= 0 && total <= n:
		parts[free] = n - total
	case total != n:
		return nil, c.Errorf(tenon.ErrInvalid, "the sizes %v do not add up to %d, the size of axis %d", parts, n, axis)
	}
	return parts, nil
}

func evenParts(c *op.Call, n, count int) ([]int, error) {
	if count < 1 {
		return nil, c.Errorf(tenon.ErrInvalid, "cannot split into %d parts", count)
	}
	if n < 0 {
		return slices.Repeat([]int{shape.Unknown}, count), nil
	}
	if n%count != 0 {
		return nil, c.Errorf(tenon.ErrInvalid, "size %d cannot be split into %d parts of one size", n, count)
	}
	return slices.Repeat([]int{n / count}, count), nil
}

// zerosOf returns zeros in the shape of x with the element type of another tensor.
func zerosOf(x, like tensor.Tensor) tensor.Tensor {
	d := like.DType()
	if d == dtype.String {
		return known(Fill(Shape(x), zeroOf(d)), x.Shape())
	}
	return known(Zeros(d, Shape(x)), x.Shape())
}
