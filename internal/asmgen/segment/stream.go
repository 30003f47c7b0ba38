package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// stream writes a copy that does not read the lines it writes, nor keep them in cache.
func stream(m vec.Machine) {
	name := "stream" + m.ISA()
	TEXT(name, NOSPLIT, "func(dst, src *byte, lines int)")
	Pragma("noescape")
	Doc(name+" copies lines of 64 bytes to dst, which is aligned to them, with non-temporal stores. There is at least one.",
		"Before other processors may look at dst, storeFence has to be called.")
	dst, src, n := vec.Arg("dst"), vec.Arg("src"), vec.Arg("lines")
	per := 64 / m.Bytes()
	copyLines := func(lines int) {
		for i := range lines * per {
			v := m.Load(Mem{Base: src, Disp: i * m.Bytes()})
			VMOVNTPS(v, Mem{Base: dst, Disp: i * m.Bytes()})
		}
		ADDQ(U32(uint64(64*lines)), src)
		ADDQ(U32(uint64(64*lines)), dst)
		SUBQ(U8(uint8(lines)), n)
	}
	Label("four")
	CMPQ(n, U8(4))
	JL(LabelRef("one"))
	copyLines(4)
	JMP(LabelRef("four"))
	Label("one")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	copyLines(1)
	JMP(LabelRef("one"))
	Label("done")
	VZEROUPPER()
	RET()
}

// fence writes what waits until non-temporal stores have arrived. It takes as long as
// they do, so it comes once behind many of them.
func fence() {
	TEXT("storeFence", NOSPLIT, "func()")
	Doc("storeFence orders all earlier stores of this processor before all later ones.")
	SFENCE()
	RET()
}
