package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
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
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Msg: "the rank of the flat values is not known", Line: source.Line()}
	}
	want := tenon.Must(t.denseShape(fn, o.Shape, rank))
	fill := tenon.Must(t.filler(fn, o.Default))
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
		return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: "Shape", Msg: fmt.Sprintf("%v has %d dimensions, the tensor %d", want, len(want), rank), Line: source.Line()}
	}
	for i, n := range want {
		if n < shape.Unknown {
			return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: "Shape", Msg: fmt.Sprintf("%d is not a size", n), Line: source.Line()}
		}
		if have := t.Shape().Dim(i); i > len(t.parts) && n >= 0 && have >= 0 && n != have {
			return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: "Shape", Msg: fmt.Sprintf("the inner dimension %d has %d entries, not %d", i, have, n), Line: source.Line()}
		}
	}
	return want, nil
}

// filler returns the default as a tensor of the values' type; nil means zero.
func (t *Tensor) filler(fn string, x any) (tensor.Tensor, error) {
	if x == nil {
		return nil, nil
	}
	v, ok := tensor.ScalarLike(x, t.DType())
	if !ok {
		var err error
		if v, err = tensor.Convert(x); err != nil {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: "Default", Err: err, Line: source.Line()}
		}
	}
	if v.DType() != t.DType() {
		return nil, invalid(fn, "Default", "has the element type %v, the values %v", v.DType(), t.DType())
	}
	inner := t.flat.Shape().Tail(1)
	if s := v.Shape(); s.HasRank() && s.Rank() > 0 && !s.CompatibleWith(inner) {
		return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: "Default", Msg: fmt.Sprintf("has the shape %v, want a scalar or %v", s, inner), Line: source.Line()}
	}
	return v, nil
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
	d, err := tensor.Convert(x)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: "x", Err: err, Line: source.Line()}
	}
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
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Msg: "the rank of x is not known", Line: source.Line()}
	case k < 1 || k >= rank:
		return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Msg: fmt.Sprintf("a tensor of shape %v does not have %d ragged dimensions after the first", d.Shape(), k), Line: source.Line()}
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
		return fromPadding(fn, d, o.Padding, k, splits)
	}
	return wrapFlat(d).uniformOuter(k, splits), nil
}

// uniformOuter converts the k outer dimensions of a dense tensor to partitions.
func (t *Tensor) uniformOuter(k int, splits dtype.DType) *Tensor {
	s := ShapeOf(t.flat)
	s.dtype = splits
	s = newShape(nil, s.inner, s.sizes, splits)
	parts := s.withPartitions(k)
	return wrap(reshapeTo(t.flat, innerSizes(parts), splits), parts.parts)
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
	levels, err := lengthLevels(fn, o.Lengths)
	if err != nil {
		return nil, err
	}
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
	var parts []*RowPartition
	if n := k - len(levels); n > 0 { // uniform dimensions above those with lengths
		outer := wrapFlat(d).uniformOuter(n, splits)
		d, parts = outer.flat, outer.parts
	}
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

// wrapFlat returns a tensor that has no partitions yet.
func wrapFlat(d tensor.Tensor) *Tensor { return &Tensor{flat: d} }

// lengthLevels returns the vectors of lengths, outermost first.
func lengthLevels(fn string, lengths any) ([]tensor.Tensor, error) {
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
		t, err := tensor.Convert(l)
		if err != nil {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: "Lengths", Err: err, Line: source.Line()}
		}
		if t.DType() != dtype.Int64 && t.DType() != dtype.Int32 {
			return nil, &tenon.Error{Kind: tenon.ErrDType, Op: fn, Where: "Lengths", Msg: fmt.Sprintf("have the element type %v, want int64 or int32", t.DType()), Line: source.Line()}
		}
		if err := checkVector(fn, "Lengths", t); err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

// fromPadding strips padding from the ends of the rows of the innermost ragged
// dimension.
func fromPadding(fn string, d tensor.Tensor, padding any, k int, splits dtype.DType) (*Tensor, error) {
	v, ok := tensor.ScalarLike(padding, d.DType())
	if !ok {
		var err error
		if v, err = tensor.Convert(padding); err != nil {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: "Padding", Err: err, Line: source.Line()}
		}
	}
	if v.DType() != d.DType() {
		return nil, invalid(fn, "Padding", "has the element type %v, the tensor %v", v.DType(), d.DType())
	}
	if s, item := v.Shape(), d.Shape().Tail(k+1); s.HasRank() && s.Rank() > 0 && !s.CompatibleWith(item) {
		return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: "Padding", Msg: fmt.Sprintf("has the shape %v, want a scalar or %v", s, item), Line: source.Line()}
	}
	var parts []*RowPartition
	if k > 1 {
		outer := wrapFlat(d).uniformOuter(k-1, splits)
		d, parts = outer.flat, outer.parts
	}
	l := cast(rows.UnpaddedLengths(d, v), splits)
	p := newPartition(rows.FromLengths(l), shape.Unknown)
	p.lengths.Store(&l)
	return wrap(rows.FromDense(d, p.RowSplits()), append(parts, p)), nil
}
