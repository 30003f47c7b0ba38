package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("function_call", functionCall) }

func functionCall(r *runner) {
	x := tensor.Of([]float32{1, 2, 3, 4})
	sum := func(x any) []float64 { return inputs.Of(tensor.Data[float32](x.(tensor.Tensor))) }
	addOne := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Add(x, 1) })
	r.run(benchCase{name: "call", inner: repeats, check: sum}, func() any {
		var out tensor.Tensor
		for range repeats {
			out = addOne.Call(x)
		}
		return out
	})

	nested := newNest60(func() tensor.Tensor { return tensor.Of([]float32{1, 2, 3, 4}) })
	oneLeaf := function.New(func(m nest60) tensor.Tensor { return ops.Add(m["a"][0][0], 1) })
	r.run(benchCase{name: "call_nest60", inner: repeats, check: sum}, func() any {
		var out tensor.Tensor
		for range repeats {
			out = oneLeaf.Call(nested)
		}
		return out
	})

	y, z := tensor.Scalar(float32(0.25)), tensor.Scalar(float32(0.5))
	type triple = func(x, y, z tensor.Tensor) tensor.Tensor
	fresh := func() *function.Function[triple] {
		return function.New(func(x, y, z tensor.Tensor) tensor.Tensor {
			for range 100 {
				x = ops.Mul(ops.Add(x, y), z)
			}
			return x
		})
	}
	r.run(benchCase{name: "trace200", check: sum}, func() any { return fresh().Call(x, y, z) })
	r.run(benchCase{name: "trace200_only"}, func() any { return tenon.Must(fresh().Trace(x, y, z)) })
	f := fresh()
	f.Call(x, y, z)
	const calls = 100
	r.run(benchCase{name: "run200", inner: calls, check: sum}, func() any {
		var out tensor.Tensor
		for range calls {
			out = f.Call(x, y, z)
		}
		return out
	})
}
