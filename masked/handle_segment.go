package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/half"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Reductions over segments skip missing elements, as other reductions do; an item with a missing id
// belongs to no segment.

// ofSegments combines the present elements of each segment.
func ofSegments(c *op.Call) ([]tenon.Value, error) {
	given := c
	if ids, ok := c.Value(1).(*Tensor); ok {
		c = c.WithArg(1, withNumber(ids, -1))
	}
	x, ok := c.Value(0).(*Tensor)
	switch {
	case !ok && c == given: // only the number of segments is missing
		return nil, op.NotHandled
	case !ok:
		return c.Do()
	}
	x = x.single()
	m := c.Op.Monoid
	if m.Divide == op.ByNothing {
		out, err := c.WithArg(0, filled(x, m.IdentityOf(x.DType()))).Do()
		if err == nil && m.Picks {
			return op.One(wrap(out[0].(tensor.Tensor), ops.Greater(countOf(c, x), int64(0))))
		}
		return out, err
	}
	sum := ops.SegmentSum(floating(withNumber(x, 0)), c.Args[1], c.Args[2])
	count := ops.Cast(countOf(c, x), sum.DType())
	if m.Divide == op.ByRootOfCount {
		count = ops.Sqrt(count)
	}
	return op.One(half.Narrow(ops.Div(sum, count), x.DType()))
}

// countOf returns the number of present items of each segment.
func countOf(c *op.Call, x *Tensor) tensor.Tensor {
	return ops.SegmentSum(ops.Cast(x.Full(), dtype.Int64), c.Args[1], c.Args[2])
}
