package mesh

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Record executes a call on the parts of its operands.
func (v *variable) Record(c *op.Call) ([]tenon.Value, error) {
	t := v.tracer
	if t.done {
		e := tenon.NewError(tenon.ErrInvalid, "mesh", fmt.Sprintf("%v is used after the program has returned", v))
		e.Hint = "return it from the program instead of storing it in a captured variable, a field or a map"
		return nil, e
	}
	t.program = append(t.program, describeCall(c))
	out, err := tenon.Try(func() []*variable { return tenon.Must(t.record(c)) })
	if err != nil {
		return nil, c.Fail(err)
	}
	list := make([]tenon.Value, len(out))
	for i, x := range out {
		list[i] = x
	}
	return list, nil
}

func (t *tracer) record(c *op.Call) ([]*variable, error) {
	values := c.Values()
	vars := make([]*variable, len(values))
	divided := false
	ragged, ends := false, false
	for i, v := range values {
		vars[i] = t.of(v).canonical()
		divided = divided || vars[i].divided()
		ragged = ragged || !vars[i].at.whole() || c.Op.By == op.ByRows && vars[i].divided()
		ends = ends || len(vars[i].cuts) > 0 && vars[i].cuts[0].ends != nil
	}
	if c.Op != layoutOp && (ragged || ends) {
		if out, ok := t.rowwise(c, vars); ok {
			return out, nil
		}
		if ends {
			return t.notByRows(c, vars)
		}
		for i, v := range vars {
			vars[i] = t.placed(v)
		}
	}
	if v := t.movedSizes(c, vars); v != nil {
		return []*variable{v}, nil
	}
	switch {
	case c.Op == layoutOp:
		return t.laidOut(c, vars[0])
	case c.Op.Axes == op.Create && c.Op.ShapeOnly != 0:
		return t.sizes(c, vars)
	case c.Op.Reshapes() && c.Op.Axes == op.Regroup && divided:
		return t.regrouped(c, vars)
	case !divided && !t.lazy(c):
		return t.everywhere(c, vars)
	}
	if divided {
		if out, err := t.elsewhere(c, vars); out != nil || err != nil {
			return out, err
		}
	}
	return t.apart(c, vars)
}

// everywhere executes a call with whole values on each rank.
func (t *tracer) everywhere(c *op.Call, vars []*variable) ([]*variable, error) {
	out, err := c.WithValues(localsOf(vars, nil)).DoTensors()
	if err != nil {
		return nil, err
	}
	res := make([]*variable, len(out))
	for i, x := range out {
		res[i] = t.whole(x)
	}
	return res, nil
}

// localsOf returns the parts of operands, or the whole operands if cuts are nil.
func localsOf(vars []*variable, cuts [][]cut) []tenon.Value {
	out := make([]tenon.Value, len(vars))
	for i, v := range vars {
		c := v.cuts
		if cuts != nil {
			c = cuts[i]
		}
		out[i] = v.part(c)
	}
	return out
}

// notByRows returns the error for divided row splits in a call that needs those of all ranks.
func (t *tracer) notByRows(c *op.Call, vars []*variable) ([]*variable, error) {
	i := slices.IndexFunc(vars, func(v *variable) bool { return len(v.cuts) > 0 && v.cuts[0].ends != nil })
	e := c.Errorf(tenon.ErrUnsupported, "the rows of %v are divided, but the operation does not treat each row alike", vars[i])
	e.Hint = "make the value whole with mesh.GatherAxis, or use a plan that does not divide its rows"
	return nil, e
}

