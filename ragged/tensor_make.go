package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// FromPartition returns the tensor whose rows are the values divided by p. The
// values may themselves be ragged; if either has int64 splits, so does the
// result.
//
//	values: [nvals, a…] → [nrows, (row), a…]
func FromPartition(values tensor.Tensor, p *RowPartition) (*Tensor, error) {
	return fromPartition("ragged.FromPartition", values, p)
}

func fromPartition(fn string, values tensor.Tensor, p *RowPartition) (*Tensor, error) {
	if err := checkValues(fn, values, p); err != nil {
		return nil, err
	}
	return partitioned(values, p), nil
}

// partitioned is FromPartition for values that are known to match.
func partitioned(values tensor.Tensor, p *RowPartition) *Tensor {
	flat, parts := split(values)
	if len(parts) == 0 {
		return wrapOne(flat, p)
	}
	all := make([]*RowPartition, 1, len(parts)+1)
	all[0] = p
	return wrap(flat, sameDType(append(all, parts...)))
}

// under returns flat values divided by a partition, whose rows are divided by outer ones of the
// same type.
func under(outer []*RowPartition, p *RowPartition, flat tensor.Tensor) *Tensor {
	if len(outer) == 0 {
		return wrapOne(flat, p)
	}
	return wrap(flat, append(outer[:len(outer):len(outer)], p))
}

// FromPartitions returns flat values divided by nested partitions, outermost first. Without
// partitions it returns the flat values.
func FromPartitions(flat tensor.Tensor, parts ...*RowPartition) (tensor.Tensor, error) {
	const fn = "ragged.FromPartitions"
	out := flat
	for i := len(parts) - 1; i >= 0; i-- {
		t, err := fromPartition(fn, out, parts[i])
		if err != nil {
			return nil, err
		}
		out = t
	}
	return out, nil
}

// divided is what a partition divides: values or, if p is not nil, its rows.
type divided struct {
	values tensor.Tensor
	p      *RowPartition
}

// size returns the number of items that are divided, or shape.Unknown.
func (d divided) size() int {
	if d.p != nil {
		return d.p.spec.nrows
	}
	return outermostSize(d.values)
}

// count returns the number of items that are divided: an int, or a scalar if it is not known.
func (d divided) count() any {
	if n := d.size(); n >= 0 {
		return n
	}
	if d.p != nil {
		return d.p.NRows()
	}
	return outerSize(d.values)
}

// fits checks that p divides the right number of items, as far as both are known.
func (d divided) fits(fn string, p *RowPartition) error {
	if d.p == nil {
		return checkValues(fn, d.values, p)
	}
	if n, m := d.p.spec.nrows, p.nvals; n >= 0 && m >= 0 && n != m {
		return wrongCount(fn, n, m)
	}
	return nil
}

// fromEncoding makes a tensor from values, which may be Go data, and the partition that make
// returns.
func fromEncoding(fn string, values any, make func(v divided) (*RowPartition, error)) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	v, err := tensor.Convert(values)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: "values", Msg: fmt.Sprintf("a %T is not a tensor", values), Err: err, Line: source.Line()}
	}
	p := tenon.Must(make(divided{values: v}))
	return fromPartition(fn, v, p)
}

// FromRowSplits returns the tensor with rows values[splits[i]:splits[i+1]]. Values and splits are
// tensors, which may be ragged and symbolic, or Go slices; flat slices are not copied.
//
//	values: [nvals, a…], splits: int[nrows+1] → [nrows, (row), a…]
func FromRowSplits(values, splits any) (*Tensor, error) {
	return fromEncoding("ragged.FromRowSplits", values, func(v divided) (*RowPartition, error) {
		return fitted(v, splits, PartitionFromRowSplits)
	})
}

// FromRowLengths returns the tensor with rows of the given lengths.
//
//	values: [nvals, a…], lengths: int[nrows] → [nrows, (row), a…]
func FromRowLengths(values, lengths any) (*Tensor, error) {
	return fromEncoding("ragged.FromRowLengths", values, func(v divided) (*RowPartition, error) {
		return fitted(v, lengths, PartitionFromRowLengths)
	})
}

// FromRowStarts returns the tensor with rows that start at the given offsets.
//
//	values: [nvals, a…], starts: int[nrows] → [nrows, (row), a…]
func FromRowStarts(values, starts any) (*Tensor, error) {
	return fromEncoding("ragged.FromRowStarts", values, func(v divided) (*RowPartition, error) {
		return PartitionFromRowStarts(starts, PartitionOptions{NVals: v.count()})
	})
}

