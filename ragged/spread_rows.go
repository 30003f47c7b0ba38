package ragged

import (
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// SpreadRows returns a tensor with t's partitions in which every element is what perRow, a
// vector with an entry for each row of t, has for the row: perRow with dimensions of size 1
// behind it, broadcast, where it is known that there are as many entries as rows. The inner
// dimensions have size 1.
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
