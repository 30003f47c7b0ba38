package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// row walks over one row of n elements: whole vectors, and what is left with a mask that
// is the same for all rows.
type row struct {
	m       vec.Machine
	vectors reg.GPVirtual // in bytes: what whole vectors make up
	rest    vec.Mask
	some    reg.GPVirtual // 0: there is no rest
}

// newRow destroys n.
func newRow(m vec.Machine, n reg.GPVirtual) row {
	r := row{m: m, vectors: GP64(), some: GP64()}
	MOVQ(n, r.vectors)
	SHRQ(Imm(uint64(log2(m.Lanes()))), r.vectors)
	SHLQ(Imm(uint64(log2(m.Bytes()))), r.vectors)
	ANDQ(U8(uint64(m.Lanes()-1)), n)
	MOVQ(n, r.some)
	r.rest = m.FirstLanes(n)
	return r
}

func log2(n int) (bits int) {
	for 1<<bits < n {
		bits++
	}
	return bits
}

// each emits body for all elements: load and store read and write the same place behind
// the start of any array of the row.
func (r row) each(label string, body func(load func(base reg.GPVirtual, missing vec.V) vec.V, store func(v vec.V, base reg.GPVirtual), last *vec.Mask)) {
	at := GP64()
	XORQ(at, at)
	r.from(at, label, body)
}

// from is each for the elements behind at, which it destroys.
func (r row) from(at reg.GPVirtual, label string, body func(load func(base reg.GPVirtual, missing vec.V) vec.V, store func(v vec.V, base reg.GPVirtual), last *vec.Mask)) {
	m := r.m
	Label(label)
	CMPQ(at, r.vectors)
	JGE(LabelRef(label + "_rest"))
	body(
		func(base reg.GPVirtual, _ vec.V) vec.V { return m.Load(Mem{Base: base, Index: at, Scale: 1}) },
		func(v vec.V, base reg.GPVirtual) { m.Store(v, Mem{Base: base, Index: at, Scale: 1}) }, nil)
	ADDQ(U32(uint64(m.Bytes())), at)
	JMP(LabelRef(label))
	Label(label + "_rest")
	TESTQ(r.some, r.some)
	JZ(LabelRef(label + "_done"))
	body(
		func(base reg.GPVirtual, missing vec.V) vec.V {
			v := m.LoadMasked(Mem{Base: base, Index: at, Scale: 1}, r.rest)
			if missing != nil {
				v = m.Blend(r.rest, v, missing)
			}
			return v
		},
		func(v vec.V, base reg.GPVirtual) { m.StoreMasked(v, Mem{Base: base, Index: at, Scale: 1}, r.rest) }, &r.rest)
	Label(label + "_done")
}

// across combines the lanes of v into its first one.
func across(m vec.Machine, v vec.V, combine func(a, b, c Op)) reg.VecVirtual {
	if m.Wide {
		upper := YMM()
		VEXTRACTF64X4(Imm(1), v, upper)
		combine(upper, v.AsY(), v.AsY())
	}
	upper := XMM()
	VEXTRACTF128(Imm(1), v.AsY(), upper)
	combine(upper, v.AsX(), v.AsX())
	VPERMILPD(Imm(1), v.AsX(), upper)
	combine(upper, v.AsX(), v.AsX())
	VMOVSHDUP(v.AsX(), upper)
	combine(upper, v.AsX(), v.AsX())
	return v
}

// exponentialRows writes a function that replaces rows of scores by exponentials of how far
// they are below the greatest, times a power of two.
func exponentialRows(m vec.Machine) {
	TEXT(m.Name("exponentialRows"), NOSPLIT, "func(x *float32, rows, n, stride int, unit float32, stats *float32)")
	Doc(m.Name("exponentialRows")+" replaces rows of n elements, stride bytes apart, by unit·exp(x - max)", "and leaves max of each row and the sum of what it has become in stats.")
	Pragma("noescape")
	load := m.KeepConstants(8)
	x := vec.Arg("x")
	rows := vec.Arg("rows")
	stride := vec.Arg("stride")
	stats := vec.Arg("stats")
	r := newRow(m, vec.Arg("n"))
	addr, err := Param("unit").Resolve()
	if err != nil {
		panic(err)
	}
	exp2 := m.ScaledExp2Rough(m.Broadcast(addr.Addr))

	Label("row")
	most := r.greatest(x)
	VMOVSS(most.AsX(), Mem{Base: stats})
	shift := m.Reg()
	VBROADCASTSS(most.AsX(), shift)

	sum := m.Zero()
	r.each("exp", func(load func(reg.GPVirtual, vec.V) vec.V, store func(vec.V, reg.GPVirtual), last *vec.Mask) {
		// The difference first: it is exact next to the greatest, however large that is.
		h := m.Mul(m.Sub(load(x, nil), shift), vec.Const(math.Log2E))
		if !m.Wide {
			h = m.Max(m.Get(vec.Const(-127)), h)
		}
		e := exp2(h)
		if last != nil {
			e = m.Keep(*last, e)
		}
		store(e, x)
		VADDPS(e, sum, sum)
	})
	sum = across(m, sum, func(a, b, c Op) { VADDPS(a, b, c) })
	VMOVSS(sum.AsX(), Mem{Base: stats}.Offset(4))
	ADDQ(stride, x)
	ADDQ(Imm(8), stats)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
	load()
}