// FromRowLimits returns the tensor with rows that end before the given offsets.
//
//	values: [nvals, a…], limits: int[nrows] → [nrows, (row), a…]
func FromRowLimits(values, limits any) (*Tensor, error) {
	return fromEncoding("ragged.FromRowLimits", values, func(v divided) (*RowPartition, error) {
		return fitted(v, limits, PartitionFromRowLimits)
	})
}

// FromValueRowIDs returns the tensor in which value i is in row ids[i]; ids must not decrease.
// nrows, an integer or a scalar tensor, is the number of rows; nil means one more than the last id.
//
//	values: [nvals, a…], ids: int[nvals] → [nrows, (row), a…]
func FromValueRowIDs(values, ids, nrows any) (*Tensor, error) {
	return fromEncoding("ragged.FromValueRowIDs", values, func(v divided) (*RowPartition, error) {
		return PartitionFromValueRowIDs(ids, PartitionOptions{NRows: nrows})
	})
}

// FromUniformRowLength returns the tensor with rows of equal length, an integer or a scalar tensor.
// nrows is the number of rows, which is required for length 0; nil means as many as the values
// fill.
//
//	values: [nrows·length, a…] → [nrows, length, a…]
func FromUniformRowLength(values, length, nrows any) (*Tensor, error) {
	return fromEncoding("ragged.FromUniformRowLength", values, func(v divided) (*RowPartition, error) {
		if v.size() >= 0 || nrows == nil {
			return PartitionFromUniformRowLength(length, PartitionOptions{NRows: nrows, NVals: v.count()})
		}
		return PartitionFromUniformRowLength(length, PartitionOptions{NRows: nrows})
	})
}

// fitted makes a partition. If it, or the number of values, is known only at run
// time, whether they match is checked then.
func fitted(v divided, x any, make func(any, PartitionOptions) (*RowPartition, error)) (*RowPartition, error) {
	p, err := make(x, PartitionOptions{})
	if err != nil || p.nvals >= 0 && v.size() >= 0 {
		return p, err
	}
	q := newPartition(rows.Validate(p.RowSplits(), v.count()), v.size())
	q.lengths.Store(p.lengths.Load())
	return q, nil
}

// outermostSize returns the number of rows of any tensor, or shape.Unknown.
func outermostSize(t tensor.Tensor) int {
	if r, ok := t.(*Tensor); ok {
		return r.parts[0].spec.nrows
	}
	if s := t.Shape(); s.HasRank() && s.Rank() > 0 {
		return s.Dim(0)
	}
	return shape.Unknown
}

// outerSize returns the number of rows of any tensor as a scalar.
func outerSize(t tensor.Tensor) tensor.Tensor {
	if r, ok := t.(*Tensor); ok {
		return r.NRows()
	}
	if t.Shape().IsScalar() {
		tenon.Throw(invalid("ragged", "values", "are a scalar, which cannot be partitioned"))
	}
	return sizeOf(t, 0, dtype.Int64)
}

// FromNestedRowSplits returns flat values divided by nested row splits, outermost
// first.
func FromNestedRowSplits(flat any, splits ...any) (tensor.Tensor, error) {
	return nested("ragged.FromNestedRowSplits", flat, splits, func(v divided, i int) (*RowPartition, error) {
		return fitted(v, splits[i], PartitionFromRowSplits)
	})
}

// FromNestedRowLengths returns flat values divided by nested row lengths, outermost
// first.
func FromNestedRowLengths(flat any, lengths ...any) (tensor.Tensor, error) {
	return nested("ragged.FromNestedRowLengths", flat, lengths, func(v divided, i int) (*RowPartition, error) {
		return fitted(v, lengths[i], PartitionFromRowLengths)
	})
}

// FromNestedValueRowIDs returns flat values divided by nested row ids, outermost
// first. nrows holds the number of rows at each level, and may be nil.
func FromNestedValueRowIDs(flat any, ids, nrows []any) (tensor.Tensor, error) {
	const fn = "ragged.FromNestedValueRowIDs"
	if nrows != nil && len(nrows) != len(ids) {
		return nil, invalid(fn, "nrows", "has %d entries for %d lists of row ids", len(nrows), len(ids))
	}
	return nested(fn, flat, ids, func(_ divided, i int) (*RowPartition, error) {
		var o PartitionOptions
		if nrows != nil {
			o.NRows = nrows[i]
		}
		return PartitionFromValueRowIDs(ids[i], o)
	})
}

