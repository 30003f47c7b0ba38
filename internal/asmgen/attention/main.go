// Command attention generates the row kernels of internal/kernel/attention: what
// lies between its matrix products.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

func main() {
	ConstraintExpr("amd64,!purego")
	for _, m := range []vec.Machine{{Wide: true, Elem: vec.Float32}, {Elem: vec.Float32}} {
		maximum(m)
		exponentials(m)
		exponentialRows(m)
		divideRows(m)
		scoreGradRows(m)
		longestRow(m, false)
		longestRow(m, true)
		addLanes(m)
		m.Map(vec.Loop{
			Name: "scoreGrad", Doc: "sets dst[i] = p[i] (dp[i] - mean) scale.",
			Vectors: "p,dp", Scalars: "mean,scale", Unroll: 2,
			Body: func(m vec.Machine, x []vec.V) vec.V {
				return m.Mul(m.Mul(m.Sub(x[1], x[2]), x[0]), x[3])
			},
		})
	}
	Generate()
}

// vectors emits body for whole vectors of x[0:n], and once with the mask of the rest.
func vectors(m vec.Machine, x, n reg.GPVirtual, body func(at Mem, rest *vec.Mask)) {
	Label("vector")
	CMPQ(n, U32(uint64(m.Lanes())))
	JL(LabelRef("rest"))
	body(Mem{Base: x}, nil)
	ADDQ(U32(uint64(m.Bytes())), x)
	SUBQ(U32(uint64(m.Lanes())), n)
	JMP(LabelRef("vector"))
	Label("rest")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	k := m.FirstLanes(n)
	body(Mem{Base: x}, &k)
	Label("done")
}

// fold combines the lanes of v and stores the result.
func fold(m vec.Machine, v vec.V, combine func(a, b, c Op), to Mem) {
	VMOVSS(across(m, v, combine).AsX(), to)
	VZEROUPPER()
	RET()
}

// maximum writes a function for the greatest of some elements; NaN may be passed over.
func maximum(m vec.Machine) {
	TEXT(m.Name("maximum"), NOSPLIT, "func(x *float32, n int, out *float32)")
	Doc(m.Name("maximum") + " sets out to the greatest of x[0:n].")
	Pragma("noescape")
	x := vec.Arg("x")
	n := vec.Arg("n")
	out := vec.Arg("out")
	least := m.Load(vec.Const(math.Inf(-1)))
	most := m.Load(least)
	vectors(m, x, n, func(at Mem, rest *vec.Mask) {
		var v vec.V
		if rest == nil {
			v = m.Load(at)
		} else {
			v = m.Blend(*rest, m.LoadMasked(at, *rest), least)
		}
		VMAXPS(v, most, most)
	})
	fold(m, most, func(a, b, c Op) { VMAXPS(a, b, c) }, Mem{Base: out})
}

// exponentials writes a function that replaces scores by exponentials and adds them up.
func exponentials(m vec.Machine) {
	TEXT(m.Name("exponentials"), NOSPLIT, "func(x *float32, n int, shift float32, out *float32)")
	Doc(m.Name("exponentials")+" sets x[i] = exp(x[i] - shift) for i < n,", "and out to their sum.")
	Pragma("noescape")
	x := vec.Arg("x")
	n := vec.Arg("n")
	out := vec.Arg("out")
	addr, err := Param("shift").Resolve()
	if err != nil {
		panic(err)
	}
	shift := m.Broadcast(addr.Addr)
	sum := m.Zero()
	vectors(m, x, n, func(at Mem, rest *vec.Mask) {
		if rest == nil {
			e := m.Exp(m.Sub(m.Load(at), shift))
			m.Store(e, at)
			VADDPS(e, sum, sum)
			return
		}
		e := m.Keep(*rest, m.Exp(m.Sub(m.LoadMasked(at, *rest), shift)))
		m.StoreMasked(e, at, *rest)
		VADDPS(e, sum, sum)
	})
	fold(m, sum, func(a, b, c Op) { VADDPS(a, b, c) }, Mem{Base: out})
}
