package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// norm divides the present elements by their root mean square, after subtracting their mean if
// centered is set.
func norm(centered bool) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		x, ok := c.Value(0).(*Tensor)
		if !ok {
			return nil, op.NotHandled
		}
		axes := axesOf(c)
		if centered {
			x = ops.Sub(x, meanOf(x, axes)).(*Tensor)
		}
		return normalized(c, x, axes)
	}
}

// meanOf returns the mean with its axes kept. If nothing is present, it is 0
// rather than NaN, which would propagate through gradients.
func meanOf(x *Tensor, axes []int) tensor.Tensor {
	sum, count := moments(x, axes, x.values)
	return ops.Div(sum, ops.Maximum(count, ops.OnesLike(count)))
}

// normalized divides x by its root mean square, and scales and shifts it. The axes must be the last
// ones, so that scale and offset broadcast.
func normalized(c *op.Call, x *Tensor, axes []int) ([]tenon.Value, error) {
	r := x.Shape().Rank()
	first := r - len(axes)
	if axes == nil {
		first = 0
	}
	for _, a := range axes {
		if a < 0 {
			a += r
		}
		if a < first {
			return nil, op.NotHandled
		}
	}
	eps, _ := c.Attr("eps").(float64)
	square := meanOf(ops.Square(x).(*Tensor), axes)
	y := ops.Mul(x, ops.Rsqrt(ops.Add(square, eps)))
	if scale := c.Attr("scale"); scale != nil {
		y = ops.Mul(y, scale)
	}
	if offset := c.Attr("offset"); offset != nil {
		y = ops.Add(y, offset)
	}
	return op.One(y)
}
