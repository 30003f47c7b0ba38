package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// elementwise answers elementwise operations: they run on the flat values, after
// those of all operands have been aligned.
func elementwise(c *op.Call) ([]tenon.Value, error) {
	var room [4]tenon.Value
	values := c.AppendValues(room[:0])
	var first *Tensor
	for _, v := range values {
		if t, ok := v.(*Tensor); ok && first == nil {
			first = t
		}
	}
	for _, v := range values {
		if _, ok := v.(*Tensor); !ok && !plain(v) && v.Spec().TypeName() != first.flat.Spec().TypeName() {
			return nil, op.NotHandled
		}
	}
	for i, v := range values {
		flat := likeFirst(first, v.(tensor.Tensor))
		if flat == nil {
			return op.One(aligned(c))
		}
		values[i] = flat
	}
	return op.One(first.with(op.Apply(c, values...)))
}

// onFlat runs a call without list arguments on the flat values of argument i, x, and returns x with
// the results as its flat values.
func onFlat(c *op.Call, i int, x *Tensor) *Tensor {
	var room [4]tenon.Value
	values := c.AppendValues(room[:0])
	k := 0
	for j := range i {
		if c.Op.Params[j].Kind == op.Tensor && c.Args[j] != nil {
			k++
		}
	}
	values[k] = x.flat
	return x.with(op.Apply(c, values...))
}

// likeFirst returns the flat values of an operand if they are aligned with those of the first
// ragged operand, or broadcast to them by themselves, and nil if they must be aligned first.
func likeFirst(first *Tensor, t tensor.Tensor) tensor.Tensor {
	rank := first.flat.Shape().Rank()
	if r, ok := t.(*Tensor); ok {
		if r == first || r.flat.Shape().Rank() == rank && equalParts(first.parts, r.parts) {
			return r.flat
		}
		return nil
	}
	s := t.Shape()
	switch n := s.Rank(); {
	case n == 0 || n > 0 && n < rank:
		return t
	case rank != 1 || n != 2 || len(first.parts) != 1 || s.Dim(1) != 1:
		return nil
	}
	// A column with one element for each row.
	p := first.parts[0]
	d, ok := t.(*tensor.Dense)
	if n := s.Dim(0); !ok || n != p.spec.nrows || n == 1 {
		return nil
	}
	return rows.Repeat(d.Reshaped(shape.Of(s.Dim(0))), p.RowSplits(), p.nvals)
}

// aligned runs an elementwise operation on operands that must first be broadcast to a common shape.
func aligned(c *op.Call) tensor.Tensor {
	values := c.Values()
	ts := make([]tensor.Tensor, len(values))
	for i, v := range values {
		ts[i] = v.(tensor.Tensor)
	}
	parts, brought := align(c.Op.Func(), ts)
	for i, f := range brought {
		values[i] = f
	}
	return build(op.Apply(c, values...), parts)
}

// align broadcasts tensors against each other in their partitioned dimensions. It
// returns the partitions that they then share, and flat values whose inner
// dimensions broadcast by themselves.
func align(fn string, ts []tensor.Tensor) ([]*RowPartition, []tensor.Tensor) {
	shapes := make([]*Shape, len(ts))
	for i, t := range ts {
		shapes[i] = ShapeOf(t)
	}
	s, to := broadcast(fn, shapes...)
	flats := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		flat, _ := split(t)
		flats[i] = to[i].Apply(flat)
	}
	return s.parts, flats
}

// samePartition reports whether two partitions are known to be equal without
// looking at their splits.
func samePartition(p, q *RowPartition) bool {
	if p == q {
		return true
	}
	if p.uniform != nil || q.uniform != nil {
		return p.uniform != nil && q.uniform != nil && p.spec.length >= 0 && p.spec.nrows >= 0 && *p.spec == *q.spec
	}
	a, b := p.splits.Load(), q.splits.Load()
	return a != nil && b != nil && *a == *b
}

// equalParts reports whether partitions of one type are in memory and describe rows of the same
// lengths. It compares splits only if they are different objects.
func equalParts(a, b []*RowPartition) bool {
	if len(a) != len(b) {
		return false
	}
	for i, p := range a {
		q := b[i]
		switch {
		case samePartition(p, q):
			continue
		case p.spec.dtype != q.spec.dtype || p.IsUniform() || q.IsUniform():
			return false
		}
		x, okx := p.Splits64()
		y, oky := q.Splits64()
		if !okx || !oky || firstDifference(x, y) >= 0 {
			return false
		}
	}
	return true
}

// plain reports whether v is a tensor without structure, in memory or symbolic.
func plain(v tenon.Value) bool {
	switch v.(type) {
	case *tensor.Dense, *tensor.Strings, op.Recorder:
		return true
	}
	return false
}
