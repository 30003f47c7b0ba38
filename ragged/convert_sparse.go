package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// ToSparse returns the parts of a sparse tensor in coordinate form: the coordinates of all elements
// in row-major order, the elements, and the dense shape, which is [Tensor.BoundingShape].
//
//	[n, (rows), a…] of rank r → int64[m, r], [m], int64[r]
func (t *Tensor) ToSparse() (indices, values, denseShape tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const d = dtype.Int64
	denseShape = t.boundingShape(d)
	s := ShapeOf(t)
	rank, k := s.Rank(), len(t.parts)
	// The coordinates along the inner dimensions of each flat value, followed by those along the
	// partitions, repeated for each of them.
	inner := innerSizes(s)
	perValue := staticSize(1)
	for _, z := range inner[1:] {
		perValue = times(perValue, z, d)
	}
	n := times(inner[0], perValue, d)
	columns := make([]tensor.Tensor, rank)
	at := ops.Range(scalar(0, d), n.scalar(d), scalar(1, d))
	for j := rank - 1; j > k; j-- {
		z := inner[j-k].scalar(d)
		columns[j] = ops.Mod(at, atLeast1(z))
		at = ops.FloorDiv(at, atLeast1(z))
	}
	if len(inner) == 1 {
		at = nil // the flat values themselves
	}
	for i := k; i >= 0; i-- {
		var c tensor.Tensor // for each slice of dimension i, its position in its row
		if i == 0 {
			c = at
			if c == nil {
				c = ops.Range(scalar(0, d), s.slices(0).scalar(d), scalar(1, d))
			}
		} else {
			p := t.parts[i-1]
			c = atPositions(cast(p.OffsetsInRows(), d), at)
			at = atPositions(cast(p.ValueRowIDs(), d), at)
		}
		columns[i] = c
	}
	return ops.Stack(columns, 1), reshapeTo(t.flat, []size{n}, d), denseShape, nil
}

// atPositions returns x at positions; nil means all of x in order.
func atPositions(x, at tensor.Tensor) tensor.Tensor {
	if at == nil {
		return x
	}
	return ops.Gather(x, at, 0)
}

// times returns the product of two sizes.
func times(a, b size, d dtype.DType) size {
	if a.n >= 0 && b.n >= 0 {
		return staticSize(a.n * b.n)
	}
	return size{-1, func() tensor.Tensor { return ops.Mul(a.scalar(d), b.scalar(d)) }}
}

// atLeast1 returns n, or 1 if n is 0, so that it can be a divisor.
func atLeast1(n tensor.Tensor) tensor.Tensor {
	if known(n) > 0 {
		return n
	}
	return ops.Maximum(n, 1)
}

// FromSparse returns the elements of a sparse tensor of rank 2, given by its parts, as the rows of
// a ragged tensor. The coordinates must be in row-major order, and the elements of each row must be
// in columns 0, 1, 2, … without gaps. splits is the type of the row splits; None means int64.
//
//	indices: int[m, 2], values: [m], denseShape: int[2] → [denseShape[0], (row)]
func FromSparse(indices, values, denseShape any, splits dtype.DType) (t *Tensor, err error) {
	const fn = "ragged.FromSparse"
	defer tenon.Catch(&err)
	x, v, d := converted(fn, "indices", indices), converted(fn, "values", values), converted(fn, "denseShape", denseShape)
	if splits == dtype.None {
		splits = dtype.Int64
	}
	if splits != dtype.Int64 && splits != dtype.Int32 {
		return nil, invalid(fn, "splits", "row splits are int64 or int32, not %v", splits)
	}
	if s := x.Shape(); !s.HasRank() || s.Rank() != 2 || s.Dim(1) != 2 {
		return nil, failed(tenon.ErrShape, fn, "indices", "have the shape %v, want [m, 2]: only a sparse matrix has rows", s)
	}
	if s := d.Shape(); s.HasRank() && (s.Rank() != 1 || s.Dim(0) >= 0 && s.Dim(0) != 2) {
		return nil, failed(tenon.ErrShape, fn, "denseShape", "has the shape %v, want [2]", s)
	}
	for i, name := range [...]string{"indices", "denseShape"} {
		if k := [...]tensor.Tensor{x, d}[i].DType(); k != dtype.Int64 && k != dtype.Int32 {
			return nil, invalid(fn, name, "have the element type %v, want int64 or int32", k)
		}
	}
	columns := ops.Unstack(x, 1)
	p := tenon.Must(PartitionFromValueRowIDs(cast(columns[0], splits), PartitionOptions{NRows: cast(ops.Index(d, 0), splits)}))
	p = tenon.Must(withoutGaps(fn, columns[1], p))
	return fromPartition(fn, v, p)
}

// withoutGaps returns p after checking that columns are the offsets of its values.
func withoutGaps(fn string, columns tensor.Tensor, p *RowPartition) (*RowPartition, error) {
	right := ops.Equal(columns, cast(p.OffsetsInRows(), columns.DType()))
	if _, ok := right.(*tensor.Dense); ok {
		if wrong := tensor.Data[int64](ops.Nonzero(ops.LogicalNot(right))); len(wrong) > 0 {
			return nil, invalid(fn, fmt.Sprintf("indices[%d]", wrong[0]), "leaves a gap in its row, or is out of order")
		}
		return p, nil
	}
	// In a graph, check that as many columns are right as there are values.
	return newPartition(rows.Validate(p.RowSplits(), ops.Sum(ops.Cast(right, p.spec.dtype))), p.nvals), nil
}
