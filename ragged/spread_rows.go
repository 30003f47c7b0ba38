package ragged

import (
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// SpreadRows returns a tensor with t's partitions in which every element is the entry of its row in
// perRow, a vector with an entry for each row of t. If that number of entries is known to be right,
// it is perRow with dimensions of size 1 appended, to be broadcast. The inner dimensions have size
// 1.
func (t *Tensor) SpreadRows(perRow tensor.Tensor) tensor.Tensor {
	flat := perRow
	for _, p := range t.parts {
		flat = rows.Repeat(flat, p.RowSplits(), p.StaticNVals())
	}
	for range t.flat.Shape().Rank() - 1 {
		flat = ops.ExpandDims(flat, 1)
	}
	return t.with(flat)
}
