package mesh

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// combined turns values that the ranks have reduced into the value for all ranks: an open sum, or the result of
// another monoid. Some of the reduced axes may have as many entries as rows have.
func (t *tracer) combined(m *op.Monoid, v *variable, along over, have, all int, some []cut) {
	if m.Divide != op.ByNothing { // the mean of a part is weighted by its share of the entries
		share := t.shareOf(float64(have)/float64(all), some)
		if m.Divide == op.ByRootOfCount {
			share = ops.Sqrt(share)
		}
		x := ops.Mul(v.local, ops.Cast(share, v.DType()))
		if len(some) > 0 {
			x = ops.Where(ops.Equal(share, 0.0), ops.ZerosLike(x), x) // a mean of nothing is NaN
		}
		v.local = x
	}
	if dist.Reduction(m.Combine) == dist.Sum {
		v.open += along
		return
	}
	v.local = t.reduce(v.local, v, m.Combine, along)
}

// shareOf returns the share of all entries that this rank has: a number times the share of each axis
// of rows.
func (t *tracer) shareOf(x float64, some []cut) tensor.Tensor {
	share := tensor.Tensor(tensor.Scalar(x))
	for _, k := range some {
		_, all := t.before(k)
		share = ops.Mul(share, ops.Div(ops.Cast(t.countOf(k), dtype.Float64), ops.Cast(all, dtype.Float64)))
	}
	return share
}

// reduce does an all-reduce along axes of the mesh.
func (t *tracer) reduce(x tensor.Tensor, v *variable, combine string, along over) tensor.Tensor {
	for i := range len(along) {
		t.note("all_reduce", along[i:i+1], v.spec, v.cuts)
		x = dist.AllReduce(t.symbolic(x), dist.Reduction(combine), GroupOf(t.mesh.axes[along[i]].Name))
	}
	return x
}

// close returns the sum that an open sum stands for. It is computed once.
func (t *tracer) close(v *variable) *variable {
	if v.open == "" {
		return v
	}
	if v.closed == nil {
		c := *v
		c.open = ""
		c.local = t.reduce(v.part(v.cuts), v, string(dist.Sum), v.open)
		v.closed = &c
	}
	return v.closed
}

// scattered closes an open sum of which only a part is wanted: along an axis of the mesh that divides the
// part, a reduce-scatter suffices.
func (t *tracer) scattered(v *variable, cuts []cut) (*variable, error) {
	var wanted over
	for i, c := range cuts {
		if c != v.cuts[i] {
			wanted += c.over
		}
	}
	if !v.open.has(wanted) {
		return v, nil
	}
	if v.closed != nil {
		return v.closed, nil
	}
	c := *v
	c.cuts = slices.Clone(v.cuts)
	for i, k := range cuts {
		if k == v.cuts[i] || !v.cuts[i].whole() || len(k.over) != 1 || k.block != 1 || !v.open.has(k.over) {
			continue
		}
		t.note("reduce_scatter", k.over, v.spec, c.cuts)
		x := dist.ReduceScatter(t.symbolic(c.part(c.cuts)), dist.Sum, i, GroupOf(t.mesh.axes[k.over[0]].Name))
		c.cuts[i] = k
		c.open = c.open.without(k.over)
		c.local = ops.EnsureShape(x, t.mesh.shapeOf(v.Shape(), c.cuts))
	}
	return &c, nil
}

// openSums says which operands stay open sums, and closes the others. An operation that is linear in all
// of them together, and in nothing else of theirs, may be applied before the sum.
func (t *tracer) openSums(c *op.Call, p *prober, factors []factor, vars []*variable) ([]*variable, over) {
	var open over
	var set op.Operands
	for i, v := range vars {
		if v.open != "" {
			open, set = v.open, set|1<<p.number[i]
		}
	}
	if set == 0 {
		return vars, ""
	}
	keep := c.Op.Zero.LinearIn(set) && !c.Op.Draws
	for i, v := range vars {
		in := set.Has(p.number[i])
		keep = keep && (!in || v.open == open)
		for _, k := range v.cuts {
			keep = keep && !k.over.has(open)
		}
	}
	for _, f := range factors {
		keep = keep && (f.does != combines || dist.Reduction(c.Op.Monoid.Combine) == dist.Sum)
	}
	if keep && !p.grows(set) {
		return vars, open
	}
	out := slices.Clone(vars)
	for i, v := range vars {
		// If the other operands divide an axis along the same axis of the mesh, a part suffices.
		if v.open != "" && !t.willScatter(factors, vars, i) {
			out[i] = t.close(v)
		}
	}
	return out, ""
}