// nested returns flat values divided by the partitions that level returns. It is called for the
// innermost one first, with what that partition divides.
func nested(fn string, flat any, levels []any, level func(v divided, i int) (*RowPartition, error)) (t tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	values := converted(fn, "flat", flat)
	inner, below := split(values)
	parts := make([]*RowPartition, len(levels), len(levels)+len(below))
	v := divided{values: values}
	for i := len(levels) - 1; i >= 0; i-- {
		p, err := tenon.Try(func() *RowPartition {
			p := tenon.Must(level(v, i))
			tenon.Throw(v.fits(fn, p))
			return p
		})
		if err != nil {
			e := *tenon.AsError(err)
			e.Op = fn
			if e.Where == "" {
				e.Where = fmt.Sprintf("level %d", i)
			} else {
				e.Where = fmt.Sprintf("level %d: %s", i, e.Where)
			}
			return nil, &e
		}
		parts[i], v.p = p, p
	}
	return build(inner, sameDType(append(parts, below...))), nil
}

// FromOffsets returns the tensor with rows values[offsets[i]:offsets[i+1]], like
// [FromRowSplits], but the offsets may begin and end inside the values, as in the
// list arrays of Apache Arrow, including sliced ones. Values are never copied,
// and offsets only if they do not begin at 0.
//
//	values: [m, a…], offsets: int[nrows+1] → [nrows, (row), a…]
func FromOffsets(values, offsets any) (t *Tensor, err error) {
	const fn = "ragged.FromOffsets"
	defer tenon.Catch(&err)
	v := converted(fn, "values", values)
	o := tenon.Must(encoding(fn, "offsets", offsets, dtype.None))
	if s := v.Shape(); s.IsScalar() || o.Shape().Dim(0) == 0 {
		return nil, invalid(fn, "", "%v offsets into values of shape %v", o.Shape().Dim(0), s)
	}
	if _, ok := op.Known(o); ok && outermostSize(v) >= 0 {
		first, last := known(ops.Index(o, 0)), known(ops.Index(o, -1))
		if first < 0 || last < first || last > outermostSize(v) {
			return nil, invalid(fn, "offsets", "run from %d to %d, there are %d values", first, last, outermostSize(v))
		}
		if first == 0 && last == outermostSize(v) {
			return FromRowSplits(v, o)
		}
	}
	lo, hi := ops.Index(o, 0), ops.Index(o, -1)
	if known(lo) != 0 {
		o = ops.Sub(o, lo)
	}
	return FromRowSplits(sliceOuter(v, lo, hi), o)
}

// FromSlices returns the tensor whose rows are those of a slice of slices, some
// of which may be nil. The elements are copied into one buffer.
func FromSlices[T dtype.Native](x [][]T) *Tensor {
	splits, n := sliceSplits(x)
	var flat tensor.Tensor
	if s, ok := any(x).([][]string); ok {
		flat = joinedStrings(s, n)
	} else {
		d := tensor.Uninit(dtype.Of[T](), shape.Of(n))
		joined(tensor.Data[T](d), splits, x)
		flat = d
	}
	return wrapOne(flat, newPartition(splits, n))
}

// FromSlices2 is [FromSlices] for rows of rows.
func FromSlices2[T dtype.Native](x [][][]T) *Tensor {
	outer, n := sliceSplits(x)
	mid := make([][]T, 0, n)
	for _, row := range x {
		mid = append(mid, row...)
	}
	t := FromSlices(mid)
	return wrap(t.flat, []*RowPartition{newPartition(outer, n), t.parts[0]})
}

// sliceSplits returns the row splits of slices and the total number of their
// elements.
func sliceSplits[T any](x [][]T) (*tensor.Dense, int) {
	d, s := tensor.Make[int64](shape.Of(len(x) + 1))
	n := int64(0)
	for i, row := range x {
		n += int64(len(row))
		s[i+1] = n
	}
	return rows.Trusted(d, s), int(n)
}

// joinedStrings returns the concatenation of slices with n strings in total.
func joinedStrings(x [][]string, n int) *tensor.Strings {
	size := 0
	for _, row := range x {
		for _, s := range row {
			size += len(s)
		}
	}
	ends, bytes := make([]int64, 1, n+1), make([]byte, 0, size+tensor.Slack)
	for _, row := range x {
		for _, s := range row {
			bytes = append(bytes, s...)
			ends = append(ends, int64(len(bytes)))
		}
	}
	return tensor.WrapStrings(ends, bytes, shape.Of(n))
}

// joined concatenates slices.
func joined[T any](out []T, splits *tensor.Dense, x [][]T) []T {
	s := tensor.Data[int64](splits)
	par.For(len(x), 1<<12, func(lo, hi int) {
		at := s[lo]
		for _, row := range x[lo:hi] {
			at += int64(copy(out[at:], row))
		}
	})
	return out
}
