package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// extremes emits the greatest and the least element, and the search for an
// element.
func extremes(m machine) {
	low, high := any(constant(math.Inf(-1))), any(constant(math.Inf(1)))
	switch m.Elem {
	case vec.Int32:
		low, high = vec.Bits(1<<31), vec.Bits(math.MaxInt32)
	case vec.Int64:
		low, high = vec.Bits(1<<63), vec.Bits(math.MaxInt64)
	}
	extreme(m, "max", "returns the greatest element", low, machine.Max, m.Elem.IsFloat())
	extreme(m, "min", "returns the least element", high, machine.Min, m.Elem.IsFloat())
	if m.Elem.IsFloat() {
		extreme(m, "top", "returns the greatest element, anything", low, machine.Max, false)
	}
	find(m)
}

// extreme emits a function that returns the extreme element of x: if checked, NaN
// where any element is. Of zeros of both signs it returns either.
func extreme(m machine, name, doc string, start any, f func(m machine, a vector, b any) vector, checked bool) {
	t := m.Elem.Go()
	TEXT(m.Name(name), NOSPLIT, "func(x *"+t+", n int) "+t)
	if m.Elem.IsFloat() && checked {
		doc += ", NaN"
	}
	if m.Elem.IsFloat() {
		doc += " if an element is NaN"
	}
	Doc(m.Name(name) + " " + doc + ".")
	Pragma("noescape")
	x := vec.Arg("x")
	n := vec.Arg("n")
	const unroll = 4
	initial := m.Load(start)
	var acc [unroll]vector
	for u := range acc {
		acc[u] = m.Load(initial)
	}
	// nan gathers what is NaN: a lane compared with itself, or two at once.
	nan := vec.Mask{}
	gather := func(a, b vector) {
		if !checked {
			return
		}
		k := m.Cmp(vec.Unordered, a, b)
		if m.Wide {
			KORW(k.R, nan.R, nan.R)
		} else {
			VORPS(k.R, nan.R, nan.R)
		}
	}
	if checked {
		if m.Wide {
			k := K()
			KXORW(k, k, k)
			nan.R = k
		} else {
			nan.R = m.Zero()
		}
	}
	update := func(u int, v vector) {
		w := f(m, acc[u], v)
		VMOVAPS(w, acc[u])
	}
	Label("main")
	CMPQ(n, U32(uint64(unroll*m.Lanes())))
	JL(LabelRef("single"))
	for u := 0; u < unroll; u += 2 {
		a, b := m.Load(Mem{Base: x, Disp: u * m.Bytes()}), m.Load(Mem{Base: x, Disp: (u + 1) * m.Bytes()})
		gather(a, b)
		update(u, a)
		update(u+1, b)
	}
	ADDQ(U32(uint64(unroll*m.Bytes())), x)
	SUBQ(U32(uint64(unroll*m.Lanes())), n)
	JMP(LabelRef("main"))
	Label("single")
	CMPQ(n, U32(uint64(m.Lanes())))
	JL(LabelRef("tail"))
	v := m.Load(Mem{Base: x})
	gather(v, v)
	update(0, v)
	ADDQ(U32(uint64(m.Bytes())), x)
	SUBQ(U32(uint64(m.Lanes())), n)
	JMP(LabelRef("single"))
	Label("tail")
	TESTQ(n, n)
	JLE(LabelRef("join"))
	k := m.FirstLanes(n)
	last := m.Blend(k, m.LoadMasked(Mem{Base: x}, k), initial)
	gather(last, last)
	update(1, last)
	Label("join")
	update(0, acc[1])
	update(2, acc[3])
	update(0, acc[2])
	result := across(m, acc[0], f)
	if checked {
		if m.Wide {
			KORTESTW(nan.R, nan.R)
		} else {
			VPTEST(nan.R, nan.R)
		}
		JE(LabelRef("done"))
		VMOVAPS(machine{Elem: m.Elem}.Load(constant(math.NaN())), result)
	}
	Label("done")
	if m.Elem.IsFloat() {
		Store(result.AsX(), ReturnIndex(0))
	} else {
		g := GP64()
		VMOVQ(result.AsX(), g)
		if m.Elem == vec.Int32 {
			Store(g.As32(), ReturnIndex(0))
		} else {
			Store(g, ReturnIndex(0))
		}
	}
	VZEROUPPER()
	RET()
}

