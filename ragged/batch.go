package ragged

import (
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Operations whose result length depends on data give rows of different lengths when they are
// batched. Dense tensors cannot hold such rows, so the batch rules are here instead of with the
// operations.
func init() {
	if o, ok := op.Lookup("range"); ok {
		o.Batch = batchRange
	}
}

// batchRange makes a range for each row; the ranges may differ in length.
func batchRange(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
	y, err := Range(c.Value(0), c.Value(1), c.Value(2), RangeOptions{})
	if err != nil {
		return nil, err
	}
	return []tensor.Tensor{y}, nil
}
