package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(onTwo(matMul), "matmul") // matrices of different sizes have a kernel
}

// matrices is an operand of a product of ragged tensors, as the matrices in its
// two innermost dimensions.
type matrices struct {
	batch []*RowPartition // partitions around the matrices
	n     tensor.Tensor   // number of matrices
	rows  tensor.Tensor   // int64: number of rows of each
	cols  tensor.Tensor   // int64: number of columns of each
	m, k  int             // the common numbers of all, if they are declared, or -1
	flat  tensor.Tensor   // all elements
}

func matMul(c *op.Call, x, y tensor.Tensor) ([]tenon.Value, error) {
	if x.DType() != y.DType() {
		ts := promotedTensors([]tensor.Tensor{x, y})
		x, y = ts[0], ts[1]
	}
	ta, tb := c.Bool(2), c.Bool(3)
	if rankOf(x) < 2 || rankOf(y) < 2 {
		return nil, c.Errorf(tenon.ErrShape, "operands have ranks %d and %d, want matrices", rankOf(x), rankOf(y))
	}
	// Multiply all rows of a ragged operand by one dense matrix together.
	if t, ok := x.(*Tensor); ok && !ta && t.flat.Shape().Rank() >= 2 {
		if _, ragged := y.(*Tensor); !ragged && rankOf(y) == 2 {
			return op.One(t.with(ops.MatMulT(t.flat, y, false, tb)))
		}
	}
	if rankOf(x) != rankOf(y) {
		return nil, c.Errorf(tenon.ErrShape, "operands have ranks %d and %d", rankOf(x), rankOf(y))
	}
	a, b := matricesOf(c, x), matricesOf(c, y)
	sameBatch(c, a, b)
	// A matrix without rows has as many columns as the other side requires, unless the number was
	// declared.
	inner := b.rows
	if tb {
		inner = b.cols
	}
	if !ta && a.k < 0 {
		a.cols = ops.Where(ops.Equal(a.rows, int64(0)), inner, a.cols)
	}
	flat := rows.MatMul(a.flat, b.flat, ops.Stack([]tensor.Tensor{a.rows, a.cols}, 1), ops.Stack([]tensor.Tensor{b.rows, b.cols}, 1), ta, tb)
	out := matrices{batch: a.batch, n: a.n, rows: a.rows, m: a.m, cols: b.cols, k: b.k, flat: flat}
	if len(out.batch) == 0 {
		out.batch = b.batch
	}
	if ta {
		out.rows, out.m = a.cols, a.k
	}
	if tb {
		out.cols, out.k = b.rows, b.m
	}
	return op.One(out.tensor(rankOf(x) == 2 && rankOf(y) == 2, commonSplits([]tensor.Tensor{x, y})))
}

// matricesOf returns the matrices in the two innermost dimensions of a tensor.
func matricesOf(c *op.Call, x tensor.Tensor) *matrices {
	out := &matrices{m: -1, k: -1}
	t, ok := x.(*Tensor)
	if !ok || t.flat.Shape().Rank() > 2 { // matrices of equal size
		out.flat, out.batch = split(atLeast(x, rankOf(x)-3))
		out.n = tensor.Scalar(int64(1))
		if rankOf(out.flat) > 2 {
			out.n = ops.Cast(outerSize(out.flat), dtype.Int64)
		}
		out.m, out.k = out.flat.Shape().Dim(-2), out.flat.Shape().Dim(-1)
		out.rows, out.cols = filled(out.n, sizeOf(out.flat, -2, dtype.Int64)), filled(out.n, sizeOf(out.flat, -1, dtype.Int64))
		out.flat = ops.Reshape(out.flat, []int{-1})
		return out
	}
	k := len(t.parts)
	if t.flat.Shape().Rank() == 2 {
		p := t.parts[k-1]
		out.batch, out.n = t.parts[:k-1], ops.Cast(p.NRows(), dtype.Int64)
		out.rows, out.m = ops.Cast(p.RowLengths(), dtype.Int64), p.StaticUniformRowLength()
		out.k = t.flat.Shape().Dim(1)
		out.cols = filled(out.n, ops.Cast(sizeOf(t.flat, 1, dtype.Int64), dtype.Int64))
		out.flat = ops.Reshape(t.flat, []int{-1})
		return out
	}
	out.flat = t.flat
	inner := ops.Cast(t.parts[k-1].RowLengths(), dtype.Int64)
	out.k = t.parts[k-1].StaticUniformRowLength()
	var splits tensor.Tensor
	if k == 1 {
		out.n = tensor.Scalar(int64(1))
		out.rows = ops.Reshape(ops.Cast(t.NRows(), dtype.Int64), []int{1})
		out.m = t.parts[0].StaticNRows()
		splits = oneRow(ops.Cast(t.NRows(), dtype.Int64))
	} else {
		p := t.parts[k-2]
		out.batch, out.n = t.parts[:k-2], ops.Cast(p.NRows(), dtype.Int64)
		out.rows, out.m = ops.Cast(p.RowLengths(), dtype.Int64), p.StaticUniformRowLength()
		splits = p.RowSplits()
	}
	out.cols = ops.Maximum(rows.Max(inner, splits), int64(0))
	least := ops.Where(ops.Equal(out.rows, int64(0)), out.cols, rows.Min(inner, splits))
	if same, ok := op.Known(ops.Equal(out.cols, least)); ok {
		for i, s := range tensor.Data[bool](same) {
			if !s {
				e := c.Errorf(tenon.ErrInvalid, "rows of a matrix have different lengths")
				e.Where = "matrix " + itoa(i)
				tenon.Throw(e)
			}
		}
	}
	return out
}

// sameBatch checks that both sides have the same batch dimensions.
func sameBatch(c *op.Call, a, b *matrices) {
	if n, m := known(a.n), known(b.n); n >= 0 && m >= 0 && n != m {
		tenon.Throw(c.Errorf(tenon.ErrShape, "there are %d and %d matrices", n, m))
	}
	if len(a.batch) != len(b.batch) {
		tenon.Throw(c.Errorf(tenon.ErrShape, "the operands have %d and %d batch dimensions", len(a.batch)+1, len(b.batch)+1))
	}
	samePartitions(c.Op.Func(), a.batch, b.batch)
}

// tensor combines matrices: to a ragged tensor if their sizes vary, and to a dense one otherwise.
// Row splits have type d.
func (x *matrices) tensor(single bool, d dtype.DType) tensor.Tensor {
	batch := partsAs(x.batch, d)
	switch {
	case single:
		return ops.Reshape(x.flat, ops.Stack([]tensor.Tensor{ops.Index(x.rows, 0), ops.Index(x.cols, 0)}, 0))
	case x.m >= 0 && x.k >= 0:
		return onTop(ops.Reshape(x.flat, ops.Stack([]any{x.n, int64(x.m), int64(x.k)}, 0)), batch)
	}
	p := newPartition(rows.FromLengths(ops.Cast(x.rows, d)), -1)
	if x.m >= 0 {
		p = newUniform(ops.Cast(x.n, d), scalar(x.m, d))
	}
	var below tensor.Tensor
	if x.k >= 0 {
		below = ops.Reshape(x.flat, ops.Stack([]any{ops.Cast(p.NVals(), dtype.Int64), int64(x.k)}, 0))
	} else {
		lengths := rows.Repeat(x.cols, p.RowSplits(), p.StaticNVals())
		below = partitioned(x.flat, newPartition(rows.FromLengths(ops.Cast(lengths, d)), -1))
	}
	return onTop(partitioned(below, p), batch)
}
