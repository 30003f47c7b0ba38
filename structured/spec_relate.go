package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Fields returns the fields with their Specs, which begin with the dimensions of
// the records. It is the inverse of [NewSpec].
func (s *Spec) Fields() []tenon.Field {
	out := make([]tenon.Field, len(s.cols))
	for i, c := range s.cols {
		out[i] = tenon.Field{Name: c.name, Spec: s.field(c)}
	}
	return out
}

// Field returns the Spec of the field at a path of names. The empty path is s. A
// name that does not exist is an error of kind tenon.ErrNotFound.
func (s *Spec) Field(path ...string) (tenon.Spec, error) {
	var out tenon.Spec = s
	for i, name := range path {
		var err error
		if out, err = childSpec(out, name, path[:i+1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func childSpec(s tenon.Spec, name string, path []string) (tenon.Spec, error) {
	switch x := s.(type) {
	case *MapSpec:
		return x.lookup()
	case *Spec:
		k := slices.IndexFunc(x.cols, func(c columnSpec) bool { return c.name == name })
		if k < 0 {
			return nil, notFound(path, "there is no field %q, but %q", name, x.FieldNames())
		}
		return x.field(x.cols[k]), nil
	case optionalSpec:
		v, err := childSpec(x.Values(), name, path)
		if err != nil {
			return nil, err
		}
		return optionalOf(v, x.Mask().(typedSpec).Shape().Rank())
	}
	return nil, notFound(path, "%q is not a structured field", PathString(path[:len(path)-1]))
}

// A Leaf is a field that is not itself records, and the path to it.
type Leaf struct {
	Path []string
	Spec tenon.Spec
}

// Leaves returns the fields that are not themselves records, at any depth, in
// order.
func (s *Spec) Leaves() []Leaf {
	var out []Leaf
	for _, f := range s.Fields() {
		if x, ok := f.Spec.(*Spec); ok {
			for _, l := range x.Leaves() {
				out = append(out, Leaf{append([]string{f.Name}, l.Path...), l.Spec})
			}
			continue
		}
		out = append(out, Leaf{[]string{f.Name}, f.Spec})
	}
	return out
}

// NRows returns the size of the outermost dimension. It is shape.Unknown if it is not known, and at
// rank 0.
func (s *Spec) NRows() int {
	if s.rank == 0 {
		return shape.Unknown
	}
	return s.nrows
}

// RowPartitions returns the Specs of the partitions of the dimensions below the first.
func (s *Spec) RowPartitions() []*ragged.PartitionSpec { return slices.Clone(s.parts) }

// field returns a column's Spec with the dimensions of the records.
func (s *Spec) field(c columnSpec) tenon.Spec {
	if s.rank <= 1 {
		return c.spec
	}
	if list, with, ok := specPieces(c.spec); ok {
		for i, x := range list {
			list[i] = s.field(columnSpec{c.name, x, c.inner})
		}
		return with(list)
	}
	if x, ok := c.spec.(*Spec); ok {
		return &Spec{rank: s.rank - 1 + x.rank, nrows: s.nrows, dtype: s.dtype, parts: append(slices.Clone(s.parts), x.parts...), cols: x.cols}
	}
	if x, ok := c.spec.(dividedSpec); ok {
		return ragged.FromSpecs(x.Flat(), append(slices.Clone(s.parts), x.Partitions()...))
	}
	k := len(s.parts)
	for n := c.inner; n > 0 && k > 0 && s.parts[k-1].UniformRowLength() >= 0; n-- {
		k--
	}
	flat := c.spec
	if x, ok := flat.(*tensor.Spec); ok && k < len(s.parts) {
		n := s.nrows
		for _, p := range s.parts[:k] {
			n = times(n, p.UniformRowLength())
		}
		dims := []int{n}
		for _, p := range s.parts[k:] {
			dims = append(dims, p.UniformRowLength())
		}
		flat = tensor.NewSpec(x.DType(), shape.Concat(shape.Of(dims...), x.Shape().Tail(1)))
	} else {
		k = len(s.parts)
	}
	if k == 0 {
		return flat
	}
	return ragged.FromSpecs(flat, s.parts[:k])
}

// SubtypeOf reports whether both have the same fields, in any order, and all
// sizes and fields are subtypes.
func (s *Spec) SubtypeOf(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && (s == o || s.Shape().SubtypeOf(o.Shape()) &&
		s.related(o, tenon.Subtype, func(a, b *ragged.PartitionSpec) bool { return a.SubtypeOf(b) }))
}

// CompatibleWith reports whether both have the same fields, in any order, and all
// sizes and fields are compatible.
func (s *Spec) CompatibleWith(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && (s == o || s.Shape().CompatibleWith(o.Shape()) &&
		s.related(o, tenon.Compatible, func(a, b *ragged.PartitionSpec) bool { return a.CompatibleWith(b) }))
}

func (s *Spec) related(o *Spec, specs func(a, b tenon.Spec) bool, parts func(a, b *ragged.PartitionSpec) bool) bool {
	if s.rank != o.rank || s.dtype != o.dtype || len(s.cols) != len(o.cols) || !slices.EqualFunc(s.parts, o.parts, parts) {
		return false
	}
	for i, c := range s.cols {
		d, ok := o.column(i, c.name)
		if !ok || c.inner != d.inner && s.rank > 1 && !(s.open() || o.open()) || !specs(c.spec, d.spec) {
			return false
		}
	}
	return true
}

// open reports whether no trailing dimension below the first is known to be
// uniform, so that it does not matter which dimensions are axes of a field.
func (s *Spec) open() bool {
	return len(s.parts) == 0 || s.parts[len(s.parts)-1].UniformRowLength() < 0
}

// column returns the column with the given name, looking first at index i.
func (s *Spec) column(i int, name string) (columnSpec, bool) {
	if i >= len(s.cols) || s.cols[i].name != name {
		i = slices.IndexFunc(s.cols, func(c columnSpec) bool { return c.name == name })
	}
	if i < 0 {
		return columnSpec{}, false
	}
	return s.cols[i], true
}

// MergeWith merges the sizes and, in the order of s, the fields.
func (s *Spec) MergeWith(other tenon.Spec) (tenon.Spec, bool) {
	o, ok := other.(*Spec)
	if !ok || s.rank != o.rank || s.dtype != o.dtype || len(s.cols) != len(o.cols) {
		return nil, false
	}
	m := specMaker{rank: s.rank, d: s.dtype, dims: s.dims()}
	for i, x := range o.dims() {
		if y := m.dims[i]; x.n != y.n {
			m.dims[i].n = shape.Unknown
		}
		m.dims[i].uniform = m.dims[i].uniform && x.uniform
	}
	for i, c := range s.cols {
		d, ok := o.column(i, c.name)
		if !ok {
			return nil, false
		}
		if c.spec, ok = tenon.Merge(c.spec, d.spec); !ok {
			return nil, false
		}
		c.inner = min(c.inner, d.inner)
		m.cols = append(m.cols, c)
	}
	return m.spec(), true
}
