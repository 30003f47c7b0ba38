package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// binCount counts what is there, with weights that are there.
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

// unique finds the distinct elements among those that are there; the others have no
// number among them.
func unique(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	if _, rows := x.values.(op.Handler); rows && inRows(x, []int{-1}) {
		out := op.ApplyN(c, x.values)
		all := make([]tenon.Value, len(out))
		for i, y := range out {
			all[i] = wrap(y, x.mask)
		}
		return all, nil
	}
	x = x.single()
	full := x.Full()
	values, inverse, counts, first := ops.Unique(ops.BooleanMask(x.values, full, 0))
	at := ops.Nonzero(full) // [n, 1]
	numbers := ops.TensorScatterUpdate(ops.Zeros(dtype.Int64, ops.Shape(full)), at, inverse)
	return []tenon.Value{values, wrap(numbers, full), counts, ops.Gather(ops.Reshape(at, []int{-1}), first, 0)}, nil
}

// oneHot has no row for a missing index.
func oneHot(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return nil, op.NotHandled
	}
	full := x.Full()
	out, err := c.WithArg(0, filled(x, -1)).Do()
	if err != nil {
		return nil, err
	}
	y := out[0].(tensor.Tensor)
	axis, _ := c.Attr("axis").(int)
	if inRows(x, []int{axis}) {
		return op.One(wrap(y, x.mask))
	}
	if axis != -1 && axis != full.Shape().Rank() {
		full = ops.LogicalAnd(ops.ExpandDims(full, axis), allTrue(y))
	}
	return op.One(wrap(y, full))
}

// topK takes missing elements last.
func topK(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return nil, op.NotHandled
	}
	if inRows(x, []int{-1}) { // of a row that is missing as a whole
		out := op.ApplyN(c, append([]tenon.Value{x.values}, c.Values()[1:]...)...)
		return []tenon.Value{wrap(out[0], x.mask), out[1]}, nil
	}
	x = x.single()
	order := missingLast(x, -1, true)
	order = ops.Index(order, key.Ellipsis, key.To(c.Value(1)))
	return []tenon.Value{wrap(ops.TakeAlongAxis(x.values, order, -1), ops.TakeAlongAxis(x.Full(), order, -1)), order}, nil
}

// searchSorted has no place for a missing element.
func searchSorted(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(1).(*Tensor)
	if _, sorted := c.Value(0).(*Tensor); sorted || !ok {
		return nil, op.NotHandled
	}
	out, err := c.WithArg(1, x.values).Do()
	if err != nil {
		return nil, err
	}
	return op.One(wrap(out[0].(tensor.Tensor), x.mask))
}
