package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// NewShape returns the shape of flat values of the given sizes divided by
// partitions, outermost first. Each partition must have as many rows as the one
// above it has values, and the last one as many values as the first size.
func NewShape(parts []*RowPartition, sizes tensor.Tensor) (s *Shape, err error) {
	const fn = "ragged.NewShape"
	defer tenon.Catch(&err)
	tenon.Throw(checkVector(fn, "sizes", sizes))
	if sizes.Shape().Dim(0) < 0 {
		return nil, invalid(fn, "sizes", "has an unknown number of entries, and a Shape has a known rank")
	}
	if len(parts) > 0 && sizes.Shape().Dim(0) == 0 {
		return nil, invalid(fn, "sizes", "has no entries, but partitioned values have at least one axis")
	}
	d := sizes.DType()
	if len(parts) > 0 {
		d = widest(parts)
		if sizes.DType() == dtype.Int64 {
			d = dtype.Int64
		}
	}
	inner := shape.OfRank(sizes.Shape().Dim(0))
	if c, ok := op.Known(sizes); ok {
		dims, _ := op.Ints(c)
		if inner, err = shape.From(dims); err != nil || !inner.IsFull() {
			return nil, invalid(fn, "sizes", "%v are not sizes", dims)
		}
	}
	for i, p := range parts {
		next, what := inner.Dim(0), "axis 0 of the flat values has %d"
		if i+1 < len(parts) {
			next, what = parts[i+1].spec.nrows, "the one below has %d rows"
		}
		if n := p.nvals; n >= 0 && next >= 0 && n != next {
			return nil, invalid(fn, fmt.Sprintf("partition %d", i), "has %d values, "+what, n, next)
		}
	}
	return newShape(parts, inner, cast(sizes, d), d), nil
}

// newShape returns a shape whose parts are known to match.
func newShape(parts []*RowPartition, inner shape.Shape, sizes tensor.Tensor, d dtype.DType) *Shape {
	if n := len(parts); n > 0 && parts[n-1].nvals >= 0 {
		inner = inner.With(0, parts[n-1].nvals)
	}
	if inner.IsFull() {
		sizes = nil
	}
	return &Shape{parts: partsAs(parts, d), inner: inner, sizes: sizes, dtype: d}
}

// ShapeOf returns the shape of a tensor with a known rank.
func ShapeOf(t tensor.Tensor) *Shape {
	flat, parts := split(t)
	inner := flat.Shape()
	if !inner.HasRank() {
		tenon.Throw(failed(tenon.ErrUnsupported, "ragged.ShapeOf", "", "the rank of %s is not known", tenon.String(t.Spec())))
	}
	d := widest(parts)
	if inner.IsFull() {
		return newShape(parts, inner, nil, d)
	}
	return newShape(parts, inner, ops.Cast(ops.Shape(flat), d), d)
}

// ShapeFromPartitions returns the shape of flat values without inner dimensions
// divided by partitions.
func ShapeFromPartitions(parts ...*RowPartition) (*Shape, error) {
	if len(parts) == 0 {
		return nil, invalid("ragged.ShapeFromPartitions", "", "there are no partitions")
	}
	return tenon.Try(func() *Shape {
		return tenon.Must(NewShape(parts, ops.ExpandDims(parts[len(parts)-1].NVals(), 0)))
	})
}

// ShapeOptions change the result of [ShapeFromLengths].
type ShapeOptions struct {
	// Partitions is the number of partitions. It must be large enough to cover the dimensions below
	// the first one, up to the last ragged one. Zero means as few as possible.
	Partitions int

	// DType is the type of splits and sizes: Int64, or Int32.
	DType dtype.DType
}

// ShapeFromLengths returns the shape whose dimensions have the given lengths,
// outermost first: an int if all rows have the same length, and a []int with the
// length of every row for a ragged dimension.
func ShapeFromLengths(lengths []any, o ShapeOptions) (s *Shape, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.ShapeFromLengths"
	if o.DType == dtype.None {
		o.DType = dtype.Int64
	}
	ragged := 0
	for i, l := range lengths {
		switch l := l.(type) {
		case int:
			if l < 0 {
				return nil, invalid(fn, fmt.Sprintf("lengths[%d]", i), "%d is not a length", l)
			}
		case []int:
			if ragged = i; i == 0 {
				return nil, invalid(fn, "lengths[0]", "is a list, but the outermost dimension has a single length")
			}
		default:
			return nil, invalid(fn, fmt.Sprintf("lengths[%d]", i), "is a %T, want an int or a []int", l)
		}
	}
	k := max(ragged, o.Partitions)
	if o.Partitions != 0 && o.Partitions < ragged || k > 0 && k >= len(lengths) {
		return nil, invalid(fn, "Partitions", "%d do not fit %d dimensions, the last ragged one of which is %d", o.Partitions, len(lengths), ragged)
	}
	dims := []int{}
	var parts []*RowPartition
	n := 0
	for i, l := range lengths {
		switch l := l.(type) {
		case int:
			if i > k || i == 0 {
				dims = append(dims, l)
				n = l
				continue
			}
			p := tenon.Must(PartitionFromUniformRowLength(l, PartitionOptions{NRows: n, DType: o.DType}))
			parts, n = append(parts, p), p.nvals
		case []int:
			if len(l) != n {
				return nil, invalid(fn, fmt.Sprintf("lengths[%d]", i), "has %d entries for %d rows", len(l), n)
			}
			p := tenon.Must(PartitionFromRowLengths(l, PartitionOptions{DType: o.DType}))
			parts, n = append(parts, p), p.nvals
		}
		dims[0] = n
	}
	inner, err := shape.From(dims)
	if err == nil {
		_, err = inner.CheckedSize(1)
	}
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Err: err, Line: source.Line()}
	}
	return newShape(parts, inner, nil, o.DType), nil
}

// Fill returns a tensor of a shape in which every element is value, a scalar tensor or a constant.
func Fill(s *Shape, value any) (t tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return build(ops.Fill(dimsOf(innerSizes(s), s.dtype), value), s.parts), nil
}
