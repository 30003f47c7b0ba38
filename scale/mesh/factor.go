package mesh

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A factor is an axis of a call: the axes of operands and results that belong together, like a label of an
// einsum. Which axes belong together is found by asking the operation for its shapes: if one axis of an
// operand gets another size, others must get it, too, and the results show where the axis has gone. What
// the operation does along the axis follows from its statement.
type factor struct {
	at   []place
	res  []int // for each result, its axis, or -1 if it has none
	does does
	why  string // for needsWhole
}

// A place is an axis of an operand, or an entry of the operand that is the shape of the result.
type place struct{ value, axis int }

// does says what an operation does along a factor.
type does uint8

const (
	batch      does = iota // the same at each entry
	combines               // it combines entries by its monoid
	needsWhole             // it needs all entries
)

// shapeValue, in a place, refers to the operand that is the shape of the result.
const shapeValue = -1

// A placeholder stands for a tensor of which only the Spec matters.
type placeholder struct{ spec *tensor.Spec }

func (p *placeholder) Spec() tenon.Spec   { return p.spec }
func (p *placeholder) DType() dtype.DType { return p.spec.DType() }
func (p *placeholder) Shape() shape.Shape { return p.spec.Shape() }

// A prober finds the factors of a call.
type prober struct {
	call   *op.Call
	values []tenon.Value  // as in Call.Values: placeholders, and known values
	number []int          // of the operand of each value
	shapes []shape.Shape  // of each value
	base   []shape.Shape  // of the results
	target int            // the value that is the shape of the result, or -1
	sizes  []int          // its elements
	fresh  int            // a size that no axis has
	seen   map[place]bool // places that already belong to a factor
}

// newProber prepares a call whose values have these Specs; concrete values are known. It returns nil if
// nothing can be determined.
func newProber(c *op.Call) *prober {
	p := &prober{call: c}
	standIn := p.standIns()
	if p := proberOf(c, standIn); p != nil || len(standIn) != 1 {
		return p
	}
	// A known size may be that of the entries of all rows; if only one list of entries fits, it
	// is.
	var found *prober
	for _, n := range p.knownSizes() {
		for e := range standIn {
			standIn[e] = n
		}
		if q := proberOf(c, standIn); q != nil {
			if found != nil {
				return nil
			}
			found = q
		}
	}
	return found
}

// knownSizes returns the sizes of the axes of whole operands.
func (p *prober) knownSizes() (out []int) {
	for _, v := range p.call.Operands() {
		if x, ok := v.(*variable); ok && p.call.Op.Axes == op.Map {
			for a, k := range x.cuts {
				if n := x.Shape().Dim(a); k.whole() && n > 1 && !slices.Contains(out, n) {
					out = append(out, n)
				}
			}
		}
	}
	return out
}

// proberOf is newProber with given sizes for the entries of ragged values.
func proberOf(c *op.Call, standIn map[*entries]int) *prober {
	p := &prober{call: c, target: -1, fresh: 5, seen: map[place]bool{}}
	for i, v := range c.Operands() {
		t, ok := v.(tensor.Tensor)
		if !ok || !t.Shape().HasRank() {
			return nil
		}
		s := t.Shape()
		if x, ok := v.(*variable); ok {
			for a, k := range x.cuts {
				if k.of != nil {
					s = s.With(a, standIn[k.of])
				}
			}
			if x.size != nil {
				sizes := make([]int, len(x.size))
				for a, n := range x.size {
					if sizes[a] = n.n; n.cut.of != nil {
						sizes[a] = standIn[n.cut.of]
					}
				}
				p.number, p.shapes = append(p.number, i), append(p.shapes, s)
				p.values = append(p.values, ops.Reshape(intsLike(sizes, v), s.Dims()))
				continue
			}
		}
		p.number = append(p.number, i)
		p.shapes = append(p.shapes, s)
		if known, ok := op.Known(v); ok && c.Op.Control.Has(i) {
			p.values = append(p.values, known)
		} else {
			p.values = append(p.values, &placeholder{tensor.NewSpec(t.DType(), s)})
		}
		for a := range s.Rank() {
			p.fresh = max(p.fresh, s.Dim(a))
		}
	}
	p.fresh = p.fresh*2 + 1
	var err error
	if p.base, err = p.infer(nil, 0); err != nil {
		return nil
	}
	p.findTarget()
	return p
}

