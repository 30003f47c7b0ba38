package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// tree reduces each of as many vectors as a vector has lanes, which lie one behind the
// other at address at, to one number, and returns the vector of those in order. It
// transposes while it combines: each step halves the number of vectors with two
// shuffles and one operation for a pair, which is a third of what reducing each
// vector by itself takes.
func (s *reducer) tree(at gp) vec.V {
	m := s.m
	var z []vec.V
	for i := 0; i < m.Lanes(); i += 2 {
		// The second of a pair is read where it is used.
		first, l, h := m.Load(Mem{Base: at, Disp: i * m.Bytes()}), m.Reg(), m.Reg()
		second := Mem{Base: at, Disp: (i + 1) * m.Bytes()}
		if m.Elem.Size() == 4 {
			VUNPCKLPS(second, first, l)
			VUNPCKHPS(second, first, h)
		} else {
			VUNPCKLPD(second, first, l)
			VUNPCKHPD(second, first, h)
		}
		z = append(z, s.combine(m, l, h))
	}
	pairs := func(low, high func(a, b, dst Op)) {
		var out []vec.V
		for i := 0; i < len(z); i += 2 {
			l, h := m.Reg(), m.Reg()
			low(z[i], z[i+1], l)
			high(z[i], z[i+1], h)
			out = append(out, s.combine(m, l, h))
		}
		z = out
	}
	if m.Elem.Size() == 4 {
		pairs(func(a, b, dst Op) { VUNPCKLPD(b, a, dst) }, func(a, b, dst Op) { VUNPCKHPD(b, a, dst) })
	}
	if !m.Wide {
		pairs(func(a, b, dst Op) { VPERM2F128(Imm(0x20), b, a, dst) }, func(a, b, dst Op) { VPERM2F128(Imm(0x31), b, a, dst) })
		return z[0]
	}
	for range 2 {
		pairs(func(a, b, dst Op) { VSHUFF64X2(Imm(0x88), b, a, dst) }, func(a, b, dst Op) { VSHUFF64X2(Imm(0xdd), b, a, dst) })
	}
	return z[0]
}
