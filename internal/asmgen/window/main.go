// Command window generates the kernel of internal/kernel/window that shares gradients among equal
// elements, for AVX-512 and AVX2.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

type gp = reg.GPVirtual

func param(name string) gp { return Load(Param(name), GP64()).(gp) }

func main() {
	ConstraintExpr("amd64,!purego")
	for _, wide := range []bool{true, false} {
		m := vec.Machine{Wide: wide, Elem: vec.Float32}
		addEqual(m)
		addEqual(m.As(vec.Float64))
	}
	Generate()
}

// addEqual writes a function that adds where two arrays are equal.
func addEqual(m vec.Machine) {
	name := m.Name("addEqual")
	t := "*" + m.Elem.Go()
	TEXT(name, NOSPLIT, "func(dst, x, y, add "+t+", rows, n, dstRow, xRow int)")
	Pragma("noescape")
	Doc(name+" adds an element of add to that of dst where those of x and y are equal. There is at least one row, of at least one element;",
		"those of dst and x begin dstRow and xRow elements after each other, and those of y and add n.")
	dst, x, y, add := param("dst"), param("x"), param("y"), param("add")
	rows, n, dstRow, xRow := param("rows"), param("n"), param("dstRow"), param("xRow")
	whole, rest := GP64(), GP64()
	MOVQ(n, whole)
	ANDQ(I32(int32(-m.Lanes())), whole)
	MOVQ(n, rest)
	SUBQ(whole, rest)
	tail := m.FirstLanes(rest)
	for _, bytes := range []gp{n, dstRow, xRow, whole} {
		SHLQ(U8(map[int]uint8{4: 2, 8: 3}[m.Elem.Size()]), bytes)
	}
	i := GP64()
	at := func(base gp) Mem { return Mem{Base: base, Index: i, Scale: 1} }
	Label("row")
	XORQ(i, i)
	Label("vector")
	CMPQ(i, whole)
	JGE(LabelRef("rest"))
	equal := m.Cmp(vec.Equal, m.Load(at(x)), at(y))
	m.Store(m.Add(m.Keep(equal, m.Load(at(add))), at(dst)), at(dst))
	ADDQ(U8(uint8(m.Bytes())), i)
	JMP(LabelRef("vector"))
	Label("rest")
	TESTQ(rest, rest)
	JZ(LabelRef("next"))
	equal = m.Cmp(vec.Equal, m.LoadMasked(at(x), tail), m.LoadMasked(at(y), tail))
	m.StoreMasked(m.Add(m.Keep(equal, m.LoadMasked(at(add), tail)), m.LoadMasked(at(dst), tail)), at(dst), tail)
	Label("next")
	ADDQ(n, y)
	ADDQ(n, add)
	ADDQ(dstRow, dst)
	ADDQ(xRow, x)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
