// Command transpose generates the tiles of internal/kernel/transpose: square
// blocks of elements of four and eight bytes that are transposed in registers.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

func main() {
	ConstraintExpr("amd64,!purego")
	for _, nt := range []bool{false, true} {
		tiles("tiles32AVX512", 4, 64, nt)
		tiles("tiles64AVX512", 8, 64, nt)
		tiles("tiles32AVX2", 4, 32, nt)
		tiles("tiles64AVX2", 8, 32, nt)
	}
	Generate()
}

// tiles emits a function that transposes count tiles of side×side elements, side
// by side in src, one below the other in dst: reading whole stretches of rows
// hides the latency of memory, which stores do not wait for. Strides are in bytes.
func tiles(name string, size, bytes int, nt bool) {
	if nt {
		name += "NT"
	}
	TEXT(name, NOSPLIT, "func(dst, src *byte, count, dstStride, srcStride int)")
	Doc(name + " transposes count square tiles, each a vector wide.")
	if nt {
		Doc(name+" transposes count square tiles, each a vector wide,", "past the cache: dst and dstStride are multiples of a vector's length.")
	}
	Pragma("noescape")
	dst := vec.Arg("dst")
	src := vec.Arg("src")
	count := vec.Arg("count")
	ds := vec.Arg("dstStride")
	ss := vec.Arg("srcStride")
	ss3 := GP64()
	LEAQ(Mem{Base: ss, Index: ss, Scale: 2}, ss3)
	ds3 := GP64()
	LEAQ(Mem{Base: ds, Index: ds, Scale: 2}, ds3)
	side := bytes / size
	Label("next")
	TESTQ(count, count)
	JLE(LabelRef("done"))
	p := src
	rows := make([]reg.VecVirtual, side)
	for i := range rows {
		rows[i] = vector(bytes)
		VMOVUPS(row(p, ss, ss3, i%4), rows[i])
		if i%4 == 3 && i < side-1 {
			q := GP64()
			LEAQ(Mem{Base: p, Index: ss, Scale: 4}, q)
			p = q
		}
	}
	rows = transposed(rows, size, bytes)
	q := dst
	for i, r := range rows {
		if nt {
			VMOVNTPS(r, row(q, ds, ds3, i%4))
		} else {
			VMOVUPS(r, row(q, ds, ds3, i%4))
		}
		if i%4 == 3 {
			next := GP64()
			LEAQ(Mem{Base: q, Index: ds, Scale: 4}, next)
			q = next
		}
	}
	ADDQ(Imm(uint64(bytes)), src)
	MOVQ(q, dst)
	DECQ(count)
	JMP(LabelRef("next"))
	Label("done")
	VZEROUPPER()
	RET()
}

// row is the memory i rows below p.
func row(p, stride, stride3 reg.GPVirtual, i int) Mem {
	switch i {
	case 0:
		return Mem{Base: p}
	case 3:
		return Mem{Base: p, Index: stride3, Scale: 1}
	}
	return Mem{Base: p, Index: stride, Scale: uint8(i)}
}

func vector(bytes int) reg.VecVirtual {
	if bytes == 64 {
		return ZMM()
	}
	return YMM()
}

// transposed interleaves pairs of rows, first elements, then pairs of them, then
// the 128-bit lanes, each step doubling what lies in its final order.
func transposed(rows []reg.VecVirtual, size, bytes int) []reg.VecVirtual {
	pair := func(lo, hi func(a, b, dst reg.VecVirtual), a, b reg.VecVirtual) (x, y reg.VecVirtual) {
		x, y = vector(bytes), vector(bytes)
		lo(b, a, x)
		hi(b, a, y)
		return x, y
	}
	out := make([]reg.VecVirtual, len(rows))
	if size == 4 {
		for i := 0; i < len(rows); i += 2 {
			out[i], out[i+1] = pair(
				func(a, b, d reg.VecVirtual) { VUNPCKLPS(a, b, d) }, func(a, b, d reg.VecVirtual) { VUNPCKHPS(a, b, d) }, rows[i], rows[i+1])
		}
		// Rows i and i+1 hold elements 0, 1 and 2, 3 of each lane for two rows.
		next := make([]reg.VecVirtual, len(rows))
		for i := 0; i < len(rows); i += 4 {
			next[i], next[i+1] = pair(unpackLow, unpackHigh, out[i], out[i+2])
			next[i+2], next[i+3] = pair(unpackLow, unpackHigh, out[i+1], out[i+3])
		}
		rows = next
		return lanes(rows, 4, bytes)
	}
	for i := 0; i < len(rows); i += 2 {
		out[i], out[i+1] = pair(unpackLow, unpackHigh, rows[i], rows[i+1])
	}
	return lanes(out, 2, bytes)
}

func unpackLow(a, b, d reg.VecVirtual)  { VUNPCKLPD(a, b, d) }
func unpackHigh(a, b, d reg.VecVirtual) { VUNPCKHPD(a, b, d) }

// lanes finishes: rows come in groups of per, of which the j-th has in its lane
// l the elements of column per·l+j for the rows of the group.
func lanes(rows []reg.VecVirtual, per, bytes int) []reg.VecVirtual {
	n := len(rows)
	out := make([]reg.VecVirtual, n)
	if bytes == 32 {
		for j := range per {
			a, b := rows[j], rows[per+j]
			out[j], out[per+j] = YMM(), YMM()
			VPERM2F128(Imm(0x20), b, a, out[j])
			VPERM2F128(Imm(0x31), b, a, out[per+j])
		}
		return out
	}
	for j := range per {
		a, b, c, d := rows[j], rows[per+j], rows[2*per+j], rows[3*per+j]
		ab, cd, ab2, cd2 := ZMM(), ZMM(), ZMM(), ZMM()
		VSHUFF64X2(Imm(0x44), b, a, ab) // lanes 0, 1 of both
		VSHUFF64X2(Imm(0x44), d, c, cd)
		VSHUFF64X2(Imm(0xee), b, a, ab2) // lanes 2, 3
		VSHUFF64X2(Imm(0xee), d, c, cd2)
		for l, x := range [][2]reg.VecVirtual{{ab, cd}, {ab2, cd2}} {
			even, odd := ZMM(), ZMM()
			VSHUFF64X2(Imm(0x88), x[1], x[0], even)
			VSHUFF64X2(Imm(0xdd), x[1], x[0], odd)
			out[2*l*per+j], out[(2*l+1)*per+j] = even, odd
		}
	}
	return out
}
