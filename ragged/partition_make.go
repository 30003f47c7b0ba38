package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// PartitionOptions adds to what the constructors of partitions are given. The zero
// value adds nothing.
type PartitionOptions struct {
	// DType is the type of splits, Int64 or Int32. None stands for that of the
	// tensor that the partition is made of.
	DType dtype.DType

	// NRows and NVals are the numbers of rows and values, integers or scalar
	// tensors, where they do not follow: the rows of row ids, the values behind the
	// last row start. What follows is checked against them.
	NRows, NVals any
}

// FromRowSplits returns the partition with the given row splits, a vector that
// starts at 0 and never falls.
func FromRowSplits(splits tensor.Tensor, o PartitionOptions) (*RowPartition, error) {
	return makePartition("ragged.FromRowSplits", "row_splits", splits, o, func(s tensor.Tensor) (*RowPartition, error) {
		if err := checkSplits("ragged.FromRowSplits", s, shape.Unknown); err != nil {
			return nil, err
		}
		if _, ok := op.Known(s); !ok {
			s = rows.Validate(s, nil)
		}
		return newPartition(s, shape.Unknown), nil
	})
}

// FromRowLengths returns the partition of rows with the given lengths, none of
// which is negative.
func FromRowLengths(lengths tensor.Tensor, o PartitionOptions) (*RowPartition, error) {
	return makePartition("ragged.FromRowLengths", "row_lengths", lengths, o, func(l tensor.Tensor) (*RowPartition, error) {
		p := newPartition(rows.FromLengths(l), shape.Unknown)
		p.lengths.Store(&l)
		return p, nil
	})
}

// FromRowStarts returns the partition of rows that start at the given offsets,
// from 0 on and never falling. The number of values, which the last row needs, is
// in o.NVals.
func FromRowStarts(starts tensor.Tensor, o PartitionOptions) (*RowPartition, error) {
	return makePartition("ragged.FromRowStarts", "row_starts", starts, o, func(s tensor.Tensor) (*RowPartition, error) {
		if o.NVals == nil {
			return nil, invalid("ragged.FromRowStarts", "NVals", "is missing: the last row ends with the values")
		}
		n := ops.ExpandDims(ops.Cast(o.NVals, s.DType()), 0)
		return fromOffsets("ragged.FromRowStarts", "row_starts", ops.Concat([]tensor.Tensor{s, n}, 0))
	})
}

// FromRowLimits returns the partition of rows that end before the given offsets,
// which never fall.
func FromRowLimits(limits tensor.Tensor, o PartitionOptions) (*RowPartition, error) {
	return makePartition("ragged.FromRowLimits", "row_limits", limits, o, func(l tensor.Tensor) (*RowPartition, error) {
		zero := ops.Fill([]int{1}, scalar(0, l.DType()))
		return fromOffsets("ragged.FromRowLimits", "row_limits", ops.Concat([]tensor.Tensor{zero, l}, 0))
	})
}

// fromOffsets returns the partition of splits that were completed from an
// encoding that errors name.
func fromOffsets(fn, name string, splits tensor.Tensor) (*RowPartition, error) {
	c, ok := op.Known(splits)
	if !ok {
		return newPartition(rows.Validate(splits, nil), shape.Unknown), nil
	}
	if _, err := rows.Entries(c.(*tensor.Dense)); err != nil {
		return nil, rowError(fn, name, err)
	}
	return newPartition(splits, shape.Unknown), nil
}

// FromValueRowIDs returns the partition in which each value is in the given row.
// Row ids never fall. The number of rows is o.NRows; by default it is one more than
// the last id.
func FromValueRowIDs(ids tensor.Tensor, o PartitionOptions) (*RowPartition, error) {
	return makePartition("ragged.FromValueRowIDs", "value_rowids", ids, o, func(ids tensor.Tensor) (*RowPartition, error) {
		p := newPartition(rows.FromRowIDs(ids, o.NRows), ids.Shape().Dim(0))
		p.ids.Store(&ids)
		return p, nil
	})
}

// makePartition checks what all constructors check, and what they say of counts.
func makePartition(fn, name string, t tensor.Tensor, o PartitionOptions, make func(tensor.Tensor) (*RowPartition, error)) (p *RowPartition, err error) {
	defer tenon.Catch(&err)
	if err := checkVector(fn, name, t); err != nil {
		return nil, err
	}
	if t, err = convertSplits(fn, name, t, o.DType); err != nil {
		return nil, err
	}
	if p, err = make(t); err != nil {
		return nil, err
	}
	if err := agree(fn, "rows", o.NRows, p.spec.nrows); err != nil {
		return nil, err
	}
	return p, agree(fn, "values", o.NVals, p.spec.nvals)
}