// apart executes a call on parts.
func (t *tracer) apart(c *op.Call, vars []*variable) ([]*variable, error) {
	values := make([]tenon.Value, len(vars))
	for i, v := range vars {
		values[i] = v
	}
	global := c.WithValues(values)
	p := newProber(global)
	if p == nil {
		return t.unknown(c, vars)
	}
	var factors []factor
	if c.Op.Axes == op.Map && c.Op.Control == 0 {
		factors = p.mapped()
	} else {
		factors = p.factors()
	}
	specs, err := global.Infer()
	if err != nil {
		return nil, err
	}
	vars, open := t.openSums(c, p, factors, vars)
	cuts := make([]cut, len(factors)) // of each factor
	for i, f := range factors {
		if cuts[i], err = t.cutOf(c, p, f, vars); err != nil {
			return nil, err
		}
		if !cuts[i].whole() {
			if err := p.ambiguous(c, f, vars); err != nil {
				return nil, err
			}
		}
	}
	operands := make([][]cut, len(vars))
	for i, v := range vars {
		operands[i] = make([]cut, len(v.cuts))
	}
	res := make([][]cut, len(specs))
	for i, s := range specs {
		res[i] = make([]cut, s.(*tensor.Spec).Shape().Rank())
	}
	var summed over
	have, all := 1, 1 // number of reduced entries, on this rank and on all
	var some []cut    // reduced axes with as many entries as rows have
	for i, f := range factors {
		if cuts[i].whole() {
			continue
		}
		for _, x := range f.at {
			if x.value != shapeValue {
				operands[x.value][x.axis] = cuts[i]
			}
		}
		for k, a := range f.res {
			if a >= 0 {
				res[k][a] = cuts[i]
			}
		}
		if f.does == combines {
			n := p.size(f.at[0])
			if summed.has(cuts[i].over) {
				return nil, alsoSummed(c, vars)
			}
			if summed += cuts[i].over; cuts[i].of != nil {
				if some = append(some, cuts[i]); dist.Reduction(c.Op.Monoid.Combine) != dist.Sum && (c.Op.Axes != op.Reduce || len(f.at) != 1) {
					e := c.Errorf(tenon.ErrUnsupported, "the entries of divided rows cannot be combined by %s", c.Op.Monoid.Combine)
					e.Hint = "make them whole with mesh.GatherAxis"
					return nil, e
				}
				continue
			}
			have, all = have*t.mesh.size(cuts[i], n), all*n
		}
	}
	for i, f := range factors {
		if f.does != combines && summed.has(cuts[i].over) {
			return nil, alsoSummed(c, vars)
		}
	}
	if slices.ContainsFunc(cuts, func(k cut) bool { return !k.whole() }) {
		if err := p.dependent(c); err != nil {
			return nil, err
		}
	}
	for i, v := range vars {
		if vars[i], err = t.scattered(v, operands[i]); err != nil {
			return nil, err
		}
	}
	for i := range operands {
		if err := t.apartOnce(c, fmt.Sprintf("operand %d", i), vars[i].spec, operands[i]); err != nil {
			return nil, err
		}
	}
	for i := range res {
		if err := t.apartOnce(c, "the result", specs[i].(*tensor.Spec), res[i]); err != nil {
			return nil, err
		}
	}
	if c.Op.Draws && summed == "" && slices.ContainsFunc(cuts, func(c cut) bool { return !c.whole() }) {
		return t.drawn(c, p, vars, specs, res)
	}
	do := func(operands, res [][]cut) ([]tensor.Tensor, error) {
		locals := make([]tenon.Value, len(vars))
		for i, v := range vars {
			if i != p.target || v.size == nil {
				locals[i] = v.part(operands[i])
			}
		}
		if p.target >= 0 && (vars[p.target].size != nil || slices.ContainsFunc(res[0], func(c cut) bool { return !c.whole() })) {
			locals[p.target] = ops.Cast(t.localSizes(res[0], p.sizes), vars[p.target].DType())
		}
		for i, f := range factors {
			if f.does == combines && cuts[i].of != nil && dist.Reduction(c.Op.Monoid.Combine) != dist.Sum {
				x := locals[f.at[0].value].(tensor.Tensor) // a rank may have no entry
				one := ops.Fill(tenon.Must(sizesWith(x, f.at[0].axis)), c.Op.Monoid.IdentityOf(x.DType()))
				locals[f.at[0].value] = ops.Concat([]tensor.Tensor{x, one}, f.at[0].axis)
			}
		}
		local := t.attributes(c, res[0]).WithValues(locals)
		return local.DoTensors()
	}
	if t.lazy(c) && open == "" && len(specs) == 1 {
		v := &variable{tracer: t, spec: p.specOf(0, specs[0], res[0]), cuts: res[0]}
		v.make = t.remake(c, p, factors, vars, do)
		if slices.ContainsFunc(v.cuts, func(c cut) bool { return !c.whole() }) {
			v.local, v.make = v.make(v.cuts), nil
			t.register(v)
		}
		return []*variable{v}, nil
	}
	var out []tensor.Tensor
	if summed != "" && have == 0 {
		out, err = t.nothing(c, specs, res, func() ([]tensor.Tensor, error) { return do(operands, res) })
	} else {
		out, err = do(operands, res)
	}
	if err != nil {
		return nil, err
	}
	vs := make([]*variable, len(out))
	for i, x := range out {
		vs[i] = &variable{tracer: t, spec: p.specOf(i, specs[i], res[i]), cuts: res[i], local: x, open: open}
		if summed != "" {
			t.combined(c.Op.Monoid, vs[i], summed, have, all, some)
		}
	}
	t.register(vs...)
	return vs, nil
}

