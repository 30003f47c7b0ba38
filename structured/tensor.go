package structured

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Tensor is a record, or nested lists of records, with one column for each field.
// It is immutable.
type Tensor struct {
	rank  int
	nrows tensor.Tensor          // a scalar; nil at rank 0
	parts []*ragged.RowPartition // of the dimensions below the first
	cols  []column
	dtype dtype.DType // of the splits

	frame atomic.Pointer[Spec] // without columns
	spec  atomic.Pointer[Spec]
}

var (
	_ tensor.Tensor = (*Tensor)(nil)
	_ op.Handler    = (*Tensor)(nil)
	_ tenon.Batcher = (*Spec)(nil)
)

// newTensor makes a tensor from parts that are known to match.
func newTensor(rank int, nrows tensor.Tensor, parts []*ragged.RowPartition, cols []column, d dtype.DType) *Tensor {
	if rank > 1 {
		nrows = parts[0].NRows()
	}
	return &Tensor{rank: rank, nrows: nrows, parts: parts, cols: cols, dtype: d}
}

// Spec returns the *Spec.
func (t *Tensor) Spec() tenon.Spec { return t.typ() }

// typ returns the Spec with its concrete type. It is made when first requested,
// since that may require gathering fields.
func (t *Tensor) typ() *Spec {
	if s := t.spec.Load(); s != nil {
		return s
	}
	t.spec.CompareAndSwap(nil, specOf(t, t.cols))
	return t.spec.Load()
}

// DType returns dtype.None: each field has an element type of its own.
func (t *Tensor) DType() dtype.DType { return dtype.None }

// Rank returns the number of dimensions of the records, 0 for a single record.
func (t *Tensor) Rank() int { return t.rank }

// Shape returns the static sizes of the records' dimensions, with shape.Unknown
// where rows differ in length.
func (t *Tensor) Shape() shape.Shape {
	if t.frame.Load() == nil {
		t.frame.CompareAndSwap(nil, specOf(t, nil))
	}
	return t.frame.Load().Shape()
}

// NRows returns the size of the outermost dimension as a scalar, or nil at rank
// 0.
func (t *Tensor) NRows() tensor.Tensor { return t.nrows }

// RowPartitions returns the rank-1 partitions of the dimensions below the first.
// All fields share them.
func (t *Tensor) RowPartitions() []*ragged.RowPartition { return slices.Clone(t.parts) }

// SplitsDType returns the type of row splits and of NRows: Int64 or Int32.
func (t *Tensor) SplitsDType() dtype.DType { return t.dtype }

// DynamicShape returns the sizes of the records' dimensions at run time.
func (t *Tensor) DynamicShape() (s *ragged.Shape, err error) {
	defer tenon.Catch(&err)
	return ragged.ShapeOf(t.divided()), nil
}

// FieldNames returns the names of the fields in order.
func (t *Tensor) FieldNames() []string { return namesOf(t.cols) }

func (t *Tensor) find(name string) int { return findColumn(t.cols, name) }

// Field returns the field at a path of names; names after the first are those of fields of
// structured fields. The empty path is the tensor itself. The fields of missing records are
// missing. A name that does not exist is an error of kind tenon.ErrNotFound.
func (t *Tensor) Field(path ...string) (v tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	v = t
	for i, name := range path {
		v = child(v, name, path[:i+1])
	}
	return v, nil
}

// child returns a field of records that may be missing.
func child(v tensor.Tensor, name string, path []string) tensor.Tensor {
	switch x := v.(type) {
	case *Tensor:
		k := x.find(name)
		if k < 0 {
			tenon.Throw(notFound(path, "there is no field %q, but %q", name, x.FieldNames()))
		}
		return x.field(x.cols[k])
	case *Map:
		return x.Lookup(x.spec.keyOf(name, PathString(path)))
	case optional:
		return hidden(child(x.Values(), name, path), x.Mask())
	}
	tenon.Throw(notFound(path, "%s is not a structured field", PathString(path[:len(path)-1])))
	return nil
}