// greatest emits the maximum of the row at x. Long rows have four maxima, which do not
// wait for one another.
func (r row) greatest(x reg.GPVirtual) reg.VecVirtual {
	m := r.m
	least := m.Get(vec.Const(math.Inf(-1)))
	four := []vec.V{m.Load(least), m.Reg(), m.Reg(), m.Reg()}
	at, end := GP64(), GP64()
	XORQ(at, at)
	MOVQ(r.vectors, end)
	SUBQ(U32(uint64(3*m.Bytes())), end)
	CMPQ(at, end)
	JGE(LabelRef("greatest"))
	for _, v := range four[1:] {
		VMOVAPS(least, v)
	}
	Label("fours")
	CMPQ(at, end)
	JGE(LabelRef("fours_done"))
	for i, v := range four {
		VMAXPS(Mem{Base: x, Index: at, Scale: 1, Disp: i * m.Bytes()}, v, v)
	}
	ADDQ(U32(uint64(4*m.Bytes())), at)
	JMP(LabelRef("fours"))
	Label("fours_done")
	VMAXPS(four[1], four[0], four[0])
	VMAXPS(four[3], four[2], four[2])
	VMAXPS(four[2], four[0], four[0])
	most := four[0]
	r.from(at, "greatest", func(load func(reg.GPVirtual, vec.V) vec.V, _ func(vec.V, reg.GPVirtual), _ *vec.Mask) {
		VMAXPS(load(x, least), most, most)
	})
	return across(m, most, func(a, b, c Op) { VMAXPS(a, b, c) })
}

// divideRows writes a function that divides rows by their sums.
func divideRows(m vec.Machine) {
	TEXT(m.Name("divideRows"), NOSPLIT, "func(x *float32, rows, n, stride int, stats *float32)")
	Doc(m.Name("divideRows")+" multiplies rows of n elements, stride bytes apart, by the inverse of", "the second of their two stats.")
	Pragma("noescape")
	x := vec.Arg("x")
	rows := vec.Arg("rows")
	stride := vec.Arg("stride")
	stats := vec.Arg("stats")
	r := newRow(m, vec.Arg("n"))
	one := m.Load(vec.Const(1))

	Label("row")
	inverse, by := XMM(), m.Reg()
	VDIVSS(Mem{Base: stats}.Offset(4), one.AsX(), inverse)
	VBROADCASTSS(inverse, by)
	r.each("divide", func(load func(reg.GPVirtual, vec.V) vec.V, store func(vec.V, reg.GPVirtual), _ *vec.Mask) {
		store(m.Mul(load(x, nil), by), x)
	})
	ADDQ(stride, x)
	ADDQ(Imm(8), stats)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// scoreGradRows writes a function for the gradient of rows of scores.
func scoreGradRows(m vec.Machine) {
	TEXT(m.Name("scoreGradRows"), NOSPLIT, "func(dp, p *float32, rows, n, stride int, scale float32)")
	Doc(m.Name("scoreGradRows")+" sets dp = p (dp - sum(p dp)) scale for rows of n elements, stride", "bytes apart in both.")
	Pragma("noescape")
	dp := vec.Arg("dp")
	p := vec.Arg("p")
	rows := vec.Arg("rows")
	stride := vec.Arg("stride")
	r := newRow(m, vec.Arg("n"))
	addr, err := Param("scale").Resolve()
	if err != nil {
		panic(err)
	}
	scale := m.Broadcast(addr.Addr)

	Label("row")
	sum := m.Zero()
	r.each("sum", func(load func(reg.GPVirtual, vec.V) vec.V, _ func(vec.V, reg.GPVirtual), _ *vec.Mask) {
		VFMADD231PS(load(p, nil), load(dp, nil), sum)
	})
	sum = across(m, sum, func(a, b, c Op) { VADDPS(a, b, c) })
	mean := m.Reg()
	VBROADCASTSS(sum.AsX(), mean)
	r.each("gradient", func(load func(reg.GPVirtual, vec.V) vec.V, store func(vec.V, reg.GPVirtual), _ *vec.Mask) {
		store(m.Mul(m.Mul(m.Sub(load(dp, nil), mean), load(p, nil)), scale), dp)
	})
	ADDQ(stride, dp)
	ADDQ(stride, p)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
