// Command gather generates the kernels of internal/kernel/gather: copies and sums of
// rows by index, and compaction by a mask, for AVX-512 and AVX2.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

type gp = reg.GPVirtual

func main() {
	ConstraintExpr("amd64,!purego")
	for _, wide := range []bool{true, false} {
		m := vec.Machine{Wide: wide, Elem: vec.Float32}
		ranks(m)
		compress(m, 4)
		compress(m, 8)
		for _, past := range []bool{false, true} {
			rows(m, past)
		}
		addRows(m)
		addRows(m.As(vec.Float64))
	}
	before()
	for _, bytes := range []int{8, 16, 32} {
		shortRows(bytes)
	}
	Generate()
}
