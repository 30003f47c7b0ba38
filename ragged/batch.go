package ragged

import (
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Operations whose result has a length that depends on data give rows of different
// lengths, one for each row of a batch. Dense tensors have no place for those, so
// the rules for them are here and not beside the operations.
func init() {
	if o, ok := op.Lookup("range"); ok {
		o.Batch = batchRange
	}
}

// batchRange makes a range for each row, where the number of elements differs.
func batchRange(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
	y, err := Range(c.Value(0), c.Value(1), c.Value(2), RangeOptions{})
	if err != nil {
		return nil, err
	}
	return []tensor.Tensor{y}, nil
}
