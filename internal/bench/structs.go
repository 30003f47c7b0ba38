package main

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
)

func init() { register("structs", goStructs) }

// A reading is a flat record of numbers, of 64 bytes in columns.
type reading struct {
	A, B, C, D float64
	E, F       int64
	G, H       float32
	I, J       int32
}

// goStructs turns Go structs into columns and back. The bytes are those of the columns.
func goStructs(r *runner) {
	rows := make([]reading, r.pick(1<<20, 1<<14, 1<<10))
	for i := range rows {
		rows[i] = reading{A: float64(i), B: 0.5, E: int64(i), G: 2, I: int32(i % 7)}
	}
	bytes := float64(len(rows) * 64)
	sums := func(t *structured.Tensor) []float64 {
		return []float64{floatOf(t.NRows()), floatOf(ops.Sum(t.Path("A"))), floatOf(ops.Sum(t.Path("E"))), floatOf(ops.Sum(ops.Cast(t.Path("I"), dtype.Int64)))}
	}
	r.run(benchCase{name: "from", bytes: bytes, check: func(x any) []float64 { return sums(x.(*structured.Tensor)) }}, func() any {
		t, err := gostruct.From(rows)
		r.fail(err)
		return t
	})
	t, err := gostruct.From(rows)
	if r.fail(err) {
		return
	}
	back := func(x any) []float64 {
		again, err := gostruct.From(x.([]reading))
		r.fail(err)
		return sums(again)
	}
	r.run(benchCase{name: "to", bytes: bytes, check: back}, func() any {
		list, err := gostruct.To[reading](t)
		r.fail(err)
		return list
	})
}
