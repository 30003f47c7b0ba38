package structured

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A column is a field without the partitions that it shares with the other fields. It has one entry
// for each record; at rank 0 it is the field itself. It is either present or pending.
type column struct {
	name string
	now  tensor.Tensor // nil if wait is set
	wait *pending
	// inner is the number of the records' last dimensions that are plain
	// dimensions of the field rather than partitioned ones, as far as they are
	// uniform. It matters only for dense entries; other entries always get
	// partitions.
	inner int
}

// allPlain is the inner of a column none of whose dimensions must be partitioned.
const allPlain = math.MaxInt16

// v returns the entries. Pending ones are gathered.
func (c column) v() tensor.Tensor {
	if c.wait != nil {
		return c.wait.value()
	}
	return c.now
}

// with returns the column with the given entries.
func (c column) with(v tensor.Tensor) column {
	c.now, c.wait = v, nil
	return c
}

// eachColumn returns columns with f of their entries.
func eachColumn(cols []column, f func(v tensor.Tensor) tensor.Tensor) []column {
	out := make([]column, len(cols))
	for i, c := range cols {
		out[i] = c.with(f(c.v()))
	}
	return out
}

// findColumn returns the index of the column with a name, or -1.
func findColumn(cols []column, name string) int {
	return slices.IndexFunc(cols, func(c column) bool { return c.name == name })
}

// pieces returns the tensors that a tensor consists of, if all of them begin with
// its own dimensions, and a function that makes such a tensor from others. What
// is done to the records is done to each piece.
func pieces(v tensor.Tensor) ([]tensor.Tensor, func([]tensor.Tensor) tensor.Tensor, bool) {
	switch x := v.(type) {
	case optional:
		return []tensor.Tensor{x.Values(), x.Mask()}, func(l []tensor.Tensor) tensor.Tensor { return hidden(l[0], l[1]) }, true
	case composite:
		return []tensor.Tensor{x.records()}, func(l []tensor.Tensor) tensor.Tensor { return x.like(l[0].(*Tensor)) }, true
	case *Dictionary:
		return []tensor.Tensor{x.codes}, func(l []tensor.Tensor) tensor.Tensor { return newDictionary(l[0], x.words) }, true
	}
	return nil, nil, false
}

// eachPiece applies f to the pieces of a tensor, if it has any.
func eachPiece(v tensor.Tensor, f func(tensor.Tensor) tensor.Tensor) (out tensor.Tensor, ok bool) {
	list, with, ok := pieces(v)
	if !ok {
		return nil, false
	}
	for i, x := range list {
		list[i] = f(x)
	}
	return with(list), true
}

// covering extends masks of fewer than the first r dimensions of their values to r dimensions:
// everything in a missing list is missing.
func covering(v tensor.Tensor, r int) tensor.Tensor {
	m, ok := v.(optional)
	if !ok {
		return v
	}
	values, mask := covering(m.Values(), r), m.Mask()
	k := mask.Shape().Rank()
	if k >= r {
		return hidden(values, mask)
	}
	base, _ := unmasked(values)
	parts := outerParts("structured", "", base, r, dtype.Int64)
	if k > 1 {
		mask = withRows(mask, k).FlatValues()
	}
	for _, p := range parts[k-1:] {
		mask = ops.Gather(mask, p.ValueRowIDs(), 0)
	}
	return hidden(values, tenon.Must(ragged.FromPartitions(mask, parts...)))
}

// liftMask converts masked values in rows, as in ragged tensors, to masked rows.
func liftMask(v tensor.Tensor) tensor.Tensor {
	r, ok := v.(divided)
	if !ok {
		return v
	}
	list, with, ok := pieces(r.FlatValues())
	if !ok {
		return v
	}
	parts := r.Partitions()
	for i, x := range list {
		for k := len(parts) - 1; k >= 0; k-- {
			x = grouped(x, parts[k])
		}
		list[i] = x
	}
	return with(list)
}

