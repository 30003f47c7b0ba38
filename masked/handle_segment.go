package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Reductions over segments skip what is missing, as other reductions do; an item with
// a missing id belongs nowhere.

// withIDs returns the call with ids that are there, and its masked data, nil where
// nothing of the data is missing.
func withIDs(c *op.Call) (*op.Call, *Tensor) {
	if ids, ok := c.Value(1).(*Tensor); ok {
		c = c.WithArg(1, filled(ids, -1))
	}
	x, _ := c.Value(0).(*Tensor)
	return c, x
}

func segmentFilled(identity any) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		given := c
		c, x := withIDs(c)
		switch {
		case x == nil && c == given: // only the number of segments is missing
			return nil, op.NotHandled
		case x == nil:
			return c.Do()
		}
		return c.WithArg(0, filled(x, identity)).Do()
	}
}

// segmentExtreme lacks the result of a segment in which nothing is there.
func segmentExtreme(identity extreme) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		given := c
		c, x := withIDs(c)
		switch {
		case x == nil && c == given: // only the number of segments is missing
			return nil, op.NotHandled
		case x == nil:
			return c.Do()
		}
		out, err := c.WithArg(0, filled(x, identity)).Do()
		if err != nil {
			return nil, err
		}
		return op.One(wrap(out[0].(tensor.Tensor), ops.Greater(countOf(c, x), int64(0))))
	}
}

// countOf returns how many items of each segment are there.
func countOf(c *op.Call, x *Tensor) tensor.Tensor {
	return ops.SegmentSum(ops.Cast(x.Full(), dtype.Int64), c.Args[1], c.Args[2])
}

// segmentMean divides sums by the number of items that are there, or its root.
func segmentMean(root bool) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		given := c
		c, x := withIDs(c)
		switch {
		case x == nil && c == given: // only the number of segments is missing
			return nil, op.NotHandled
		case x == nil:
			return c.Do()
		}
		sum := ops.SegmentSum(floating(filled(x, 0)), c.Args[1], c.Args[2])
		count := ops.Cast(countOf(c, x), sum.DType())
		if root {
			count = ops.Sqrt(count)
		}
		return op.One(ops.Div(sum, count))
	}
}
