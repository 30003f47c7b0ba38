package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// DenseOptions says how [Tensor.ToDense] pads and truncates rows. The zero value
// pads to the longest row with zeros, false or empty strings.
type DenseOptions struct {
	// Default is the padding: a constant or a tensor, either a scalar or with the shape of the
	// inner dimensions.
	Default any

	// Shape is the shape of the result; what lies outside is cut off. A dimension that is
	// shape.Unknown gets the size that the whole tensor needs, including rows that are cut off. Nil
	// means that all dimensions are unknown.
	Shape []int
}

// ToDense returns the tensor with its rows padded to equal length in each ragged dimension.
//
//	[n, (rows), a…] → [n, longest, a…]. Gradient: each value gets the cotangent at its position, the default those of the padding.
func (t *Tensor) ToDense(o DenseOptions) (d tensor.Tensor, err error) {
	const fn = "ragged.ToDense"
	defer tenon.Catch(&err)
	k, rank := len(t.parts), t.Shape().Rank()
	if rank < 0 {
		return nil, failed(tenon.ErrUnsupported, fn, "", "the rank of the flat values is not known")
	}
	want := tenon.Must(t.denseShape(fn, o.Shape, rank))
	fill := t.filler(fn, o.Default)
	out := t
	if n := want[0]; n >= 0 { // rows that are cut off need no padding
		if m := t.parts[0].spec.nrows; m < 0 || m > n {
			out = ops.Index(t, key.To(n)).(*Tensor)
		}
	}
	d = out.flat
	for i := k - 1; i >= 0; i-- {
		p := out.parts[i]
		switch width := want[i+1]; {
		case width >= 0 && (!p.IsUniform() || p.spec.length != width):
			d = rows.ToDense(d, p.RowSplits(), scalar(width, dtype.Int64), fill)
		case p.IsUniform():
			d = unfolded(d, p)
		default:
			d = rows.ToDense(d, p.RowSplits(), t.parts[i].longest(), fill)
		}
		if fill != nil && fill.Shape().Rank() > 0 && i > 0 {
			// A missing row is filled with default values.
			fill = ops.BroadcastTo(fill, ops.Index(ops.Shape(d), key.From(1)))
		}
	}
	return padOuter(d, want[0], fill), nil
}

// denseShape checks a target shape; without one all dimensions are unknown.
func (t *Tensor) denseShape(fn string, want []int, rank int) ([]int, error) {
	if want == nil {
		return shape.OfRank(rank).Dims(), nil
	}
	if len(want) != rank {
		return nil, failed(tenon.ErrShape, fn, "Shape", "%v has %d dimensions, the tensor %d", want, len(want), rank)
	}
	for i, n := range want {
		if n < shape.Unknown {
			return nil, failed(tenon.ErrShape, fn, "Shape", "%d is not a size", n)
		}
		if have := t.Shape().Dim(i); i > len(t.parts) && n >= 0 && have >= 0 && n != have {
			return nil, failed(tenon.ErrShape, fn, "Shape", "the inner dimension %d has %d entries, not %d", i, have, n)
		}
	}
	return want, nil
}

// filler returns the default as a tensor of the values' type; nil means zero.
func (t *Tensor) filler(fn string, x any) tensor.Tensor {
	if x == nil {
		return nil
	}
	return likeEntries(fn, "Default", x, t.DType(), "values", t.flat.Shape().Tail(1))
}

// likeEntries returns an argument as a scalar or an entry of a tensor with the given element type
// and shape of its entries. It throws.
func likeEntries(fn, where string, x any, d dtype.DType, what string, entry shape.Shape) tensor.Tensor {
	v, ok := tensor.ScalarLike(x, d)
	if !ok {
		v = converted(fn, where, x)
	}
	if v.DType() != d {
		tenon.Throw(invalid(fn, where, "has the element type %v, the %s %v", v.DType(), what, d))
	}
	if s := v.Shape(); s.HasRank() && s.Rank() > 0 && !s.CompatibleWith(entry) {
		tenon.Throw(failed(tenon.ErrShape, fn, where, "has the shape %v, want a scalar or %v", s, entry))
	}
	return v
}

// unfolded splits the axis of the values of uniform rows into an axis of rows and
// one within them.
func unfolded(d tensor.Tensor, p *RowPartition) tensor.Tensor {
	sizes := []size{{p.spec.nrows, p.NRows}, sizeFrom(p.uniform)}
	for j := 1; j < d.Shape().Rank(); j++ {
		sizes = append(sizes, size{d.Shape().Dim(j), func() tensor.Tensor { return sizeOf(d, j, p.spec.dtype) }})
	}
	return reshapeTo(d, sizes, p.spec.dtype)
}

// padOuter adds rows of fill to get n rows, or drops rows.
func padOuter(d tensor.Tensor, n int, fill tensor.Tensor) tensor.Tensor {
	m := d.Shape().Dim(0)
	if n < 0 || n == m {
		return d
	}
	if m > n {
		return ops.Index(d, key.To(n))
	}
	// Treat all rows as a single row of a partition, which is padded.
	splits := rows.Uniform(sizeOf(d, 0, dtype.Int64), scalar(1, dtype.Int64))
	if fill != nil && fill.Shape().Rank() > 0 {
		fill = ops.BroadcastTo(fill, ops.Index(ops.Shape(d), key.From(1)))
	}
	return ops.Squeeze(rows.ToDense(d, splits, scalar(n, dtype.Int64), fill), 0)
}