// grows reports whether an operation that only repeats elements makes more than twice as many of them: then an all-reduce of
// its operands moves less than a reduce-scatter of the result would.
func (p *prober) grows(set op.Operands) bool {
	n := 0
	for v, s := range p.shapes {
		if set.Has(p.number[v]) {
			if !s.IsFull() {
				return false
			}
			n += s.Size()
		}
	}
	return p.call.Op.Axes == op.Broadcast && p.base[0].IsFull() && p.base[0].Size() > 2*n
}

// willScatter reports whether an axis of an open sum gets divided, like other operands, along all axes of
// the mesh over which it is a sum.
func (t *tracer) willScatter(factors []factor, vars []*variable, i int) bool {
	v := vars[i]
	if v.closed != nil || len(v.open) != 1 {
		return false
	}
	for _, f := range factors {
		own := slices.IndexFunc(f.at, func(x place) bool { return x.value == i })
		if own < 0 || f.does != batch || !v.cuts[f.at[own].axis].whole() {
			continue
		}
		for _, x := range f.at {
			if x.value == shapeValue || x.value == i {
				continue
			}
			if k := vars[x.value].cuts[x.axis]; k.over == v.open && k.block == 1 {
				return true
			}
		}
	}
	return false
}

// gathered returns a tensor with one axis made whole.
func (t *tracer) gathered(v *variable, axis int) *variable {
	k := v.cuts[axis]
	if k.whole() {
		return v
	}
	if k.ends != nil {
		return t.gatherEnds(v)
	}
	v = t.placed(v)
	c := *v
	c.cuts, c.closed = slices.Clone(v.cuts), nil
	for k.over != "" { // the minor axes of the mesh first
		last := len(k.over) - 1
		t.note("all_gather", k.over[last:], v.spec, c.cuts)
		c.local = dist.AllGather(t.symbolic(c.local), axis, GroupOf(t.mesh.axes[k.over[last]].Name))
		k.over = k.over[:last]
		c.cuts[axis] = t.mesh.cut(k)
	}
	c.cuts[axis] = cut{}
	c.local = ops.EnsureShape(c.local, t.mesh.shapeOf(v.Shape(), c.cuts))
	return &c
}

// to returns a tensor with the given cuts, with whatever communication that takes.
func (t *tracer) to(v *variable, cuts []cut) (*variable, error) {
	v, err := t.scattered(v, cuts)
	if err != nil {
		return nil, err
	}
	v = t.close(v)
	for i := range cuts {
		if v.cuts[i] != cuts[i] && !v.cuts[i].whole() {
			v = t.gathered(v, i)
		}
	}
	if slices.Equal(v.cuts, cuts) {
		return v, nil
	}
	return &variable{tracer: t, spec: v.spec, cuts: cuts, local: v.part(cuts)}, nil
}

// note records a collective.
func (t *tracer) note(kind string, along over, s *tensor.Spec, cuts []cut) {
	local := t.mesh.shapeOf(s.Shape(), cuts)
	c := Collective{Kind: kind, Axis: t.mesh.names(along), Ranks: t.mesh.parts(along), Of: t.mesh.describe(layout{s, cuts}, ""), Line: source.Line()}
	if local.IsFull() {
		c.Bytes = int64(local.Size()) * int64(s.DType().Size())
	}
	t.log = append(t.log, c)
}

