package mesh

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// rowwise executes a call with the rows of this rank. It returns false if that is not equivalent to the call with
// all rows.
func (t *tracer) rowwise(c *op.Call, vars []*variable) ([]*variable, bool) {
	for i, v := range vars {
		vars[i] = t.close(v)
	}
	vars, with, first := t.tryRows(c, vars)
	if first == nil {
		return nil, false
	}
	if with.alike && !with.unify(first) {
		return nil, false
	}
	specs, err := c.WithValues(valuesOf(vars)).Infer()
	if err != nil {
		return nil, false
	}
	locals := make([]tenon.Value, len(vars))
	for i, v := range vars {
		switch k := with.count[i]; {
		case !k.whole():
			locals[i] = ops.Cast(t.countOf(k), v.DType())
		default:
			locals[i] = v.part(v.cuts)
		}
	}
	out, err := c.WithValues(locals).DoTensors()
	tenon.Throw(err)
	res := make([]*variable, len(out))
	for i, x := range out {
		res[i] = with.result(i, x, first[i], specs[i].(*tensor.Spec).Shape())
	}
	t.pair(res)
	t.register(res...)
	return res, true
}

// tryRows finds an interpretation of the operands for which two trials agree about the results, and returns the
// operands, and the trial with its verdicts; nil if there is none.
func (t *tracer) tryRows(c *op.Call, given []*variable) (vars []*variable, with *trial, first []verdict) {
	for way := range 8 {
		counts, alike := way%2 == 0, way/2%2 == 1
		if vars = given; way > 3 { // a whole operand may have an entry for each row
			if vars = t.laidByRows(c, given); vars == nil {
				return nil, nil, nil
			}
		}
		first = nil
		for seed := range 2 {
			with = &trial{t: t, call: c, vars: vars, seed: seed, alike: alike, sizes: map[cut][2]int{}}
			verdicts, ok := with.run(counts)
			if !ok || seed > 0 && !slices.Equal(first, verdicts) {
				first = nil
				break
			}
			first = verdicts
		}
		if first != nil {
			return vars, with, first
		}
	}
	return nil, nil, nil
}

// result returns result i of the call, of which this rank has x. s is the shape of the whole, as far as it is
// known.
func (r *trial) result(i int, x tensor.Tensor, d verdict, s shape.Shape) *variable {
	v := &variable{tracer: r.t, cuts: make([]cut, x.Shape().Rank()), local: x, at: d.at}
	if !d.cut.whole() || d.fresh {
		k := d.cut
		if d.fresh {
			k = cut{over: r.over, of: &entries{}}
		}
		if d.ends {
			k = d.cut
			if k.ends == nil {
				k.ends = &entries{}
			}
		}
		v.cuts[0] = k
		switch {
		case k.of != nil:
			s = s.With(0, shape.Unknown)
		case k.ends != nil:
			s = s.With(0, k.blocks*k.block+1)
		default:
			s = s.With(0, k.blocks*k.block)
		}
	}
	for a := 1; a < len(v.cuts); a++ {
		v.cuts[a] = r.trailing(a, i, s)
	}
	v.spec = tensor.NewSpec(x.DType(), s)
	switch {
	case dist.Reduction(d.combine) == dist.Sum:
		v.open = r.over
	case d.combine != "":
		v.local = r.t.reduce(v.local, v, d.combine, r.over)
	}
	return v
}

// laidByRows returns the operands with those that have an entry for each row divided like the rows; nil if there is
// none.
func (t *tracer) laidByRows(c *op.Call, vars []*variable) []*variable {
	var rows []cut
	for _, v := range vars {
		if len(v.cuts) > 0 && v.cuts[0].ends != nil && v.cuts[0].of == nil {
			rows = append(rows, v.cuts[0].rows())
		}
	}
	var out []*variable
	for i, v := range vars {
		for _, k := range rows {
			if v.Shape().Rank() == 0 || !v.cuts[0].whole() || v.Shape().Dim(0) != k.blocks*k.block {
				continue
			}
			if out == nil {
				out = slices.Clone(vars)
			}
			cuts := slices.Clone(v.cuts)
			cuts[0] = k
			out[i] = &variable{tracer: t, spec: v.spec, cuts: cuts, local: v.part(cuts)}
			break
		}
	}
	return out
}

// pair gives the new entries of an operation and the new splits of them the same name if it returns both.
func (t *tracer) pair(res []*variable) {
	var ends, of *variable
	for _, v := range res {
		if len(v.cuts) == 0 {
			continue
		}
		if v.cuts[0].ends != nil {
			ends = v
		} else if v.cuts[0].of != nil {
			of = v
		}
	}
	_, known := t.counts[ofCut(of)]
	if ends != nil && of != nil && !known {
		of.cuts[0].of = ends.cuts[0].ends
	}
}

func ofCut(v *variable) *entries {
	if v == nil {
		return nil
	}
	return v.cuts[0].of
}

// trailing returns the cut of a later axis of a result: that of the only operand that has one there.
func (r *trial) trailing(axis, result int, s shape.Shape) cut {
	for i, v := range r.vars {
		if axis < len(v.cuts) && !v.cuts[axis].whole() && !r.call.Op.Control.Has(r.number(i)) && s.Rank() == v.Shape().Rank() {
			return v.cuts[axis]
		}
	}
	return cut{}
}
