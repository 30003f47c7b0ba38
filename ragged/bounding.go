package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// BoundingShape returns the smallest shape that can hold all rows, as an int64 vector: the number
// of rows, the length of the longest row in each ragged dimension, and the sizes of the inner
// dimensions.
func (t *Tensor) BoundingShape() (s tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return t.boundingShape(dtype.Int64), nil
}

func (t *Tensor) boundingShape(d dtype.DType) tensor.Tensor {
	s := ShapeOf(t)
	sizes := []size{s.size(0)}
	for _, p := range t.parts {
		if p.IsUniform() {
			sizes = append(sizes, sizeFrom(p.uniform))
			continue
		}
		sizes = append(sizes, size{-1, p.longest})
	}
	sizes = append(sizes, innerSizes(s)[1:]...)
	ts := make([]tensor.Tensor, len(sizes))
	for i, z := range sizes {
		ts[i] = ops.Cast(z.scalar(s.dtype), d)
	}
	return ops.Stack(ts, 0)
}

// RowLengths returns the lengths along a dimension. For dimension 0 they are a scalar, the number
// of rows; for dimension 1 a vector; and for a deeper one a ragged tensor with the length of each
// row. Negative dimensions count from the end.
func (t *Tensor) RowLengths(dimension int) (l tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	s := ShapeOf(t)
	a := dimension
	if a < 0 {
		a += s.Rank()
	}
	if a < 0 || a >= s.Rank() {
		return nil, failed(tenon.ErrAxis, "ragged.RowLengths", "dimension", "%d is none of the %d dimensions", dimension, s.Rank())
	}
	if a == 0 {
		return t.NRows(), nil
	}
	k := len(t.parts)
	if a <= k {
		return build(t.parts[a-1].RowLengths(), t.parts[:a-1]), nil
	}
	sizes := innerSizes(s)[:a-k]
	return build(ops.Fill(dimsOf(sizes, s.dtype), s.innerSize(a-k).scalar(s.dtype)), t.parts), nil
}

// dimsOf returns sizes in a form that operations accept as a shape.
func dimsOf(sizes []size, d dtype.DType) any {
	dims := make([]int, len(sizes))
	for i, z := range sizes {
		if dims[i] = z.n; z.n < 0 {
			return sizeVector(sizes, d)
		}
	}
	return dims
}

// RowShapes returns the shape of each row of the outermost dimension, whose rows must be dense:
// int64[nrows, rank-1]. It throws if a row is itself ragged.
func (t *Tensor) RowShapes() tensor.Tensor {
	s := ShapeOf(t)
	for a := 2; a <= len(t.parts); a++ {
		if !s.IsUniform(a) {
			tenon.Throw(failed(tenon.ErrUnsupported, "ragged.RowShapes", "", "rows of %v are ragged", t.described()))
		}
	}
	n := ops.Cast(t.NRows(), dtype.Int64)
	columns := []tensor.Tensor{ops.Cast(t.parts[0].RowLengths(), dtype.Int64)}
	for a := 2; a < s.Rank(); a++ {
		columns = append(columns, filled(n, ops.Cast(s.Dim(a), dtype.Int64)))
	}
	return ops.Stack(columns, 1)
}