// regrouped handles a reshape: an axis stays divided if it is the first of those that are merged, or is
// split.
func (t *tracer) regrouped(c *op.Call, vars []*variable) ([]*variable, error) {
	specs, err := c.WithValues(valuesOf(vars)).Infer()
	if err != nil {
		return nil, err
	}
	v, s := vars[0], specs[0].(*tensor.Spec)
	if len(v.cuts) > 0 && v.cuts[0].of != nil {
		return t.regroupedRows(c, v, s)
	}
	if !v.Shape().IsFull() || !s.Shape().IsFull() {
		return t.unknown(c, vars)
	}
	cuts := make([]cut, s.Shape().Rank())
	for a, k := range v.cuts {
		if k.whole() {
			continue
		}
		b, to := t.follow(v, a, s)
		if b < 0 {
			e := c.Errorf(tenon.ErrUnsupported, "axis %d of %v is divided, but the result of shape %v has no axis that can be divided in the same way", a, v, s.Shape())
			e.Hint = "make it whole with mesh.Gather, or make it the first of the merged axes"
			return nil, e
		}
		cuts[b] = to
	}
	x := ops.Reshape(v.part(v.cuts), t.mesh.shapeOf(s.Shape(), cuts).Dims())
	return []*variable{{tracer: t, spec: s, cuts: cuts, local: x, open: v.open}}, nil
}

// regroupedRows handles a reshape of items that are the entries of rows.
func (t *tracer) regroupedRows(c *op.Call, v *variable, s *tensor.Spec) ([]*variable, error) {
	from, to := v.Shape().Tail(1), s.Shape()
	whole := !slices.ContainsFunc(v.cuts[1:], func(k cut) bool { return !k.whole() })
	if !whole || !to.HasRank() || to.Rank() == 0 || !from.IsFull() || !to.Tail(1).IsFull() || from.Size() != to.Tail(1).Size() || from.Size() == 0 {
		e := c.Errorf(tenon.ErrUnsupported, "axis 0 of %v is divided by rows, but the result of shape %v does not have one item for each of its entries", v, to)
		e.Hint = "make it whole with mesh.GatherAxis, or reshape only the items"
		return nil, e
	}
	s = tensor.NewSpec(s.DType(), to.With(0, shape.Unknown))
	cuts := make([]cut, to.Rank())
	cuts[0] = v.cuts[0]
	x := ops.Reshape(v.local, append([]int{-1}, to.Tail(1).Dims()...))
	out := &variable{tracer: t, spec: s, cuts: cuts, local: x, open: v.open}
	t.register(out)
	return []*variable{out}, nil
}

// follow returns the axis of a reshaped tensor that has the elements of axis a in the same parts, and
// its cut; -1 if there is none.
func (t *tracer) follow(v *variable, a int, s *tensor.Spec) (int, cut) {
	from, to, k := v.Shape(), s.Shape(), v.cuts[a]
	outer, inner := from.Slice(0, a).Size(), from.Tail(a+1).Size()
	if from.Size() == 0 {
		return -1, cut{}
	}
	for b := range to.Rank() {
		if to.Slice(0, b).Size() != outer {
			continue
		}
		below := to.Tail(b + 1).Size()
		if block := k.block * inner; block%below == 0 && k.blocks*(block/below) == to.Dim(b) {
			return b, t.mesh.cut(cut{over: k.over, blocks: k.blocks, block: block / below})
		}
		if n := t.mesh.parts(k.over); k.blocks%n == 0 && to.Dim(b)%n == 0 && k.blocks*k.block*inner == to.Dim(b)*below {
			return b, t.mesh.of(k.over, to.Dim(b))
		}
	}
	return -1, cut{}
}

// laidOut implements [To] and [Gather].
func (t *tracer) laidOut(c *op.Call, v *variable) ([]*variable, error) {
	l := c.Args[1].(*wanted)
	cuts := slices.Clone(v.cuts)
	if l.plan != nil && l.plan.mesh != t.mesh {
		return nil, c.Errorf(tenon.ErrInvalid, "the plan belongs to another mesh")
	}
	switch {
	case l.plan != nil:
		var err error
		if cuts, err = l.plan.cuts(v.Shape(), l.names); err != nil {
			return nil, err
		}
	case l.axes == nil:
		clear(cuts)
	default:
		for _, a := range l.axes {
			if a < 0 {
				a += len(cuts)
			}
			if a < 0 || a >= len(cuts) {
				return nil, c.Errorf(tenon.ErrAxis, "there is no axis %d", a)
			}
			cuts[a] = cut{}
		}
	}
	out, err := t.to(v, cuts)
	return []*variable{out}, err
}
