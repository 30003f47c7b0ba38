package named

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Elementwise operations on two tensors match dimensions by name. The names of one operand must
// contain those of the other, which is repeated along the dimensions that it lacks. Combining
// operands that each have names of their own is usually a mistake, and requires [Outer] or
// [BroadcastTo]. A name must have the same size in both; size 1 does not stretch. Either operand
// may be a Go number. All elementwise functions of package ops accept named tensors with the same
// rules: ops.Atan2(x, y), ops.Exp(x).

// Map applies an elementwise function of package ops, such as ops.Exp.
func Map(f func(x any) tensor.Tensor, x tenon.Value) *Tensor {
	const fn = "named.Map"
	needsFunc(fn, f == nil)
	t := tensorOf(fn, x)
	y := f(t.data)
	if s := y.Shape(); !s.Equal(t.data.Shape()) && !s.CompatibleWith(t.data.Shape()) {
		fail(tenon.ErrShape, fn, "the function returns %s, which has different sizes\n%s", tenon.String(y.Spec()), t.line("tensor"))
	}
	return newTensor(y, t.spec.names, t.own())
}

// Map2 applies an elementwise function of two tensors of package ops, such as ops.Greater.
func Map2(f func(x, y any) tensor.Tensor, x, y any) *Tensor {
	needsFunc("named.Map2", f == nil)
	return elementwise("named.Map2", f, x, y)
}

// Outer applies an elementwise function of two tensors of package ops to all combinations: the
// result has the names of both. Names that both have are matched.
//
//	named.Outer(ops.Sub, queryPositions, keyPositions)   // {Query, Key}
func Outer(f func(x, y any) tensor.Tensor, x, y tenon.Value) *Tensor {
	const fn = "named.Outer"
	needsFunc(fn, f == nil)
	a, b := tensorOf(fn, x), tensorOf(fn, y)
	p := outerPlan(a.spec.names, b.spec.names)
	return p.run(fn, f, a, b)
}

func outerPlan(a, b *layout) *pairing {
	return a.plan(planKey{kind: planOuter, other: b}, func() (any, error) { return newPairing(a, b, a.and(b)), nil }).(*pairing)
}

// elementwise applies f to two operands, at least one of which is named.
func elementwise(fn string, f func(x, y any) tensor.Tensor, x, y any) *Tensor {
	a, okA := asNamed(x)
	b, okB := asNamed(y)
	switch {
	case okA && okB && a != nil && b != nil:
		if a.spec.names == b.spec.names && a.side == nil && b.side == nil {
			if d, ok := a.data.(*tensor.Dense); ok {
				if e, ok := b.data.(*tensor.Dense); ok && d.Shape().Equal(e.Shape()) {
					return newTensor(f(d, e), a.spec.names, nil)
				}
			}
		}
		return pairingOf(fn, a, b).run(fn, f, a, b)
	case okA && a != nil:
		return newTensor(f(a.data, scalarOf(fn, y)), a.spec.names, a.own())
	case okB && b != nil:
		return newTensor(f(scalarOf(fn, x), b.data), b.spec.names, b.own())
	}
	tensorOf(fn, x)
	return nil
}

// scalarOf returns an operand without names, which must be a single element.
func scalarOf(fn string, x any) any {
	switch x := x.(type) {
	case float64, float32, int, int64, int32, bool:
		return x
	case tensor.Tensor:
		if s := x.Shape(); s.IsScalar() {
			return x
		}
		tensorOf(fn, x)
	}
	t, err := tensor.Convert(x)
	if err != nil {
		tenon.Throw(err)
	}
	return scalarOf(fn, t)
}

// A pairing says how two tensors of certain layouts are brought into the same
// order.
type pairing struct {
	out    *layout
	a, b   alignment
	shared []axisPair
}

// pairingOf returns the pairing of two operands, one of which must have all names of the other.
func pairingOf(fn string, x, y *Tensor) *pairing {
	a, b := x.spec.names, y.spec.names
	if contracted(x.data) && !contracted(y.data) && equalNames(a, b) {
		// The contraction can be made in the other's order, so that nothing has
		// to be moved.
		return a.plan(planKey{kind: planBinary, other: b, dims: b}, func() (any, error) { return newPairing(a, b, b), nil }).(*pairing)
	}
	return a.plan(planKey{kind: planBinary, other: b}, func() (any, error) {
		switch {
		case a.hasAll(b):
			return newPairing(a, b, a), nil
		case b.hasAll(a):
			return newPairing(a, b, b), nil
		}
		return nil, errSubset(fn, pair(x, y)...)
	}).(*pairing)
}

// contracted reports whether a tensor is the result of a contraction in a trace, which the layout
// pass makes in the order in which it is used.
func contracted(x tensor.Tensor) bool {
	v, ok := x.(*graph.Value)
	return ok && v.Node() != nil && v.Node().Op.Axes == op.Contract
}

func newPairing(a, b, out *layout) *pairing {
	p := &pairing{out: out, a: alignmentTo(a, out), b: alignmentTo(b, out)}
	for i, n := range a.ids {
		if at := b.index(n); at >= 0 {
			p.shared = append(p.shared, axisPair{i, at})
		}
	}
	return p
}

func (p *pairing) run(fn string, f func(x, y any) tensor.Tensor, x, y *Tensor) *Tensor {
	s, t := x.data.Shape(), y.data.Shape()
	for _, q := range p.shared {
		if m, n := s.Dim(q.a), t.Dim(q.b); m != n && m >= 0 && n >= 0 {
			tenon.Throw(errSizes(fn, x.spec.names.ids[q.a], pair(x, y)...))
		}
	}
	side := sideOf2(fn, x, y)
	if isRagged(x.data) || isRagged(y.data) {
		return raggedElementwise(fn, []*Tensor{x, y}, p.out, side, func(ts []tensor.Tensor) tensor.Tensor { return f(ts[0], ts[1]) })
	}
	return newTensor(f(p.a.apply(x.data), p.b.apply(y.data)), p.out, side)
}