// across folds the lanes of v into the first.
func across(m machine, v vector, f func(m machine, a vector, b any) vector) vector {
	narrow := machine{Elem: m.Elem}
	if m.Wide {
		h := YMM()
		VEXTRACTF64X4(Imm(1), v, h)
		v = f(narrow, v.AsY().(reg.VecVirtual), h)
	}
	swap := YMM()
	VPERM2F128(Imm(1), v, v, swap)
	v = f(narrow, v, swap)
	pair := YMM()
	VPERMILPD(Imm(5), v, pair)
	v = f(narrow, v, pair)
	if m.Elem.Size() == 4 {
		one := YMM()
		VPERMILPS(Imm(0xb1), v, one)
		v = f(narrow, v, one)
	}
	return v
}

// find emits a function that returns the index of the first element equal to v,
// or of the first NaN if v is NaN, and n if there is none.
func find(m machine) {
	t := m.Elem.Go()
	TEXT(m.Name("find"), NOSPLIT, "func(x *"+t+", n int, v "+t+") int")
	Doc(m.Name("find") + " returns the index of the first element equal to v, NaN being equal to itself, or n.")
	Pragma("noescape")
	x := vec.Arg("x")
	n := vec.Arg("n")
	at := GP64()
	XORQ(at, at)
	addr, err := Param("v").Resolve()
	if err != nil {
		panic(err)
	}
	v := m.Broadcast(addr.Addr)
	bits := GP64()
	// step leaves the lanes that match in bits.
	step := func(a vector) {
		k := m.Cmp(vec.Equal, a, v)
		if m.Elem.IsFloat() {
			k = m.Either(k, both(m, m.Cmp(vec.Unordered, a, a), m.Cmp(vec.Unordered, v, v)))
		}
		switch {
		case m.Wide && m.Elem.Size() == 8:
			KMOVB(k.R, bits.As32())
		case m.Wide:
			KMOVW(k.R, bits.As32())
		case m.Elem.Size() == 8:
			VMOVMSKPD(k.R, bits.As32())
		default:
			VMOVMSKPS(k.R, bits.As32())
		}
	}
	Label("main")
	CMPQ(n, U32(uint64(m.Lanes())))
	JL(LabelRef("tail"))
	step(m.Load(Mem{Base: x}))
	TESTQ(bits, bits)
	JNE(LabelRef("found"))
	ADDQ(U32(uint64(m.Bytes())), x)
	ADDQ(U32(uint64(m.Lanes())), at)
	SUBQ(U32(uint64(m.Lanes())), n)
	JMP(LabelRef("main"))
	Label("tail")
	TESTQ(n, n)
	JLE(LabelRef("none"))
	step(m.LoadMasked(Mem{Base: x}, m.FirstLanes(n)))
	BZHIQ(n, bits, bits)
	TESTQ(bits, bits)
	JNE(LabelRef("found"))
	Label("none")
	ADDQ(n, at)
	Store(at, ReturnIndex(0))
	VZEROUPPER()
	RET()
	Label("found")
	TZCNTQ(bits, bits)
	ADDQ(bits, at)
	Store(at, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// both returns the lanes that a and b select.
func both(m machine, a, b vec.Mask) vec.Mask {
	if m.Wide {
		r := K()
		KANDW(a.R, b.R, r)
		return vec.Mask{R: r}
	}
	v := m.Reg()
	VANDPS(a.R, b.R, v)
	return vec.Mask{R: v}
}
