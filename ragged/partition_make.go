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

// PartitionOptions are further arguments for the constructors of partitions. The zero value adds
// nothing.
type PartitionOptions struct {
	// DType is the type of splits, Int64 or Int32. None means that of the tensor from which the
	// partition is made, or Int64 if it is made from Go data. A tensor of another type is an error.
	DType dtype.DType

	// NRows and NVals are the numbers of rows and of values, as integers or scalar tensors, if they
	// do not follow from the encoding: row ids do not determine the number of rows, and row starts
	// do not determine the number of values. Otherwise they are only checked.
	NRows, NVals any
}

// PartitionFromRowSplits returns the partition with the given row splits: a vector of n+1 integers
// for n rows, as a tensor or Go slice. It must start at 0 and must not decrease.
func PartitionFromRowSplits(splits any, o PartitionOptions) (*RowPartition, error) {
	const fn = "ragged.PartitionFromRowSplits"
	return makePartition(fn, "row_splits", splits, o, func(s tensor.Tensor) (*RowPartition, error) {
		tenon.Throw(checkSplits(fn, s, shape.Unknown))
		if _, ok := op.Known(s); !ok {
			s = rows.Validate(s, nil)
		}
		return newPartition(s, shape.Unknown), nil
	})
}

// PartitionFromRowLengths returns the partition into rows of the given lengths, a
// vector of nonnegative integers.
func PartitionFromRowLengths(lengths any, o PartitionOptions) (*RowPartition, error) {
	return makePartition("ragged.PartitionFromRowLengths", "row_lengths", lengths, o, func(l tensor.Tensor) (*RowPartition, error) {
		p := newPartition(rows.FromLengths(l), shape.Unknown)
		p.lengths.Store(&l)
		return p, nil
	})
}

// PartitionFromRowStarts returns the partition into rows that start at the given
// offsets, which start at 0 and do not decrease. The number of values, which
// determines the end of the last row, must be in o.NVals.
func PartitionFromRowStarts(starts any, o PartitionOptions) (*RowPartition, error) {
	const fn = "ragged.PartitionFromRowStarts"
	return makePartition(fn, "row_starts", starts, o, func(s tensor.Tensor) (*RowPartition, error) {
		if o.NVals == nil {
			return nil, invalid(fn, "NVals", "is missing: the last row ends with the values")
		}
		n := ops.Reshape(tenon.Must(count(fn, "NVals", o.NVals, s.DType())), []int{1})
		return fromOffsets(fn, "row_starts", ops.Concat([]tensor.Tensor{s, n}, 0))
	})
}

// PartitionFromRowLimits returns the partition into rows that end before the
// given offsets, which do not decrease.
func PartitionFromRowLimits(limits any, o PartitionOptions) (*RowPartition, error) {
	const fn = "ragged.PartitionFromRowLimits"
	return makePartition(fn, "row_limits", limits, o, func(l tensor.Tensor) (*RowPartition, error) {
		zero := ops.Fill([]int{1}, scalar(0, l.DType()))
		return fromOffsets(fn, "row_limits", ops.Concat([]tensor.Tensor{zero, l}, 0))
	})
}

// PartitionFromValueRowIDs returns the partition in which each value is in the given row. Row ids
// must not decrease. The number of rows is o.NRows; by default it is one more than the last id.
func PartitionFromValueRowIDs(ids any, o PartitionOptions) (*RowPartition, error) {
	return makePartition("ragged.PartitionFromValueRowIDs", "value_rowids", ids, o, func(ids tensor.Tensor) (*RowPartition, error) {
		p := newPartition(rows.FromRowIDs(ids, o.NRows), ids.Shape().Dim(0))
		p.ids.Store(&ids)
		return p, nil
	})
}

// fromOffsets returns the partition with the given splits, which were completed
// from another encoding; errors refer to that.
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

// makePartition checks what all constructors check, including the given counts.
func makePartition(fn, name string, x any, o PartitionOptions, make func(tensor.Tensor) (*RowPartition, error)) (p *RowPartition, err error) {
	defer func() { err = inNameOf(fn, err) }()
	defer tenon.Catch(&err)
	t := tenon.Must(encoding(fn, name, x, o.DType))
	p = tenon.Must(make(t))
	tenon.Throw(agree(fn, "rows", o.NRows, p.spec.nrows))
	return p, agree(fn, "values", o.NVals, p.nvals)
}