// agree checks a count that was given against one that follows.
func agree(fn, what string, given any, have int) error {
	if given == nil || have < 0 {
		return nil
	}
	t, err := tensor.Convert(given)
	if err != nil {
		return err
	}
	if n := known(t); n >= 0 && n != have {
		return invalid(fn, "", "there are %d %s, not %d", have, what, n)
	}
	return nil
}

// convertSplits casts splits, lengths or ids to another type, which has to hold
// them.
func convertSplits(fn, name string, t tensor.Tensor, d dtype.DType) (tensor.Tensor, error) {
	switch d {
	case dtype.None, t.DType():
		return t, nil
	case dtype.Int64:
		return cast(t, d), nil
	case dtype.Int32:
		c, ok := op.Known(t)
		if !ok {
			return ops.Cast(t, d), nil
		}
		for i, n := range tensor.Data[int64](c) {
			if int64(int32(n)) != n {
				e := invalid(fn, fmt.Sprintf("%s[%d]", name, i), "%d is more than int32 holds", n)
				e.Hint = "use int64 row splits"
				return nil, e
			}
		}
		return ops.Cast(t, d), nil
	}
	return nil, &tenon.Error{Kind: tenon.ErrDType, Op: fn, Where: "DType", Msg: fmt.Sprintf("row splits are int64 or int32, not %v", d), Line: source.Line()}
}

// FromUniformRowLength returns the partition of nrows rows of one length, both
// integer scalars. The splits have the type of length.
func FromUniformRowLength(length, nrows tensor.Tensor) (p *RowPartition, err error) {
	const fn = "ragged.FromUniformRowLength"
	defer tenon.Catch(&err)
	for i, t := range []tensor.Tensor{length, nrows} {
		name := [...]string{"length", "nrows"}[i]
		if err := checkCount(fn, name, t); err != nil {
			return nil, err
		}
	}
	n, m := known(length), known(nrows)
	if n >= 0 && m >= 0 {
		if _, err := shape.Of(n, m).CheckedSize(1); err != nil {
			return nil, invalid(fn, "", "%d rows of %d values are more than memory holds", m, n)
		}
		if length.DType() == dtype.Int32 && int64(n)*int64(m) > 1<<31-1 {
			return nil, invalid(fn, "", "%d rows of %d values are more than int32 splits hold", m, n)
		}
	}
	return newUniform(cast(nrows, length.DType()), length), nil
}

// UniformRows is [FromUniformRowLength] for nvals values, which have to be whole
// rows; no values at all are no rows where the length is 0.
func UniformRows(length, nvals tensor.Tensor) (p *RowPartition, err error) {
	const fn = "ragged.UniformRows"
	defer tenon.Catch(&err)
	for i, t := range []tensor.Tensor{length, nvals} {
		if err := checkCount(fn, [...]string{"length", "nvals"}[i], t); err != nil {
			return nil, err
		}
	}
	n, m := known(length), known(nvals)
	switch {
	case n == 0 && m > 0, n > 0 && m >= 0 && m%n != 0:
		return nil, invalid(fn, "", "%d values are not rows of %d", m, n)
	case n == 0:
		return FromUniformRowLength(length, scalar(0, length.DType()))
	case n > 0 && m >= 0:
		return FromUniformRowLength(length, scalar(m/n, length.DType()))
	}
	d := length.DType()
	nvals = cast(nvals, d)
	whole := ops.FloorDiv(nvals, ops.Maximum(length, 1))
	// Fails where the rows are not whole: both partitions have a single row.
	one := func(n tensor.Tensor) tensor.Tensor { return rows.Uniform(n, scalar(1, d)) }
	nrows := ops.FloorDiv(ops.Index(rows.AssertSame(one(nvals), one(ops.Mul(whole, length))), -1), ops.Maximum(length, 1))
	return FromUniformRowLength(length, nrows)
}

// checkCount checks that t is an integer scalar that is not negative, as far as it
// is known.
func checkCount(fn, name string, t tensor.Tensor) error {
	if t == nil {
		return invalid(fn, name, "is nil")
	}
	if d := t.DType(); d != dtype.Int64 && d != dtype.Int32 {
		return &tenon.Error{Kind: tenon.ErrDType, Op: fn, Where: name, Msg: fmt.Sprintf("has the element type %v, want int64 or int32", d), Line: source.Line()}
	}
	if s := t.Shape(); s.HasRank() && s.Rank() != 0 {
		return &tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: name, Msg: fmt.Sprintf("has the shape %v, want a scalar", s), Line: source.Line()}
	}
	if _, ok := op.Known(t); ok && known(t) < 0 {
		return invalid(fn, name, "%d is negative", known(t))
	}
	return nil
}

