package main

import (
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	register("eager_overhead", func(r *runner) {
		r.chain("add4", tensor.Of(make([]float32, 4)), tensor.Of([]float32{1, 2, 3, 4}),
			func(x tensor.Tensor) []float32 { return tensor.Data[float32](x) })
	})
}

// chain times a thousand times x = x + y, each step a new value.
func (r *runner) chain(name string, x0, y tensor.Tensor, elems func(tensor.Tensor) []float32) {
	c := benchCase{name: name, inner: repeats, check: func(x any) []float64 { return inputs.Of(elems(x.(tensor.Tensor))) }}
	r.run(c, func() any {
		x := x0
		for range repeats {
			x = ops.Add(x, y)
		}
		return x
	})
}