// FromDenseOptions says which elements of a dense tensor belong to rows. With the
// zero value, all of them do.
type FromDenseOptions struct {
	// Lengths are the row lengths: a vector of integers or, for nested rows, a list of vectors
	// ([]any or []tensor.Tensor), outermost first. Negative lengths count as 0, and lengths beyond
	// the row as the whole row.
	Lengths any

	// Padding is stripped from the end of each row. It is a constant or a tensor, either a scalar
	// or with the shape of an element of a row.
	Padding any

	// RaggedRank is the number of partitions; zero means 1 or, with nested lengths, their number.
	// Dimensions above the innermost one are uniform unless lengths say otherwise.
	RaggedRank int

	Splits dtype.DType // the type of the row splits; None: that of the lengths, or int64
}

// FromDense returns elements of a dense tensor as a ragged tensor.
//
//	x: [n, m, a…] → [n, (row), a…]
func FromDense(x any, o FromDenseOptions) (t *Tensor, err error) {
	const fn = "ragged.FromDense"
	defer tenon.Catch(&err)
	d := converted(fn, "x", x)
	if o.Splits != dtype.None && o.Splits != dtype.Int64 && o.Splits != dtype.Int32 {
		return nil, invalid(fn, "Splits", "row splits are int64 or int32, not %v", o.Splits)
	}
	rank := d.Shape().Rank()
	k := o.RaggedRank
	if k == 0 {
		k = 1
	}
	switch {
	case rank < 0:
		return nil, failed(tenon.ErrUnsupported, fn, "", "the rank of x is not known")
	case k < 1 || k >= rank:
		return nil, failed(tenon.ErrShape, fn, "", "a tensor of shape %v does not have %d ragged dimensions after the first", d.Shape(), k)
	case o.Lengths != nil && o.Padding != nil:
		return nil, invalid(fn, "", "give either lengths or padding, not both")
	}
	splits := o.Splits
	if splits == dtype.None {
		splits = dtype.Int64
	}
	switch {
	case o.Lengths != nil:
		return fromLengths(fn, d, o, k)
	case o.Padding != nil:
		return fromPadding(fn, d, o.Padding, k, splits), nil
	}
	return atLeastWith(d, k, splits).(*Tensor), nil
}

func innerSizes(s *Shape) []size {
	sizes := make([]size, s.inner.Rank())
	for j := range sizes {
		sizes[j] = s.innerSize(j)
	}
	return sizes
}

// fromLengths truncates rows to the given lengths, level by level if they are
// nested.
func fromLengths(fn string, d tensor.Tensor, o FromDenseOptions, k int) (*Tensor, error) {
	levels := lengthLevels(fn, o.Lengths)
	if len(levels) > 1 {
		if o.RaggedRank != 0 && o.RaggedRank != len(levels) {
			return nil, invalid(fn, "Lengths", "there are %d levels for %d ragged dimensions", len(levels), o.RaggedRank)
		}
		if k = len(levels); k >= d.Shape().Rank() {
			return nil, invalid(fn, "Lengths", "there are %d levels, the tensor has the shape %v", k, d.Shape())
		}
	}
	splits := o.Splits
	if splits == dtype.None {
		splits = levels[0].DType()
	}
	d, parts := split(atLeastWith(d, k-len(levels), splits)) // uniform dimensions above those with lengths
	for i, l := range levels {
		if n, m := l.Shape().Dim(0), d.Shape().Dim(0); n >= 0 && m >= 0 && n != m {
			return nil, invalid(fn, "Lengths", "level %d has %d lengths for %d rows", i, n, m)
		}
		l = cast(ops.Minimum(ops.Maximum(l, 0), sizeOf(d, 1, l.DType())), splits)
		p := newPartition(rows.FromLengths(l), shape.Unknown)
		p.lengths.Store(&l)
		d = rows.FromDense(d, p.RowSplits())
		parts = append(parts, p)
	}
	return wrap(d, parts), nil
}

// lengthLevels returns the vectors of lengths, outermost first.
func lengthLevels(fn string, lengths any) []tensor.Tensor {
	var list []any
	switch l := lengths.(type) {
	case []any:
		if len(l) > 0 {
			if _, ok := l[0].(int); !ok {
				list = l
			}
		}
	case []tensor.Tensor:
		for _, t := range l {
			list = append(list, t)
		}
	}
	if list == nil {
		list = []any{lengths}
	}
	out := make([]tensor.Tensor, len(list))
	for i, l := range list {
		t := converted(fn, "Lengths", l)
		if t.DType() != dtype.Int64 && t.DType() != dtype.Int32 {
			tenon.Throw(failed(tenon.ErrDType, fn, "Lengths", "have the element type %v, want int64 or int32", t.DType()))
		}
		tenon.Throw(checkVector(fn, "Lengths", t))
		out[i] = t
	}
	return out
}

// fromPadding strips padding from the ends of the rows of the innermost ragged
// dimension.
func fromPadding(fn string, d tensor.Tensor, padding any, k int, splits dtype.DType) *Tensor {
	v := likeEntries(fn, "Padding", padding, d.DType(), "tensor", d.Shape().Tail(k+1))
	d, parts := split(atLeastWith(d, k-1, splits))
	l := cast(rows.UnpaddedLengths(d, v), splits)
	p := newPartition(rows.FromLengths(l), shape.Unknown)
	p.lengths.Store(&l)
	return under(parts, p, rows.FromDense(d, p.RowSplits()))
}
