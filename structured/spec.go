package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// TypeName is the registered name of [*Spec].
const TypeName = "structured.Tensor"

// Spec describes structured tensors: the Specs of the partitions, and those of the columns, which
// are the fields without the partitions.
type Spec struct {
	rank  int
	nrows int
	dtype dtype.DType
	parts []*ragged.PartitionSpec
	cols  []columnSpec
}

type columnSpec struct {
	name  string
	spec  tenon.Spec
	inner int
}

// specOf returns what is known about a tensor and its columns without the data of its partitions.
func specOf(t *Tensor, cols []column) *Spec {
	m := specMaker{rank: t.rank, d: t.dtype, dims: make([]dim, t.rank), cols: make([]columnSpec, len(cols))}
	if t.rank == 1 {
		m.dims[0] = dim{known(t.nrows), true}
	}
	for i, p := range t.parts {
		if i == 0 {
			m.dims[0] = dim{p.StaticNRows(), true}
		}
		m.dims[i+1] = dim{p.StaticUniformRowLength(), p.IsUniform()}
	}
	for i, c := range cols {
		m.cols[i] = columnSpec{c.name, c.typ(), c.inner}
	}
	return m.spec()
}

// typ returns the Spec of the entries. Pending entries are gathered only if it depends on their
// data.
func (c column) typ() tenon.Spec {
	if c.wait != nil {
		if from := c.wait.from.Load(); from != nil {
			if s, ok := rowsSpec(from.v.Spec(), from.at.Shape().Dim(0)); ok {
				return s
			}
		}
	}
	return c.v().Spec()
}

// rowsSpec returns the Spec of n rows of concrete entries, and false if it depends on which rows
// they are.
func rowsSpec(s tenon.Spec, n int) (tenon.Spec, bool) {
	if list, with, ok := specPieces(s); ok {
		for i, x := range list {
			if list[i], ok = rowsSpec(x, n); !ok {
				return nil, false
			}
		}
		return with(list), true
	}
	if t, ok := s.(*tensor.Spec); ok {
		return tensor.NewSpec(t.DType(), t.Shape().With(0, n)), true
	}
	return nil, false
}

// outermost returns a Spec with another size of the outermost dimension.
func outermost(s tenon.Spec, n int) tenon.Spec {
	if t, ok := s.(typedSpec); ok && t.Shape().Rank() > 0 && t.Shape().Dim(0) == n {
		return s // important for deeply nested Specs: each level asks this of all levels below
	}
	switch s := s.(type) {
	case *tensor.Spec:
		if s.Shape().HasRank() && s.Shape().Rank() > 0 {
			return tensor.NewSpec(s.DType(), s.Shape().With(0, n))
		}
	case dividedSpec:
		parts := slices.Clone(s.Partitions())
		for i, p := range parts {
			parts[i] = partitionSpec(p.DType(), n, dim{p.UniformRowLength(), p.IsUniform()})
			n = parts[i].NVals()
		}
		return ragged.FromSpecs(outermost(s.Flat(), n), parts)
	case tenon.Batcher:
		if row, err := s.Unbatched(); err == nil {
			if b, ok := row.(tenon.Batcher); ok {
				if out, err := b.Batched(n); err == nil {
					return out
				}
			}
		}
	}
	return s
}

// Rank returns the number of dimensions of the records.
func (s *Spec) Rank() int { return s.rank }

// DType returns dtype.None.
func (s *Spec) DType() dtype.DType { return dtype.None }

// Shape returns the static sizes of the records' dimensions.
func (s *Spec) Shape() shape.Shape {
	if s.rank == 0 {
		return shape.Shape{}
	}
	if len(s.parts) == 0 {
		return shape.Of(s.nrows)
	}
	return ragged.FromSpecs(tensor.NewSpec(dtype.Bool, shape.OfRank(1)), s.parts).Shape()
}

// FieldNames returns the names of the fields in order.
func (s *Spec) FieldNames() []string {
	out := make([]string, len(s.cols))
	for i, c := range s.cols {
		out[i] = c.name
	}
	return out
}

// TypeName returns "structured.Tensor".
func (*Spec) TypeName() string { return TypeName }

// Encode returns (rank, rows, type of splits, [partition…], [(name, column, plain dimensions)…]).
func (s *Spec) Encode() tenon.Encoding {
	parts := make(tenon.List, len(s.parts))
	for i, p := range s.parts {
		parts[i] = tenon.SpecOf{Spec: p}
	}
	cols := make(tenon.List, len(s.cols))
	for i, c := range s.cols {
		cols[i] = tenon.Tuple{tenon.Str(c.name), tenon.SpecOf{Spec: c.spec}, tenon.Int(c.inner)}
	}
	rows := shape.Shape{}
	if s.rank > 0 {
		rows = shape.Of(s.nrows)
	}
	return tenon.Tuple{tenon.Shape{Shape: rows}, tenon.DType{DType: s.dtype}, parts, cols}
}
