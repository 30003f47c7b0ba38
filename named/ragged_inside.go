package named

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Operations along dimensions inside rows of different lengths run on the flat values, which have a
// single dimension instead of the partitioned ones.

// inside reports whether a tensor is ragged and all names are inside its rows.
func (t *Tensor) inside(dims *layout) bool {
	return isRagged(t.data) && len(t.outer().both(dims).ids) == 0
}

// matchRows checks that the rows of two ragged tensors have the same lengths: immediately if they
// are known, and otherwise when the trace runs.
func matchRows(fn string, x, y *Tensor) {
	p, q := x.inRows().Partitions(), y.inRows().Partitions()
	for i := range p {
		if p[i] == q[i] {
			continue
		}
		a, b := p[i].RowSplits(), q[i].RowSplits()
		if a == b {
			continue
		}
		s, ok := p[i].Splits64()
		t, okToo := q[i].Splits64()
		if !ok || !okToo {
			rows.AssertSame(ops.Cast(a, dtype.Int64), ops.Cast(b, dtype.Int64))
			continue
		}
		if !slices.Equal(s, t) {
			fail(tenon.ErrInvalid, fn, "rows along %v have different lengths in the tensors\n%s", x.spec.names.ids[i+1], lines(pair(x, y)...))
		}
	}
}

// spread returns a dense tensor with an entry for each row of the flat values of t instead of those
// dimensions of t's rows that it has. It must have the first one, by which the rows are numbered.
func (t *Tensor) spread(fn string, y *Tensor) *Tensor {
	outer := t.outer()
	shared := outer.both(y.spec.names)
	if len(shared.ids) == 0 {
		return y
	}
	if shared.ids[0] != outer.ids[0] || len(shared.ids) > 1 {
		tenon.Throw(newError(tenon.ErrUnsupported, fn, fmt.Sprintf("rows of different lengths lie along {%v}, which a dense tensor has\n%s", shared, lines(pair(t, y)...))).
			WithHint("make the other tensor ragged too"))
	}
	rest := y.spec.names.without(shared)
	return newTensor(ops.Gather(y.ordered(shared.and(rest)).data, t.rowsOf(0), 0), layoutOf([]id{packedID}).and(rest), y.own())
}

// jointlyRagged is a softmax, or its logarithm, along several dimensions, some of which are
// dimensions of rows.
func (d Dims) jointlyRagged(fn string, t *Tensor, logarithm bool) *Tensor {
	top := Map(stopGradient, d.Max(t))
	x := elementwise(fn, ops.Sub, t, top)
	e := Map(ops.Exp, x)
	if logarithm {
		return elementwise(fn, ops.Sub, x, Map(ops.Log, d.Sum(e)))
	}
	return elementwise(fn, ops.Div, e, d.Sum(e))
}

func stopGradient(x any) tensor.Tensor { return ops.StopGradient(x) }

// takeInside is Take along a dimension inside rows.
func (d Dims) takeInside(fn string, t, i *Tensor) *Tensor {
	if isRagged(i.data) {
		matchRows(fn, t, i)
		return t.unpacked(d.Take(t.packed(), i.packed()))
	}
	return t.unpacked(d.Take(t.packed(), t.spread(fn, i)))
}

// stackRagged stacks along a new dimension inside rows, whose lengths must be equal.
func (d Dims) stackRagged(fn string, ts []*Tensor) *Tensor {
	flats := make([]tenon.Value, len(ts))
	for i, t := range ts {
		if t.outer() != ts[0].outer() {
			tenon.Throw(newError(tenon.ErrUnsupported, fn, "the rows of the tensors lie along different dimensions\n"+lines(several(ts)...)))
		}
		if i > 0 {
			matchRows(fn, ts[0], t)
		}
		flats[i] = t.packed()
	}
	return ts[0].unpacked(d.Stack(flats...))
}

// rowOfLift returns a ragged tensor as the function inside Lift sees it, given its flat values as
// seen there. The lifted dimension is the first one of the flat values.
func (t *Tensor) rowOfLift(flat tensor.Tensor, l *layout, s *side) *Tensor {
	u := t.unpacked(newTensor(flat, l, s))
	u.side = s
	return u
}

// flatOfLift returns the flat values of a ragged result inside Lift, whose rows have the same
// lengths at all positions.
func flatOfLift(fn string, t *Tensor, level int) *Tensor {
	for i, p := range t.inRows().Partitions() {
		if r, ok := p.RowSplits().(op.Recorder); ok && r.RecordLevel() == level {
			tenon.Throw(newError(tenon.ErrUnsupported, fn, fmt.Sprintf("the lengths of the rows along %v differ between positions\n%s", t.spec.names.ids[i+1], t.line("result"))))
		}
	}
	return t.packed()
}

// broadcastOpen is BroadcastTo for a tensor some of whose sizes are ragged or unknown: these are
// kept, and new dimensions are added inside rows.
func (t *Tensor) broadcastOpen(fn string, l *layout, s shape.Shape, open *layout) *Tensor {
	if missing := t.spec.names.without(l); len(missing.ids) > 0 {
		tenon.Throw(newError(tenon.ErrInvalid, fn, "the sizes lack "+missing.String()+"\n"+t.line("tensor")).WithHint("list all dimensions of the result"))
	}
	if t.side != nil {
		t.side.refuse(fn, l, one{"tensor", t})
	}
	added := l.without(t.spec.names)
	for i, n := range t.spec.names.ids {
		have, want := t.data.Shape().Dim(i), s.Dim(l.index(n))
		if ragged := t.raggedAxis(i); !open.has(n) && (ragged || have >= 0 && have != want) {
			msg := fmt.Sprintf("%v has the size %d, not %d\n%s", n, have, want, t.line("tensor"))
			if ragged {
				msg = fmt.Sprintf("%v is ragged: give its size as -1\n%s", n, t.line("tensor"))
			}
			tenon.Throw(newError(tenon.ErrInvalid, fn, msg))
		}
	}
	sizes := make([]int, len(added.ids))
	for i, n := range added.ids {
		sizes[i] = s.Dim(l.index(n))
	}
	u := t
	if isRagged(t.data) {
		u = t.packed()
	}
	own := u.spec.names
	axes := make([]int, len(added.ids))
	for i := range axes {
		axes[i] = len(own.ids) + i
	}
	data := u.data
	if len(axes) > 0 {
		have := ops.Cast(ops.Shape(data), dtype.Int64)
		data = ops.BroadcastTo(ops.ExpandDims(data, axes...), ops.Concat([]tensor.Tensor{have, ops.Cast(sizes, dtype.Int64)}, 0))
	}
	u = newTensor(data, own.and(added), t.own())
	if isRagged(t.data) {
		return t.unpacked(u)
	}
	return u.ordered(l)
}
