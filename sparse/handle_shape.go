package sparse

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

func expandDims(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	axes, _ := c.Attr("axis").([]int)
	k := x.rank() + len(axes)
	at := slices.Clone(axes)
	for i, a := range at {
		if a < -k || a >= k {
			return nil, c.Errorf(tenon.ErrAxis, "there is no place %d for an axis", a)
		}
		at[i] = (a + k) % k
	}
	slices.Sort(at)
	for _, a := range at {
		x = x.expanded(a)
	}
	return op.One(x)
}

// withInts returns a handler for operations whose second argument are sizes,
// which must be known.
func withInts(f func(t *Tensor, dims []int) *Tensor) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		x, ok := c.Value(0).(*Tensor)
		dims, known := c.ConstInts(1)
		if !ok || !known {
			return wouldBeDense(c)
		}
		return op.One(f(x, dims))
	}
}

// list returns the tensors of a list argument, all of which must be sparse.
func list(c *op.Call) ([]*Tensor, bool) {
	var ts []*Tensor
	for _, v := range c.List(0) {
		t, ok := v.(*Tensor)
		if !ok {
			return nil, false
		}
		ts = append(ts, t)
	}
	return ts, true
}

func concat(c *op.Call) ([]tenon.Value, error) {
	ts, ok := list(c)
	if !ok {
		return wouldBeDense(c)
	}
	axis, _ := c.Attr("axis").(int)
	return concatenated(c, ts, axis)
}

func concatenated(c *op.Call, ts []*Tensor, axis int) ([]tenon.Value, error) {
	r, err := Concat(ts, axis, ConcatOptions{})
	if err != nil {
		return nil, c.Fail(err)
	}
	return op.One(r)
}

func stack(c *op.Call) ([]tenon.Value, error) {
	ts, ok := list(c)
	if !ok || len(ts) == 0 {
		return wouldBeDense(c)
	}
	axis, _ := c.Attr("axis").(int)
	if k := ts[0].rank() + 1; axis < 0 {
		axis += k
	}
	for i, t := range ts {
		ts[i] = t.expanded(axis)
	}
	return concatenated(c, ts, axis)
}

func unstack(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	axis, _ := c.Attr("axis").(int)
	a := x.axis("Unstack", axis)
	n := x.dim(a)
	if n < 0 {
		return nil, c.Errorf(tenon.ErrShape, "the size of axis %d is not known", a)
	}
	out := make([]tenon.Value, n)
	for i := range out {
		out[i] = x.picked(a, i)
	}
	return out, nil
}

func slice(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	begin, known := c.ConstInts(1)
	size, known2 := c.ConstInts(2)
	if !ok || !known || !known2 || len(begin) != x.rank() || len(size) != x.rank() {
		return wouldBeDense(c)
	}
	for a, n := range size {
		lo := begin[a]
		if n == -1 {
			n = x.dim(a) - lo
		}
		if d := x.dim(a); lo < 0 || n < 0 || d >= 0 && lo+n > d {
			return nil, c.Errorf(tenon.ErrInvalid, "%d elements from %d on are out of range for axis %d of %v", n, lo, a, x.spec)
		}
		x = x.ranged(a, lo, lo+n)
	}
	return op.One(x)
}

func index(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return wouldBeDense(c)
	}
	keys, err := key.Of(c, 1)
	if err != nil {
		return nil, c.Fail(err)
	}
	y, ok := x.indexed(keys)
	if !ok {
		return nil, c.Errorf(tenon.ErrUnsupported, "a sparse tensor takes integers, ranges, new axes and vectors that are known: %s", fmt.Sprint(c.Args[1]))
	}
	return op.One(y)
}

func gather(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	at, ok2 := c.Value(1).(tensor.Tensor)
	batch, _ := c.Attr("batch_dims").(int)
	if !ok || !ok2 || batch != 0 || at.Shape().Rank() != 1 {
		return wouldBeDense(c)
	}
	axis, _ := c.Attr("axis").(int)
	return op.One(x.gathered(x.axis("Gather", axis), at))
}