// encoding returns a vector of splits, lengths, offsets or ids as a tensor.
func encoding(fn, name string, x any, d dtype.DType) (tensor.Tensor, error) {
	if d != dtype.None && d != dtype.Int64 && d != dtype.Int32 {
		return nil, invalid(fn, "DType", "row splits are int64 or int32, not %v", d)
	}
	t, given := x.(tensor.Tensor)
	if !given {
		var err error
		if t, err = tensor.Convert(x); err != nil {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: name, Msg: fmt.Sprintf("a %T is not a vector of integers", x), Err: err, Line: source.Line()}
		}
		if dense, ok := t.(*tensor.Dense); ok && dense.Len() == 0 && !dense.DType().IsInteger() {
			t = tensor.Vector([]int64{})
		}
	}
	if err := checkVector(fn, name, t); err != nil {
		return nil, err
	}
	switch {
	case d == dtype.None || d == t.DType():
		return t, nil
	case given:
		e := invalid(fn, name, "are %v, %v row splits were asked for", t.DType(), d)
		e.Hint = "cast them with ops.Cast, or the partition with WithDType"
		return nil, e
	}
	return narrow(fn, name, t, d)
}

// narrow casts known integers to another type, which must be able to hold them.
func narrow(fn, name string, t tensor.Tensor, d dtype.DType) (tensor.Tensor, error) {
	if d == dtype.Int32 {
		for i, n := range tensor.Data[int64](t) {
			if int64(int32(n)) != n {
				e := invalid(fn, fmt.Sprintf("%s[%d]", name, i), "%d is more than int32 can hold", n)
				e.Hint = "use int64 row splits"
				return nil, e
			}
		}
	}
	return ops.Cast(t, d), nil
}

// agree checks a given count against the actual one.
func agree(fn, what string, given any, have int) error {
	if given == nil || have < 0 {
		return nil
	}
	n, ok := given.(int)
	if !ok {
		t, err := tensor.Convert(given)
		if err != nil {
			return err
		}
		n = known(t)
	}
	if n >= 0 && n != have {
		return invalid(fn, "", "there are %d %s, not %d", have, what, n)
	}
	return nil
}

// count returns an integer or scalar tensor as a scalar, of type d unless that is None. It must not
// be negative, as far as its value is known.
func count(fn, name string, x any, d dtype.DType) (tensor.Tensor, error) {
	if n, ok := x.(int); ok && n >= 0 && int(int32(n)) == n {
		if d == dtype.None {
			d = dtype.Int64
		}
		return scalar(n, d), nil
	}
	t, err := tensor.Convert(x)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: name, Msg: fmt.Sprintf("a %T is not an integer", x), Err: err, Line: source.Line()}
	}
	if k := t.DType(); k != dtype.Int64 && k != dtype.Int32 {
		return nil, invalid(fn, name, "has the element type %v, want int64 or int32", k)
	}
	if s := t.Shape(); s.HasRank() && s.Rank() != 0 {
		return nil, invalid(fn, name, "has the shape %v, want a scalar", s)
	}
	if _, ok := op.Known(t); ok && known(t) < 0 {
		return nil, invalid(fn, name, "%d is negative", known(t))
	}
	if d == dtype.Int32 && known(t) > 1<<31-1 {
		return nil, invalid(fn, name, "%d is more than int32 can hold", known(t))
	}
	if d != dtype.None && t.DType() != d {
		t = ops.Cast(t, d)
	}
	return t, nil
}

// PartitionFromUniformRowLength returns the partition into rows of equal length, an integer or
// scalar tensor. o holds the number of rows or that of values. Without the number of rows, there
// are as many rows as the values fill, or none if the length is 0.
func PartitionFromUniformRowLength(length any, o PartitionOptions) (p *RowPartition, err error) {
	const fn = "ragged.PartitionFromUniformRowLength"
	defer tenon.Catch(&err)
	if o.DType != dtype.None && o.DType != dtype.Int64 && o.DType != dtype.Int32 {
		return nil, invalid(fn, "DType", "row splits are int64 or int32, not %v", o.DType)
	}
	l := tenon.Must(count(fn, "length", length, o.DType))
	d := l.DType()
	if o.NRows != nil {
		nrows := tenon.Must(count(fn, "NRows", o.NRows, d))
		p = uniformRows(fn, l, nrows)
		return p, agree(fn, "values", o.NVals, p.nvals)
	}
	if o.NVals == nil {
		return nil, invalid(fn, "", "neither the number of rows nor that of values is given")
	}
	nvals := tenon.Must(count(fn, "NVals", o.NVals, d))
	switch n, m := known(l), known(nvals); {
	case n == 0 && m > 0, n > 0 && m >= 0 && m%n != 0:
		return nil, invalid(fn, "", "%d values are not rows of %d", m, n)
	case n == 0:
		return uniformRows(fn, l, scalar(0, d)), nil
	case n > 0 && m >= 0:
		return uniformRows(fn, l, scalar(m/n, d)), nil
	}
	atLeast1 := ops.Maximum(l, 1)
	// This fails if rows are incomplete: both partitions have a single row.
	single := func(n tensor.Tensor) tensor.Tensor { return rows.Uniform(n, scalar(1, d)) }
	whole := rows.AssertSame(single(nvals), single(ops.Mul(ops.FloorDiv(nvals, atLeast1), l)))
	return uniformRows(fn, l, ops.FloorDiv(ops.Index(whole, -1), atLeast1)), nil
}

