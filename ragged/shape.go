package ragged

import (
	"fmt"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Shape is the sizes of a tensor at run time, rows of different length
// included: the partitions of the outer dimensions, and the sizes of the flat
// values' axes. It is a value like any other, made of tensors that may be
// symbolic; a dense tensor's has no partitions. Its rank is known.
type Shape struct {
	parts []*RowPartition
	inner shape.Shape   // what is known of the flat values' axes
	sizes tensor.Tensor // their sizes as a vector; nil where inner is full
	dtype dtype.DType
}

// NewShape returns the shape of flat values of the given sizes divided by
// partitions, outermost first. Each partition has as many rows as the one above
// it has values, the last one as many values as sizes says first.
func NewShape(parts []*RowPartition, sizes tensor.Tensor) (s *Shape, err error) {
	const fn = "ragged.NewShape"
	defer tenon.Catch(&err)
	if err := checkVector(fn, "sizes", sizes); err != nil {
		return nil, err
	}
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
			return nil, invalid(fn, "sizes", "%v are no sizes", dims)
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

// newShape returns a shape of parts that fit each other.
func newShape(parts []*RowPartition, inner shape.Shape, sizes tensor.Tensor, d dtype.DType) *Shape {
	if n := len(parts); n > 0 && parts[n-1].nvals >= 0 {
		inner = inner.With(0, parts[n-1].nvals)
	}
	same := parts
	for i, p := range parts {
		if p.spec.dtype != d {
			if i == 0 || &same[0] == &parts[0] {
				same = append([]*RowPartition(nil), parts...)
			}
			same[i] = p.as(d)
		}
	}
	if inner.IsFull() {
		sizes = nil
	}
	return &Shape{parts: same, inner: inner, sizes: sizes, dtype: d}
}

// ShapeOf returns the shape of a tensor with a known rank.
func ShapeOf(t tensor.Tensor) *Shape {
	flat, parts := split(t)
	inner := flat.Shape()
	if !inner.HasRank() {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: "ragged.ShapeOf", Msg: fmt.Sprintf("the rank of %s is not known", tenon.String(t.Spec())), Line: source.Line()})
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

// ShapeOptions changes what [ShapeFromLengths] returns.
type ShapeOptions struct {
	// Partitions is the number of partitions: at least as many as there are
	// dimensions up to the last ragged one, below the first. Zero stands for as few
	// as it takes.
	Partitions int

	// DType is the type of splits and sizes: Int64, or Int32.
	DType dtype.DType
}

// ShapeFromLengths returns the shape whose dimensions have the given lengths,
// outermost first: an int where all rows have one length, and a []int with the
// length of every row for a ragged dimension.
func ShapeFromLengths(lengths []any, o ShapeOptions) (*Shape, error) {
	const fn = "ragged.ShapeFromLengths"
	if o.DType == dtype.None {
		o.DType = dtype.Int64
	}
	ragged := 0
	for i, l := range lengths {
		switch l := l.(type) {
		case int:
			if l < 0 {
				return nil, invalid(fn, fmt.Sprintf("lengths[%d]", i), "%d is no length", l)
			}
		case []int:
			if ragged = i; i == 0 {
				return nil, invalid(fn, "lengths[0]", "is a list, but the outermost dimension has one length")
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
			p, err := PartitionFromUniformRowLength(l, PartitionOptions{NRows: n, DType: o.DType})
			if err != nil {
				return nil, err
			}
			parts, n = append(parts, p), p.nvals
		case []int:
			if len(l) != n {
				return nil, invalid(fn, fmt.Sprintf("lengths[%d]", i), "has %d entries for %d rows", len(l), n)
			}
			p, err := PartitionFromRowLengths(l, PartitionOptions{DType: o.DType})
			if err != nil {
				return nil, err
			}
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

// Rank returns the number of dimensions.
func (s *Shape) Rank() int { return len(s.parts) + s.inner.Rank() }

// InnerRank returns the number of axes of the flat values.
func (s *Shape) InnerRank() int { return s.inner.Rank() }

// DType returns the type of splits and sizes.
func (s *Shape) DType() dtype.DType { return s.dtype }

// Partitions returns the partitions, outermost first.
func (s *Shape) Partitions() []*RowPartition { return append([]*RowPartition(nil), s.parts...) }

// InnerSizes returns the sizes of the flat values' axes as a vector.
func (s *Shape) InnerSizes() tensor.Tensor {
	if s.inner.IsFull() {
		return cast(tensor.Vector(s.inner.Dims()), s.dtype)
	}
	return s.sizes
}

// Static returns what is known without looking at data: the sizes of ragged
// dimensions are shape.Unknown.
func (s *Shape) Static() shape.Shape {
	if len(s.parts) == 0 {
		return s.inner
	}
	dims := []int{s.parts[0].spec.nrows}
	for _, p := range s.parts {
		dims = append(dims, p.spec.length)
	}
	return shape.Concat(shape.Of(dims...), s.inner.Tail(1))
}

// IsUniform reports whether all slices along an axis are declared to have one
// size. It throws for an axis that does not exist.
func (s *Shape) IsUniform(axis int) bool {
	a := s.axis("ragged.Shape.IsUniform", axis)
	return a == 0 || a > len(s.parts) || s.parts[a-1].IsUniform()
}

func (s *Shape) axis(fn string, axis int) int {
	a := axis
	if a < 0 {
		a += s.Rank()
	}
	if a < 0 || a >= s.Rank() {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrRange, Op: fn, Msg: fmt.Sprintf("there is no axis %d among %d", axis, s.Rank()), Line: source.Line()})
	}
	return a
}

// Dim returns the size of a uniform axis as a scalar. It throws for a ragged axis.
func (s *Shape) Dim(axis int) tensor.Tensor {
	a := s.axis("ragged.Shape.Dim", axis)
	switch {
	case !s.IsUniform(a):
		e := invalid("ragged.Shape.Dim", "", "axis %d is ragged", axis)
		e.Hint = "Lengths(axis) returns the length of each row"
		tenon.Throw(e)
	case a > 0 && a <= len(s.parts):
		return s.parts[a-1].uniform
	}
	return s.size(a).scalar(s.dtype)
}

// Lengths returns the size of each slice along an axis below the first: for
// axis 1 the length of each row.
func (s *Shape) Lengths(axis int) tensor.Tensor {
	a := s.axis("ragged.Shape.Lengths", axis)
	switch {
	case a == 0:
		return ops.ExpandDims(s.Dim(0), 0)
	case a <= len(s.parts):
		return s.parts[a-1].RowLengths()
	}
	return filled(s.slices(a-1).scalar(s.dtype), s.Dim(a))
}

// NumSlices returns how many slices there are of the dimensions up to and with an
// axis: for the last one the number of elements.
func (s *Shape) NumSlices(axis int) tensor.Tensor {
	return s.slices(s.axis("ragged.Shape.NumSlices", axis)).scalar(s.dtype)
}

// Size returns the number of elements.
func (s *Shape) Size() tensor.Tensor {
	if s.Rank() == 0 {
		return scalar(1, s.dtype)
	}
	return s.NumSlices(-1)
}

// StaticLengths returns the dimensions as [ShapeFromLengths] takes them: an int
// for a uniform one, a []int with the lengths of all rows for a ragged one, nil
// for one that is not known.
func (s *Shape) StaticLengths() []any {
	out := make([]any, s.Rank())
	for a := range out {
		switch {
		case s.IsUniform(a):
			if n := known(s.Dim(a)); n >= 0 {
				out[a] = n
			}
		default:
			if t, ok := op.Known(s.parts[a-1].RowLengths()); ok {
				out[a], _ = op.Ints(t)
			}
		}
	}
	return out
}

// Slice returns the dimensions from lo up to hi, which may count from the end or
// lie outside, as in Python. A slice that does not start at the outermost
// dimension is one of a shape without ragged dimensions.
func (s *Shape) Slice(lo, hi int) (*Shape, error) {
	clamp := func(i int) int {
		if i < 0 {
			i += s.Rank()
		}
		return min(max(i, 0), s.Rank())
	}
	lo, hi = clamp(lo), clamp(hi)
	if hi <= lo {
		return newShape(nil, shape.Shape{}, nil, s.dtype), nil
	}
	return tenon.Try(func() *Shape {
		if lo > 0 {
			for a := range s.Rank() {
				if !s.IsUniform(a) {
					tenon.Throw(invalid("ragged.Shape.Slice", "", "axis %d is ragged: only a slice from the outermost dimension on has a meaning", a))
				}
			}
			sizes := make([]size, 0, hi-lo)
			for a := lo; a < hi; a++ {
				sizes = append(sizes, s.size(a))
			}
			return shapeOfSizes(nil, sizes, s.dtype)
		}
		if hi == 1 {
			return shapeOfSizes(nil, []size{s.size(0)}, s.dtype)
		}
		k := min(len(s.parts), hi-1)
		sizes := []size{s.slices(k)}
		for a := k + 1; a < hi; a++ {
			sizes = append(sizes, s.size(a))
		}
		return shapeOfSizes(s.parts[:k], sizes, s.dtype)
	})
}

// WithInnerRank returns the same shape with another number of dimensions in the
// flat values' axes: uniform partitions become axes, or axes uniform partitions.
func (s *Shape) WithInnerRank(rank int) (*Shape, error) {
	k := s.Rank() - rank
	if rank < 1 && s.Rank() > 0 || k < 0 {
		return nil, invalid("ragged.Shape.WithInnerRank", "rank", "%d does not fit a shape of rank %d", rank, s.Rank())
	}
	return s.WithPartitions(k)
}

// WithPartitions returns the same shape with k partitions.
func (s *Shape) WithPartitions(k int) (*Shape, error) {
	if k < 0 || k > 0 && k >= s.Rank() {
		return nil, invalid("ragged.Shape.WithPartitions", "", "a shape of rank %d has no form with %d partitions", s.Rank(), k)
	}
	return tenon.Try(func() *Shape { return s.withPartitions(k) })
}

func (s *Shape) withPartitions(k int) *Shape {
	n := len(s.parts)
	if k == n {
		return s
	}
	var sizes []size
	parts := s.parts[:min(k, n):min(k, n)]
	for a := n + 1; a <= k; a++ { // axes become partitions
		parts = append(parts, newUniform(s.slices(a-1).scalar(s.dtype), s.size(a).scalar(s.dtype)))
	}
	for a := k + 1; a <= n; a++ {
		if !s.IsUniform(a) {
			tenon.Throw(invalid("ragged.Shape.WithPartitions", "", "axis %d is ragged and needs its partition", a))
		}
	}
	for a := k; a < s.Rank(); a++ {
		if a == k && k > 0 {
			sizes = append(sizes, s.slices(a))
		} else {
			sizes = append(sizes, s.size(a))
		}
	}
	return shapeOfSizes(parts, sizes, s.dtype)
}

// String prints the sizes, with "~" for ragged dimensions: "[3, ~, 2]".
func (s *Shape) String() string {
	st := s.Static()
	words := make([]string, s.Rank())
	for a := range words {
		switch {
		case !s.IsUniform(a):
			words[a] = "~"
		case st.Dim(a) < 0:
			words[a] = "?"
		default:
			words[a] = fmt.Sprint(st.Dim(a))
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// A size is the size of a uniform axis, or a number of slices: static where it is
// known, and a tensor where it is not.
type size struct {
	n int
	t func() tensor.Tensor
}

func staticSize(n int) size { return size{n: n} }

func (z size) scalar(d dtype.DType) tensor.Tensor {
	if z.n >= 0 {
		return scalar(z.n, d)
	}
	return cast(z.t(), d)
}

// sizeFrom is the size that a scalar tensor holds.
func sizeFrom(t tensor.Tensor) size {
	return size{known(t), func() tensor.Tensor { return t }}
}

// size returns the size of a uniform axis.
func (s *Shape) size(a int) size {
	k := len(s.parts)
	switch {
	case a == 0 && k > 0:
		return size{s.parts[0].spec.nrows, s.parts[0].NRows}
	case a > 0 && a <= k:
		return sizeFrom(s.parts[a-1].uniform)
	}
	return s.innerSize(a - k)
}

func (s *Shape) innerSize(j int) size {
	if n := s.inner.Dim(j); n >= 0 {
		return staticSize(n)
	}
	return size{shape.Unknown, func() tensor.Tensor { return ops.Index(s.sizes, j) }}
}

// slices returns the number of slices of the dimensions up to and with axis a.
func (s *Shape) slices(a int) size {
	k := len(s.parts)
	switch {
	case a < k:
		return size{s.parts[a].spec.nrows, s.parts[a].NRows}
	case k > 0 && a == k:
		return size{s.parts[k-1].nvals, s.parts[k-1].NVals}
	}
	n := s.inner.Slice(0, a-k+1).Size()
	return size{n, func() tensor.Tensor { return ops.Prod(ops.Index(s.sizes, key.To(a-k+1))) }}
}

// shapeOfSizes returns a shape with inner axes of the given sizes.
func shapeOfSizes(parts []*RowPartition, sizes []size, d dtype.DType) *Shape {
	dims := make([]int, len(sizes))
	full := true
	for i, z := range sizes {
		dims[i] = z.n
		full = full && z.n >= 0
	}
	if full {
		return newShape(parts, shape.Of(dims...), nil, d)
	}
	return newShape(parts, shape.Of(dims...), sizeVector(sizes, d), d)
}

// sizeVector returns sizes as a vector.
func sizeVector(sizes []size, d dtype.DType) tensor.Tensor {
	ts := make([]tensor.Tensor, len(sizes))
	for i, z := range sizes {
		ts[i] = z.scalar(d)
	}
	return ops.Stack(ts, 0)
}

// WithDType returns the shape with splits and sizes of type Int64 or Int32.
func (s *Shape) WithDType(d dtype.DType) (out *Shape, err error) {
	defer tenon.Catch(&err)
	for _, p := range s.parts {
		if _, err = p.WithDType(d); err != nil {
			return nil, err
		}
	}
	if d != dtype.Int64 && d != dtype.Int32 {
		return nil, invalid("ragged.Shape.WithDType", "", "sizes are int64 or int32, not %v", d)
	}
	return s.as(d), nil
}

// as returns the shape with splits and sizes of a type that holds them.
func (s *Shape) as(d dtype.DType) *Shape {
	sizes := s.sizes
	if sizes != nil {
		sizes = cast(sizes, d)
	}
	return newShape(s.parts, s.inner, sizes, d)
}

// Fill returns a tensor of a shape that holds one value everywhere: a scalar tensor
// or a constant.
func Fill(s *Shape, value any) (t tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return build(ops.Fill(dimsOf(innerSizes(s), s.dtype), value), s.parts), nil
}
