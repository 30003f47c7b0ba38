package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("ragged_reduce", raggedReduce) }

// raggedInput returns the ragged input of the workloads on rows.
func raggedInput(r *runner) (x *ragged.Tensor, rows int) {
	rows = r.pick(1_000_000, 10_000, 100)
	values, splits := inputs.Ragged(3, 0, rows)
	return tenon.Must(ragged.FromRowSplits(tensor.Of(values), splits)), rows
}

// raggedSum is the checksum of a ragged tensor: its flat values, then its row lengths.
func raggedSum(x any) []float64 {
	t := x.(*ragged.Tensor)
	var c inputs.Sum
	inputs.Add(&c, tensor.Data[float32](t.FlatValues()))
	inputs.Add(&c, tensor.Data[int64](t.Partition().RowLengths()))
	return c.Checksum()
}

// sizeOf returns the bytes of a ragged tensor: values and splits.
func sizeOf(x *ragged.Tensor) float64 {
	return float64(4*x.FlatValues().Shape().Size() + 8*x.RowSplits().Shape().Size())
}

func raggedReduce(r *runner) {
	x, rows := raggedInput(r)
	bytes := sizeOf(x) + float64(4*rows)
	r.run(benchCase{name: "sum", bytes: bytes, check: denseSum}, func() any { return ops.Sum(x, 1) })
	r.run(benchCase{name: "max", bytes: bytes, check: denseSum}, func() any { return ops.Max(x, 1) })
	r.run(benchCase{name: "mean", bytes: bytes, check: denseSum}, func() any { return ops.Mean(x, 1) })
	bytes = sizeOf(x) + float64(4*x.FlatValues().Shape().Size())
	r.run(benchCase{name: "softmax", bytes: bytes, check: raggedSum}, func() any { return ops.Softmax(x, -1) })
}
