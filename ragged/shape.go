package ragged

import (
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Shape holds the sizes of a tensor at run time, including rows of different
// lengths: the partitions of the outer dimensions, and the sizes of the flat
// values' axes. It is a value like any other, consisting of tensors that may be
// symbolic. The shape of a dense tensor has no partitions. The rank is always
// known.
type Shape struct {
	parts []*RowPartition
	inner shape.Shape   // what is known about the flat values' axes
	sizes tensor.Tensor // their sizes as a vector; nil if inner is full
	dtype dtype.DType
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

// Static returns what is known without looking at data; the sizes of ragged
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

// IsUniform reports whether all slices along an axis are declared to have the
// same size. It throws for an axis that does not exist.
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
		tenon.Throw(failed(tenon.ErrRange, fn, "", "there is no axis %d among %d", axis, s.Rank()))
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

// Lengths returns the size of each slice along an axis below the first. For axis
// 1 it is the length of each row.
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

// NumSlices returns the number of slices in the dimensions up to and including an
// axis. For the last one it is the number of elements.
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

// StaticLengths returns the dimensions in the form that [ShapeFromLengths]
// accepts: an int for a uniform one, a []int with the lengths of all rows for a
// ragged one, and nil for one that is not known.
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

// Slice returns the dimensions from lo up to, but not including, hi. As in
// Python, both may count from the end or be out of range. A slice that does not
// start at the outermost dimension must not contain ragged dimensions.
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
					tenon.Throw(invalid("ragged.Shape.Slice", "", "axis %d is ragged: only slices that start at the outermost dimension are possible", a))
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

// WithInnerRank returns the same shape with rank axes of the flat values: uniform
// partitions become axes, or axes become uniform partitions.
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
		return nil, invalid("ragged.Shape.WithPartitions", "", "a shape of rank %d cannot have %d partitions", s.Rank(), k)
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

// String returns the sizes, with "~" for ragged dimensions: "[3, ~, 2]".
func (s *Shape) String() string { return strings.TrimPrefix(tenon.String(s.Spec()), "shape") }

// WithDType returns the shape with splits and sizes of type Int64 or Int32.
func (s *Shape) WithDType(d dtype.DType) (out *Shape, err error) {
	defer tenon.Catch(&err)
	for _, p := range s.parts {
		_ = tenon.Must(p.WithDType(d))
	}
	if d != dtype.Int64 && d != dtype.Int32 {
		return nil, invalid("ragged.Shape.WithDType", "", "sizes are int64 or int32, not %v", d)
	}
	return s.as(d), nil
}

// as returns the shape with splits and sizes of a type that can hold them.
func (s *Shape) as(d dtype.DType) *Shape {
	sizes := s.sizes
	if sizes != nil {
		sizes = cast(sizes, d)
	}
	return newShape(s.parts, s.inner, sizes, d)
}
