package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// batchRank returns the rank of a batched tensor, including the batch axis. Rules
// that count axes need to know it.
func batchRank(c *op.Call, x tensor.Tensor) (int, error) {
	if s := x.Shape(); s.HasRank() {
		return s.Rank(), nil
	}
	return 0, c.Errorf(tenon.ErrShape, "the rank of a batched operand is not known")
}

// shiftAxis converts an axis of a row to the same axis of the batch.
func shiftAxis(axis int) int {
	if axis < 0 {
		return axis
	}
	return axis + 1
}

// shiftAxes converts axes of a row to those of a batch of the given rank; nil, which means all
// axes, becomes all but the first.
func shiftAxes(axes []int, rank int) []int {
	out := make([]int, 0, rank)
	if axes == nil {
		for i := 1; i < rank; i++ {
			out = append(out, i)
		}
		return out
	}
	for _, a := range axes {
		out = append(out, shiftAxis(a))
	}
	return out
}