// WithDType returns the partition with splits of type Int64 or Int32. An int32
// that does not hold the number of values is an error.
func (p *RowPartition) WithDType(d dtype.DType) (q *RowPartition, err error) {
	const fn = "ragged.RowPartition.WithDType"
	defer tenon.Catch(&err)
	switch {
	case d != dtype.Int64 && d != dtype.Int32:
		return nil, &tenon.Error{Kind: tenon.ErrDType, Op: fn, Msg: fmt.Sprintf("row splits are int64 or int32, not %v", d), Line: source.Line()}
	case d == dtype.Int32 && (p.spec.nvals > 1<<31-1 || p.spec.nrows > 1<<31-2):
		e := invalid(fn, "", "int32 does not hold %d values in %d rows", p.spec.nvals, p.spec.nrows)
		e.Hint = "keep int64 row splits"
		return nil, e
	}
	return p.as(d), nil
}

// MergeEncodings returns a partition that knows what p and q know: they have to
// divide the same number of values into rows of the same lengths, which is
// checked, now or when a graph runs.
func (p *RowPartition) MergeEncodings(q *RowPartition) (m *RowPartition, err error) {
	const fn = "ragged.RowPartition.MergeEncodings"
	defer tenon.Catch(&err)
	if p == q {
		return p, nil
	}
	if d := widest([]*RowPartition{p, q}); p.spec.dtype != d || q.spec.dtype != d {
		p, q = p.as(d), q.as(d)
	}
	spec, err := meet(p.spec, q.spec)
	if err != nil {
		return nil, err
	}
	if p.uniform == nil || q.uniform == nil || spec.nvals < 0 {
		checked := rows.AssertSame(p.RowSplits(), q.RowSplits())
		if _, ok := op.Known(checked); !ok {
			m := newPartition(checked, spec.nvals)
			m.spec = spec
			m.uniform, m.nrows = firstOf(p.uniform, q.uniform), firstOf(p.nrows, q.nrows)
			return m, nil
		}
	}
	m = &RowPartition{spec: spec, uniform: firstOf(p.uniform, q.uniform), nrows: firstOf(p.nrows, q.nrows)}
	for _, from := range []*RowPartition{p, q} {
		if s := from.splits.Load(); s != nil {
			m.splits.CompareAndSwap(nil, s)
		}
		if l := from.lengths.Load(); l != nil {
			m.lengths.CompareAndSwap(nil, l)
		}
		if ids := from.ids.Load(); ids != nil {
			m.ids.CompareAndSwap(nil, ids)
		}
	}
	return m, nil
}

func firstOf(a, b tensor.Tensor) tensor.Tensor {
	if a != nil {
		return a
	}
	return b
}

// meet returns what two Specs know together.
func meet(a, b *PartitionSpec) (*PartitionSpec, error) {
	var err error
	one := func(what string, x, y int) int {
		if x >= 0 && y >= 0 && x != y && err == nil {
			err = invalid("ragged.RowPartition.MergeEncodings", "", "the partitions have %d and %d %s", x, y, what)
		}
		return max(x, y)
	}
	s := &PartitionSpec{dtype: a.dtype, nrows: one("rows", a.nrows, b.nrows), nvals: one("values", a.nvals, b.nvals),
		length: one("values in a row", a.length, b.length), uniform: a.uniform || b.uniform}
	if err != nil {
		return nil, err
	}
	return s, s.check()
}

// DetectUniform returns the partition with its common row length declared, where
// all rows of a concrete partition have one, and p itself otherwise.
func (p *RowPartition) DetectUniform() *RowPartition {
	s, ok := p.Splits64()
	if p.uniform != nil || !ok || len(s) < 2 {
		return p
	}
	n := s[1] - s[0]
	for r := range len(s) - 1 {
		if s[r+1]-s[r] != n {
			return p
		}
	}
	spec := *p.spec
	spec.length, spec.uniform = int(n), true
	q := &RowPartition{spec: &spec, uniform: scalar(int(n), spec.dtype), nrows: p.NRows()}
	q.splits.Store(p.splits.Load())
	if l := p.lengths.Load(); l != nil {
		q.lengths.Store(l)
	}
	if ids := p.ids.Load(); ids != nil {
		q.ids.Store(ids)
	}
	return q
}
