package control

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Cond returns the result of then if the boolean scalar pred is true, and that of otherwise if it
// is false. With concrete data only that function runs, as in a Go if statement, so recursion
// through it can end, and its result is returned unchanged. With a symbolic pred both functions are
// traced. Their results must then have the same structure, with Specs that merge or types of which
// one can be cast to the other; the result has the type above both. Cond throws errors.
func Cond[R any](pred any, then, otherwise func() R) R {
	p := tenon.Must(tensor.Convert(pred))
	if p.DType() != dtype.Bool {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: "control.Cond", Line: source.Line(), Msg: fmt.Sprintf("the predicate is %s, not a boolean scalar", tenon.String(p.Spec()))})
	}
	p = bare("control.Cond", p)
	if c, ok := concrete(p); ok {
		if tensor.Item[bool](c) {
			return then()
		}
		return otherwise()
	}
	return branch("control.Cond", ops.Cast(ops.LogicalNot(p), dtype.Int64), []func() R{then, otherwise})
}

// Switch returns the result of branches[index]; an index out of range selects the
// last branch. With a symbolic index all branches are traced, as in [Cond]. It
// throws errors.
func Switch[R any](index any, branches ...func() R) R {
	if len(branches) == 0 {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "control.Switch", Line: source.Line(), Msg: "there are no branches"})
	}
	i := tenon.Must(tensor.Convert(index))
	if !i.DType().IsInteger() {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: "control.Switch", Line: source.Line(), Msg: fmt.Sprintf("the index is %s, not an integer scalar", tenon.String(i.Spec()))})
	}
	i = bare("control.Switch", i)
	if c, ok := concrete(i); ok {
		k := tensor.Item[int64](ops.Cast(c, dtype.Int64))
		if k < 0 || k >= int64(len(branches)) {
			k = int64(len(branches)) - 1
		}
		return branches[k]()
	}
	return branch("control.Switch", i, branches)
}

// When is a branch of [Case]: a boolean scalar, and a function that returns the result if it is
// true.
type When[R any] struct {
	If   any
	Then func() R
}

// Case returns the result of the first branch whose condition is true, or that of otherwise if
// there is none. With symbolic conditions all branches are traced, as in [Cond]. It throws errors.
func Case[R any](branches []When[R], otherwise func() R) R {
	if len(branches) == 0 {
		return otherwise()
	}
	first := branches[0]
	return Cond(first.If, first.Then, func() R { return Case(branches[1:], otherwise) })
}

// concrete returns the elements of t, if they exist.
func concrete(t tensor.Tensor) (tensor.Tensor, bool) {
	if c, ok := op.Known(t); ok {
		return c, true
	}
	c, ok := t.(tensor.Concreter)
	if !ok {
		return nil, false
	}
	x, err := c.Concrete()
	return x, err == nil
}

// bare returns the single tensor that decides a choice. It unwraps a scalar whose type carries more
// information about axes, such as their names.
func bare(fn string, t tensor.Tensor) tensor.Tensor {
	if tenon.IsLeaf(t.Spec()) {
		return t
	}
	ts := tenon.Must(tensorsOf(t))
	if len(ts) != 1 {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: fn, Line: source.Line(), Msg: fmt.Sprintf("%s is not a scalar", tenon.String(t.Spec()))})
	}
	return ts[0]
}

// branch traces the functions into regions and records the choice among them.
func branch[R any](fn string, index tensor.Tensor, branches []func() R) R {
	regions := make([]*graph.Graph, len(branches))
	results := make([]R, len(branches))
	for i, f := range branches {
		var err error
		regions[i], err = graph.TraceRegion(fmt.Sprintf("branch%d", i), nil, func([]tensor.Tensor) ([]tensor.Tensor, error) {
			results[i] = f()
			return tensorsOf(results[i])
		})
		tenon.Throw(err)
	}
	merged, err := unify(fn, results)
	tenon.Throw(err)
	if merged.recast {
		for i, f := range branches {
			regions[i], err = graph.TraceRegion(fmt.Sprintf("branch%d", i), nil, func([]tensor.Tensor) ([]tensor.Tensor, error) {
				return merged.tensors(f())
			})
			tenon.Throw(err)
		}
	}
	captures := graph.ShareCaptures(regions...)
	inputs := make([]tenon.Value, len(captures))
	for i, c := range captures {
		inputs[i] = c
	}
	out := op.EvalN(condOp, index, inputs, regions)
	return tenon.Must(merged.pack(out))
}

