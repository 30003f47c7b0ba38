// Command stream generates the copies of internal/kernel/stream, whose stores go
// past the cache.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

func main() {
	ConstraintExpr("amd64,!purego")
	copies("copyAVX512", 64)
	copies("copyAVX2", 32)
	fetch()
	Generate()
}

// copies emits a copy of n bytes, a multiple of 256, to memory aligned to 64. No
// fence follows, which would wait for memory after each block: the core that wrote
// sees its own stores in order, and whatever makes them known to another one in Go
// is a locked instruction, which drains the buffers.
func copies(name string, width int) {
	TEXT(name, NOSPLIT, "func(dst, src *byte, n int, ahead uintptr)")
	Doc(name+" copies n bytes, a multiple of 256, to dst, which is aligned to 64,", "and asks for n bytes from ahead on, which need not be there.")
	Pragma("noescape")
	dst := vec.Arg("dst")
	src := vec.Arg("src")
	n := vec.Arg("n")
	ahead := vec.Arg("ahead")
	Label("next")
	CMPQ(n, U32(256))
	JL(LabelRef("done"))
	for i := 0; i < 256; i += 64 {
		PREFETCHT0(Mem{Base: ahead, Disp: i})
	}
	for i := 0; i < 256; i += width {
		var v reg.VecVirtual = YMM()
		if width == 64 {
			v = ZMM()
		}
		VMOVUPS(Mem{Base: src, Disp: i}, v)
		VMOVNTPS(v, Mem{Base: dst, Disp: i})
	}
	ADDQ(U32(256), src)
	ADDQ(U32(256), dst)
	ADDQ(U32(256), ahead)
	SUBQ(U32(256), n)
	JMP(LabelRef("next"))
	Label("done")
	VZEROUPPER()
	RET()
}

// fetch emits a loop that asks for cache lines. They go to the second-level cache: the
// first one has a few dozen misses under way at most, and holds what is computed now.
func fetch() {
	TEXT("fetch", NOSPLIT, "func(at uintptr, n int)")
	Doc("fetch asks for the n bytes from at on, which need not be there.")
	at := vec.Arg("at")
	n := vec.Arg("n")
	Label("line")
	CMPQ(n, U32(0))
	JLE(LabelRef("fetched"))
	PREFETCHT1(Mem{Base: at})
	ADDQ(U32(64), at)
	SUBQ(U32(64), n)
	JMP(LabelRef("line"))
	Label("fetched")
	RET()
}
