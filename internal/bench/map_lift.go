package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("map_lift", mapLift) }

// mapLift divides every row by its length as a vector and takes the product with the
// beginning of w: written for one row and lifted, and written for all rows at once.
func mapLift(r *runner) {
	rows := r.pick(100_000, 1000, 50)
	values, splits := inputs.Ragged(16, 0, rows)
	x := tenon.Must(ragged.FromRowSplits(tensor.Of(values), tensor.Of(splits)))
	w := tensor.Of(inputs.Syms(16, 2, 20, 1))
	one := func(row tensor.Tensor, w tensor.Tensor) tensor.Tensor {
		n := ops.Div(row, ops.Add(ops.Sqrt(ops.Sum(ops.Mul(row, row))), 1e-6))
		return ops.Sum(ops.Mul(n, ops.Gather(w, ops.Range(0, ops.Size(row), 1), 0)))
	}
	lifted := function.New(func(x *ragged.Tensor, w tensor.Tensor) tensor.Tensor {
		return control.Map(func(row tensor.Tensor) tensor.Tensor { return one(row, w) }, tensor.Tensor(x))
	})
	r.run(benchCase{name: "map", items: float64(rows), unit: "rows", check: denseSum}, func() any { return lifted.Call(x, w) })
	bulk := function.New(func(x *ragged.Tensor, w tensor.Tensor) tensor.Tensor {
		length := ops.Add(ops.Sqrt(ops.SumKeep(ops.Mul(x, x), 1)), 1e-6)
		weights := tenon.Must(x.WithFlatValues(ops.Gather(w, x.Partition().OffsetsInRows(), 0)))
		return ops.Sum(ops.Mul(ops.Div(x, length), weights), 1)
	})
	r.run(benchCase{name: "bulk", items: float64(rows), unit: "rows", check: denseSum}, func() any { return bulk.Call(x, w) })
}
