package structured

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
	"github.com/tenonml/tenon/tensor"
)

// A Field is a name and a value.
type Field struct {
	Name  string
	Value tensor.Tensor
}

// Options say more about the records than their fields do.
type Options struct {
	// NRows is the number of rows: an int or an integer scalar.
	NRows any

	// RowPartitions divide the dimensions below the first: rank-1 of them.
	RowPartitions []*ragged.RowPartition

	// DType is the type of row splits, Int64 or Int32. None means int64, unless
	// all given partitions and those of the fields are int32.
	DType dtype.DType

	// Validate checks in each call of a traced function what is not known while tracing: that all
	// fields have the same rows. What is known is always checked.
	Validate bool

	// Identifiers only allows names that consist of an ASCII letter followed by
	// letters, digits and underscores.
	Identifiers bool
}

// FromFields returns the records with the given fields, each of which must begin with the
// dimensions of the shape. Its sizes may be shape.Unknown; they then follow from fields and
// options. If fields disagree, the error names them.
func FromFields(fields []Field, s shape.Shape, o Options) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "structured.FromFields"
	if !s.HasRank() {
		return nil, invalid(fn, "shape", "has an unknown rank")
	}
	rank := s.Rank()
	tenon.Throw(checkNames(fn, fields, o.Identifiers))
	if o.RowPartitions != nil && len(o.RowPartitions) != max(rank-1, 0) {
		return nil, invalid(fn, "RowPartitions", "are %d, records of rank %d have %d", len(o.RowPartitions), rank, max(rank-1, 0))
	}
	if o.NRows != nil && rank == 0 {
		return nil, invalid(fn, "NRows", "is given for a single record")
	}
	d := splitsDType(fields, o)
	if rank == 0 {
		return newTensor(0, nil, nil, columnsOf(fn, fields, 0, nil, d), d), nil
	}
	parts := o.RowPartitions
	if rank > 1 && parts == nil {
		if parts = partsOf(fields, s, d); parts == nil {
			return nil, invalid(fn, "shape", "has sizes that are not known from fields or options")
		}
	}
	same := withDType(parts, d)
	var nrows tensor.Tensor
	switch {
	case o.NRows != nil:
		n := tenon.Must(tensor.Convert(o.NRows))
		if c, ok := op.Known(n); !n.DType().IsInteger() || n.Shape().Rank() != 0 || ok && tensor.Item[int64](ops.Cast(c, dtype.Int64)) < 0 {
			return nil, invalid(fn, "NRows", "is %s, want an integer that is not negative", fmt.Sprint(o.NRows))
		}
		nrows = ops.Cast(n, d)
	case rank > 1:
		nrows = same[0].NRows()
	case s.Dim(0) >= 0:
		nrows = scalar(s.Dim(0), d)
	case len(fields) > 0 && !fields[0].Value.Shape().IsScalar():
		nrows = sizeOf(fields[0].Value, d)
	default:
		return nil, invalid(fn, "", "the number of rows is not known: give Options.NRows")
	}
	if n, m := known(nrows), s.Dim(0); n >= 0 && m >= 0 && n != m {
		return nil, invalid(fn, "shape", "has %d rows, the records %d", m, n)
	}
	for i, p := range same {
		if i == 0 {
			if n, m := known(nrows), known(p.NRows()); n >= 0 && m >= 0 && n != m {
				return nil, invalid(fn, "RowPartitions[0]", "has %d rows, want %d", m, n)
			}
		} else if n, m := known(same[i-1].NVals()), known(p.NRows()); n >= 0 && m >= 0 && n != m {
			return nil, invalid(fn, "RowPartitions", "entry %d has %d rows, the one above it %d values", i, m, n)
		}
		if want := s.Dim(i + 1); want >= 0 && p.StaticUniformRowLength() != want {
			return nil, invalid(fn, "shape", "has size %d in dimension %d, but the records do not", want, i+1)
		}
	}
	b := newTensor(rank, nrows, same, nil, d)
	if o.Validate {
		b = newTensor(rank, nrows, assertSame(fn, fields, same, d), nil, d)
	}
	cols := columnsOf(fn, fields, rank, b, d)
	if o.Validate {
		cols = eachColumn(cols, func(v tensor.Tensor) tensor.Tensor { return assertRows(v, b.count()) })
	}
	return newTensor(rank, b.nrows, b.parts, cols, d), nil
}

// assertSame returns the records' partitions with a check, made in each call, that the partitions
// of all fields are equal.
func assertSame(fn string, fields []Field, parts []*ragged.RowPartition, d dtype.DType) []*ragged.RowPartition {
	out := slices.Clone(parts)
	for _, f := range fields {
		if len(parts) == 0 {
			break
		}
		for i, p := range outerParts(fn, f.Name, f.Value, len(parts)+1, d) {
			_, known := p.Splits64()
			_, both := parts[i].Splits64()
			if p != parts[i] && !(known && both) {
				splits := rows.AssertSame(out[i].RowSplits(), p.RowSplits())
				out[i] = tenon.Must(ragged.PartitionFromRowSplits(splits, ragged.PartitionOptions{DType: d}))
			}
		}
	}
	return out
}