// count returns the number of records as a scalar.
func (t *Tensor) count() tensor.Tensor {
	if t.rank > 1 {
		return t.parts[len(t.parts)-1].NVals()
	}
	return t.nrows
}

// Numbers returns an int64 tensor with the records' dimensions that holds the number of each
// record. Operations that select, group or join entries of a tensor can be applied to records
// through their numbers and [Tensor.AtNumbers].
func (t *Tensor) Numbers() tensor.Tensor { return t.numbersFrom(tensor.Scalar(int64(0))) }

// numbersFrom is Numbers starting at a scalar.
func (t *Tensor) numbersFrom(first tensor.Tensor) tensor.Tensor {
	if t.rank == 0 {
		return first
	}
	n := ops.Range(tensor.Scalar(int64(0)), ops.Cast(t.count(), dtype.Int64), tensor.Scalar(int64(1)))
	if known(first) != 0 {
		n = ops.Add(n, first)
	}
	if t.rank == 1 {
		return n
	}
	// Dimensions that are axes of all fields become axes of the numbers.
	parts, dims := t.plainDims(t.plain())
	if len(dims) > 0 {
		n = ops.Reshape(n, dims)
	}
	return tenon.Must(ragged.FromPartitions(n, parts...))
}

// divided is Numbers with a partition for each dimension below the first.
func (t *Tensor) divided() tensor.Tensor {
	if t.rank < 2 {
		return t.Numbers()
	}
	return tenon.Must(ragged.FromPartitions((&Tensor{rank: 1, nrows: t.count()}).Numbers(), t.parts...))
}

// plain returns the number of trailing dimensions that are axes of all fields.
func (t *Tensor) plain() int {
	n := allPlain
	for _, c := range t.cols {
		n = min(n, c.inner)
	}
	return n
}

// byNumbers returns the records with the numbers in a tensor, with its
// dimensions. cols have one entry for each number.
func byNumbers(cols []column, at tensor.Tensor, d dtype.DType) *Tensor {
	rank := at.Shape().Rank()
	if rank < 0 {
		tenon.Throw(invalid("structured", "", "the rank of the result is not known"))
	}
	if rank == 0 {
		out := make([]column, len(cols))
		for i, c := range cols {
			out[i] = c.picked(at)
		}
		return newTensor(0, nil, nil, out, d)
	}
	flat, parts, inner := at, []*ragged.RowPartition(nil), rank-1
	if r, ok := at.(divided); ok {
		inner -= len(r.Partitions())
	}
	if rank > 1 {
		r := tenon.Must(ragged.WithRaggedRank(at, rank-1)).(divided)
		flat = r.FlatValues()
		parts = withDType(r.Partitions(), d)
	}
	return newTensor(rank, sizeOf(flat, d), parts, takeAll(cols, flat, inner), d)
}

// picked returns one entry of a column, by number, as a field of a single record.
func (c column) picked(at tensor.Tensor) column {
	out := column{name: c.name, inner: allPlain}
	if c.wait != nil {
		if s := c.wait.from.Load(); s != nil { // gather a single entry only
			out.now = pick(plainer(s.v, s.inner), ops.Gather(s.at, at, 0))
			return out
		}
	}
	out.now = pick(c.v(), at)
	return out
}

// pick returns one entry of a column, by number, a scalar.
func pick(v, at tensor.Tensor) tensor.Tensor {
	if r, ok := v.(divided); ok && isOther(r.FlatValues()) {
		return undivided(ops.Gather(r, ops.ExpandDims(at, 0), 0).(divided))
	}
	x, err := tenon.Try(func() tensor.Tensor { return ops.Gather(v, at, 0) })
	if errors.Is(err, tenon.ErrUnsupported) { // a type may support only an index for single rows
		return ops.Index(v, at)
	}
	return tenon.Must(x, err)
}