// remake returns a function that makes any part of a result whose elements repeat those of the
// operands.
func (t *tracer) remake(c *op.Call, p *prober, factors []factor, vars []*variable, do func(operands, res [][]cut) ([]tensor.Tensor, error)) func(cuts []cut) tensor.Tensor {
	return func(cuts []cut) tensor.Tensor {
		operands := make([][]cut, len(vars))
		for i, v := range vars {
			operands[i] = slices.Clone(v.cuts)
		}
		for _, f := range factors {
			if len(f.res) == 0 || f.res[0] < 0 {
				continue
			}
			for _, x := range f.at {
				if x.value != shapeValue {
					operands[x.value][x.axis] = cuts[f.res[0]]
				}
			}
		}
		return tenon.Must(do(operands, [][]cut{cuts}))[0]
	}
}

// attributes returns a call whose attributes that are shapes of the result are replaced by those
// of the part.
func (t *tracer) attributes(c *op.Call, cuts []cut) *op.Call {
	for i, p := range c.Op.Params {
		if p.Kind != op.Attr || p.Type != op.ShapeType {
			continue
		}
		if s := c.Shape(i); s.HasRank() && s.Rank() == len(cuts) {
			for a, x := range cuts {
				if !x.whole() && s.Dim(a) >= 0 {
					s = s.With(a, t.mesh.size(x, s.Dim(a)))
				}
			}
			c = c.WithArg(i, s)
		}
	}
	return c
}

// mapped returns the factors of an elementwise operation: axes of the result, counted from the last
// one.
func (p *prober) mapped() []factor {
	s := p.base[0]
	out := make([]factor, s.Rank())
	for a := range out {
		out[a].res = make([]int, len(p.base))
		for i := range p.base {
			out[a].res[i] = a
		}
		for v, x := range p.shapes {
			if b := a - s.Rank() + x.Rank(); b >= 0 && x.Dim(b) == s.Dim(a) {
				out[a].at = append(out[a].at, place{v, b})
			}
		}
	}
	for v, x := range p.shapes { // an axis of size 1 is broadcast
		for b := range x.Rank() {
			if a := b + s.Rank() - x.Rank(); x.Dim(b) != s.Dim(a) {
				out = append(out, factor{at: []place{{v, b}}, does: needsWhole, why: "its entry is broadcast along a longer axis"})
			}
		}
	}
	return out
}

// cutOf returns how a factor is divided: like the operands that are divided along it.
func (t *tracer) cutOf(c *op.Call, p *prober, f factor, vars []*variable) (cut, error) {
	var found cut
	var by *variable
	for _, x := range f.at {
		var v *variable
		var k cut
		if x.value == shapeValue {
			if v = vars[p.target]; v.size == nil || v.size[x.axis].cut.of == nil {
				continue
			}
			k = v.size[x.axis].cut
		} else {
			v = vars[x.value]
			k = v.cuts[x.axis]
		}
		switch {
		case k.whole() || k == found:
		case found.whole():
			found, by = k, v
		default:
			e := c.Errorf(tenon.ErrInvalid, "an axis is divided in two ways: in %v and in %v", by, v)
			e.Hint = "make one of them whole with mesh.Gather, or divide both names along the same axis of the mesh"
			return found, e
		}
		if !k.whole() && f.does == needsWhole {
			e := c.Errorf(tenon.ErrUnsupported, "axis %d of %v is divided, but %s", x.axis, v, f.why)
			e.Hint = "make it whole with mesh.Gather, or use a plan that does not divide it"
			return found, e
		}
	}
	return found, nil
}

// ambiguous returns an error if an operand may have a divided axis, but its size is unknown.
func (p *prober) ambiguous(c *op.Call, f factor, vars []*variable) error {
	for v, s := range p.shapes {
		if c.Op.Control.Has(p.number[v]) || s.IsFull() || slices.ContainsFunc(f.at, func(x place) bool { return x.value == v }) {
			continue
		}
		if p.sized(p.fresh) != nil || p.sized(p.size(f.at[0])) == nil {
			continue // it may have any size, or not that one
		}
		e := c.Errorf(tenon.ErrUnsupported, "%v has an unknown size, which may be that of a divided axis", vars[v])
		e.Hint = "make the other operands whole with mesh.Gather, or the size known with ops.EnsureShape"
		return e
	}
	return nil
}

// sized returns the shapes of the results if all unknown sizes of operands are n; nil if the operation does not allow that.
func (p *prober) sized(n int) []shape.Shape {
	var unknown []place
	for v, s := range p.shapes {
		for a := range s.Rank() {
			if s.Dim(a) < 0 {
				unknown = append(unknown, place{v, a})
			}
		}
	}
	shapes, err := p.infer(unknown, n)
	if err != nil {
		return nil
	}
	return shapes
}