// standIns returns, for the entries of each ragged value, a size that nothing else has.
func (p *prober) standIns() map[*entries]int {
	out, most := map[*entries]int{}, 1
	var all []*entries
	add := func(e *entries) {
		if e != nil && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	for _, v := range p.call.Operands() {
		x, ok := v.(*variable)
		if !ok {
			continue
		}
		for a, k := range x.cuts {
			most = max(most, x.Shape().Dim(a))
			add(k.of)
		}
		for _, n := range x.size {
			most = max(most, n.n)
			add(n.cut.of)
		}
	}
	for i, e := range all {
		out[e] = 2*most + 3 + 2*i
	}
	return out
}

// specOf returns the Spec of a result. Sizes that depend on those of rows are unknown.
func (p *prober) specOf(result int, s tenon.Spec, cuts []cut) *tensor.Spec {
	of := s.(*tensor.Spec)
	if p.target < 0 {
		return of
	}
	shape := p.base[result]
	for a, k := range cuts {
		if k.of != nil {
			shape = shape.With(a, -1)
		}
	}
	return tensor.NewSpec(of.DType(), shape)
}

// infer returns the shapes of the results if the axes at some places have another size.
func (p *prober) infer(at []place, size int) ([]shape.Shape, error) {
	values := slices.Clone(p.values)
	shapes := slices.Clone(p.shapes)
	var sizes []int
	for _, x := range at {
		if x.value == shapeValue {
			if sizes == nil {
				sizes = slices.Clone(p.sizes)
			}
			sizes[x.axis] = size
			continue
		}
		shapes[x.value] = shapes[x.value].With(x.axis, size)
		values[x.value] = &placeholder{tensor.NewSpec(values[x.value].(tensor.Tensor).DType(), shapes[x.value])}
	}
	if sizes != nil {
		values[p.target] = intsLike(sizes, p.values[p.target])
	}
	out, err := p.call.WithValues(values).Infer()
	if err != nil {
		return nil, err
	}
	res := make([]shape.Shape, len(out))
	for i, s := range out {
		t, ok := s.(*tensor.Spec)
		if !ok || !t.Shape().HasRank() {
			return nil, op.NotHandled
		}
		res[i] = t.Shape()
	}
	return res, nil
}

// intsLike returns a vector with the element type of another.
func intsLike(x []int, like tenon.Value) tensor.Tensor {
	return ops.Cast(tensor.Of(x), like.(tensor.Tensor).DType())
}

// findTarget finds the operand that is the shape of the result: a known vector with the result's sizes, if
// the operation takes a shape.
func (p *prober) findTarget() {
	o := p.call.Op
	if len(p.base) != 1 || o.By != op.ByAxis {
		return
	}
	switch o.Axes {
	case op.Broadcast, op.Regroup, op.Create, op.Reduce, op.Scatter, op.Select:
	default:
		return
	}
	for i := len(p.values) - 1; i >= 0; i-- {
		if sizes, ok := p.shapeOf(i); ok && (o.Axes != op.Select || p.sizing(i, sizes)) {
			p.target, p.sizes = i, sizes
			return
		}
	}
}

// shapeOf returns the elements of a known operand that equals the sizes of the result; -1
// stands for any size.
func (p *prober) shapeOf(i int) ([]int, bool) {
	if !p.call.Op.Control.Has(p.number[i]) || p.shapes[i].Rank() != 1 || p.shapes[i].Dim(0) != p.base[0].Rank() || !p.base[0].IsFull() {
		return nil, false
	}
	known, ok := op.Known(p.values[i])
	if !ok {
		return nil, false
	}
	list, ok := op.Ints(known)
	for k, n := range list {
		ok = ok && (n == p.base[0].Dim(k) || n == -1)
	}
	return p.base[0].Dims(), ok
}

// sizing reports whether the result has the sizes that an operand of a selection specifies.
func (p *prober) sizing(i int, sizes []int) bool {
	for k, n := range sizes {
		less := slices.Clone(sizes)
		less[k] = n - 1
		values := slices.Clone(p.values)
		values[i] = intsLike(less, p.values[i])
		out, err := p.call.WithValues(values).Infer()
		if err != nil || n == 0 || !out[0].(*tensor.Spec).Shape().Equal(p.base[0].With(k, n-1)) {
			return false
		}
	}
	return true
}

// factors returns the factors of all axes of the operands that are not part of another factor, and
// those of the result that come from its given shape.
func (p *prober) factors() []factor {
	var out []factor
	for v := range p.values {
		for a := range p.shapes[v].Rank() {
			if x := (place{v, a}); !p.seen[x] && v != p.target {
				out = append(out, p.factor(x))
			}
		}
	}
	for a := range p.sizes {
		if x := (place{shapeValue, a}); !p.seen[x] {
			out = append(out, p.factor(x))
		}
	}
	return out
}

// factor returns the factor of a place.
func (p *prober) factor(first place) factor {
	f := factor{at: []place{first}, does: needsWhole}
	size := p.size(first)
	others := p.others(first, size)
	tries := 0
	for ties := 0; ties <= len(others) && ties <= 4; ties++ {
		if at, res := p.tie([]place{first}, others, ties, &tries); at != nil {
			f.at, f.res = at, res
			break
		}
	}
	if p.call.Op.Axes == op.Select && p.target >= 0 && first.value != shapeValue && f.res != nil && f.res[0] < 0 {
		for a, n := range p.sizes { // a range that covers the whole axis
			at := append(slices.Clone(f.at), place{shapeValue, a})
			if n != size || p.seen[at[len(at)-1]] {
				continue
			}
			if shapes, err := p.infer(at, p.fresh); err == nil {
				if res := p.moved(shapes); res != nil && res[0] >= 0 {
					f.at, f.res = at, res
					break
				}
			}
		}
	}
	for _, x := range f.at {
		p.seen[x] = true
	}
	if f.res == nil {
		f.why = "the operation does not say where the axis goes"
		return f
	}
	p.judge(&f)
	return f
}

func (p *prober) size(x place) int {
	if x.value == shapeValue {
		return p.sizes[x.axis]
	}
	return p.shapes[x.value].Dim(x.axis)
}

// others returns, for each other operand, the axes of a size, which may belong together with a
// place.
func (p *prober) others(first place, size int) [][]place {
	var out [][]place
	for v := range p.values {
		if v == first.value || v == p.target {
			continue
		}
		var list []place
		for a := range p.shapes[v].Rank() {
			if x := (place{v, a}); p.shapes[v].Dim(a) == size && !p.seen[x] {
				list = append(list, x)
			}
		}
		if p.together(first, v) { // entries of one list have the same axes
			list = slices.DeleteFunc(list, func(x place) bool { return x.axis != first.axis })
		}
		if len(list) > 0 {
			out = append(out, list)
		}
	}
	if p.target >= 0 && first.value != shapeValue {
		var list []place
		for a, n := range p.sizes {
			if x := (place{shapeValue, a}); n == size && !p.seen[x] {
				list = append(list, x)
			}
		}
		if len(list) > 0 {
			out = append(out, list)
		}
	}
	return out
}

// together reports whether two values are in the same list, whose entries have the same axes.
func (p *prober) together(first place, v int) bool {
	if first.value == shapeValue || p.number[first.value] != p.number[v] {
		return false
	}
	return p.call.Op.Axes == op.Join || p.call.Op.Axes == op.Stack
}

// mostTries is how often an operation is asked for its shapes for one axis.
const mostTries = 400

// tie finds ties places among others that get another size together with the given places.
func (p *prober) tie(at []place, others [][]place, ties int, tries *int) ([]place, []int) {
	if ties == 0 {
		if *tries++; *tries > mostTries {
			return nil, nil
		}
		shapes, err := p.infer(at, p.fresh)
		if err != nil || len(shapes) != len(p.base) {
			return nil, nil
		}
		if res := p.moved(shapes); res != nil {
			return slices.Clone(at), res
		}
		return nil, nil
	}
	for i, list := range others {
		for _, x := range list {
			if found, res := p.tie(append(slices.Clip(at), x), others[i+1:], ties-1, tries); found != nil {
				return found, res
			}
		}
	}
	return nil, nil
}

// moved returns, for each result, the axis that has the new size, or -1 if none has. It returns nil if shapes
// differ in another way.
func (p *prober) moved(shapes []shape.Shape) []int {
	res := make([]int, len(shapes))
	for i, s := range shapes {
		if res[i] = -1; s.Rank() != p.base[i].Rank() {
			return nil
		}
		for a := range s.Rank() {
			switch {
			case s.Dim(a) == p.base[i].Dim(a):
			case s.Dim(a) == p.fresh && res[i] < 0:
				res[i] = a
			default:
				res[i] = changed
			}
		}
	}
	return res
}

// changed means that a result has another size, but not that of the operand.
const changed = -2

// mostPositions is the maximum size of tensors whose positions are moved to see where they go.
const mostPositions = 1 << 22
