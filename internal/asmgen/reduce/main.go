// Command reduce generates the kernels of internal/kernel/reduce: sums, extremes,
// and the steps of which softmax and the normalisations of rows are made.
//
// Every function works on n elements, from 0 up, at any alignment; dst may be the
// same memory as an operand.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

type (
	machine  = vec.Machine
	vector   = vec.V
	constant = vec.Const
)

func main() {
	wide := flag.Bool("wide", false, "generate for AVX-512 instead of AVX2")
	flag.Parse()
	ConstraintExpr("amd64,!purego")
	for _, e := range []vec.Elem{vec.Float32, vec.Float64, vec.Int32, vec.Int64} {
		m := machine{Wide: *wide, Elem: e}
		extremes(m)
		if e.IsFloat() {
			sums(m)
			rows(m)
		}
	}
	Generate()
}

// flight is how many vectors with an exponential are in flight.
const flight = 2