// dependent returns an error if the size of a result depends on elements, which differ between ranks.
func (p *prober) dependent(c *op.Call) error {
	all, sizes := c.Op.By != op.ByIDs, []int{p.fresh}
	for v, s := range p.shapes {
		all = all && (s.IsFull() || c.Op.Control.Has(p.number[v]))
		sizes = append(sizes, s.Dims()...)
	}
	unknown := func(s shape.Shape) bool { return !s.IsFull() }
	if !all && c.Op.By != op.ByIDs || !slices.ContainsFunc(p.base, unknown) {
		return nil
	}
	for _, n := range sizes { // does the result only have the unknown size of an operand?
		if n < 0 {
			continue
		}
		if shapes := p.sized(n); shapes != nil && !slices.ContainsFunc(shapes, unknown) {
			return nil
		}
	}
	return c.Errorf(tenon.ErrUnsupported, "an operand is divided, but the size of the result depends on all of its elements").
		WithHint("give the size, or make the operand whole with mesh.Gather")
}

// unknown returns the error for divided operands whose axes cannot be followed.
func (t *tracer) unknown(c *op.Call, vars []*variable) ([]*variable, error) {
	i := slices.IndexFunc(vars, (*variable).divided)
	if i < 0 {
		return t.everywhere(c, vars)
	}
	if vars[i].open != "" && !slices.ContainsFunc(vars[i].cuts, func(c cut) bool { return !c.whole() }) {
		vars = slices.Clone(vars)
		vars[i] = t.close(vars[i])
		return t.record(c.WithValues(valuesOf(vars)))
	}
	e := c.Errorf(tenon.ErrUnsupported, "%v is divided, but where its axes go is not known before the operation runs", vars[i])
	e.Hint = "make it whole with mesh.Gather"
	return nil, e
}

func valuesOf(vars []*variable) []tenon.Value {
	out := make([]tenon.Value, len(vars))
	for i, v := range vars {
		out[i] = v
	}
	return out
}

// apartOnce returns an error if two axes of a tensor are divided along the same axis of the
// mesh.
func (t *tracer) apartOnce(c *op.Call, what string, s *tensor.Spec, cuts []cut) error {
	var used over
	for _, x := range cuts {
		if used.has(x.over) {
			e := c.Errorf(tenon.ErrInvalid, "two axes of %s would be divided along the same axis of the mesh: %s", what, t.mesh.describe(layout{s, cuts}, ""))
			e.Hint = "make one of the operands whole with mesh.Gather, or divide the names along different axes of the mesh"
			return e
		}
		used += x.over
	}
	return nil
}

// alsoSummed returns the error for two axes that are divided along the same axis of the mesh, over one of which the operation
// sums: no rank has all pairs of their entries.
func alsoSummed(c *op.Call, vars []*variable) error {
	return c.Errorf(tenon.ErrInvalid, "with the operands %v, it would sum over the ranks along which another axis is divided", vars).
		WithHint("make one of the operands whole with mesh.Gather, or divide the names along different axes of the mesh")
}

// drawn handles an operation that draws a random element for each element of an operand in which it is
// linear: all ranks draw for the whole operand, and use their part.
func (t *tracer) drawn(c *op.Call, p *prober, vars []*variable, specs []tenon.Spec, res [][]cut) ([]*variable, error) {
	i := slices.IndexFunc(vars, (*variable).divided)
	if len(res) != 1 || !c.Op.Zero.LinearIn(1<<p.number[i]) || !vars[i].Shape().Equal(specs[0].(*tensor.Spec).Shape()) {
		return nil, c.Errorf(tenon.ErrUnsupported, "%v is divided, but random elements are drawn for all of it", vars[i])
	}
	ones := slices.Clone(vars)
	ones[i] = t.whole(ops.OnesLike(ops.Fill(vars[i].Shape().Dims(), ops.Zeros(vars[i].DType(), []int{}))))
	factor, err := t.everywhere(c, ones)
	if err != nil {
		return nil, err
	}
	x := ops.Mul(vars[i].part(res[0]), factor[0].part(res[0]))
	return []*variable{{tracer: t, spec: specs[0].(*tensor.Spec), cuts: res[0], local: x, open: vars[i].open}}, nil
}

// nothing returns the result of a reduction of no entries, for a rank that has none. Sums whose sizes are unknown are
// left to the operation.
func (t *tracer) nothing(c *op.Call, specs []tenon.Spec, res [][]cut, do func() ([]tensor.Tensor, error)) ([]tensor.Tensor, error) {
	s := specs[0].(*tensor.Spec)
	identity := c.Op.Monoid.IdentityOf(s.DType())
	if len(specs) != 1 || identity == nil {
		return nil, c.Errorf(tenon.ErrUnsupported, "a rank has nothing to reduce, and the reduction has no neutral element")
	}
	sizes := t.mesh.shapeOf(s.Shape(), res[0])
	if !known(sizes) && c.Op.Monoid.Divide == op.ByNothing && dist.Reduction(c.Op.Monoid.Combine) == dist.Sum {
		return do()
	}
	return []tensor.Tensor{ops.Fill(sizes.Dims(), identity)}, nil
}
