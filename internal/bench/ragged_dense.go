package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
)

func init() { register("ragged_to_dense", raggedToDense) }

// raggedToDense fills rows up to one length, and takes what was filled away again.
func raggedToDense(r *runner) {
	const longest = 20
	x, rows := raggedInput(r)
	bytes := sizeOf(x) + float64(4*longest*rows)
	to := ragged.DenseOptions{Shape: []int{shape.Unknown, longest}, Default: float32(0)}
	dense := tenon.Must(x.ToDense(to))
	lengths := x.Partition().RowLengths()
	r.run(benchCase{name: "pad", bytes: bytes, check: denseSum}, func() any { return tenon.Must(x.ToDense(to)) })
	r.run(benchCase{name: "unpad", bytes: bytes, check: raggedSum}, func() any {
		return tenon.Must(ragged.FromDense(dense, ragged.FromDenseOptions{Lengths: lengths}))
	})
}
