package onnx

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

// segmented writes a reduction of segments: items are scattered into a tensor of neutral elements.
// Items that belong to no segment go to an additional one after the last.
func segmented(how string, nothing func(x T) T) func(e *node) string {
	return func(e *node) string {
		in := e.expanded(func(c *op.Call) []T {
			x, ids, n := segmentsOf(c)
			k := rank(ids)
			rest := ops.Index(sizesOf(x), key.From(k))
			front := ops.Reshape(ops.Add(n, int64(1)), []int{1})
			base := ops.Fill(ops.Concat([]any{front, rest}, 0), nothing(x))
			flat := ops.Reshape(x, ops.Concat([]any{ops.Reshape(ops.Prod(sizesOf(ids)), []int{1}), rest}, 0))
			at := ops.Where(ops.Less(ids, int64(0)), n, ids)
			return []T{base, ops.Reshape(at, []int{-1, 1}), flat, ops.Reshape(n, []int{1})}
		})
		out := e.do("ScatterND", in[:3], withText("reduction", how))
		return e.do("Slice", []string{out, e.vector(0), in[3]})
	}
}

// segmentsOf returns the items of a call, the numbers of their segments, and the number of
// segments.
func segmentsOf(c *op.Call) (x, ids, n T) {
	x, ids = c.Tensor(0), ops.Cast(c.Tensor(1), dtype.Int64)
	if c.Has(2) {
		return x, ids, ops.Cast(c.Tensor(2), dtype.Int64)
	}
	all := ops.Concat([]any{ops.Reshape(ids, []int{-1}), vector([]int{-1})}, 0)
	return x, ids, ops.Add(ops.Max(all), int64(1))
}

// counted returns the number of items of each segment, shaped to broadcast over the items'
// other axes.
func counted(x, ids, n T) T {
	one := ops.Fill(sizesOf(ids), like(1, x))
	s := ops.SegmentSum(one, ids, n)
	return ops.Reshape(s, slices.Concat([]int{-1}, ones(rank(x)-rank(ids))))
}

func segmentMean(c *op.Call) T {
	x, ids, n := segmentsOf(c)
	if !x.DType().IsFloat() {
		x = ops.Cast(x, dtype.Float64)
	}
	return ops.Div(ops.SegmentSum(x, ids, n), counted(x, ids, n))
}

func segmentSqrtN(c *op.Call) T {
	x, ids, n := segmentsOf(c)
	return ops.Div(ops.SegmentSum(x, ids, n), ops.Sqrt(counted(x, ids, n)))
}

func segmentTruths(reduce func(data, ids, n any) T) func(c *op.Call) T {
	return func(c *op.Call) T {
		x, ids, n := segmentsOf(c)
		// The minimum and maximum of no items are not booleans.
		y := reduce(ops.Cast(x, dtype.Int32), ids, n)
		return ops.Greater(y, int32(0))
	}
}

func segmentCount(c *op.Call) T {
	x, ids, n := segmentsOf(c)
	if x.DType() != dtype.Bool {
		x = ops.LogicalNot(ops.Equal(x, zeroOf(x)))
	}
	return ops.SegmentSum(ops.Cast(x, dtype.Int64), ids, n)
}

func segmentLogSum(c *op.Call) T {
	x, ids, n := segmentsOf(c)
	most := ops.SegmentMax(x, ids, n)
	most = ops.Where(ops.IsInf(most), like(0, x), most)
	at := ops.Maximum(ids, int64(0))
	there := ops.Reshape(ops.LessEqual(int64(0), ids), ops.Concat([]any{sizesOf(ids), vector(ones(rank(x) - rank(ids)))}, 0))
	padded := ops.Concat([]any{most, ops.Fill(ops.Concat([]any{vector([]int{1}), ops.Index(sizesOf(most), key.From(1))}, 0), like(0, x))}, 0)
	e := ops.Where(there, ops.Exp(ops.Sub(x, ops.Gather(padded, at, 0))), like(0, x))
	return ops.Add(ops.Log(ops.SegmentSum(e, ids, n)), most)
}

// rowLengths returns the differences of row splits.
func rowLengths(splits T) T {
	return ops.Sub(ops.Index(splits, key.From(1)), ops.Index(splits, key.To(-1)))
}

// rowIDs returns the row number of each value, which is the number of rows that have begun.
func rowIDs(splits T) T {
	s := ops.Cast(splits, dtype.Int64)
	n := ops.Index(s, -1)
	begins := ops.Index(s, key.Range(1, -1, nil))
	marks := ops.Fill(ops.Reshape(ops.Add(n, int64(1)), []int{1}), int64(0))
	marks = ops.TensorScatterAdd(marks, ops.ExpandDims(begins, 1), ops.Fill(sizesOf(begins), int64(1)))
	ids := ops.CumSum(ops.Index(marks, key.To(-1)), 0, ops.CumOptions{})
	return ops.Cast(ids, splits.DType())
}

// rowCount is the number of rows.
func rowCount(splits T) T { return ops.Sub(size1(splits, 0), int64(1)) }

// ofRows expresses a reduction of rows by one of segments.
func ofRows(reduce func(data, ids, n any) T) func(c *op.Call) T {
	return func(c *op.Call) T { return reduce(c.Tensor(0), rowIDs(c.Tensor(1)), rowCount(c.Tensor(1))) }
}

// numbersOf converts booleans to numbers before a reduction.
func numbersOf(d dtype.DType, reduce func(data, ids, n any) T) func(data, ids, n any) T {
	return func(data, ids, n any) T {
		if data.(T).DType().IsBool() {
			data = ops.Cast(data, d)
		}
		return reduce(data, ids, n)
	}
}

func softmaxOfRows(x, splits T) T {
	ids, n := rowIDs(splits), rowCount(splits)
	e := ops.Exp(ops.Sub(x, ops.Gather(ops.SegmentMax(x, ids, n), ids, 0)))
	return ops.Div(e, ops.Gather(ops.SegmentSum(e, ids, n), ids, 0))
}

// embeddingBag sums rows of a table, each multiplied by its weight.
func embeddingBag(c *op.Call) T {
	table, ids, weights, splits := c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Tensor(3)
	rows := ops.Mul(ops.Gather(table, ids, 0), ops.ExpandDims(weights, -1))
	return ops.SegmentSum(rows, rowIDs(splits), rowCount(splits))
}
