package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// comparisons emits functions that write a byte, 0 or 1, for each element.
func comparisons(m machine) {
	for _, c := range []struct {
		name string
		p    vec.Predicate
		both bool // x > y is y < x: for two arrays it needs no function of its own
	}{
		{"equal", vec.Equal, true},
		{"notEqual", vec.NotEqual, true},
		{"less", vec.Less, true},
		{"lessEqual", vec.LessEqual, true},
		{"greater", vec.Greater, false},
		{"greaterEqual", vec.GreaterEqual, false},
	} {
		if c.both {
			compare(m, c.name, c.p, false)
		}
		compare(m, c.name+"VS", c.p, true)
	}
}

// compare emits one comparison. With AVX-512 it covers all n elements; with
// AVX2 the last n%32 are left to the caller, for want of masked byte stores.
func compare(m machine, name string, p vec.Predicate, scalar bool) {
	t := m.Elem.Go()
	if scalar {
		TEXT(m.Name(name), NOSPLIT, "func(dst *bool, x *"+t+", n int, y "+t+")")
	} else {
		TEXT(m.Name(name), NOSPLIT, "func(dst *bool, x, y *"+t+", n int)")
	}
	Doc(m.Name(name) + " sets dst to whether the comparison of x with y holds.")
	Pragma("noescape")
	dst := vec.Arg("dst")
	x := vec.Arg("x")
	n := vec.Arg("n")
	var y reg.GPVirtual
	var same vector
	if scalar {
		addr, err := Param("y").Resolve()
		if err != nil {
			panic(err)
		}
		same = m.Broadcast(addr.Addr)
	} else {
		y = vec.Arg("y")
	}
	holds := func(i int, tail *vec.Mask) vec.Mask {
		load := func(p reg.GPVirtual) vector {
			mem := Mem{Base: p, Disp: i * m.Bytes()}
			if tail != nil {
				return m.LoadMasked(mem, *tail)
			}
			return m.Load(mem)
		}
		if scalar {
			return m.Cmp(p, load(x), same)
		}
		return m.Cmp(p, load(x), load(y))
	}
	advance := func(count int) {
		ADDQ(U32(uint64(count*m.Elem.Size())), x)
		if !scalar {
			ADDQ(U32(uint64(count*m.Elem.Size())), y)
		}
		ADDQ(U32(uint64(count)), dst)
		SUBQ(U32(uint64(count)), n)
	}
	if m.Wide {
		compareWide(m, dst, n, holds, advance)
	} else {
		compareNarrow(m, dst, n, holds, advance)
	}
	VZEROUPPER()
	RET()
}

func compareWide(m machine, dst, n reg.GPVirtual, holds func(int, *vec.Mask) vec.Mask, advance func(int)) {
	ones := XMM()
	VBROADCASTSS(m.As(vec.Float32).Ones8(), ones)
	const unroll = 4
	Label("main")
	CMPQ(n, U32(uint64(unroll*m.Lanes())))
	JL(LabelRef("tail"))
	for i := range unroll {
		out := XMM()
		VMOVDQU8_Z(ones, holds(i, nil).R, out)
		if at := (Mem{Base: dst, Disp: i * m.Lanes()}); m.Lanes() == 16 {
			VMOVDQU8(out, at)
		} else {
			VMOVQ(out, at)
		}
	}
	advance(unroll * m.Lanes())
	JMP(LabelRef("main"))
	Label("tail")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	count, most := GP64(), GP64()
	MOVQ(n, count)
	MOVQ(U32(uint64(m.Lanes())), most)
	CMPQ(count, most)
	CMOVQGT(most, count)
	k := m.FirstLanes(count)
	out := XMM()
	VMOVDQU8_Z(ones, holds(0, &k).R, out)
	VMOVDQU8(out, k.R, Mem{Base: dst})
	advance(m.Lanes())
	JMP(LabelRef("tail"))
	Label("done")
}