// An alignment permutes a tensor's axes into the order of a wider layout. Axes that it lacks get
// size 1, unless they come first, where broadcasting adds them.
type alignment struct {
	same  bool  // nothing to do
	src   []int // for each axis of the result, starting with the first one that exists, the tensor's axis or -1
	perm  []int // nil: already in order
	added []int // positions of axes with size 1
}

func alignmentTo(l, out *layout) alignment {
	var a alignment
	for _, n := range out.ids {
		at := l.index(n)
		if at < 0 && len(a.src) == 0 {
			continue
		}
		a.src = append(a.src, at)
	}
	var perm []int
	for i, at := range a.src {
		if at < 0 {
			a.added = append(a.added, i)
		} else {
			perm = append(perm, at)
		}
	}
	if !slices.IsSorted(perm) {
		a.perm = perm
	}
	a.same = a.perm == nil && a.added == nil
	return a
}

func (a *alignment) apply(x tensor.Tensor) tensor.Tensor {
	if a.same {
		return x
	}
	if d, ok := x.(*tensor.Dense); ok {
		own := d.Strides()
		dims, strides := make([]int, len(a.src)), make([]int, len(a.src))
		for i, at := range a.src {
			if dims[i] = 1; at >= 0 {
				dims[i], strides[i] = d.Dim(at), own[at]
			}
		}
		return d.View(0, shape.Of(dims...), strides)
	}
	if a.perm != nil {
		x = permuted(x, a.perm)
	}
	if a.added != nil {
		x = ops.ExpandDims(x, a.added...)
	}
	return x
}

// BroadcastTo repeats a tensor along further dimensions. All dimensions of the tensor must be
// listed too, with their sizes; -1 stands for the size that the tensor has, and must be used for
// ragged dimensions.
func BroadcastTo(x tenon.Value, dims ...Sized) *Tensor {
	const fn = "named.BroadcastTo"
	t := tensorOf(fn, x)
	dims = slices.Clone(dims)
	open := none
	for i, d := range dims {
		if d.size == -1 && d.names != nil && len(d.names.ids) == 1 && t.spec.names.has(d.names.ids[0]) {
			if dims[i].size = t.size(d.names.ids[0]); dims[i].size < 0 {
				dims[i].size, open = 0, open.and(d.names)
			}
		}
	}
	l, s := sizes(fn, dims)
	if isRagged(t.data) || len(open.ids) > 0 {
		return t.broadcastOpen(fn, l, s, open)
	}
	for i, n := range t.spec.names.ids {
		at := l.index(n)
		if at < 0 {
			tenon.Throw(newError(tenon.ErrInvalid, fn, "the sizes lack "+n.String()+"\n"+t.line("tensor")).WithHint("list all dimensions of the result"))
		}
		if have := t.data.Shape().Dim(i); have >= 0 && have != s.Dim(at) {
			fail(tenon.ErrInvalid, fn, "%v has the size %d, not %d\n%s", n, have, s.Dim(at), t.line("tensor"))
		}
	}
	if t.side != nil {
		t.side.refuse(fn, l, one{"tensor", t})
	}
	a := alignmentTo(t.spec.names, l)
	return newTensor(ops.BroadcastTo(a.apply(t.data), s), l, t.own())
}

// Where returns the elements of x where the condition, a boolean tensor, is true, and those of y
// elsewhere. One of the three must have all names of the others; x and y may be Go numbers.
func Where(condition, x, y any) *Tensor {
	const fn = "named.Where"
	return elementwise3(fn, ops.Where, condition, x, y)
}

// elementwise3 applies a function of three operands, at least one of which is named.
func elementwise3(fn string, f func(x, y, z any) tensor.Tensor, operands ...any) *Tensor {
	var ts []*Tensor
	args := make([]any, len(operands))
	at := make([]int, 0, len(operands))
	for i, x := range operands {
		if t, ok := asNamed(x); ok {
			ts, at = append(ts, tensorOf(fn, t)), append(at, i)
			continue
		}
		args[i] = scalarOf(fn, x)
	}
	if len(ts) == 0 {
		tensorOf(fn, operands[0])
	}
	return matched(fn, ts, func(xs []tensor.Tensor) tensor.Tensor {
		for k, x := range xs {
			args[at[k]] = x
		}
		return f(args[0], args[1], args[2])
	})
}

// matched calls a function with tensors brought into the same order by name.
func matched(fn string, ts []*Tensor, call func([]tensor.Tensor) tensor.Tensor) *Tensor {
	out := widest(fn, ts)
	checkSizes(fn, ts)
	side := sideOf(fn, ts...)
	if slices.ContainsFunc(ts, func(t *Tensor) bool { return isRagged(t.data) }) {
		return raggedElementwise(fn, ts, out, side, call)
	}
	xs := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		a := alignmentTo(t.spec.names, out)
		xs[i] = a.apply(t.data)
	}
	return newTensor(call(xs), out, side)
}

// widest returns the layout of the operand that has all names.
func widest(fn string, ts []*Tensor) *layout {
	for _, t := range ts {
		if !slices.ContainsFunc(ts, func(u *Tensor) bool { return !t.spec.names.hasAll(u.spec.names) }) {
			return t.spec.names
		}
	}
	tenon.Throw(errSubset(fn, several(ts)...))
	return nil
}
