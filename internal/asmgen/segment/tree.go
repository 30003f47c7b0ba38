package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// A batch of as many vectors as a vector has lanes is reduced to the vector of their
// results by a tree that transposes while it combines: each step halves the number of
// vectors with two shuffles and one operation for a pair, which is a third of what
// reducing each vector by itself takes.

// short reduces the rows of a batch, none of which is long, without a loop: vectors are
// joined as soon as there is a pair, so all stay in registers.
func (s *reducer) short(vectors int) vec.V {
	return s.tree(0, s.m.Lanes(), func(int) vec.V {
		_, _, z := s.row(vectors)
		return z
	})
}

// stored reduces the vectors that lie one behind the other at address at.
func (s *reducer) stored(at gp) vec.V {
	return s.tree(0, s.m.Lanes(), func(i int) vec.V { return s.m.Load(Mem{Base: at, Disp: i * s.m.Bytes()}) })
}

// tree reduces the vectors [lo, hi), which it asks for in order.
func (s *reducer) tree(lo, hi int, vector func(i int) vec.V) vec.V {
	if hi-lo == 1 {
		return vector(lo)
	}
	mid := (lo + hi) / 2
	a := s.tree(lo, mid, vector)
	b := s.tree(mid, hi, vector)
	return s.join(a, b, hi-lo)
}

// join combines two vectors where n become one.
func (s *reducer) join(a, b vec.V, n int) vec.V {
	l, h := s.m.Reg(), s.m.Reg()
	low, high := s.shuffles(n)
	low(a, b, l)
	high(a, b, h)
	return s.combine(s.m, l, h)
}

// shuffles returns the two instructions that bring the parts of a and b to be combined
// together where n vectors become one.
func (s *reducer) shuffles(n int) (low, high func(a, b, dst Op)) {
	unpack := func(f func(...Op)) func(a, b, dst Op) { return func(a, b, dst Op) { f(b, a, dst) } }
	parts := func(choice uint64) func(a, b, dst Op) {
		return func(a, b, dst Op) {
			if s.m.Wide {
				VSHUFF64X2(Imm(choice), b, a, dst)
			} else {
				VPERM2F128(Imm(choice), b, a, dst)
			}
		}
	}
	switch lane := 16 / s.m.Elem.Size(); {
	case n == 2 && s.m.Elem.Size() == 4:
		return unpack(VUNPCKLPS), unpack(VUNPCKHPS)
	case n <= lane:
		return unpack(VUNPCKLPD), unpack(VUNPCKHPD)
	case s.m.Wide:
		return parts(0x88), parts(0xdd)
	}
	return parts(0x20), parts(0x31)
}
