// Command segment generates the kernels of internal/kernel/segment: what is done to
// short rows that lie one behind the other, for AVX-512 and AVX2.
//
// The kernels read whole vectors from the beginning of each row, beyond its end, and
// mask in registers what does not belong to it: masked loads from unaligned
// addresses cost some 20 cycles each. Their callers see to it that this memory is
// theirs to read.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// floats are the vectors that arithmetic is done in.
var floats = []vec.Machine{
	{Wide: true, Elem: vec.Float32}, {Wide: true, Elem: vec.Float64},
	{Wide: false, Elem: vec.Float32}, {Wide: false, Elem: vec.Float64},
}

func main() {
	ConstraintExpr("amd64,!purego")
	for _, wide := range []bool{true, false} {
		for _, e := range []vec.Elem{vec.Float32, vec.Float64, vec.Int32, vec.Int64} {
			m := vec.Machine{Wide: wide, Elem: e}
			reductions(m)
			tallies(m)
			folds(m)
		}
		truths(wide)
		foldTruths(wide)
	}
	for _, m := range floats {
		flats(m)
		perRow := rowwise
		if m.Wide {
			perRow = spread
		}
		perRow(m, "mulRows", "x[i] c[r]", func(x, c vec.V) vec.V { return m.Mul(x, c) })
		perRow(m, "subRows", "x[i] - c[r]", func(x, c vec.V) vec.V { return m.Sub(x, c) })
	}
	for _, m := range floats {
		if m.Wide {
			inverseMark(m)
			scaleAhead(m)
		}
	}
	fence()
	gatherSplits()
	for _, wide := range []bool{true, false} {
		splits(wide)
		movers(wide)
		accumulate(vec.Machine{Wide: wide, Elem: vec.Int64})
	}
	for _, e := range []vec.Elem{vec.Float32, vec.Int32} {
		sortRows(e)
		argsortRows(e)
	}
	for _, e := range []vec.Elem{vec.Float64, vec.Int64} {
		sortRows(e)
		argsortLong(e)
	}
	Generate()
}
