package structured

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() { tenon.Register(TypeName, decodeSpec) }

func decodeSpec(e tenon.Encoding) (tenon.Spec, error) {
	var rows tenon.Shape
	var d tenon.DType
	var parts, cols tenon.List
	if err := tenon.Unpack(e, &rows, &d, &parts, &cols); err != nil {
		return nil, err
	}
	s := &Spec{nrows: shape.Unknown, dtype: d.DType}
	r := rows.Rank()
	if r != 0 && r != 1 || r == 0 && len(parts) > 0 || d.DType != dtype.Int64 && d.DType != dtype.Int32 {
		return nil, tenon.NewError(tenon.ErrInvalid, TypeName, "the sizes of the records' dimensions contradict each other")
	}
	if r == 1 {
		s.rank, s.nrows = 1+len(parts), rows.Dim(0)
	}
	for i, x := range parts {
		o, _ := x.(tenon.SpecOf)
		p, ok := o.Spec.(*ragged.PartitionSpec)
		if !ok {
			return nil, failed(tenon.ErrInvalid, TypeName, "", "component %d is not a partition", i)
		}
		s.parts = append(s.parts, p)
	}
	seen := map[string]bool{}
	for _, x := range cols {
		c, err := decodeColumn(x)
		if err != nil {
			return nil, err
		}
		if seen[c.name] {
			return nil, failed(tenon.ErrInvalid, TypeName, "", "the field name %q is repeated", c.name)
		}
		seen[c.name] = true
		s.cols = append(s.cols, c)
	}
	return s, nil
}

func decodeColumn(e tenon.Encoding) (columnSpec, error) {
	var name tenon.Str
	var o tenon.SpecOf
	var inner tenon.Int
	if err := tenon.Unpack(e, &name, &o, &inner); err != nil {
		return columnSpec{}, err
	}
	if o.Spec == nil {
		return columnSpec{}, failed(tenon.ErrInvalid, TypeName, "", "the field %q has no Spec", string(name))
	}
	return columnSpec{string(name), o.Spec, int(min(max(inner, 0), allPlain))}, nil
}

// counted reports whether the number of rows is a component, because it does not follow from
// anything else.
func (s *Spec) counted() bool { return s.rank == 1 && len(s.cols) == 0 }

// Components returns the partitions, outermost first, and the columns by name. A
// list of records without fields has its number of rows as a component.
func (s *Spec) Components() []tenon.Field {
	var out []tenon.Field
	for i, p := range s.parts {
		out = append(out, tenon.Field{Name: fmt.Sprintf("row_partition_%d", i), Spec: p})
	}
	if s.counted() {
		out = append(out, tenon.Field{Name: "nrows", Spec: tensor.NewSpec(s.dtype, shape.Shape{})})
	}
	for _, c := range s.cols {
		out = append(out, tenon.Field{Name: componentName(c.name), Spec: c.spec})
	}
	return out
}

// componentName returns the name of a field as a component name, which must not be empty.
func componentName(name string) string {
	if name == "" || name[0] == '"' {
		return strconv.Quote(name)
	}
	return name
}

// Disassemble returns the partitions and the columns, in the order of the Spec.
func (s *Spec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	t, ok := v.(*Tensor)
	if !ok || t.rank != s.rank || len(t.cols) != len(s.cols) {
		return nil, s.stranger(v)
	}
	var out []tenon.Value
	for _, p := range t.parts {
		out = append(out, p)
	}
	if s.counted() {
		out = append(out, t.nrows)
	}
	for i, c := range s.cols {
		if t.cols[i].name != c.name {
			if i = t.find(c.name); i < 0 {
				return nil, s.stranger(v)
			}
		}
		out = append(out, t.cols[i].v())
	}
	return out, nil
}

func (s *Spec) stranger(v tenon.Value) error {
	got := "nil"
	if v != nil {
		got = tenon.String(v.Spec())
	}
	return failed(tenon.ErrDType, "structured.Spec.Disassemble", "", "%s does not belong to %v", got, s)
}

