package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	register("ragged_elementwise", raggedElementwise)
	register("eager_overhead", func(r *runner) {
		x := tenon.Must(ragged.FromRowSplits(tensor.Of(make([]float32, 4)), []int64{0, 1, 4}))
		y := tenon.Must(x.WithFlatValues(tensor.Of([]float32{1, 2, 3, 4})))
		r.chain("ragged_add4", x, y, func(x tensor.Tensor) []float32 { return tensor.Data[float32](x.(*ragged.Tensor).FlatValues()) })
	})
}

// raggedElementwise computes relu(a*b + c) with one c for each row.
func raggedElementwise(r *runner) {
	a, rows := raggedInput(r)
	n := a.FlatValues().Shape().Size()
	b := tenon.Must(a.WithFlatValues(tensor.Of(inputs.Syms(4, 0, n, 1))))
	c := tensor.Of(inputs.Syms(4, 1, rows, 1), rows, 1)
	bytes := float64(12*n + 8*(rows+1) + 4*rows)
	type args struct {
		A, B *ragged.Tensor
		C    tensor.Tensor
	}
	body := func(in args) *ragged.Tensor {
		return ops.Relu(ops.Add(ops.Mul(in.A, in.B), in.C)).(*ragged.Tensor)
	}
	in := args{a, b, c}
	f := function.New(body)
	r.run(benchCase{name: "relu_axpy", bytes: bytes, check: raggedSum}, func() any { return f.Call(in) })
	r.run(benchCase{name: "relu_axpy_eager", bytes: bytes, check: raggedSum}, func() any { return body(in) })
}
