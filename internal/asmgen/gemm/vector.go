package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const line = 64 // bytes

// rowsAhead returns the rows 8*eights further on, of which the columns read now are asked for.
func rowsAhead(s rowset, eights int) rowset {
	base := GP64()
	LEAQ(Mem{Base: s.base, Index: s.stride, Scale: 8}, base)
	for range eights - 1 {
		LEAQ(Mem{Base: base, Index: s.stride, Scale: 8}, base)
	}
	s.base = base
	return s
}

// axpys writes y[0:n] += x[0] B[0,0:n] + ... + x[r-1] B[r-1,0:n] for r = 1 and r = 8
// rows, which are stride bytes apart. Each element sees the additions in the
// order of the rows, so that the result does not depend on how rows are grouped.
func axpys(p isa) {
	for _, rows := range []int{1, 8} {
		TEXT(fmt.Sprintf("axpy%d%s", rows, p.suffix()), NOSPLIT, fmt.Sprintf("func(n int, x, b *%s, stride int, y *%[1]s)", p.elem()))
		Pragma("noescape")
		Doc(fmt.Sprintf("axpy%d%s adds the %[1]d rows of b, each times its element of x, to y[0:n].", rows, p.suffix()))
		n := Load(Param("n"), GP64()).(reg.GPVirtual)
		x := Load(Param("x"), GP64()).(reg.GPVirtual)
		b := newRowset(Load(Param("b"), GP64()).(reg.GPVirtual), Load(Param("stride"), GP64()).(reg.GPVirtual), rows)
		y := Load(Param("y"), GP64()).(reg.GPVirtual)
		xs := make([]reg.VecVirtual, rows)
		for i := range xs {
			xs[i] = p.vec()
			p.broadcast(Mem{Base: x}.Offset(i*p.size), xs[i])
		}
		step := GP64()
		vectors := line / p.bytes()
		lanes := uint64(vectors * p.lanes())
		MOVQ(U32(line), step)
		var later rowset
		if rows > 1 {
			later = rowsAhead(b, 2)
		}

		SUBQ(Imm(lanes), n)
		JL(LabelRef("tail"))
		Label("line")
		acc := make([]reg.VecVirtual, vectors)
		for j := range acc {
			acc[j] = p.vec()
			p.load(Mem{Base: y}.Offset(j*p.bytes()), mask{}, acc[j])
		}
		for i := range xs {
			for j, v := range acc {
				p.fma(b.row(i).Offset(j*p.bytes()), xs[i], v)
			}
			if rows > 1 {
				PREFETCHT1(later.row(i))
			}
		}
		for j, v := range acc {
			p.store(v, mask{}, Mem{Base: y}.Offset(j*p.bytes()))
		}
		b.advance(step)
		if rows > 1 {
			later.advance(step)
		}
		ADDQ(step, y)
		SUBQ(Imm(lanes), n)
		JGE(LabelRef("line"))

		Label("tail")
		ADDQ(Imm(lanes), n)
		JEQ(LabelRef("done"))
		for j, k := range p.firstLanes(n, vectors) {
			v := p.vec()
			p.load(Mem{Base: y}.Offset(j*p.bytes()), k, v)
			for i := range xs {
				row := p.vec()
				p.load(b.row(i).Offset(j*p.bytes()), k, row)
				p.fma(row, xs[i], v)
			}
			p.store(v, k, Mem{Base: y}.Offset(j*p.bytes()))
		}
		Label("done")
		VZEROUPPER()
		RET()
	}
}

// dots writes out[i] = A[i,0:n] . x[0:n] for r = 1 and r = 4 rows, which are stride
// bytes apart. A row has the same two accumulators in both, so that its result
// does not depend on how rows are grouped. The one called Ahead asks for the rows
// eight further on, which pays where the matrix comes from memory.
func dots(p isa) {
	for _, form := range []struct {
		rows  int
		ahead bool
	}{{1, false}, {4, false}, {4, true}} {
		rows, name := form.rows, fmt.Sprintf("dot%d", form.rows)
		if form.ahead {
			name += "Ahead"
		}
		name += p.suffix()
		TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, x, a *%s, stride int, out *%[1]s)", p.elem()))
		Pragma("noescape")
		Doc(fmt.Sprintf("%s sets out to the products of %d rows of a with x[0:n].", name, rows))
		n := Load(Param("n"), GP64()).(reg.GPVirtual)
		x := Load(Param("x"), GP64()).(reg.GPVirtual)
		a := newRowset(Load(Param("a"), GP64()).(reg.GPVirtual), Load(Param("stride"), GP64()).(reg.GPVirtual), rows)
		out := Load(Param("out"), GP64()).(reg.GPVirtual)
		acc := make([][2]reg.VecVirtual, rows)
		for i := range acc {
			for j := range acc[i] {
				acc[i][j] = p.vec()
				p.zero(acc[i][j])
			}
		}
		var later rowset
		if form.ahead {
			later = rowsAhead(a, 1)
		}
		step := GP64()
		MOVQ(U32(uint32(2*p.bytes())), step)

		SUBQ(Imm(uint64(2*p.lanes())), n)
		JL(LabelRef("tail"))
		Label("pair")
		xv := [2]reg.VecVirtual{p.vec(), p.vec()}
		for j, v := range xv {
			p.load(Mem{Base: x}.Offset(j*p.bytes()), mask{}, v)
		}
		for i := range acc {
			for j, v := range acc[i] {
				p.fma(a.row(i).Offset(j*p.bytes()), xv[j], v)
			}
			for at := 0; form.ahead && at < 2*p.bytes(); at += line {
				PREFETCHT1(later.row(i).Offset(at))
			}
		}
		a.advance(step)
		if form.ahead {
			later.advance(step)
		}
		ADDQ(step, x)
		SUBQ(Imm(uint64(2*p.lanes())), n)
		JGE(LabelRef("pair"))

		Label("tail")
		ADDQ(Imm(uint64(2*p.lanes())), n)
		JEQ(LabelRef("sum"))
		masks := p.firstLanes(n, 2)
		for j, k := range masks {
			xt := p.vec()
			p.load(Mem{Base: x}.Offset(j*p.bytes()), k, xt)
			for i := range acc {
				at := p.vec()
				p.load(a.row(i).Offset(j*p.bytes()), k, at)
				p.fma(at, xt, acc[i][j])
			}
		}
		Label("sum")
		for i := range acc {
			p.add(acc[i][1], acc[i][0], acc[i][0])
			p.sumLanes(acc[i][0], Mem{Base: out}.Offset(i*p.size))
		}
		VZEROUPPER()
		RET()
	}
}

// sumLanes stores the sum of v's lanes, halves first.
func (p isa) sumLanes(v reg.VecVirtual, to Mem) {
	if p.wide() {
		upper := YMM()
		VEXTRACTF64X4(Imm(1), v, upper)
		p.add(upper, v.AsY(), v.AsY())
	}
	upper := XMM()
	VEXTRACTF128(Imm(1), v.AsY(), upper)
	p.add(upper, v.AsX(), v.AsX())
	VPERMILPD(Imm(1), v.AsX(), upper)
	p.add(upper, v.AsX(), v.AsX())
	if p.size == 8 {
		VMOVSD(v.AsX(), to)
		return
	}
	VMOVSHDUP(v.AsX(), upper)
	VADDSS(upper, v.AsX(), v.AsX())
	VMOVSS(v.AsX(), to)
}
