package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transposer opens a function that copies blocks of edge by edge elements from
// consecutive positions along the rows of src to consecutive positions down the
// rows of dst, transposing each.
func transposer(name, elem string, edge, size int, block func(src, dst rowset)) {
	TEXT(name, NOSPLIT, "func(blocks int, src *"+elem+", srcRow int, dst *"+elem+", dstRow int)")
	Pragma("noescape")
	Doc(name+" sets dst[j,i] = src[i,j] for i below the edge and j below blocks times the edge.", "Strides are in bytes; blocks is at least 1.")
	n := Load(Param("blocks"), GP64()).(reg.GPVirtual)
	src := newRowset(Load(Param("src"), GP64()).(reg.GPVirtual), Load(Param("srcRow"), GP64()).(reg.GPVirtual), edge)
	dst := newRowset(Load(Param("dst"), GP64()).(reg.GPVirtual), Load(Param("dstRow"), GP64()).(reg.GPVirtual), edge)
	along, down := GP64(), GP64()
	MOVQ(U32(uint32(edge*size)), along)
	MOVQ(dst.stride, down)
	SHLQ(Imm(map[int]uint64{4: 2, 8: 3}[edge]), down)
	Label("block")
	block(src, dst)
	src.advance(along)
	dst.advance(down)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// transpose writes the copies of blocks of 4-byte and of 8-byte elements, whose edge is a vector
// of 256 bits.
func transpose() {
	for _, p := range []isa{{256, 4}, {256, 8}} {
		transposer("transpose"+p.suffix(), p.elem(), p.lanes(), p.size, func(src, dst rowset) {
			p.transposed(src, 0, func(k int, column reg.VecVirtual) { p.store(column, mask{}, dst.row(k)) })
		})
	}
}

// transposed passes the columns of a block, in their order, whose rows begin at bytes further on
// than those given. The halves of opposite rows share a register from the load on, which leaves
// only in-lane shuffles.
func (p isa) transposed(rows rowset, at int, column func(k int, v reg.VecVirtual)) {
	n := p.lanes()
	r := make([]reg.VecVirtual, n) // row i left half, row i+n/2 left half; then the right halves
	for i := range n / 2 {
		for h := range 2 {
			v, from := YMM(), at+16*h
			// For avo, the upper half would be an operand after a move to the lower one.
			VBROADCASTF128(rows.row(i).Offset(from), v)
			VINSERTF128(Imm(1), rows.row(i+n/2).Offset(from), v, v)
			r[i+h*n/2] = v
		}
	}
	for h := 0; h < n; h += n / 2 {
		pairs := r[h:][:n/2]
		if p.size == 4 {
			s := []reg.VecVirtual{YMM(), YMM(), YMM(), YMM()}
			VUNPCKLPS(r[h+1], r[h], s[0])
			VUNPCKHPS(r[h+1], r[h], s[2])
			VUNPCKLPS(r[h+3], r[h+2], s[1])
			VUNPCKHPS(r[h+3], r[h+2], s[3])
			pairs = s
		}
		for i := 0; i < n/2; i += 2 {
			out := YMM()
			VUNPCKLPD(pairs[i+1], pairs[i], out)
			column(h+i, out)
			out = YMM()
			VUNPCKHPD(pairs[i+1], pairs[i], out)
			column(h+i+1, out)
		}
	}
}
