package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
)

// binCount counts present elements, using present weights.
func binCount(c *op.Call) ([]tenon.Value, error) {
	keep := ops.LogicalNot(IsMissing(c.Tensor(0)))
	if c.Has(1) {
		keep = ops.LogicalAnd(keep, ops.LogicalNot(IsMissing(c.Tensor(1))))
	}
	for i := range 2 {
		if !c.Has(i) {
			continue
		}
		x := c.Tensor(i)
		if t, ok := x.(*Tensor); ok {
			x = t.single().values
		}
		c = c.WithArg(i, ops.BooleanMask(x, keep, 0))
	}
	return c.Do()
}

// unique finds the distinct elements among the present ones; missing elements have no number.
func unique(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	if _, rows := x.values.(op.Handler); rows && inRows(x, []int{-1}) {
		return wrapped(op.ApplyN(c, x.values), x.mask), nil
	}
	if _, rows := x.values.(op.Handler); rows {
		e := c.Errorf(tenon.ErrUnsupported, "elements of rows are missing")
		e.Hint = "drop them with ops.BooleanMask"
		return nil, e
	}
	x = x.single()
	full := x.Full()
	values, inverse, counts, first := ops.Unique(ops.BooleanMask(x.values, full, 0))
	at := ops.Nonzero(full) // [n, 1]
	numbers := ops.TensorScatterUpdate(ops.Zeros(dtype.Int64, ops.Shape(full)), at, inverse)
	return []tenon.Value{values, wrap(numbers, full), counts, ops.Gather(ops.Reshape(at, []int{-1}), first, 0)}, nil
}
