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

// transpose8 transposes 8 by 8 blocks of 4-byte elements. The halves of opposite rows
// share a register from the load on, which leaves only in-lane shuffles.
func transpose8() {
	transposer("transposeF32AVX2", "float32", 8, 4, func(src, dst rowset) {
		var r, s [8]reg.VecVirtual
		for i := range 4 {
			// r[i]: row i left half, row i+4 left half; r[i+4]: the right halves
			r[i], r[i+4] = YMM(), YMM()
			VMOVUPS(src.row(i), r[i].AsX())
			VINSERTF128(Imm(1), src.row(i+4), r[i], r[i])
			VMOVUPS(src.row(i).Offset(16), r[i+4].AsX())
			VINSERTF128(Imm(1), src.row(i+4).Offset(16), r[i+4], r[i+4])
		}
		for h := 0; h < 8; h += 4 {
			for i := range 4 {
				s[h+i] = YMM()
			}
			VUNPCKLPS(r[h+1], r[h], s[h])
			VUNPCKHPS(r[h+1], r[h], s[h+1])
			VUNPCKLPS(r[h+3], r[h+2], s[h+2])
			VUNPCKHPS(r[h+3], r[h+2], s[h+3])
			for i := range 2 {
				out := YMM()
				VUNPCKLPD(s[h+i+2], s[h+i], out)
				VMOVUPS(out, dst.row(h+2*i))
				out = YMM()
				VUNPCKHPD(s[h+i+2], s[h+i], out)
				VMOVUPS(out, dst.row(h+2*i+1))
			}
		}
	})
}

// transpose4 transposes 4 by 4 blocks of 8-byte elements in the same way.
func transpose4() {
	transposer("transposeF64AVX2", "float64", 4, 8, func(src, dst rowset) {
		var r [4]reg.VecVirtual
		for i := range 2 {
			r[i], r[i+2] = YMM(), YMM()
			VMOVUPD(src.row(i), r[i].AsX())
			VINSERTF128(Imm(1), src.row(i+2), r[i], r[i])
			VMOVUPD(src.row(i).Offset(16), r[i+2].AsX())
			VINSERTF128(Imm(1), src.row(i+2).Offset(16), r[i+2], r[i+2])
		}
		for h := 0; h < 4; h += 2 {
			out := YMM()
			VUNPCKLPD(r[h+1], r[h], out)
			VMOVUPD(out, dst.row(h))
			out = YMM()
			VUNPCKHPD(r[h+1], r[h], out)
			VMOVUPD(out, dst.row(h+1))
		}
	})
}
