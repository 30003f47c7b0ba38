package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Functions that compute the gradient of an operation: for one tensor, given the operand, the
// result and the result's cotangent; for two tensors that broadcast, with gradients before the sum
// over stretched axes; and for any operands.
type (
	gradient1 = func(x, y, ct tensor.Tensor) tensor.Tensor
	gradient2 = func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor)
	gradientN = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor
)

// gradient sets the gradient of an operation. It is separate from the operation's definition,
// because gradients call operations, and Go rejects initialization cycles.
func gradient[F gradient1 | gradient2 | gradientN](o *op.Op, f F) *op.Op {
	o.Nondifferentiable = false // as Register finds operations that make tensors without it
	switch f := any(f).(type) {
	case gradient1:
		o.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{f(c.Tensor(0), out[0], ct[0])}
		}
	case gradient2:
		o.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			x, y := c.Tensor(0), c.Tensor(1)
			gx, gy := f(x, y, out[0], ct[0])
			return []tensor.Tensor{sumTo(gx, x), sumTo(gy, y)}
		}
	case gradientN:
		o.VJP = f
	}
	return o
}

// sumTo sums a cotangent over the axes in which x was stretched; nil stays nil.
func sumTo(ct, x tensor.Tensor) tensor.Tensor {
	if ct == nil {
		return nil
	}
	s := x.Shape()
	if s.IsFull() && s.Equal(ct.Shape()) {
		return ct
	}
	return SumTo(ct, Shape(x))
}

// conj returns the complex conjugate; for real tensors it returns x.
func conj(x tensor.Tensor) tensor.Tensor {
	if !x.DType().IsComplex() {
		return x
	}
	return Conj(x)
}

// reducedCount returns the number of elements of x per element of y, its
// reduction over axes: a Go number if the sizes are known, and otherwise a scalar
// of x's element type.
func reducedCount(x, y tensor.Tensor, axes []int) any {
	s := x.Shape()
	if s.HasRank() {
		n := 1
		for i, d := range s.Dims() {
			switch {
			case !contains(axes, i, s.Rank()):
			case d < 0 || n < 0:
				n = shape.Unknown
			default:
				n *= d
			}
		}
		if n >= 0 {
			return float64(n)
		}
	}
	return Cast(FloorDiv(Size(x), Maximum(Size(y), 1)), x.DType())
}

// rankOf returns the rank of a tensor, without which there is no gradient.
func rankOf(c *op.Call, x tensor.Tensor) int {
	rank := x.Shape().Rank()
	if rank < 0 {
		tenon.Throw(c.Errorf(tenon.ErrUnsupported, "the gradient needs to know the rank"))
	}
	return rank
}

// contains reports whether an axis, counted from the start, is in a list of axes,
// where nil means all.
func contains(axes []int, axis, rank int) bool {
	if axes == nil {
		return true
	}
	for _, a := range axes {
		if a == axis || a+rank == axis {
			return true
		}
	}
	return false
}