// lift returns a list with one entry.
func lift(v tensor.Tensor) tensor.Tensor {
	if out, ok := eachPiece(v, lift); ok {
		return out
	}
	x, err := tenon.Try(func() tensor.Tensor { return ops.ExpandDims(v, 0) })
	if errors.Is(err, tenon.ErrUnsupported) { // an axis without a name may not be supported
		return ops.Stack([]tensor.Tensor{v}, 0)
	}
	return tenon.Must(x, err)
}

// taken gathers entries of a column by number at once. It returns the column itself if these are
// all its entries in order.
func taken(v tensor.Tensor, at tensor.Tensor) tensor.Tensor {
	if d, ok := op.Known(at); ok && countsUp(d, v.Shape().Dim(0)) {
		return v
	}
	return gatherRows(v, at)
}

// countsUp reports whether an index is 0, 1, … up to n, which may be unknown.
func countsUp(at tensor.Tensor, n int) bool {
	if n < 0 || at.Shape().Dim(0) != n {
		return false
	}
	for i, k := range tensor.Data[int64](at) {
		if int64(i) != k {
			return false
		}
	}
	return true
}

// plainer gives the fields of a structured column plain dimensions like those of the other fields.
func plainer(v tensor.Tensor, inner int) tensor.Tensor {
	s, ok := v.(*Tensor)
	if !ok || s.rank != 1 || inner == 0 {
		return v
	}
	cols := slices.Clone(s.cols)
	for i, c := range cols {
		cols[i].inner = max(c.inner, inner)
		if c.wait == nil {
			cols[i].now = plainer(c.now, inner)
		} else if from := c.wait.from.Load(); from == nil {
			cols[i] = cols[i].with(plainer(c.v(), inner))
		} else if _, ok := from.v.(*Tensor); ok {
			cols[i].wait = newPending(rowsFrom{from.v, from.at, max(from.inner, inner)})
		}
	}
	return newTensor(1, s.nrows, nil, cols, s.dtype)
}

// rows returns the columns with a dimension of records, adding it for a single record.
func (t *Tensor) rows() []column {
	if t.rank > 0 {
		return t.cols
	}
	out := make([]column, len(t.cols))
	for i, c := range t.cols {
		out[i] = column{name: c.name, now: lift(c.v()), inner: allPlain}
	}
	return out
}

// known returns the value of a scalar, or shape.Unknown.
func known(t tensor.Tensor) int {
	if t == nil {
		return shape.Unknown
	}
	if c, ok := op.Known(t); ok {
		if v, ok := op.Ints(c); ok && len(v) == 1 {
			return v[0]
		}
	}
	return shape.Unknown
}

// sizeOf returns the size of the outermost dimension as a scalar.
func sizeOf(t tensor.Tensor, d dtype.DType) tensor.Tensor {
	if list, _, ok := pieces(t); ok {
		t = list[0]
	}
	switch x := t.(type) {
	case *Tensor:
		return ops.Cast(x.nrows, d)
	case divided:
		return ops.Cast(x.Partitions()[0].NRows(), d)
	}
	if n := t.Shape().Dim(0); n >= 0 {
		return scalar(n, d)
	}
	return ops.Cast(ops.Index(ops.Shape(t), 0), d)
}

func scalar(n int, d dtype.DType) tensor.Tensor {
	if d == dtype.Int32 {
		return tensor.Scalar(int32(n))
	}
	return tensor.Scalar(int64(n))
}

// failed returns an error of a function of this package.
func failed(kind error, fn, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

func invalid(fn, where, format string, args ...any) *tenon.Error {
	return failed(tenon.ErrInvalid, fn, where, format, args...)
}

func notFound(path []string, format string, args ...any) *tenon.Error {
	return failed(tenon.ErrNotFound, "structured.Field", PathString(path), format, args...)
}