// outerParts returns the partitions of the dimensions of a value below the first, up to the given
// rank.
func outerParts(fn, name string, v tensor.Tensor, rank int, d dtype.DType) []*ragged.RowPartition {
	if list, _, ok := pieces(liftMask(v)); ok {
		return outerParts(fn, name, list[0], rank, d)
	}
	var parts []*ragged.RowPartition
	switch x := v.(type) {
	case *Tensor:
		parts = x.parts
	default:
		if r := v.Shape().Rank(); r < rank {
			tenon.Throw(invalid(fn, name, "has the shape %v, which lacks the %d dimensions of the records", v.Shape(), rank))
		}
		if rank > 1 {
			parts = withRows(x, rank).Partitions()
		}
	}
	if len(parts) < rank-1 {
		tenon.Throw(invalid(fn, name, "has rank %d, which lacks the %d dimensions of the records", len(parts)+1, rank))
	}
	return withDType(parts[:rank-1], d)
}

// columnsOf removes the dimensions of the records, which are those of base, from fields.
func columnsOf(fn string, fields []Field, rank int, base *Tensor, d dtype.DType) []column {
	out := make([]column, len(fields))
	for i, f := range fields {
		out[i] = columnOf(fn, f, rank, base, d)
	}
	return out
}

func columnOf(fn string, f Field, rank int, base *Tensor, d dtype.DType) column {
	v := withSplits(liftMask(f.Value), d)
	c := column{name: f.Name, now: v, inner: allPlain}
	if rank == 0 {
		return c
	}
	if r := v.Shape().Rank(); r < rank {
		tenon.Throw(invalid(fn, f.Name, "has rank %d, the records %d", r, rank))
	}
	if rank == 1 {
		if n, m := known(base.nrows), v.Shape().Dim(0); n >= 0 && m >= 0 && n != m {
			tenon.Throw(invalid(fn, f.Name, "has %d rows, the records %d", m, n))
		}
		return c
	}
	sameRows(fn, f.Name, outerParts(fn, f.Name, v, rank, d), base.parts)
	c.now, c.inner = below(v, rank)
	return c
}

// sameRows checks that a field is divided into the same rows as the records.
func sameRows(fn, name string, parts, base []*ragged.RowPartition) {
	for i, p := range parts {
		q := base[i]
		if p == q {
			continue
		}
		a, ok := p.Splits64()
		b, ok2 := q.Splits64()
		if ok && ok2 && !slices.Equal(a, b) {
			row := 0
			for row < min(len(a), len(b)) && a[row] == b[row] {
				row++
			}
			tenon.Throw(invalid(fn, name, "has different rows than the records in dimension %d, from row %d on", i+1, max(row-1, 0)))
		}
	}
}

// below merges the first rank dimensions of a tensor, and returns how many of them were axes.
func below(v tensor.Tensor, rank int) (tensor.Tensor, int) {
	if rank == 1 {
		return v, allPlain
	}
	v = covering(v, rank)
	if list, with, ok := pieces(v); ok {
		inner := allPlain
		for i, x := range list {
			n := 0
			list[i], n = below(x, rank)
			inner = min(inner, n)
		}
		return with(list), inner
	}
	switch x := v.(type) {
	case *Tensor:
		return newTensor(x.rank-rank+1, x.parts[rank-2].NVals(), x.parts[rank-1:], x.cols, x.dtype), allPlain
	case divided:
		inner := max(0, rank-1-len(x.Partitions()))
		x = withRows(x, rank)
		if rest := x.Partitions()[rank-1:]; len(rest) > 0 {
			return tenon.Must(ragged.FromPartitions(x.FlatValues(), rest...)), allPlain
		}
		if flat := x.FlatValues(); flat.Spec().TypeName() != tensor.TypeName {
			return flat, allPlain
		}
		return x.FlatValues(), inner
	}
	return withRows(v, rank).FlatValues(), allPlain
}

