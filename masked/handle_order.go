package masked

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// ordered puts missing elements last, however the others are ordered.
func ordered(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return nil, op.NotHandled
	}
	axis, _ := c.Attr("axis").(int)
	most := c.Op.Control != 0 // the largest elements
	descending, _ := c.Attr("descending").(bool)
	descending = descending || most
	axes := []int{axis}
	switch {
	case inRows(x, axes):
		out := op.ApplyN(c, append([]tenon.Value{x.values}, c.Values()[1:]...)...)
		list := make([]tenon.Value, len(out))
		for i, y := range out {
			if list[i] = y; i == 0 {
				list[i] = wrap(y, x.mask)
			}
		}
		return list, nil
	case !most && overRows(x, axes):
		return op.One(rowsLast(c, x))
	}
	x = x.single()
	order := missingLast(x, axis, descending)
	if most {
		all := []any{key.Range(nil, nil, nil)}
		keys := append(slices.Repeat(all, max(0, axis)), key.To(c.Value(1)))
		if axis < 0 {
			keys = append(append([]any{key.Ellipsis}, keys...), slices.Repeat(all, -axis-1)...)
		}
		order = ops.Index(order, keys...)
	}
	if c.Op.Places.Has(0) {
		return op.One(order)
	}
	out := []tenon.Value{wrap(ops.TakeAlongAxis(x.values, order, axis), ops.TakeAlongAxis(x.Full(), order, axis))}
	if c.Op.Places.Has(1) {
		out = append(out, order)
	}
	return out, nil
}

// overRows reports whether the only axis is the outermost one, and its rows are present or missing
// as a whole.
func overRows(x *Tensor, axes []int) bool {
	r := x.values.Shape().Rank()
	return len(axes) == 1 && (axes[0] == 0 || axes[0] == -r) && x.mask.Shape().Rank() == 1 && r > 1
}

// rowsLast sorts the present rows and puts the missing ones last.
func rowsLast(c *op.Call, x *Tensor) tensor.Tensor {
	missing := ops.LogicalNot(x.mask)
	behind := ops.BooleanMask(x.values, missing, 0)
	there := op.Apply(c, ops.BooleanMask(x.values, x.mask, 0))
	if there.DType() != behind.DType() { // positions
		behind = ops.Cast(ops.ZerosLike(behind), there.DType())
	}
	mask := []tensor.Tensor{ops.BooleanMask(x.mask, x.mask, 0), ops.BooleanMask(x.mask, missing, 0)}
	return wrap(ops.Concat([]tensor.Tensor{there, behind}, 0), ops.Concat(mask, 0))
}

// missingLast returns the stable order of the elements with missing ones last: sorted by value, and
// then by presence.
func missingLast(x *Tensor, axis int, descending bool) tensor.Tensor {
	byValue := ops.ArgSort(x.values, axis, ops.SortOptions{Descending: descending})
	gone := ops.Cast(ops.LogicalNot(ops.TakeAlongAxis(x.Full(), byValue, axis)), dtype.Int8)
	last := ops.ArgSort(gone, axis, ops.SortOptions{})
	return ops.TakeAlongAxis(byValue, last, axis)
}
