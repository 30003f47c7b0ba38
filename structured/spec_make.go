package structured

import (
	"slices"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// NewSpec returns the Spec of records with a shape and the given fields, each of which must begin
// with the dimensions of the shape. A size that is known from one of them holds for all. A shape of
// unknown rank is an error of kind tenon.ErrDType. A field that contradicts the shape or another
// field is an error of kind tenon.ErrInvalid that names the field.
func NewSpec(s shape.Shape, fields []tenon.Field) (*Spec, error) {
	const fn = "structured.NewSpec"
	if !s.HasRank() {
		return nil, tenon.NewError(tenon.ErrDType, fn, "the rank of the records must be known")
	}
	m := specMaker{fn: fn, rank: s.Rank(), d: splitsOfSpecs(fields), dims: make([]dim, s.Rank())}
	for i := range m.dims {
		m.dims[i] = dim{n: s.Dim(i), uniform: s.Dim(i) >= 0}
	}
	for i, f := range fields {
		if f.Spec == nil || !utf8.ValidString(f.Name) {
			return nil, invalid(fn, "", "field %d, %q, has no name or no Spec", i, f.Name)
		}
		if slices.ContainsFunc(fields[:i], func(g tenon.Field) bool { return g.Name == f.Name }) {
			return nil, invalid(fn, f.Name, "is given twice")
		}
		if err := m.add(f); err != nil {
			return nil, err
		}
	}
	return m.spec(), nil
}

// SpecFromFieldsAndRank returns the Spec of records of the given rank with the
// given fields. There must be at least one field, since all sizes follow from the
// fields.
func SpecFromFieldsAndRank(fields []tenon.Field, rank int) (*Spec, error) {
	const fn = "structured.SpecFromFieldsAndRank"
	if len(fields) == 0 {
		return nil, tenon.NewError(tenon.ErrDType, fn, "without fields, the sizes of the records are not known")
	}
	if rank < 0 {
		return nil, invalid(fn, "rank", "%d is negative", rank)
	}
	return NewSpec(shape.OfRank(rank), fields)
}

// SpecFromShape returns the Spec of records without fields.
func SpecFromShape(s *ragged.ShapeSpec) (*Spec, error) {
	if !s.Inner().HasRank() {
		return nil, tenon.NewError(tenon.ErrDType, "structured.SpecFromShape", "the rank of the records must be known")
	}
	m := specMaker{d: s.DType()}
	for i, p := range s.Partitions() {
		if i == 0 {
			m.dims = append(m.dims, dim{p.NRows(), true})
		}
		m.dims = append(m.dims, dim{p.UniformRowLength(), p.IsUniform()})
	}
	for i, n := range s.Inner().Dims() {
		if i > 0 || len(m.dims) == 0 {
			m.dims = append(m.dims, dim{n, true})
		}
	}
	m.rank = len(m.dims)
	return m.spec(), nil
}

// SpecOf returns the Spec of a structured tensor, or of the tensor that
// [FromNested] makes from plain nested data with records.
func SpecOf(x any) (*Spec, error) {
	t, ok := x.(*Tensor)
	if !ok {
		v, err := FromNested(x, NestedOptions{})
		if err != nil {
			return nil, err
		}
		if t, ok = v.(*Tensor); !ok {
			return nil, failed(tenon.ErrDType, "structured.SpecOf", "", "%s does not contain records", tenon.String(v.Spec()))
		}
	}
	return t.typ(), nil
}

// WithShape returns the Spec of records with the same fields and another static
// shape of the same rank. Sizes that contradict each other are an error.
func (s *Spec) WithShape(to shape.Shape) (*Spec, error) {
	const fn = "structured.Spec.WithShape"
	if !to.HasRank() || to.Rank() != s.rank {
		return nil, invalid(fn, "shape", "%v does not have the rank %d of the records", to, s.rank)
	}
	m := specMaker{fn: fn, rank: s.rank, d: s.dtype, dims: s.dims(), cols: s.cols}
	for i := range m.dims {
		if err := m.meet("shape", i, dim{n: to.Dim(i), uniform: to.Dim(i) >= 0}); err != nil {
			return nil, err
		}
	}
	return m.spec(), nil
}

// A dim is what is known about a dimension: its size, and whether it is uniform.
type dim struct {
	n       int
	uniform bool
}

func (s *Spec) dims() []dim {
	out := make([]dim, s.rank)
	for i := range out {
		if i == 0 {
			out[i] = dim{s.nrows, true}
			continue
		}
		p := s.parts[i-1]
		out[i] = dim{p.UniformRowLength(), p.IsUniform()}
	}
	return out
}

// A specMaker collects what fields say about the dimensions of their records.
type specMaker struct {
	fn   string
	rank int
	d    dtype.DType
	dims []dim
	cols []columnSpec
}

// meet adds what is known about dimension i.
func (m *specMaker) meet(where string, i int, x dim) error {
	y := m.dims[i]
	if x.n >= 0 && y.n >= 0 && x.n != y.n {
		return invalid(m.fn, where, "has size %d in dimension %d, the records have %d", x.n, i, y.n)
	}
	m.dims[i] = dim{max(x.n, y.n), x.uniform || y.uniform}
	return nil
}

func (m *specMaker) add(f tenon.Field) error {
	col, dims, err := m.column(f)
	if err != nil {
		return err
	}
	for i, x := range dims {
		if err := m.meet(f.Name, i, x); err != nil {
			return err
		}
	}
	m.cols = append(m.cols, col)
	return nil
}

// column splits the Spec of a field into the dimensions of the records and what is below them.
func (m *specMaker) column(f tenon.Field) (columnSpec, []dim, error) {
	c := columnSpec{name: f.Name, spec: withSplitsSpec(f.Spec, m.d), inner: allPlain}
	if m.rank == 0 {
		return c, nil, nil
	}
	sizes, ok := dimsOf(f.Spec, m.rank)
	if !ok {
		return c, nil, invalid(m.fn, f.Name, "is %s, which does not have the %d dimensions of the records", tenon.String(f.Spec), m.rank)
	}
	dims := make([]dim, m.rank)
	for i := range dims {
		dims[i] = dim{sizes.Dim(i), true}
	}
	if list, with, ok := specPieces(coveringSpec(c.spec, m.rank)); ok {
		for i, x := range list {
			part, own, err := m.column(tenon.Field{Name: f.Name, Spec: x})
			if err != nil {
				return c, nil, err
			}
			if i == 0 {
				copy(dims, own)
			}
			list[i], c.inner = part.spec, min(c.inner, part.inner)
		}
		c.spec = with(list)
		return c, dims, nil
	}
	switch x := c.spec.(type) {
	case dividedSpec:
		parts := x.Partitions()
		if len(parts) > 0 {
			dims[0].n = parts[0].NRows()
		}
		for i, p := range parts[:min(len(parts), m.rank-1)] {
			dims[i+1] = dim{p.UniformRowLength(), p.IsUniform()}
		}
		if rest := parts[min(len(parts), m.rank-1):]; len(rest) > 0 {
			c.spec = ragged.FromSpecs(x.Flat(), rest)
			break
		}
		if x.Flat().TypeName() == tensor.TypeName {
			c.inner = max(0, m.rank-1-len(parts))
		}
		c.spec = lowered(x.Flat(), m.rank-1-len(parts))
	case *Spec:
		copy(dims, x.dims())
		below := &Spec{rank: x.rank - m.rank + 1, nrows: shape.Unknown, dtype: m.d, cols: x.cols}
		if m.rank > 1 {
			below.parts = x.parts[m.rank-1:]
		} else {
			below.nrows, below.parts = x.nrows, x.parts
		}
		c.spec = below
	default:
		c.spec = lowered(c.spec, m.rank-1)
	}
	return c, dims, nil
}

// dimsOf returns the sizes of at least the first rank dimensions of a Spec, as far as they are
// known. A type from elsewhere may only say that it has rows.
func dimsOf(s tenon.Spec, rank int) (shape.Shape, bool) {
	if t, ok := s.(typedSpec); ok && t.Shape().HasRank() {
		return t.Shape(), t.Shape().Rank() >= rank
	}
	for range rank {
		b, ok := s.(tenon.Batcher)
		if !ok {
			return shape.Shape{}, false
		}
		row, err := b.Unbatched()
		if err != nil {
			return shape.Shape{}, false
		}
		s = row
	}
	return shape.OfRank(rank), true
}

// lowered merges the first k+1 dimensions of a Spec into one.
func lowered(s tenon.Spec, k int) tenon.Spec {
	for range k {
		b, ok := s.(tenon.Batcher)
		if !ok {
			return s
		}
		row, err := b.Unbatched()
		if err != nil {
			return s
		}
		s = row
	}
	if k == 0 {
		return s
	}
	return outermost(s, shape.Unknown)
}

// spec makes the Spec from what was collected.
func (m *specMaker) spec() *Spec {
	s := &Spec{rank: m.rank, nrows: shape.Unknown, dtype: m.d}
	n := shape.Unknown
	if m.rank > 0 {
		s.nrows = m.dims[0].n
		n = s.nrows
	}
	plain := 0 // trailing dimensions that may be axes of a field
	for i := 1; i < m.rank; i++ {
		x := m.dims[i]
		s.parts = append(s.parts, partitionSpec(m.d, n, x))
		if n = times(n, x.n); s.nrows == 0 {
			n = 0
		}
		plain++
		if !x.uniform || x.n < 0 {
			plain = 0
		}
	}
	for _, c := range m.cols {
		if m.rank > 0 {
			c.spec = outermost(c.spec, n)
		}
		if c.inner >= plain {
			c.inner = allPlain
		}
		s.cols = append(s.cols, c)
	}
	return s
}

// partitionSpec returns the Spec of a partition of n rows, whose number of values
// is unknown unless its rows are uniform.
func partitionSpec(d dtype.DType, n int, x dim) *ragged.PartitionSpec {
	if x.uniform && x.n < 0 {
		nvals := shape.Unknown
		if n == 0 {
			nvals = 0
		}
		e := tenon.Tuple{tenon.DType{DType: d}, tenon.Shape{Shape: shape.Of(n, nvals)}, tenon.Bool(true), tenon.Shape{Shape: shape.Of(shape.Unknown)}}
		return tenon.Must(tenon.Decode(ragged.PartitionTypeName, e)).(*ragged.PartitionSpec)
	}
	return tenon.Must(ragged.NewPartitionSpec(d, n, shape.Unknown, x.n))
}

// typedSpec is a Spec of tensors.
type typedSpec interface {
	DType() dtype.DType
	Shape() shape.Shape
}

// splitsOfSpecs returns the type of row splits for records with such fields.
func splitsOfSpecs(fields []tenon.Field) dtype.DType {
	found := dtype.None
	for _, f := range fields {
		switch d := splitsOfSpec(f.Spec); d {
		case dtype.Int64:
			return d
		case dtype.Int32:
			found = d
		}
	}
	if found == dtype.None {
		return dtype.Int64
	}
	return found
}

func splitsOfSpec(s tenon.Spec) dtype.DType {
	if list, _, ok := specPieces(s); ok {
		return splitsOfSpec(list[0])
	}
	switch s := s.(type) {
	case dividedSpec:
		if parts := s.Partitions(); len(parts) > 0 {
			return parts[0].DType()
		}
	case *Spec:
		return s.dtype
	}
	return dtype.None
}

// specPieces is [pieces] for Specs.
func specPieces(s tenon.Spec) ([]tenon.Spec, func([]tenon.Spec) tenon.Spec, bool) {
	switch x := s.(type) {
	case optionalSpec:
		return []tenon.Spec{x.Values(), x.Mask()}, func(l []tenon.Spec) tenon.Spec {
			e := tenon.Tuple{tenon.SpecOf{Spec: l[0]}, tenon.SpecOf{Spec: l[1]}}
			return tenon.Must(tenon.Decode(masked.TypeName, e))
		}, true
	case compositeSpec:
		return []tenon.Spec{x.records()}, func(l []tenon.Spec) tenon.Spec { return x.like(l[0].(*Spec)) }, true
	case *DictionarySpec:
		return []tenon.Spec{x.codes}, func(l []tenon.Spec) tenon.Spec { return &DictionarySpec{l[0], x.words} }, true
	}
	return nil, nil, false
}

// coveringSpec is [covering] for Specs.
func coveringSpec(s tenon.Spec, r int) tenon.Spec {
	m, ok := s.(optionalSpec)
	if !ok || m.Mask().(typedSpec).Shape().Rank() >= r { // masks inside have more dimensions
		return s
	}
	return tenon.Must(optionalOf(coveringSpec(m.Values(), r), r))
}

// withSplitsSpec returns a Spec of values with row splits of type d.
func withSplitsSpec(s tenon.Spec, d dtype.DType) tenon.Spec {
	if list, with, ok := specPieces(s); ok {
		for i, x := range list {
			list[i] = withSplitsSpec(x, d)
		}
		return with(list)
	}
	switch x := s.(type) {
	case dividedSpec:
		if parts := x.Partitions(); len(parts) == 0 || parts[0].DType() == d {
			return s
		}
		parts := slices.Clone(x.Partitions())
		for i, p := range parts {
			parts[i] = withSplitsPart(p, d)
		}
		return ragged.FromSpecs(x.Flat(), parts)
	case *Spec:
		if x.dtype == d {
			return s
		}
		out := &Spec{rank: x.rank, nrows: x.nrows, dtype: d}
		for _, p := range x.parts {
			out.parts = append(out.parts, withSplitsPart(p, d))
		}
		for _, c := range x.cols {
			out.cols = append(out.cols, columnSpec{c.name, withSplitsSpec(c.spec, d), c.inner})
		}
		return out
	}
	return s
}

func withSplitsPart(p *ragged.PartitionSpec, d dtype.DType) *ragged.PartitionSpec {
	return partitionSpec(d, p.NRows(), dim{p.UniformRowLength(), p.IsUniform()})
}
