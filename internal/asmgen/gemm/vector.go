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

// dots writes out[i] = A[i,0:n] . x[0:n] for the rows i of one and of two vectors, which are stride
// bytes apart. Blocks of A are transposed in registers, so that a result is a lane of an
// accumulator, to which its products are added in the order of the columns, as the tiles add them.
// Columns are whole vectors. A line of each row is read at a time, before rows that fall into the
// same set of the cache can evict it.
func dots(p isa) {
	for _, groups := range []int{1, 2} {
		name := fmt.Sprintf("dot%d%s", groups, p.suffix())
		TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, x, a *%s, stride int, out *%[1]s)", p.elem()))
		Pragma("noescape")
		Doc(fmt.Sprintf("%s sets out to the products of %d rows of a with x[0:n], where n is a multiple of %d.", name, groups*p.lanes(), p.lanes()))
		n := Load(Param("n"), GP64()).(reg.GPVirtual)
		x := Load(Param("x"), GP64()).(reg.GPVirtual)
		a, stride := Load(Param("a"), GP64()).(reg.GPVirtual), Load(Param("stride"), GP64()).(reg.GPVirtual)
		rows := make([]rowset, groups)
		acc := make([]reg.VecVirtual, groups)
		for g := range rows {
			if g == 0 {
				rows[g] = newRowset(a, stride, p.lanes())
			} else {
				rows[g] = rows[0]
				rows[g].base = GP64()
				LEAQ(Mem{Base: rows[g-1].base, Index: stride, Scale: uint8(p.lanes())}, rows[g].base)
			}
			acc[g] = p.vec()
			p.zero(acc[g])
		}
		// block adds the products of some columns, whole vectors, for all rows.
		block := func(vectors int) {
			for g, row := range rows {
				for v := range vectors {
					p.transposed(row, v*p.bytes(), func(k int, column reg.VecVirtual) {
						xk := p.vec()
						p.broadcast(Mem{Base: x}.Offset(v*p.bytes()+k*p.size), xk)
						p.fma(xk, column, acc[g])
					})
				}
				for i := 0; vectors > 1 && i < p.lanes(); i++ {
					PREFETCHT0(row.row(i).Offset(dotsAhead))
				}
			}
			for _, row := range rows {
				ADDQ(Imm(uint64(vectors*p.bytes())), row.base)
			}
			ADDQ(Imm(uint64(vectors*p.bytes())), x)
		}
		lanes := uint64(line / p.size)
		SUBQ(Imm(lanes), n)
		JL(LabelRef("half"))
		Label("line")
		block(line / p.bytes())
		SUBQ(Imm(lanes), n)
		JGE(LabelRef("line"))
		Label("half")
		ADDQ(Imm(lanes), n)
		JEQ(LabelRef("done"))
		block(1)
		Label("done")
		out := Load(Param("out"), GP64()).(reg.GPVirtual)
		for g, v := range acc {
			p.store(v, mask{}, Mem{Base: out}.Offset(g*p.bytes()))
		}
		VZEROUPPER()
		RET()
	}
}

// dotsAhead is how many bytes further on in their rows dots asks for elements.
const dotsAhead = 256
