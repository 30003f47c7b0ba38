package nn

import (
	"slices"

	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// withLast replaces the last axes of a dense tensor by others, one of which may be -1.
func withLast(x tensor.Tensor, axes int, by ...int) tensor.Tensor {
	s := x.Shape()
	lead := s.Slice(0, s.Rank()-axes)
	switch {
	case lead.IsFull():
		return ops.Reshape(x, append(lead.Dims(), by...))
	case lead.Rank() == 1 && slices.Min(by) > 0: // the sizes after it stay known
		return ops.Reshape(x, append([]int{-1}, by...))
	}
	to := make([]int64, len(by))
	for i, n := range by {
		to[i] = int64(n)
	}
	return ops.Reshape(x, ops.Concat([]any{ops.Slice(ops.Shape(x), []int{0}, []int{lead.Rank()}), to}, 0))
}
