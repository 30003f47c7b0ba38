package mesh

import (
	"slices"

	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// judge decides what the operation does along a factor.
func (p *prober) judge(f *factor) {
	o := p.call.Op
	switch {
	case o.Axes == op.Opaque:
		f.why = "the operation does not say what it does to axes (" + o.Why + ")"
		return
	case o.Checks && o.Control != 0:
		f.why = "its checks may involve all entries"
		return
	case o.Axes == op.Create && o.Moves == 0 && slices.ContainsFunc(f.at, func(x place) bool { return x.value >= 0 }):
		f.why = "the operation computes its result from all entries"
		return
	case slices.Contains(f.res, changed):
		f.why = "the entries of the axis are regrouped"
		return
	case p.about(f):
		if f.does = p.reduces(f); f.does == needsWhole {
			f.why = "each entry of the result depends on the whole axis"
		}
		return
	case slices.Contains(f.res, -1):
		if f.does = p.reduces(f); f.does == needsWhole {
			f.why = "the axis is not in the result"
		}
		return
	}
	if o.Axes == op.Contract && o.Monoid == nil && !p.linear(f) {
		f.why = "entries may be distinguished by their positions, like queries by a causal mask"
		return
	}
	if !p.told() && !p.stays(f) {
		f.why = "the operation moves entries along the axis, or does not say that it does not"
		return
	}
	f.does = batch
}

// linear reports whether an operand that the operation is linear in has the axis.
func (p *prober) linear(f *factor) bool {
	return slices.ContainsFunc(f.at, func(x place) bool {
		return x.value >= 0 && p.call.Op.Zero.LinearIn(1<<p.number[x.value])
	})
}

// about reports whether the operation works on the axis.
func (p *prober) about(f *factor) bool {
	o, c := p.call.Op, p.call
	switch o.Axes {
	case op.Map, op.Insert, op.Stack, op.Broadcast, op.Contract, op.Permute:
		return o.Axes == op.Insert && o.Core > 0 && o.AxisParam() < 0 && p.inCore(f)
	}
	if o.By != op.ByAxis {
		return false
	}
	if o.AxisParam() < 0 {
		return o.Core > 0 && p.inCore(f)
	}
	first := slices.IndexFunc(p.number, func(k int) bool { return !o.Control.Has(k) })
	if first < 0 {
		return true
	}
	axes, err := c.Axes(p.shapes[first].Rank())
	return err != nil || slices.ContainsFunc(f.at, func(x place) bool {
		return x.value >= 0 && p.sameAxes(first, x.value) && slices.Contains(axes, x.axis)
	})
}

// sameAxes reports whether the axes that a parameter names refer to an operand.
func (p *prober) sameAxes(first, v int) bool {
	return v == first || p.number[v] == p.number[first] || p.shapes[v].Rank() == p.shapes[first].Rank()
}

// inCore reports whether a place is one of the last axes, on which the operation works, of the first operand or
// of one with that many axes.
func (p *prober) inCore(f *factor) bool {
	o := p.call.Op
	first := slices.IndexFunc(p.number, func(k int) bool { return !o.Control.Has(k) })
	return slices.ContainsFunc(f.at, func(x place) bool {
		return x.value >= 0 && (x.value == first || o.Control.Has(p.number[x.value])) && x.axis >= p.shapes[x.value].Rank()-o.Core
	})
}

// told reports whether the statement tells all axes on which the operation works.
func (p *prober) told() bool {
	o := p.call.Op
	switch o.Axes {
	case op.Map, op.Permute, op.Contract, op.Broadcast, op.Create:
		return true
	case op.Reduce, op.Scan, op.Along, op.Insert, op.Remove, op.Window, op.Join, op.Stack:
		return true
	case op.Regroup:
		return o.Core > 0
	}
	return o.AxisParam() >= 0 || o.Core > 0
}

// reduces decides whether entries of a factor that is not in the result can be combined in
// parts.
func (p *prober) reduces(f *factor) does {
	o := p.call.Op
	m := o.Monoid
	if m == nil || m.Combine == "" || m.Ordered || o.Places != 0 || slices.ContainsFunc(f.res, func(a int) bool { return a >= 0 }) {
		return needsWhole
	}
	if r, ok := op.Lookup(m.Combine); !ok || !r.IsBinaryElementwise() {
		return needsWhole
	}
	switch o.Axes {
	case op.Contract:
		return combines
	case op.Reduce:
		if m.Divide != op.ByNothing && o.By != op.ByAxis {
			return needsWhole // their number differs between groups
		}
		return combines
	case op.Scatter:
		for v, k := range p.number { // each rank would add to it
			if !o.Control.Has(k) && !slices.ContainsFunc(f.at, func(x place) bool { return x.value == v }) {
				return needsWhole
			}
		}
		return combines
	}
	return needsWhole
}

// stays decides whether the entries of an axis stay in place, for an operation whose statement does not say
// so but that only moves elements: it applies the operation to their positions.
func (p *prober) stays(f *factor) bool {
	o := p.call.Op
	if o.Moves == 0 || len(p.base) != 1 || f.res[0] < 0 {
		return false
	}
	n := p.size(f.at[0])
	values := slices.Clone(p.values)
	for v, k := range p.number {
		if _, known := op.Known(values[v]); known {
			continue
		}
		s := p.shapes[v]
		if !o.Moves.Has(k) || !s.IsFull() || s.Size() > mostPositions {
			return false
		}
		axis := -1
		for _, x := range f.at {
			if x.value == v {
				axis = x.axis
			}
		}
		values[v] = positions(s, axis)
	}
	out, err := p.call.WithValues(values).DoTensors()
	if err != nil || len(out) != 1 {
		return false
	}
	got, ok := op.Ints(tensor.Contiguous(out[0].(*tensor.Dense)))
	if !ok {
		return false
	}
	// An entry that comes from elsewhere does so all along the axis.
	inner := out[0].Shape().Tail(f.res[0] + 1).Size()
	for i, x := range got {
		at := i / inner % n
		if elsewhere := got[i-at*inner] == -1; elsewhere != (x == -1) || !elsewhere && x != at {
			return false
		}
	}
	return true
}

// positions returns a tensor with the positions of its elements along an axis, or -1 everywhere if axis is
// negative.
func positions(s shape.Shape, axis int) tensor.Tensor {
	if axis < 0 {
		return ops.Fill(s, int64(-1))
	}
	x := tensor.Tensor(ops.Range(int64(0), int64(s.Dim(axis)), int64(1)))
	for range s.Rank() - axis - 1 {
		x = ops.ExpandDims(x, -1)
	}
	return ops.BroadcastTo(x, s.Dims())
}
