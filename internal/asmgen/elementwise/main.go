// Command elementwise generates the loops of internal/kernel/elementwise.
//
// Every function works on n elements, from 0 up, at any alignment; operands may
// be the same memory as the result. Names end in the element type and the
// instruction set: addF32AVX512.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

func main() {
	wide := flag.Bool("wide", false, "generate for AVX-512 instead of AVX2")
	flag.Parse()
	ConstraintExpr("amd64,!purego")
	for _, e := range []vec.Elem{vec.Float32, vec.Float64, vec.Int32, vec.Int64} {
		m := machine{Wide: *wide, Elem: e}
		arithmetic(m)
		comparisons(m)
		if m.Elem.IsFloat() {
			simple(m)
			functions(m)
		} else {
			integers(m)
		}
	}
	for _, e := range []vec.Elem{vec.Float32, vec.Float64} {
		selection(machine{Wide: *wide, Elem: e})
	}
	power(machine{Wide: *wide, Elem: vec.Float32}, "pow", false)
	power(machine{Wide: *wide, Elem: vec.Float32}, "powVS", true)
	casts(machine{Wide: *wide, Elem: vec.Float32})
	Generate()
}
