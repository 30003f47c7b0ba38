package main

import (
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("ragged_gather_concat", raggedGather) }

// raggedGather takes rows by number, and joins two tensors row by row or one behind the
// other.
func raggedGather(r *runner) {
	x, rows := raggedInput(r)
	m := rows * 3 / 10
	i1, i2 := tensor.Of(inputs.Belows(5, 0, m, rows)), tensor.Of(inputs.Belows(5, 1, m, rows))
	g1, g2 := ops.Gather(x, i1, 0), ops.Gather(x, i2, 0)
	moved := func(ts ...tensor.Tensor) float64 {
		n := 0
		for _, t := range ts {
			n += t.(*ragged.Tensor).FlatValues().Shape().Size()
		}
		return float64(2 * 4 * n)
	}
	r.run(benchCase{name: "gather", bytes: moved(g1), check: raggedSum, newRows: true}, func() any { return ops.Gather(x, i1, 0) })
	r.run(benchCase{name: "concat0", bytes: moved(g1, g2), check: raggedSum, newRows: true}, func() any { return ops.Concat([]tensor.Tensor{g1, g2}, 0) })
	r.run(benchCase{name: "concat1", bytes: moved(g1, g2), check: raggedSum, newRows: true}, func() any { return ops.Concat([]tensor.Tensor{g1, g2}, 1) })
}
