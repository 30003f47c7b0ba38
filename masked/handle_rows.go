package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// wholeRows answers a structural operation on rows that are there or missing as a
// whole: the mask moves with the axes that it has, so that a missing row without
// elements stays missing. It returns nil where the mask needs an entry for each
// element.
func wholeRows(c *op.Call) []tenon.Value {
	values := c.Values()
	x, ok := values[0].(*Tensor)
	if !ok {
		return nil
	}
	k, r := x.mask.Shape().Rank(), x.values.Shape().Rank()
	if k < 0 || r < 0 || k == r {
		return nil
	}
	for _, v := range values[1:] {
		if _, ok := v.(*Tensor); ok {
			return nil
		}
	}
	moves, ok := maskCall(c, k, r)
	if !ok {
		return nil
	}
	values[0] = x.values
	ys := op.ApplyN(c, values...)
	out := make([]tenon.Value, len(ys))
	if moves == nil {
		for i, y := range ys {
			out[i] = wrap(y, x.mask)
		}
		return out
	}
	rest := moves.Values()
	rest[0] = x.mask
	for i, m := range op.ApplyN(moves, rest...) {
		out[i] = wrap(ys[i], m)
	}
	return out
}

// maskCall returns the call that moves a mask of the first k of r dimensions, nil where it
// stays as it is. ok is false for operations that do not go by axes.
func maskCall(c *op.Call, k, r int) (moves *op.Call, ok bool) {
	switch c.Op.Name {
	case "tile":
		times, known := c.ConstInts(1)
		if !known || len(times) != r {
			return nil, false
		}
		outer := make([]int64, k)
		for i := range outer {
			outer[i] = int64(times[i])
		}
		return c.WithArg(1, tensor.Of(outer)), true
	case "repeat", "split", "unstack":
		i := c.Op.Param("axis")
		axis := c.Int(i)
		if axis < 0 {
			axis += r
		}
		if axis >= k {
			return nil, true
		}
		return c.WithArg(i, axis), c.Op.Name != "unstack" || k > 1 // a row by itself has a mask of its own
	case "reverse", "squeeze", "roll", "expand_dims":
		axes := axesOf(c)
		if len(axes) == 0 || len(axes) > 1 && (c.Op.Name == "roll" || c.Op.Name == "expand_dims") {
			return nil, false
		}
		if c.Op.Name == "expand_dims" {
			r++
		}
		var outer []int
		for _, a := range axes {
			if a < 0 {
				a += r
			}
			if a < k {
				outer = append(outer, a)
			}
		}
		if len(outer) == 0 {
			return nil, true
		}
		return c.WithArg(c.Op.Param("axis"), outer), true
	case "boolean_mask":
		by, isTensor := c.Value(1).(tensor.Tensor)
		axis, _ := c.Attr("axis").(int)
		if !isTensor || axis != 0 || by.Shape().Rank() < 0 || by.Shape().Rank() > k {
			return nil, false
		}
		return c, true
	}
	return nil, false
}

// stackedRows answers for stacking rows that are there or missing as a whole; nil where
// the mask needs an entry for each element.
func stackedRows(c *op.Call) tensor.Tensor {
	if c.Op.Name != "stack" {
		return nil
	}
	var first *Tensor
	list := c.Values()
	for _, v := range list {
		if t, ok := v.(*Tensor); ok && first == nil {
			first = t
		}
	}
	k, r := first.mask.Shape().Rank(), first.values.Shape().Rank()
	axis, _ := c.Attr("axis").(int)
	if axis < 0 {
		axis += r + 1
	}
	if k < 0 || k >= r || axis > k {
		return nil
	}
	values, masks := make([]tenon.Value, len(list)), make([]tenon.Value, len(list))
	for i, v := range list {
		t, ok := v.(*Tensor)
		if !ok {
			values[i], masks[i] = v, ops.OnesLike(first.mask)
			continue
		}
		if t.mask.Shape().Rank() != k {
			return nil
		}
		values[i], masks[i] = t.values, t.mask
	}
	return wrap(op.Apply(c, values...), op.Apply(c.WithArg(c.Op.Param("axis"), axis), masks...))
}
