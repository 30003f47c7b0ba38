package main

import (
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("elementwise_fused", elementwiseFused) }

func elementwiseFused(r *runner) {
	const columns = 1024
	rows := r.pick(16384, 256, 8)
	x := tensor.Of(inputs.Syms(11, 0, rows*columns, 3), rows, columns)
	w, b := tensor.Of(inputs.Syms(11, 1, columns, 1)), tensor.Of(inputs.Syms(11, 2, columns, 1))
	gelu := func(approximate func(y tensor.Tensor) tensor.Tensor) *function.Function[func(x, w, b tensor.Tensor) tensor.Tensor] {
		return function.New(func(x, w, b tensor.Tensor) tensor.Tensor { return approximate(ops.Add(ops.Mul(x, w), b)) })
	}
	tanh := gelu(func(y tensor.Tensor) tensor.Tensor {
		cube := ops.Mul(ops.Mul(y, y), y)
		inner := ops.Mul(ops.Add(y, ops.Mul(cube, 0.044715)), 0.7978845608)
		return ops.Mul(ops.Mul(y, 0.5), ops.Add(ops.Tanh(inner), 1))
	})
	erf := gelu(func(y tensor.Tensor) tensor.Tensor {
		return ops.Mul(ops.Mul(y, 0.5), ops.Add(ops.Erf(ops.Mul(y, 0.7071067811865476)), 1))
	})
	bytes := float64(8 * rows * columns)
	r.run(benchCase{name: "gelu_tanh", bytes: bytes, check: denseSum}, func() any { return tanh.Call(x, w, b) })
	r.run(benchCase{name: "gelu_erf", bytes: bytes, check: denseSum}, func() any { return erf.Call(x, w, b) })
}
