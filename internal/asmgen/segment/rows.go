package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

type gp = reg.GPVirtual

// A walker steps through rows.
type walker struct {
	m     vec.Machine
	from  vec.Elem // what rows consist of
	x     gp       // element 0
	start gp       // where the next row begins, as its split says
	next  gp       // address of the split behind that
	ones  gp       // 64 ones
}

func newWalker(m vec.Machine, from vec.Elem, x, splits gp) walker {
	w := walker{m: m, from: from, x: x, start: GP64(), next: GP64(), ones: GP64()}
	MOVQ(Mem{Base: splits}, w.start)
	LEAQ(Mem{Base: splits, Disp: 8}, w.next)
	MOVQ(I32(-1), w.ones)
	return w
}

// row returns the address and the length of the next row and goes on behind it.
func (w walker) row() (at, n gp) {
	at, n = GP64(), GP64()
	LEAQ(Mem{Base: w.x, Index: w.start, Scale: uint8(w.from.Size())}, at)
	MOVQ(w.start, n)
	MOVQ(Mem{Base: w.next}, w.start)
	SUBQ(w.start, n)
	NEGQ(n)
	ADDQ(U8(8), w.next)
	return at, n
}

var laneTable *Mem

// maxVectors is the number of vectors at the beginning of a row that are masked
// without a branch.
const maxVectors = 4

// masks returns what gives the mask of the lanes that belong to a row of n elements
// in each of its first vectors, to be called for vector 0 first and so on. n may be
// larger than they hold; then the masks mean nothing.
func (w walker) masks(n gp) func(v int) vec.Mask {
	m := w.m
	if m.Wide {
		bits := GP64()
		BZHIQ(n, w.ones, bits)
		return func(v int) vec.Mask {
			k := K()
			if v > 0 {
				SHRQ(U8(uint8(m.Lanes())), bits)
			}
			if m.Lanes() == 8 {
				KMOVB(bits.As32(), k)
			} else {
				KMOVW(bits.As32(), k)
			}
			return vec.Mask{R: k}
		}
	}
	const room = maxVectors * 32 // bytes
	if laneTable == nil {
		mem := GLOBL("laneTable", RODATA|NOPTR)
		for i := range 2 * room / 8 {
			bits := uint64(0)
			if i < room/8 {
				bits--
			}
			DATA(8*i, U64(bits))
		}
		laneTable = &mem
	}
	at, off := GP64(), GP64()
	MOVQ(U32(uint64(room/m.Elem.Size())), off)
	CMPQ(n, off)
	CMOVQLT(n, off)
	LEAQ(laneTable.Offset(room), at)
	SHLQ(U8(map[int]uint8{4: 2, 8: 3}[m.Elem.Size()]), off)
	SUBQ(off, at)
	return func(v int) vec.Mask {
		k := m.Reg()
		VMOVUPS(Mem{Base: at, Disp: 32 * v}, k)
		return vec.Mask{R: k}
	}
}
