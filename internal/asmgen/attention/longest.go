package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// longestRow writes a function for the greatest sum of squares among rows, with scaled one
// that also writes the rows multiplied by a number and looks at those.
func longestRow(m vec.Machine, scaled bool) {
	var dst, dstStride reg.GPVirtual
	var by vec.V
	if scaled {
		TEXT(m.Name("scaledRows"), NOSPLIT, "func(dst, x *float32, rows, n, dstStride, stride int, by float32, out *float32)")
		Doc(m.Name("scaledRows")+" sets rows of n elements to by times those of x, and out to the", "greatest sum of their squares. Rows start stride bytes apart.")
		dst, dstStride = vec.Arg("dst"), vec.Arg("dstStride")
		addr, err := Param("by").Resolve()
		if err != nil {
			panic(err)
		}
		by = m.Broadcast(addr.Addr)
	} else {
		TEXT(m.Name("longestRow"), NOSPLIT, "func(x *float32, rows, n, stride int, out *float32)")
		Doc(m.Name("longestRow")+" sets out to the greatest sum of squares of rows of n elements,", "stride bytes apart.")
	}
	Pragma("noescape")
	x, rows, stride, out := vec.Arg("x"), vec.Arg("rows"), vec.Arg("stride"), vec.Arg("out")
	r := newRow(m, vec.Arg("n"))

	// Sums are not negative, so that their bits have their order as integers, and those of a
	// NaN are the greatest.
	most := XMM()
	VXORPS(most, most, most)
	Label("row")
	sum := m.Zero()
	r.each("squares", func(load func(reg.GPVirtual, vec.V) vec.V, store func(vec.V, reg.GPVirtual), _ *vec.Mask) {
		v := load(x, nil)
		if scaled {
			v = m.Mul(v, by)
			store(v, dst)
		}
		VFMADD231PS(v, v, sum)
	})
	all := across(m, sum, func(a, b, c Op) { VADDPS(a, b, c) })
	VPMAXUD(all.AsX(), most, most)
	ADDQ(stride, x)
	if scaled {
		ADDQ(dstStride, dst)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	VMOVSS(most, Mem{Base: out})
	VZEROUPPER()
	RET()
}

// addLanes writes a function that adds up 16 numbers for each row.
func addLanes(m vec.Machine) {
	TEXT(m.Name("addLanes"), NOSPLIT, "func(sums *float32, rows int, first float32, stats *float32)")
	Doc(m.Name("addLanes") + " sets pairs of stats to first and the sum of 16 numbers.")
	Pragma("noescape")
	sums := vec.Arg("sums")
	rows := vec.Arg("rows")
	first := Load(Param("first"), XMM()).(reg.VecVirtual)
	stats := vec.Arg("stats")
	Label("row")
	sum := m.Reg()
	VMOVUPS(Mem{Base: sums}, sum)
	if !m.Wide {
		VADDPS(Mem{Base: sums}.Offset(32), sum, sum)
	}
	sum = across(m, sum, func(a, b, c Op) { VADDPS(a, b, c) })
	VMOVSS(first, Mem{Base: stats})
	VMOVSS(sum.AsX(), Mem{Base: stats}.Offset(4))
	ADDQ(Imm(64), sums)
	ADDQ(Imm(8), stats)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
