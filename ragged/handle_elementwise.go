package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	classHandlers[op.UnaryElementwise] = elementwise
	classHandlers[op.BinaryElementwise] = elementwise
	classHandlers[op.TernaryElementwise] = elementwise
}

// elementwise answers for operations on corresponding elements: they run on the
// flat values, once those of all operands lie alike.
func elementwise(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	flats := make([]tenon.Value, len(values))
	first := (*Tensor)(nil)
	alike := true
	for i, v := range values {
		switch v := v.(type) {
		case *Tensor:
			switch {
			case first == nil:
				first = v
			case alike:
				alike = sameParts(first.parts, v.parts) && v.flat.Shape().Rank() == first.flat.Shape().Rank()
			}
			flats[i] = v.flat
		default:
			if !plain(v) {
				return nil, op.NotHandled
			}
			flats[i] = v
		}
	}
	if alike {
		below := first.flat.Shape().Rank() - 1
		for i, v := range values {
			if _, ok := v.(*Tensor); ok {
				continue
			}
			if r := flats[i].(tensor.Tensor).Shape().Rank(); r != 0 && (r < 0 || r > below) {
				alike = false
			}
		}
	}
	if alike {
		return op.One(first.with(op.Apply(c, flats...)))
	}
	ts := make([]tensor.Tensor, len(values))
	for i, v := range values {
		ts[i] = v.(tensor.Tensor)
	}
	parts, aligned := align(c.Op.Func(), ts)
	for i, f := range aligned {
		flats[i] = f
	}
	return op.One(build(op.Apply(c, flats...), parts))
}

// align broadcasts tensors against each other as far as partitions go: it returns
// the partitions that they share then, and flat values whose inner dimensions
// broadcast by themselves.
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

// sameParts reports whether partitions are the same objects, or have the same
// splits.
func sameParts(a, b []*RowPartition) bool {
	if len(a) != len(b) {
		return false
	}
	for i, p := range a {
		if !samePartition(p, b[i]) {
			return false
		}
	}
	return true
}

// samePartition reports whether two partitions are known to be the same without
// looking at splits.
func samePartition(p, q *RowPartition) bool {
	if p == q {
		return true
	}
	if p.uniform != nil || q.uniform != nil {
		return p.uniform != nil && q.uniform != nil && p.spec.length >= 0 && p.spec.nrows >= 0 && *p.spec == *q.spec
	}
	a, b := p.splits.Load(), q.splits.Load()
	return *a == *b
}

// plain reports whether v is a tensor without structure, in memory or symbolic.
func plain(v tenon.Value) bool {
	switch v.(type) {
	case *tensor.Dense, *tensor.Strings, op.Recorder:
		return true
	}
	return false
}
