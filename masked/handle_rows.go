package masked

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// wholeRows answers a structural operation on rows that are present or missing as
// a whole. The mask moves along its own axes, so that a missing row without
// elements stays missing. It returns nil if the mask needs an entry for each
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
	if moves == nil {
		return wrapped(ys, x.mask)
	}
	out := make([]tenon.Value, len(ys))
	rest := moves.Values()
	rest[0] = x.mask
	for i, m := range op.ApplyN(moves, rest...) {
		out[i] = wrap(ys[i], m)
	}
	return out
}

// wrapped returns all results of an operation with the same mask.
func wrapped(ys []tensor.Tensor, mask tensor.Tensor) []tenon.Value {
	out := make([]tenon.Value, len(ys))
	for i, y := range ys {
		out[i] = wrap(y, mask)
	}
	return out
}

// tiled is structural with the mask of rows repeated by the first multiple.
func tiled(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return nil, op.NotHandled
	}
	k, r := x.mask.Shape().Rank(), x.values.Shape().Rank()
	times, known := c.ConstInts(1)
	if k < 0 || k == r || !known || len(times) != r {
		return structural(c)
	}
	outer := make([]int64, k)
	for i := range outer {
		outer[i] = int64(times[i])
	}
	return op.One(wrap(first(c, x.values), first(c.WithArg(1, tensor.Of(outer)), x.mask)))
}

// maskCall returns the call that moves a mask of the first k of r dimensions, or nil if the mask is
// unchanged. ok is false for operations that do not work by axes, and if the mask needs an entry
// for each element.
func maskCall(c *op.Call, k, r int) (moves *op.Call, ok bool) {
	if c.Op.Axes == op.Select && c.Op.Fills && c.Op.AxisParam() < 0 { // margins, two for each axis
		margins, known := c.ConstInts(1)
		return nil, known && len(margins) == 2*r && !slices.ContainsFunc(margins[:2*k], func(n int) bool { return n != 0 })
	}
	if c.Op.Axes == op.Permute {
		perm := slices.Clone(c.Ints(1))
		if len(perm) != r {
			return nil, false
		}
		perm = perm[:k]
		for i, a := range perm {
			if perm[i] = (a + r) % r; perm[i] >= k {
				return nil, false
			}
		}
		return c.WithArg(1, perm), true
	}
	param := c.Op.AxisParam()
	if param < 0 || c.Op.Fills || c.Op.Param("batch_axis") >= 0 {
		return nil, false
	}
	made := 0
	if c.Op.Axes == op.Insert {
		made = len(c.Ints(param))
		r += made
	}
	axes, err := c.Axes(r)
	if err != nil || len(axes) == 0 || c.Args[param] == nil || made > 1 {
		return nil, false
	}
	var outer []int
	for _, a := range axes {
		if a < k {
			outer = append(outer, a)
		}
	}
	controlled := false
	for i, v := range c.Operands() {
		if c.Op.Control.Has(i) {
			controlled = true
			if n := v.(tensor.Tensor).Shape().Rank(); n < 0 || n > max(1, k-axes[0]) {
				return nil, false
			}
		}
	}
	switch {
	case len(outer) == 0:
		return nil, true
	case controlled && len(outer) < len(axes): // by how far each of them is moved
		return nil, false
	case c.Op.Results < 0 && c.Op.Axes == op.Remove && k == 1: // a single row has a mask of its own
		return nil, false
	}
	if _, one := c.Args[param].(int); one {
		return c.WithArg(param, outer[0]), true
	}
	return c.WithArg(param, outer), true
}

// stackedRows answers stacking rows that are present or missing as a whole. It returns nil if the
// mask needs an entry for each element.
func stackedRows(c *op.Call) tensor.Tensor {
	if c.Op.Axes != op.Stack {
		return nil
	}
	list := c.Values()
	_, given := parts(c)
	first := given[0]
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
