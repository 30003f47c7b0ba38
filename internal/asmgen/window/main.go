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

func main() {
	ConstraintExpr("amd64,!purego")
	for _, wide := range []bool{true, false} {
		m := vec.Machine{Wide: wide, Elem: vec.Float32}
		shareEqual(m)
		shareEqual(m.As(vec.Float64))
	}
	Generate()
}

// shareEqual writes a function that shares what belongs to windows among their elements that equal
// a given one. Elements that are not equal get zero.
func shareEqual(m vec.Machine) {
	name := m.Name("shareEqual")
	t := "*" + m.Elem.Go()
	TEXT(name, NOSPLIT, "func(dst, x "+t+", at *int, elements int, y, ct "+t+", windows, n, step int)")
	Pragma("noescape")
	Doc(name+" adds, for each window and feature, an equal share of ct to the elements of dst where x is y.",
		"The elements of the first window are at the given numbers, those of the next one step later, and each is n features;",
		"there is at least one of each.")
	dst, x, at, elements, y, ct := vec.Arg("dst"), vec.Arg("x"), vec.Arg("at"), vec.Arg("elements"), vec.Arg("y"), vec.Arg("ct")
	windows, n, step := vec.Arg("windows"), vec.Arg("n"), vec.Arg("step")
	whole, rest := GP64(), GP64()
	MOVQ(n, whole)
	ANDQ(I32(int32(-m.Lanes())), whole)
	MOVQ(n, rest)
	SUBQ(whole, rest)
	tail := m.FirstLanes(rest)
	for _, bytes := range []gp{n, step, whole} {
		SHLQ(U8(sizeShift(m)), bytes)
	}
	// Elements of dst are as far from those of x everywhere.
	SUBQ(x, dst)
	i, e, p := GP64(), GP64(), GP64()
	ones := m.Load(vec.Const(1))
	vectors := func(load func(Mem) vec.V, store func(vec.V, Mem), label string) {
		here := func(base gp) Mem { return Mem{Base: base, Index: i, Scale: 1} }
		greatest, count := load(here(y)), m.Zero()
		element := func() vec.Mask {
			MOVQ(Mem{Base: at, Index: e, Scale: 8}, p)
			SHLQ(U8(sizeShift(m)), p)
			ADDQ(x, p)
			ADDQ(i, p)
			return m.Cmp(vec.Equal, load(Mem{Base: p}), greatest)
		}
		each := func(label string, f func()) {
			XORQ(e, e)
			Label(label)
			f()
			INCQ(e)
			CMPQ(e, elements)
			JL(LabelRef(label))
		}
		each("count"+label, func() {
			one := m.Keep(element(), ones)
			if m.Elem.Size() == 8 {
				VADDPD(one, count, count)
			} else {
				VADDPS(one, count, count)
			}
		})
		share := m.Div(load(here(ct)), count)
		each("share"+label, func() {
			add := m.Keep(element(), share)
			to := Mem{Base: p, Index: dst, Scale: 1}
			store(m.Add(add, load(to)), to)
		})
	}
	Label("window")
	XORQ(i, i)
	Label("vector")
	CMPQ(i, whole)
	JGE(LabelRef("rest"))
	vectors(func(mem Mem) vec.V { return m.Load(mem) }, m.Store, "")
	ADDQ(U8(uint8(m.Bytes())), i)
	JMP(LabelRef("vector"))
	Label("rest")
	TESTQ(rest, rest)
	JZ(LabelRef("next"))
	vectors(func(mem Mem) vec.V { return m.LoadMasked(mem, tail) }, func(v vec.V, mem Mem) { m.StoreMasked(v, mem, tail) }, "Rest")
	Label("next")
	ADDQ(n, y)
	ADDQ(n, ct)
	ADDQ(step, x)
	DECQ(windows)
	JNZ(LabelRef("window"))
	VZEROUPPER()
	RET()
}

func sizeShift(m vec.Machine) uint8 { return map[int]uint8{4: 2, 8: 3}[m.Elem.Size()] }
