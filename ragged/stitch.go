package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// DynamicStitch puts rows of several tensors into one: row i of data[k] becomes row
// indices[k][i]. It undoes [DynamicPartition]. Indices may have several dimensions, which
// the data begins with. Of rows with the same number the last one stays; rows that no
// index names are zero, or empty.
//
//	indices: int[nₖ], data: [nₖ, a…] each → [max+1, a…]. Gradient: of the data, for rows that stayed.
func DynamicStitch(indices, data []tensor.Tensor) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.DynamicStitch"
	if len(indices) != len(data) || len(data) == 0 {
		return nil, invalid(fn, "", "there are %d lists of indices and %d tensors", len(indices), len(data))
	}
	ids, values := make([]tensor.Tensor, len(data)), make([]tensor.Tensor, len(data))
	for k, x := range data {
		if values[k], ids[k], err = outerRows(fn, x, indices[k], 1<<62); err != nil {
			return nil, err
		}
	}
	at, rows := ops.Concat(ids, 0), ops.Concat(values, 0)
	if from, there, ok := stitches(at); ok {
		return takeOrNothing(rows, from, there), nil
	}
	total := ops.Cast(outerSize(rows), dtype.Int64)
	n := ops.Add(ops.Max(ops.Concat([]any{at, []int64{-1}}, 0)), int64(1))
	if c, ok := op.Known(n); ok && tensor.Data[int64](c)[0] > 1<<40 {
		return nil, invalid(fn, "indices", "need %d rows, more than memory holds", tensor.Data[int64](c)[0])
	}
	from := ops.TensorScatterMax(filled(n, tensor.Scalar(int64(-1))), ops.ExpandDims(at, 1), numbers(total))
	return takeOrNothing(rows, from, ops.GreaterEqual(from, int64(0))), nil
}

// stitches returns for each row of the result the last row that goes there, and whether one
// does, for numbers in memory; ok is false where the general way has to be taken, which also
// says what is wrong.
func stitches(at tensor.Tensor) (from, there tensor.Tensor, ok bool) {
	numbers := int64s(at)
	top := int64(-1)
	for _, k := range numbers {
		if k < 0 {
			return nil, nil, false
		}
		top = max(top, k)
	}
	if numbers == nil || top > int64(len(numbers))+manySegments {
		return nil, nil, false
	}
	out, places := tensor.Make[int64](shape.Of(int(top) + 1))
	mask, bits := tensor.Make[bool](shape.Of(int(top) + 1))
	for i, k := range numbers {
		places[k], bits[k] = int64(i), true
	}
	return out, mask, true
}
