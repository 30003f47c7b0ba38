package ragged

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A size is the size of a uniform axis or a number of slices: static if it is
// known, and otherwise a tensor.
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

// sizeFrom returns the size in a scalar tensor.
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

// slices returns the number of slices in the dimensions up to and including axis
// a.
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
