package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// SegmentSum returns the sums, by segment, of the rows of data at the given positions. n is the
// number of segments; nil means one more than the last id.
//
//	data: [m, …], positions: int[k], ids: int[k] → [n, …]
func SegmentSum(data, positions, ids, n any) (tensor.Tensor, error) {
	return segments(ops.SegmentSum, data, positions, ids, n)
}

// SegmentMean is [SegmentSum] divided by the number of rows in the segment; a segment
// without rows gives 0, as in TensorFlow.
func SegmentMean(data, positions, ids, n any) (tensor.Tensor, error) {
	return segments(func(x, ids, n any) tensor.Tensor { return perRow(x, ids, n, false) }, data, positions, ids, n)
}

// SegmentSqrtN is [SegmentSum] divided by the square root of the number of rows.
func SegmentSqrtN(data, positions, ids, n any) (tensor.Tensor, error) {
	return segments(func(x, ids, n any) tensor.Tensor { return perRow(x, ids, n, true) }, data, positions, ids, n)
}

func segments(f func(data, ids, n any) tensor.Tensor, data, positions, ids, n any) (t tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return f(ops.Gather(data, positions, 0), ids, n), nil
}

func perRow(x, ids, n any, root bool) tensor.Tensor {
	sum := ops.SegmentSum(x, ids, n)
	ones := ops.Cast(ops.OnesLike(ids), sum.DType())
	count := ops.Maximum(ops.SegmentSum(ones, ids, n), 1.0)
	if root {
		count = ops.Sqrt(count)
	}
	for count.Shape().Rank() < sum.Shape().Rank() {
		count = ops.ExpandDims(count, -1)
	}
	return ops.Div(sum, count)
}