func compareNarrow(m machine, dst, n reg.GPVirtual, holds func(int, *vec.Mask) vec.Mask, advance func(int)) {
	ones := YMM()
	VBROADCASTSS(m.As(vec.Float32).Ones8(), ones)
	Label("main")
	CMPQ(n, U32(32))
	JL(LabelRef("done"))
	// Four vectors of eight 32-bit masks, in the order of the elements.
	var four [4]reg.VecVirtual
	for i := range four {
		if m.Elem.Size() == 4 {
			four[i] = holds(i, nil).R.(reg.VecVirtual)
			continue
		}
		v := YMM()
		VSHUFPS(Imm(0x88), holds(2*i+1, nil).R, holds(2*i, nil).R, v)
		VPERMQ(Imm(0xd8), v, v)
		four[i] = v
	}
	// Packing works within 128-bit halves; a permutation restores the order.
	lo, hi, out := YMM(), YMM(), YMM()
	VPACKSSDW(four[1], four[0], lo)
	VPACKSSDW(four[3], four[2], hi)
	VPERMQ(Imm(0xd8), lo, lo)
	VPERMQ(Imm(0xd8), hi, hi)
	VPACKSSWB(hi, lo, out)
	VPERMQ(Imm(0xd8), out, out)
	VPAND(ones, out, out)
	VMOVDQU(out, Mem{Base: dst})
	advance(32)
	JMP(LabelRef("main"))
	Label("done")
}

// selection emits dst = cond ? x : y for elements of four and eight bytes. With
// AVX2 the elements after the last whole vector are left to the caller.
func selection(m machine) {
	base := "select32"
	if m.Elem.Size() == 8 {
		base = "select64"
	}
	t := m.Elem.Go()
	TEXT(base+m.ISA(), NOSPLIT, "func(dst *"+t+", cond *bool, x, y *"+t+", n int)")
	Doc(base + m.ISA() + " sets dst to x where cond holds and to y elsewhere.")
	Pragma("noescape")
	dst := vec.Arg("dst")
	cond := vec.Arg("cond")
	x := vec.Arg("x")
	y := vec.Arg("y")
	n := vec.Arg("n")
	advance := func() {
		for _, p := range []reg.GPVirtual{dst, x, y} {
			ADDQ(U32(uint64(m.Bytes())), p)
		}
		ADDQ(U32(uint64(m.Lanes())), cond)
		SUBQ(U32(uint64(m.Lanes())), n)
	}
	Label("main")
	CMPQ(n, U32(uint64(m.Lanes())))
	JL(LabelRef("tail"))
	chosen := m.Blend(lanesOf(m, cond), Mem{Base: x}, m.Load(Mem{Base: y}))
	m.Store(chosen, Mem{Base: dst})
	advance()
	JMP(LabelRef("main"))
	Label("tail")
	if m.Wide {
		TESTQ(n, n)
		JLE(LabelRef("done"))
		k := m.FirstLanes(n)
		b, holds := XMM(), K()
		VMOVDQU8_Z(Mem{Base: cond}, k.R, b)
		VPTESTMB(b, b, holds)
		m.StoreMasked(m.Blend(vec.Mask{R: holds}, m.LoadMasked(Mem{Base: x}, k), m.LoadMasked(Mem{Base: y}, k)), Mem{Base: dst}, k)
		Label("done")
	}
	VZEROUPPER()
	RET()
}

// lanesOf returns the lanes whose byte at cond is not zero.
func lanesOf(m machine, cond reg.GPVirtual) vec.Mask {
	switch {
	case m.Wide:
		b, k := XMM(), K()
		if m.Lanes() == 16 {
			VMOVDQU(Mem{Base: cond}, b)
		} else {
			VMOVQ(Mem{Base: cond}, b)
		}
		VPTESTMB(b, b, k)
		return vec.Mask{R: k}
	case m.Elem.Size() == 4:
		v := YMM()
		VPMOVZXBD(Mem{Base: cond}, v)
		return vec.Mask{R: m.Ints().Sub(m.Zero(), v)} // 1 becomes all ones
	default:
		v := YMM()
		VPMOVZXBQ(Mem{Base: cond}, v)
		return vec.Mask{R: m.Ints().Sub(m.Zero(), v)}
	}
}