// uniformRows returns nrows rows of a length after checking that their number of
// values fits.
func uniformRows(fn string, length, nrows tensor.Tensor) *RowPartition {
	tenon.Throw(checkUniform(fn, length, nrows))
	return newUniform(nrows, length)
}

// checkUniform checks what is known of the number and length of uniform rows.
func checkUniform(fn string, length, nrows tensor.Tensor) error {
	for i, t := range []tensor.Tensor{length, nrows} {
		if _, ok := op.Known(t); ok && known(t) < 0 {
			return invalid(fn, [...]string{"uniform_row_length", "nrows"}[i], "%d is negative", known(t))
		}
	}
	n, m := known(length), known(nrows)
	if n < 0 || m < 0 {
		return nil
	}
	if _, err := shape.Of(n, m).CheckedSize(1); err != nil {
		return invalid(fn, "", "%d rows of %d values do not fit in memory", m, n)
	}
	if length.DType() == dtype.Int32 && int64(n)*int64(m) > 1<<31-1 {
		return invalid(fn, "", "%d rows of %d values are more than int32 splits can hold", m, n)
	}
	return nil
}

// WithDType returns the partition with splits of type Int64 or Int32. It returns
// an error if an int32 cannot hold the number of values.
func (p *RowPartition) WithDType(d dtype.DType) (q *RowPartition, err error) {
	const fn = "ragged.RowPartition.WithDType"
	defer tenon.Catch(&err)
	switch {
	case d != dtype.Int64 && d != dtype.Int32:
		return nil, invalid(fn, "", "row splits are int64 or int32, not %v", d)
	case d == dtype.Int32 && max(p.nvals, p.spec.length, p.spec.nrows) > 1<<31-2:
		e := invalid(fn, "", "int32 cannot hold the splits of a %v", p.spec)
		e.Hint = "keep int64 row splits"
		return nil, e
	}
	return p.as(d), nil
}

// MergeEncodings returns a partition that combines what is known about p and q.
// They must divide the same number of values into rows of the same lengths, which
// is checked now or, in a graph, when it runs.
func (p *RowPartition) MergeEncodings(q *RowPartition) (m *RowPartition, err error) {
	defer tenon.Catch(&err)
	if p == q {
		return p, nil
	}
	if d := widest([]*RowPartition{p, q}); p.spec.dtype != d || q.spec.dtype != d {
		p, q = p.as(d), q.as(d)
	}
	spec := tenon.Must(meet(p.spec, q.spec))
	nvals := max(p.nvals, q.nvals)
	if p.uniform == nil || q.uniform == nil || spec.nvals < 0 {
		checked := rows.AssertSame(p.RowSplits(), q.RowSplits())
		if _, ok := op.Known(checked); !ok {
			m := newPartition(checked, nvals)
			m.spec = spec
			m.uniform, m.nrows = firstOf(p.uniform, q.uniform), firstOf(p.nrows, q.nrows)
			return m, nil
		}
	}
	m = &RowPartition{spec: spec, nvals: nvals, uniform: firstOf(p.uniform, q.uniform), nrows: firstOf(p.nrows, q.nrows)}
	m.adopt(p)
	m.adopt(q)
	return m, nil
}

// adopt takes over what has been computed of the same rows.
func (p *RowPartition) adopt(q *RowPartition) {
	p.splits.CompareAndSwap(nil, q.splits.Load())
	p.lengths.CompareAndSwap(nil, q.lengths.Load())
	p.ids.CompareAndSwap(nil, q.ids.Load())
}

func firstOf(a, b tensor.Tensor) tensor.Tensor {
	if a != nil {
		return a
	}
	return b
}

// meet combines what is known from two Specs.
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

// DetectUniform returns the partition with its common row length declared if all
// rows of a concrete partition have the same length, and otherwise p itself.
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
	spec.nvals = spec.nrows * spec.length
	q := &RowPartition{spec: &spec, uniform: ownScalar(int(n), spec.dtype), nrows: p.NRows(), nvals: p.nvals}
	q.adopt(p)
	return q
}