// assertRows returns a column with a check, made in each call, that it has n
// entries.
func assertRows(v, n tensor.Tensor) tensor.Tensor {
	if known(sizeOf(v, dtype.Int64)) >= 0 && known(n) >= 0 {
		return v
	}
	if out, ok := eachPiece(v, func(x tensor.Tensor) tensor.Tensor { return assertRows(x, n) }); ok {
		return out
	}
	n = ops.Cast(n, dtype.Int64)
	switch x := v.(type) {
	case *Tensor:
		if x.rank > 1 {
			return newTensor(x.rank, nil, append([]*ragged.RowPartition{assertCount(x.parts[0], n)}, x.parts[1:]...), x.cols, x.dtype)
		}
		cols := eachColumn(x.cols, func(v tensor.Tensor) tensor.Tensor { return assertRows(v, n) })
		return newTensor(1, x.nrows, nil, cols, x.dtype)
	case divided:
		parts := slices.Clone(x.Partitions())
		parts[0] = assertCount(parts[0], n)
		return tenon.Must(ragged.FromPartitions(x.FlatValues(), parts...))
	}
	if v.Spec().TypeName() != tensor.TypeName {
		return v
	}
	tail := ops.Slice(ops.Cast(ops.Shape(v), dtype.Int64), []int{1}, []int{-1})
	return ops.Reshape(v, ops.Concat([]tensor.Tensor{ops.ExpandDims(n, 0), tail}, 0))
}

// assertCount returns a partition with a check, made in each call, that it has n
// rows.
func assertCount(p *ragged.RowPartition, n tensor.Tensor) *ragged.RowPartition {
	splits := ops.Reshape(p.RowSplits(), ops.ExpandDims(ops.Add(n, int64(1)), 0))
	return tenon.Must(ragged.PartitionFromRowSplits(splits, ragged.PartitionOptions{DType: p.DType()}))
}

// FromFieldsAndRank returns the records of the given rank with the given fields.
// There must be at least one field, since all sizes follow from the fields.
func FromFieldsAndRank(fields []Field, rank int, o Options) (*Tensor, error) {
	if len(fields) == 0 || rank < 0 {
		return nil, invalid("structured.FromFieldsAndRank", "", "needs a field and a rank that is not negative")
	}
	for _, f := range fields {
		if f.Value != nil && f.Value.Shape().HasRank() && f.Value.Shape().Rank() < rank {
			return nil, invalid("structured.FromFieldsAndRank", f.Name, "has rank %d, the records %d", f.Value.Shape().Rank(), rank)
		}
	}
	return FromFields(fields, shape.OfRank(rank), o)
}

// FromShape returns records without fields.
func FromShape(s *ragged.Shape) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	d := s.DType()
	rank := s.Rank()
	if rank == 0 {
		return newTensor(0, nil, nil, nil, d), nil
	}
	full := tenon.Must(s.WithPartitions(rank - 1))
	return newTensor(rank, full.Dim(0), full.Partitions(), nil, d), nil
}

func checkNames(fn string, fields []Field, identifiers bool) error {
	for i, f := range fields {
		switch {
		case !utf8.ValidString(f.Name) || identifiers && !jsonpath.Identifier(f.Name):
			return invalid(fn, "", "%q is not a field name", f.Name)
		case slices.ContainsFunc(fields[:i], func(g Field) bool { return g.Name == f.Name }):
			return invalid(fn, f.Name, "is given twice")
		case f.Value == nil:
			return invalid(fn, f.Name, "is nil")
		}
	}
	return nil
}

// splitsDType returns the type of the records' row splits.
func splitsDType(fields []Field, o Options) dtype.DType {
	if o.DType != dtype.None {
		return o.DType
	}
	var found []dtype.DType
	for _, p := range o.RowPartitions {
		found = append(found, p.DType())
	}
	if n, ok := o.NRows.(tensor.Tensor); ok {
		found = append(found, n.DType())
	}
	for _, f := range fields {
		if d := splitsOf(liftMask(f.Value)); d != dtype.None {
			found = append(found, d)
		}
	}
	if len(found) == 0 || slices.ContainsFunc(found, func(d dtype.DType) bool { return d != dtype.Int32 }) {
		return dtype.Int64
	}
	return dtype.Int32
}

// partsOf returns the outer partitions of the fields. If one field declares a
// uniform length and another does not, it returns the uniform one.
func partsOf(fields []Field, s shape.Shape, d dtype.DType) []*ragged.RowPartition {
	rank := s.Rank()
	var parts []*ragged.RowPartition
	for _, f := range fields {
		outer := outerParts("structured.FromFields", f.Name, f.Value, rank, d)
		if parts == nil {
			parts = outer
			continue
		}
		for i, p := range outer {
			if i < len(parts) && p.IsUniform() && !parts[i].IsUniform() {
				parts[i] = p
			}
		}
	}
	if parts != nil || !s.IsFull() {
		return parts
	}
	n := s.Dim(0)
	for a := 1; a < rank; a++ {
		parts = append(parts, tenon.Must(ragged.PartitionFromUniformRowLength(s.Dim(a), ragged.PartitionOptions{NRows: n, DType: d})))
		n *= s.Dim(a)
	}
	return parts
}
