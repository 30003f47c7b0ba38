package main

import (
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("softmax_layernorm", softmaxLayerNorm) }

// denseSum is the checksum of a float32 tensor.
func denseSum(x any) []float64 { return inputs.Of(tensor.Data[float32](x.(tensor.Tensor))) }

func softmaxLayerNorm(r *runner) {
	const columns = 1024
	rows := r.pick(4096, 256, 8)
	x := tensor.Of(inputs.Syms(10, 0, rows*columns, 4), rows, columns)
	gamma, beta := tensor.Of(inputs.Syms(10, 1, columns, 1)), tensor.Of(inputs.Syms(10, 2, columns, 1))
	bytes := float64(8 * rows * columns)
	r.run(benchCase{name: "softmax", bytes: bytes, check: denseSum}, func() any { return ops.Softmax(x, -1) })
	r.run(benchCase{name: "layernorm", bytes: bytes, check: denseSum}, func() any { return ops.LayerNorm(x, gamma, beta, 1e-5, -1) })
}
