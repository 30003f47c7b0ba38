package train

import (
	"github.com/tenonml/tenon/internal/half"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// GlobalNorm returns the Euclidean norm of all gradients together.
func GlobalNorm(grads []tensor.Tensor) tensor.Tensor {
	var sum tensor.Tensor
	for _, g := range grads {
		g = half.Wide(g)
		s := ops.Sum(ops.Mul(g, g))
		if sum == nil {
			sum = s
		} else {
			sum = ops.Add(sum, s)
		}
	}
	if sum == nil {
		return tensor.Scalar(float32(0))
	}
	return ops.Sqrt(sum)
}

// ClipByGlobalNorm scales gradients so that their global norm is at most limit.
func ClipByGlobalNorm(grads []tensor.Tensor, limit float64) []tensor.Tensor {
	norm := GlobalNorm(grads)
	scale := ops.Div(limit, ops.Maximum(norm, limit))
	out := make([]tensor.Tensor, len(grads))
	for i, g := range grads {
		out[i] = ops.Mul(g, ops.Cast(scale, g.DType()))
	}
	return out
}