// field returns a column with the tensor's partitions.
func (t *Tensor) field(c column) tensor.Tensor {
	if len(t.parts) == 0 {
		return c.v()
	}
	if out, ok := eachPiece(c.v(), func(x tensor.Tensor) tensor.Tensor { return t.field(column{name: c.name, now: x, inner: c.inner}) }); ok {
		return out
	}
	if s, ok := c.v().(*Tensor); ok {
		return newTensor(t.rank-1+s.rank, nil, append(slices.Clone(t.parts), s.parts...), s.cols, s.dtype)
	}
	parts, dims := t.parts, []int(nil)
	v := c.v()
	if v.Spec().TypeName() == tensor.TypeName { // other types may not support dimensions without partitions
		parts, dims = t.plainDims(c.inner)
	}
	if len(dims) > 0 {
		v = ops.Reshape(v, sizesUnder(dims, v))
	}
	if len(parts) == 0 {
		return v
	}
	return tenon.Must(ragged.FromPartitions(v, parts...))
}

// plainDims divides the records' dimensions into partitions and the sizes of plain dimensions, at
// most n in addition to the outermost of these. The first size may be -1, for whatever is left.
func (t *Tensor) plainDims(n int) ([]*ragged.RowPartition, []int) {
	k := len(t.parts)
	some := true // -1 can be inferred only if no other size is 0
	for n > 0 && k > 0 && t.parts[k-1].IsUniform() && t.parts[k-1].StaticUniformRowLength() >= 0 {
		some = some && t.parts[k-1].StaticUniformRowLength() > 0
		if t.parts[k-1].StaticNRows() < 0 && !some {
			break
		}
		k--
		n--
	}
	if k == len(t.parts) {
		return t.parts, nil
	}
	dims := []int{t.parts[k].StaticNRows()}
	for _, p := range t.parts[k:] {
		dims = append(dims, p.StaticUniformRowLength())
	}
	return t.parts[:k], dims
}

// withSplits returns a value with row splits of type d.
func withSplits(v tensor.Tensor, d dtype.DType) tensor.Tensor {
	if hasSplits(v, d) {
		return v
	}
	if out, ok := eachPiece(v, func(x tensor.Tensor) tensor.Tensor { return withSplits(x, d) }); ok {
		return out
	}
	if r, ok := v.(divided); ok {
		return tenon.Must(ragged.FromPartitions(r.FlatValues(), withDType(r.Partitions(), d)...))
	}
	return tenon.Must(v.(*Tensor).WithShapeDType(d))
}

// hasSplits reports whether all row splits in a value have type d.
func hasSplits(v tensor.Tensor, d dtype.DType) bool {
	if list, _, ok := pieces(v); ok {
		return !slices.ContainsFunc(list, func(x tensor.Tensor) bool { return !hasSplits(x, d) })
	}
	s := splitsOf(v)
	return s == dtype.None || s == d
}

// splitsOf returns the type of the row splits in a value, or dtype.None if it has
// none.
func splitsOf(v tensor.Tensor) dtype.DType {
	if list, _, ok := pieces(v); ok {
		return splitsOf(list[0])
	}
	switch x := v.(type) {
	case divided:
		return x.Partitions()[0].DType()
	case *Tensor:
		return x.dtype
	}
	return dtype.None
}

// sizesUnder returns the given sizes for the first dimension of a dense tensor, followed by its own
// for the others.
func sizesUnder(dims []int, v tensor.Tensor) any {
	tail := v.Shape().Tail(1)
	if tail.IsFull() && (dims[0] >= 0 || !slices.Contains(tail.Dims(), 0)) {
		return append(dims, tail.Dims()...)
	}
	head := tensor.Tensor(tensor.Vector(dims))
	if dims[0] < 0 {
		n := ops.FloorDiv(ops.Index(ops.Cast(ops.Shape(v), dtype.Int64), 0), int64(shape.Of(dims[1:]...).Size()))
		head = ops.Concat([]tensor.Tensor{ops.ExpandDims(n, 0), tensor.Vector(dims[1:])}, 0)
	}
	return ops.Concat([]tensor.Tensor{ops.Cast(head, dtype.Int64), ops.Slice(ops.Cast(ops.Shape(v), dtype.Int64), []int{1}, []int{-1})}, 0)
}
