package ragged

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// padded adds elements before and after the entries of each axis.
func padded(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	pads, known := c.ConstInts(1)
	r, k := x.rank(), len(x.parts)
	if !known || len(pads) != 2*r {
		return nil, c.Errorf(tenon.ErrInvalid, "paddings must be known pairs for %d axes", r)
	}
	out := tensor.Tensor(x)
	if inner := pads[2*(k+1):]; slices.ContainsFunc(inner, func(n int) bool { return n != 0 }) {
		values := c.Values()
		values[0], values[1] = x.flat, tensor.Of(append([]int{0, 0}, inner...), r-k, 2)
		out = x.with(op.Apply(c, values...))
	}
	for a := k; a >= 0; a-- {
		before, after := pads[2*a], pads[2*a+1]
		if before < 0 || after < 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "axis %d is padded by %d and %d", a, before, after)
		}
		if before == 0 && after == 0 {
			continue
		}
		if a < k {
			return nil, c.Errorf(tenon.ErrUnsupported, "axis %d has ragged axes below it: what a new entry there would hold is not known", a)
		}
		out = paddedRows(c, out.(*Tensor), before, after)
	}
	return op.One(out)
}

// paddedRows adds entries at both ends of every innermost row.
func paddedRows(c *op.Call, x *Tensor, before, after int) tensor.Tensor {
	k := len(x.parts)
	p := x.parts[k-1]
	fill := any(0)
	if v := c.Value(2); v != nil {
		fill = v
	}
	value, ok := fill.(tensor.Tensor)
	if !ok && x.DType() == dtype.String {
		value = tensor.Scalar("")
	} else if !ok {
		value = ops.Zeros(x.DType(), []int{})
	}
	var list, splitsList []tensor.Tensor
	part := func(n int) {
		if n == 0 {
			return
		}
		q := newUniform(p.NRows(), scalar(n, p.DType()))
		dims := any(nil)
		if s, m := x.flat.Shape(), known(q.NVals()); m >= 0 && s.Tail(1).IsFull() {
			dims = s.With(0, m).Dims()
		} else {
			dims = ops.Concat([]any{ops.Reshape(ops.Cast(q.NVals(), dtype.Int64), []int{1}), ops.Index(ops.Shape(x.flat), key.From(1))}, 0)
		}
		list, splitsList = append(list, ops.Fill(dims, value)), append(splitsList, q.RowSplits())
	}
	part(before)
	list, splitsList = append(list, x.flat), append(splitsList, p.RowSplits())
	part(after)
	values, splits := rows.Concat(list, splitsList)
	return build(values, append(append([]*RowPartition(nil), x.parts[:k-1]...), newPartition(splits, -1)))
}