// tensorsOf returns the tensors that a structure consists of.
func tensorsOf(x any) ([]tensor.Tensor, error) {
	leaves, err := nest.Flatten(x, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	var ts []tensor.Tensor
	for _, l := range leaves {
		if t, ok := l.(tensor.Tensor); ok {
			ts = append(ts, t)
		}
	}
	return ts, nil
}

// common is the structure that several results share.
type common[R any] struct {
	like   R
	specs  []tenon.Spec // of the Values, merged; nil for plain data
	recast bool         // a result must be taken apart by a merged Spec of another kind than its own
}

// unify finds the structure above several results.
func unify[R any](fn string, results []R) (*common[R], error) {
	c := &common[R]{like: results[0]}
	for i, r := range results {
		paths, leaves, err := nest.FlattenWithPaths(r, nest.Options{})
		if err != nil {
			return nil, err
		}
		if i == 0 {
			for _, l := range leaves {
				v, ok := l.(tenon.Value)
				if !ok {
					c.specs = append(c.specs, nil)
					continue
				}
				c.specs = append(c.specs, v.Spec())
			}
			continue
		}
		if err := nest.Same(results[0], r, nest.Options{}); err != nil {
			e := *tenon.AsError(err)
			e.Op = fn
			e.Msg = "results have different structures: " + e.Msg
			return nil, &e
		}
		for k, l := range leaves {
			v, ok := l.(tenon.Value)
			if !ok || c.specs[k] == nil {
				continue
			}
			m, recast, ok := mergeOrCast(c.specs[k], v.Spec())
			if !ok {
				return nil, &tenon.Error{Kind: tenon.ErrDType, Op: fn, Where: paths[k].String(), Line: source.Line(),
					Msg:  fmt.Sprintf("results are %s and %s, which have no common Spec%s", tenon.String(c.specs[k]), tenon.String(v.Spec()), tenon.HiddenDifference(c.specs[k], v.Spec())),
					Hint: "convert one of them, for instance with ops.Cast"}
			}
			c.specs[k] = m
			c.recast = c.recast || recast
		}
	}
	return c, nil
}

// mergeOrCast returns the Spec above a and b. If their types differ, it is the
// one that declares a cast from the other.
func mergeOrCast(a, b tenon.Spec) (m tenon.Spec, recast, ok bool) {
	if m, ok := tenon.Merge(a, b); ok {
		return m, !sameLayout(m, a) || !sameLayout(m, b), true
	}
	for _, pair := range [][2]tenon.Spec{{a, b}, {b, a}} {
		if c, ok := pair[0].(interface {
			CastSpec(tenon.Spec) (tenon.Spec, bool)
		}); ok {
			if m, ok := c.CastSpec(pair[1]); ok {
				return m, true, true
			}
		}
	}
	return nil, false, false
}

// sameLayout reports whether values of a are taken apart like those of m.
func sameLayout(m, a tenon.Spec) bool {
	x, y := m.Components(), a.Components()
	if m.TypeName() != a.TypeName() || len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].Name != y[i].Name || !sameLayout(x[i].Spec, y[i].Spec) {
			return false
		}
	}
	return true
}

// tensors takes a result apart according to the merged Specs.
func (c *common[R]) tensors(r R) ([]tensor.Tensor, error) {
	leaves, err := nest.Flatten(r, nest.Options{})
	if err != nil {
		return nil, err
	}
	var ts []tensor.Tensor
	for k, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok {
			continue
		}
		if v, err = castTo(c.specs[k], v); err != nil {
			return nil, err
		}
		parts, err := disassemble(c.specs[k], v)
		if err != nil {
			return nil, err
		}
		ts = append(ts, parts...)
	}
	return ts, nil
}

// castTo returns v as a value of s. It casts v if it has another type or another
// layout, like a tensor whose named dimensions are stored in another order.
func castTo(s tenon.Spec, v tenon.Value) (tenon.Value, error) {
	if tenon.Belongs(v, s) {
		return v, nil
	}
	if c, ok := s.(tenon.Caster); ok {
		cast, err := c.Cast(v)
		if err != nil && s.TypeName() == v.Spec().TypeName() {
			return v, nil // its Spec is less specific than s
		}
		return cast, err
	}
	if c, ok := v.Spec().(tenon.CastSource); ok && v.Spec().TypeName() != s.TypeName() {
		return c.CastTo(v, s)
	}
	return v, nil
}

// disassemble takes v apart down to tensors, according to s.
func disassemble(s tenon.Spec, v tenon.Value) ([]tensor.Tensor, error) {
	if tenon.IsLeaf(s) {
		t, ok := v.(tensor.Tensor)
		if !ok {
			return nil, tenon.NewError(tenon.ErrDType, "control", fmt.Sprintf("a %s is not a tensor", v.Spec().TypeName()))
		}
		return []tensor.Tensor{t}, nil
	}
	parts, err := s.Disassemble(v)
	if err != nil {
		return nil, err
	}
	var ts []tensor.Tensor
	for i, f := range s.Components() {
		sub, err := disassemble(f.Spec, parts[i])
		if err != nil {
			return nil, err
		}
		ts = append(ts, sub...)
	}
	return ts, nil
}

// pack builds the common structure from tensors.
func (c *common[R]) pack(ts []tensor.Tensor) (R, error) {
	var zero R
	leaves, err := nest.Flatten(c.like, nest.Options{})
	if err != nil {
		return zero, err
	}
	for k, s := range c.specs {
		if s == nil {
			continue
		}
		parts, err := nest.Flatten(s, nest.Options{Expand: true})
		if err != nil {
			return zero, err
		}
		comps := make([]any, len(parts))
		for i := range parts {
			comps[i] = ts[i]
		}
		ts = ts[len(parts):]
		if leaves[k], err = nest.Pack[any](s, comps, nest.Options{Expand: true}); err != nil {
			return zero, err
		}
	}
	return nest.Pack(c.like, leaves, nest.Options{})
}
