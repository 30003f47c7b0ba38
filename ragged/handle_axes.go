package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func expandDims(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	axes := c.Ints(1)
	r := x.rank() + len(axes)
	out := tensor.Tensor(x)
	at := make([]bool, r)
	for _, a := range axes {
		if a = checkedAxis(c, a, r); at[a] {
			return nil, c.Errorf(tenon.ErrAxis, "axis %d is repeated", a)
		}
		at[a] = true
	}
	for a, new := range at {
		if new {
			out = withAxis(out, a)
		}
	}
	return op.One(out)
}

// withAxis adds an axis of size 1 in front of axis a.
func withAxis(x tensor.Tensor, a int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		return ops.ExpandDims(x, a)
	}
	k := len(t.parts)
	if a > k {
		return t.with(ops.ExpandDims(t.flat, a-k))
	}
	d := t.parts[0].DType()
	var p *RowPartition
	at := 0
	if a == 0 {
		p = newUniform(scalar(1, d), t.parts[0].NRows())
	} else {
		at = a - 1
		p = newUniform(t.parts[at].NRows(), scalar(1, d))
	}
	parts := append(append(append([]*RowPartition(nil), t.parts[:at]...), p), t.parts[at:]...)
	return build(t.flat, parts)
}

func squeeze(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	axes := axesOf(c, x)
	if axes == nil {
		e := c.Errorf(tenon.ErrInvalid, "the axes to remove must be named, since the sizes of ragged axes are data")
		e.Where = "axis"
		return nil, e
	}
	out := tensor.Tensor(x)
	for i := len(axes) - 1; i >= 0; i-- {
		out = tenon.Must(squeezed(c, out, axes[i]))
	}
	return op.One(out)
}

// squeezed removes an axis of size 1.
func squeezed(c *op.Call, x tensor.Tensor, a int) (tensor.Tensor, error) {
	t, ok := x.(*Tensor)
	if !ok {
		return ops.Squeeze(x, a), nil
	}
	k := len(t.parts)
	if a > k {
		return t.with(ops.Squeeze(t.flat, a-k)), nil
	}
	at := max(0, a-1)
	p := t.parts[at]
	if a == 0 {
		if n := p.StaticNRows(); n >= 0 && n != 1 {
			return nil, c.Errorf(tenon.ErrInvalid, "axis 0 has %d rows, not 1", n)
		}
	} else if s, ok := p.Splits64(); ok {
		for r := 1; r < len(s); r++ {
			if s[r]-s[r-1] != 1 {
				e := c.Errorf(tenon.ErrInvalid, "axis %d has %d entries in that row, not 1", a, s[r]-s[r-1])
				e.Where = fmtRow(r - 1)
				return nil, e
			}
		}
	}
	parts := append(append([]*RowPartition(nil), t.parts[:at]...), t.parts[at+1:]...)
	return build(t.flat, parts), nil
}

// transpose permutes inner dimensions; partitioned ones must stay in place.
func transpose(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	perm := c.Ints(1)
	r, k := x.rank(), len(x.parts)
	if perm == nil {
		for a := r - 1; a >= 0; a-- {
			perm = append(perm, a)
		}
	}
	if len(perm) != r {
		return nil, c.Errorf(tenon.ErrAxis, "the permutation %v is not one of %d axes", perm, r)
	}
	flat := []int{0}
	for i, a := range perm {
		if a < 0 {
			a += r
		}
		switch {
		case i <= k && a != i:
			return nil, c.Errorf(tenon.ErrUnsupported, "axis %d is ragged or outside of a ragged axis, and cannot be moved", i)
		case i > k:
			flat = append(flat, a-k)
		}
	}
	return op.One(x.with(ops.Transpose(x.flat, flat...)))
}
