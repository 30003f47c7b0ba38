package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// halves writes the conversions of 16-bit floating-point numbers to float32, 8 at a
// time: they run at the speed of the second-level cache, where wider ones would not
// be faster.
func halves() {
	half("fromF16AVX2", func(from Mem, v reg.VecVirtual) { VCVTPH2PS(from, v) })
	half("fromBF16AVX2", func(from Mem, v reg.VecVirtual) {
		VPMOVZXWD(from, v)
		VPSLLD(Imm(16), v, v)
	})
}

func half(name string, convert func(from Mem, v reg.VecVirtual)) {
	TEXT(name, NOSPLIT, "func(blocks int, dst *float32, src *uint16)")
	Pragma("noescape")
	Doc(name + " converts blocks times 8 numbers; there is at least one block.")
	n := Load(Param("blocks"), GP64()).(reg.GPVirtual)
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	v := YMM()
	Label("block")
	convert(Mem{Base: src}, v)
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(Imm(16), src)
	ADDQ(Imm(32), dst)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
