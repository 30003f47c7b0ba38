package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// DynamicStitch merges rows of several tensors: row i of data[k] becomes row indices[k][i]. It is
// the inverse of [DynamicPartition]. If indices have several dimensions, data must begin with the
// same ones. Of several rows with the same number, the last one is kept; rows that no index names
// are zero or empty.
//
//	indices: int[nₖ], data: [nₖ, a…] each → [max+1, a…]. Gradients: for data, in the rows that are kept.
func DynamicStitch(indices, data []tensor.Tensor) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.DynamicStitch"
	if len(indices) != len(data) || len(data) == 0 {
		return nil, invalid(fn, "", "there are %d lists of indices and %d tensors", len(indices), len(data))
	}
	ids, values := make([]tensor.Tensor, len(data)), make([]tensor.Tensor, len(data))
	for k, x := range data {
		values[k], ids[k] = outerRows(fn, x, indices[k], 1<<62)
	}
	at, rows := ops.Concat(ids, 0), ops.Concat(values, 0)
	total := ops.Cast(outerSize(rows), dtype.Int64)
	n := ops.Add(ops.Max(ops.Concat([]any{at, []int64{-1}}, 0)), int64(1))
	if c, ok := op.Known(n); ok && tensor.Data[int64](c)[0] > 1<<40 {
		return nil, invalid(fn, "indices", "need %d rows, more than fit in memory", tensor.Data[int64](c)[0])
	}
	from := ops.TensorScatterMax(filled(n, tensor.Scalar(int64(-1))), ops.ExpandDims(at, 1), numbers(total))
	return takeOrNothing(rows, from, ops.GreaterEqual(from, int64(0))), nil
}