// Assemble makes a tensor from partitions and columns, and checks that they
// match.
func (s *Spec) Assemble(components []tenon.Value) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	tenon.Throw(tenon.CheckComponents(s, components))
	const fn = "structured.Spec.Assemble"
	var parts []*ragged.RowPartition
	n := shape.Unknown
	for i := range s.parts {
		p := components[i].(*ragged.RowPartition)
		if m := known(p.NRows()); n >= 0 && m >= 0 && n != m {
			return nil, invalid(fn, fmt.Sprintf("row_partition_%d", i), "has %d rows, the one above it %d values", m, n)
		}
		parts, n = append(parts, p), known(p.NVals())
	}
	var nrows tensor.Tensor
	at := len(s.parts)
	if s.counted() {
		nrows, at = components[at].(tensor.Tensor), at+1
	}
	cols := make([]column, len(s.cols))
	for i, c := range s.cols {
		x, ok := components[at+i].(tensor.Tensor)
		if !ok {
			return nil, failed(tenon.ErrDType, fn, "", "the field %q is not a tensor", c.name)
		}
		if s.rank > 0 {
			if x.Shape().IsScalar() {
				return nil, invalid(fn, c.name, "is a scalar, there are rows of records")
			}
			m := x.Shape().Dim(0)
			if n >= 0 && m >= 0 && n != m {
				return nil, invalid(fn, c.name, "has %d entries for %d records", m, n)
			}
			if n < 0 {
				n = m
			}
		}
		cols[i] = column{name: c.name, now: x, inner: c.inner}
	}
	if s.rank == 1 && nrows == nil {
		nrows = sizeOf(cols[0].v(), s.dtype)
	}
	return newTensor(s.rank, nrows, parts, cols, s.dtype), nil
}

// Batched adds an outermost dimension of records. If the number of rows of a
// value is not known, the dimension below is ragged.
func (s *Spec) Batched(n int) (tenon.Spec, error) {
	m := specMaker{rank: s.rank + 1, d: s.dtype, dims: append([]dim{{n, true}}, s.dims()...)}
	if s.rank > 0 {
		m.dims[1].uniform = s.nrows >= 0
	}
	if m.cols = s.cols; s.rank > 0 {
		return m.spec(), nil
	}
	return m.batched(func(b tenon.Batcher) (tenon.Spec, error) { return b.Batched(n) })
}

// batched is spec with the columns' Specs changed by f.
func (m *specMaker) batched(f func(b tenon.Batcher) (tenon.Spec, error)) (tenon.Spec, error) {
	m.cols = slices.Clone(m.cols)
	for i, c := range m.cols {
		b, ok := c.spec.(tenon.Batcher)
		if !ok {
			return nil, failed(tenon.ErrUnsupported, TypeName, "", "the field %q of %s cannot be batched", c.name, tenon.String(c.spec))
		}
		var err error
		if m.cols[i].spec, err = f(b); err != nil {
			return nil, err
		}
	}
	return m.spec(), nil
}

// Unbatched removes the outermost dimension of records.
func (s *Spec) Unbatched() (tenon.Spec, error) {
	if s.rank == 0 {
		return nil, tenon.NewError(tenon.ErrUnsupported, TypeName, "a single record has no dimension to remove")
	}
	m := specMaker{rank: s.rank - 1, d: s.dtype, dims: s.dims()[1:], cols: s.cols}
	if s.rank > 1 {
		return m.spec(), nil
	}
	return m.batched(tenon.Batcher.Unbatched)
}

// times returns the product of two sizes, which may be unknown.
func times(a, b int) int {
	if a < 0 || b < 0 {
		return shape.Unknown
	}
	return a * b
}

// String returns the shape and the columns: "struct[3, ~]{name: string[?]}".
func (s *Spec) String() string {
	words := make([]string, len(s.cols))
	for i, c := range s.cols {
		words[i] = PathString([]string{c.name}) + ": " + tenon.String(c.spec)
	}
	return "struct" + s.Shape().String() + "{" + strings.Join(words, ", ") + "}"
}
