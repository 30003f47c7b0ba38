package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// DynamicPartition distributes the rows of data among n tensors: row i goes to
// tensor partitions[i]. If partitions has several dimensions, data must begin
// with the same ones.
func DynamicPartition(data, partitions any, n int) (parts []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	x, ids := tenon.Must(tensor.Convert(data)), tenon.Must(tensor.Convert(partitions))
	x, ids = outerRows("ragged.DynamicPartition", x, ids, n)
	values, splits := byPart(x, ids, n)
	parts = make([]tensor.Tensor, n)
	for k := range parts {
		parts[k] = sliceOuter(values, ops.Index(splits, k), ops.Index(splits, k+1))
	}
	return parts, nil
}

// byPart returns the rows of x grouped into n consecutive parts, and the splits of the parts.
func byPart(x, ids tensor.Tensor, n int) (values, splits tensor.Tensor) {
	one := rows.Uniform(int64(1), outerSize(ids)) // each row by itself
	order, splits, _ := rows.FiberOrder(one, ids, int64(n))
	return gatherRows(x, order), splits
}

// StackDynamicPartitions is [DynamicPartition] with the parts returned as the rows of one ragged
// tensor.
//
//	data: [n, …], partitions: int[n] → [count, (rows), …]
func StackDynamicPartitions(data, partitions any, n int) (y *Tensor, err error) {
	defer tenon.Catch(&err)
	x, ids := tenon.Must(tensor.Convert(data)), tenon.Must(tensor.Convert(partitions))
	d := ids.DType() // splits have the type of the ids, or that of the operands' splits
	if r, ok := ids.(*Tensor); ok {
		d = r.parts[0].DType()
	}
	x, ids = outerRows("ragged.StackDynamicPartitions", x, ids, n)
	values, splits := byPart(x, ids, n)
	if _, p := split(values); len(p) > 0 {
		d = p[0].DType()
	}
	if d == dtype.Int32 {
		splits = cast(splits, d)
	}
	return partitioned(values, newPartition(splits, values.Shape().Dim(0))), nil
}

// outerRows merges the dimensions of x that ids has, and checks that the ids are below n.
func outerRows(fn string, x, ids tensor.Tensor, n int) (tensor.Tensor, tensor.Tensor) {
	if !ids.DType().IsInteger() {
		tenon.Throw(failed(tenon.ErrDType, fn, "partitions", "are %v, not integers", ids.DType()))
	}
	if n < 0 {
		tenon.Throw(invalid(fn, "n", "is %d", n))
	}
	r := rankOf(ids)
	if rankOf(x) < r {
		tenon.Throw(invalid(fn, "partitions", "have rank %d, the data %d", r, rankOf(x)))
	}
	switch {
	case r == 0:
		x, ids = withAxis(x, 0), ops.Reshape(ids, []int{1})
	case r > 1:
		a, b := atLeast(x, r-1).(*Tensor), atLeast(ids, r-1).(*Tensor)
		samePartitions(fn, a.parts[:r-1], b.parts)
		x, ids = merged(x, 0, r-1), merged(ids, 0, r-1)
	}
	ids, _ = split(ids)
	ids = ops.Cast(ids, dtype.Int64)
	if d, k := x.Shape().Dim(0), ids.Shape().Dim(0); d >= 0 && k >= 0 && d != k {
		tenon.Throw(invalid(fn, "partitions", "have %d entries for %d rows", k, d))
	}
	if c, ok := op.Known(ids); ok {
		for i, id := range tensor.Data[int64](c) {
			if id < 0 || id >= int64(n) {
				tenon.Throw(invalid(fn, "partitions["+itoa(i)+"]", "is %d, there are %d partitions", id, n))
			}
		}
	}
	return x, ids
}
