package mesh

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/ops"
	divide "github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// layoutsOfRows returns how the tensors of a Value are divided whose rows are divided. Splits that occur twice have
// the same entries.
func (p *Plan) layoutsOfRows(v tenon.Value, k cut, known map[tensor.Tensor]*entries) ([]layout, error) {
	if t, ok := v.(tensor.Tensor); ok && tenon.IsLeaf(v.Spec()) {
		s := tensor.NewSpec(t.DType(), t.Shape())
		if !t.Shape().HasRank() || t.Shape().Rank() == 0 || k.whole() {
			return []layout{{s, make([]cut, max(0, t.Shape().Rank()))}}, nil
		}
		cuts := make([]cut, t.Shape().Rank())
		if cuts[0] = k; k.of != nil {
			s = tensor.NewSpec(t.DType(), t.Shape().With(0, -1))
		}
		return []layout{{s, cuts}}, nil
	}
	parts, err := v.Spec().Disassemble(v)
	if err != nil {
		return nil, err
	}
	var out []layout
	if r, ok := v.(*ragged.Tensor); ok && !k.whole() {
		var ends []layout
		for _, q := range r.Partitions() {
			if q.IsUniform() {
				e := tenon.NewError(tenon.ErrUnsupported, "mesh.Plan", fmt.Sprintf("%s should be divided by its rows, but has rows that are declared to have equal lengths", tenon.String(v.Spec())))
				e.Hint = "pass it as a dense tensor, or with row splits"
				return nil, e
			}
			s := q.RowSplits()
			of, c := known[s], k
			if of == nil {
				of = &entries{}
				known[s] = of
			}
			c.ends = of
			size := s.Shape().Dim(0)
			if k.of != nil {
				size = -1
			}
			ends = append(ends, layout{tensor.NewSpec(s.DType(), s.Shape().With(0, size)), []cut{c}})
			k = cut{over: k.over, of: of}
		}
		flat, err := p.layoutsOfRows(parts[0], k, known)
		return append(flat, ends...), err
	}
	shared, ok := rows.Components(v.Spec())
	for i, x := range parts {
		c := k
		if !ok || shared[i] {
			c = cut{} // they are the same for all rows
		}
		list, err := p.layoutsOfRows(x, c, known)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// partsOf returns this rank's parts of tensors, in memory of their own.
func (m *Mesh) partsOf(tensors []tensor.Tensor, layouts []layout) ([]tensor.Tensor, error) {
	out := make([]tensor.Tensor, len(tensors))
	ranges := map[*entries][2]int{}
	for left := len(tensors); left > 0; {
		before := left
		for i, x := range tensors {
			if out[i] != nil {
				continue
			}
			y, ok := m.partOf(x, layouts[i].cuts, ranges)
			if !ok {
				continue // the rows above it come first
			}
			out[i] = y
			left--
		}
		if left == before {
			return nil, tenon.NewError(tenon.ErrInvalid, "mesh", "a tensor has the entries of rows whose splits are missing")
		}
	}
	return out, nil
}

// partOf returns a part of a tensor, in memory of its own. ranges holds the ranges of entries that this rank has;
// row splits add those of their values. It returns false if a range that it needs is missing.
func (m *Mesh) partOf(x tensor.Tensor, cuts []cut, ranges map[*entries][2]int) (tensor.Tensor, bool) {
	begin, size, same := []int{}, []int{}, true
	for i, c := range cuts {
		lo, hi := 0, x.Shape().Dim(i)
		switch {
		case c.of != nil:
			r, ok := ranges[c.of]
			if !ok {
				return nil, false
			}
			lo, hi = r[0], r[1]
		case !c.whole():
			lo, hi = m.share(c)
		}
		if !c.whole() {
			same = false
		}
		if c.ends != nil {
			hi++
		}
		begin, size = append(begin, lo), append(size, hi-lo)
	}
	if same {
		return x, true
	}
	y := ops.Slice(x, begin, size)
	if cuts[0].ends != nil {
		s := ops.Cast(y, dtype.Int64).(*tensor.Dense)
		first, last := tensor.Data[int64](tensor.Contiguous(s))[0], tensor.Data[int64](tensor.Contiguous(s))[s.Len()-1]
		ranges[cuts[0].ends] = [2]int{int(first), int(last)}
		return ops.Sub(y, ops.Cast(first, y.DType())), true
	}
	if d, ok := y.(*tensor.Dense); ok {
		own := tensor.Uninit(d.DType(), d.Shape())
		copy(own.Bytes(), tensor.Contiguous(d).Bytes())
		return own, true
	}
	return y, true
}

// joinEnds returns the ends of the rows of all ranks.
func (m *Mesh) joinEnds(ctx context.Context, x tensor.Tensor, c cut) (tensor.Tensor, error) {
	lengths := tensor.Tensor(divide.Lengths(x))
	for n := len(c.over) - 1; n >= 0; n-- {
		var err error
		if lengths, err = gatherAlong(ctx, m.groups[GroupOf(m.axes[c.over[n]].Name)], lengths, 0); err != nil {
			return nil, err
		}
	}
	return divide.FromLengths(lengths), nil
}

// gatherEnds is joinEnds, in a program.
func (t *tracer) gatherEnds(v *variable) *variable {
	c := v.cuts[0]
	lengths := divide.Lengths(v.local)
	for n := len(c.over) - 1; n >= 0; n-- {
		t.note("all_gather", c.over[n:n+1], v.spec, v.cuts)
		lengths = dist.AllGather(t.symbolic(lengths), 0, GroupOf(t.mesh.axes[c.over[n]].Name))
	}
	out := *v
	out.cuts, out.closed = []cut{{}}, nil
	out.local = ops.EnsureShape(divide.FromLengths(lengths), v.Shape())
	return &out
}

// A counted is a tensor with an axis that has an entry for each entry of some rows.
type counted struct {
	x    tensor.Tensor
	axis int
}

// register records where the numbers of entries can be found.
func (t *tracer) register(vars ...*variable) {
	for _, v := range vars {
		for a, c := range v.cuts {
			if c.of != nil && c.ends == nil && v.local != nil {
				if _, ok := t.counts[c.of]; !ok {
					t.counts[c.of] = counted{v.local, a}
				}
			}
		}
	}
}

// countOf returns the number of entries of an axis that this rank has, as an int64 scalar.
func (t *tracer) countOf(c cut) tensor.Tensor {
	if c.of == nil {
		return tensor.Scalar(int64(t.mesh.size(c, 0)))
	}
	x, ok := t.counts[c.of]
	if !ok {
		e := tenon.NewError(tenon.ErrUnsupported, "mesh", "the number of entries of this rank's rows is unknown: their values are not an argument of the program")
		e.Hint = "pass the values to the program, or make the rows whole with mesh.GatherAxis"
		tenon.Throw(e)
	}
	return ops.Cast(ops.Index(ops.Shape(x.x), x.axis), dtype.Int64)
}

// before returns how many entries of an axis earlier ranks have, and how many all ranks have, as int64 scalars.
func (t *tracer) before(c cut) (first, all tensor.Tensor) {
	if c.of == nil {
		lo, _ := t.mesh.share(c)
		return tensor.Scalar(int64(lo)), tensor.Scalar(int64(c.blocks * c.block))
	}
	if known, ok := t.starts[c.of]; ok {
		return known[0], known[1]
	}
	first, all = tensor.Scalar(int64(0)), t.countOf(c)
	one := tensor.NewSpec(dtype.Int64, tensor.Of([]int64{0}).Shape())
	for n := len(c.over) - 1; n >= 0; n-- {
		a := int(c.over[n])
		t.note("all_gather", c.over[n:n+1], one, []cut{{}})
		list := dist.AllGather(t.symbolic(ops.Reshape(all, []int{1})), 0, GroupOf(t.mesh.axes[a].Name))
		list = ops.EnsureShape(list, shape.Of(t.mesh.axes[a].Size))
		first = ops.Add(first, ops.Sum(ops.Slice(list, []int{0}, []int{t.mesh.at[a]})))
		all = ops.Sum(list)
	}
	t.starts[c.of] = [2]tensor.Tensor{first, all}
	return first, all
}

// placed converts positions among the entries of this rank to positions among those of all
// ranks.
func (t *tracer) placed(v *variable) *variable {
	if v.at.whole() {
		return v
	}
	first, _ := t.before(v.at)
	out := *v
	out.at, out.closed = cut{}, nil
	out.local = ops.Add(v.part(v.cuts), ops.Cast(first, v.DType()))
	return &out
}

// textOf describes how tensors are divided, and which of them have the same entries of rows.
func (m *Mesh) textOf(layouts []layout) string {
	number := map[*entries]int{}
	name := func(e *entries) string {
		if number[e] == 0 {
			number[e] = len(number) + 1
		}
		return fmt.Sprint(" #", number[e])
	}
	text := ""
	for i, l := range layouts {
		if i > 0 {
			text += ", "
		}
		text += m.describe(l, "")
		for _, k := range l.cuts {
			if k.of != nil {
				text += name(k.of)
			}
			if k.ends != nil {
				text += " ends" + name(k.ends)
			}
			if !k.ragged() && k.block > 1 {
				text += fmt.Sprint(" by ", k.block)
			}
		}
	}
	return text
}

// renamed returns layouts with other entries: those in one list are replaced by those in another, and the rest
// is new.
func renamed(layouts, from, to []layout) []layout {
	names := map[*entries]*entries{nil: nil}
	for i, l := range from {
		for a, k := range l.cuts {
			names[k.of], names[k.ends] = to[i].cuts[a].of, to[i].cuts[a].ends
		}
	}
	rename := func(e *entries) *entries {
		if _, ok := names[e]; !ok {
			names[e] = &entries{}
		}
		return names[e]
	}
	out := slices.Clone(layouts)
	for i, l := range out {
		out[i].cuts = slices.Clone(l.cuts)
		for a, k := range l.cuts {
			k.of, k.ends = rename(k.of), rename(k.ends)
			out[i].cuts[a] = k
		}
	}
	return out
}
