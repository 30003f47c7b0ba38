package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// Second passes look once more at the rows of a batch, which are in the first-level cache,
// each with the result of its own. Nothing in them waits for where in a row something is.

// ownAt is where in the scratch memory the results of a batch lie, behind the vectors of its
// rows.
const ownAt = 16 * 64

// again returns the address and the length of row i of the batch with splits, and its result.
// The flags tell whether the row is empty.
func (s *reducer) again(splits, scratch gp, i int) (at, n gp, own vec.V) {
	at, n = GP64(), GP64()
	start := GP64()
	own = s.m.Broadcast(Mem{Base: scratch, Disp: ownAt + i*s.m.Elem.Size()})
	MOVQ(Mem{Base: splits, Disp: 8 * i}, start)
	MOVQ(Mem{Base: splits, Disp: 8*i + 8}, n)
	LEAQ(Mem{Base: s.w.x, Index: start, Scale: uint8(s.from.Size())}, at)
	SUBQ(start, n)
	return at, n, own
}

// eachAgain writes a loop over the rows of a batch; i counts them.
func (s *reducer) eachAgain(splits, scratch gp, body func(i, at, n gp, own vec.V)) {
	i, at, n, start := GP64(), GP64(), GP64(), GP64()
	XORQ(i, i)
	Label("again")
	own := s.m.Broadcast(Mem{Base: scratch, Index: i, Scale: uint8(s.m.Elem.Size()), Disp: ownAt})
	MOVQ(Mem{Base: splits, Index: i, Scale: 8}, start)
	MOVQ(Mem{Base: splits, Index: i, Scale: 8, Disp: 8}, n)
	LEAQ(Mem{Base: s.w.x, Index: start, Scale: uint8(s.from.Size())}, at)
	SUBQ(start, n)
	body(i, at, n, own)
	INCQ(i)
	CMPQ(i, U8(uint8(s.m.Lanes())))
	JL(LabelRef("again"))
}

// locate writes the position in its row of the first element that equals the row's result,
// -1 for an empty row.
func (s *reducer) locate(total vec.V, splits, out, scratch gp, short bool) {
	m := s.m
	m.Store(total, Mem{Base: scratch, Disp: ownAt})
	nowhere := GP64()
	MOVQ(I32(-1), nowhere)
	if short {
		// What is behind a row does not matter: the first one is in it.
		for i := range m.Lanes() {
			at, n, own := s.again(splits, scratch, i)
			found := joined(m, vectorsOf(m), func(v int) vec.Mask {
				return m.Cmp(vec.Equal, own, Mem{Base: at, Disp: v * m.Bytes()})
			})
			TZCNTQ(found, found)
			TESTQ(n, n)
			CMOVQEQ(nowhere, found)
			MOVQ(found, Mem{Base: out, Disp: 8 * i})
		}
	} else {
		s.eachAgain(splits, scratch, func(i, at, n gp, own vec.V) {
			place, found := GP64(), GP64()
			MOVQ(nowhere, place)
			TESTQ(n, n)
			JZ(LabelRef("located"))
			XORQ(place, place)
			Label("search")
			MOVQ(joined(m, 1, func(int) vec.Mask { return m.Cmp(vec.Equal, own, Mem{Base: at}) }), found)
			ADDQ(U8(uint8(m.Bytes())), at)
			ADDQ(U8(uint8(m.Lanes())), place)
			TESTQ(found, found)
			JZ(LabelRef("search"))
			TZCNTQ(found, found)
			LEAQ(Mem{Base: place, Index: found, Scale: 1, Disp: -m.Lanes()}, place)
			Label("located")
			MOVQ(place, Mem{Base: out, Index: i, Scale: 8})
		})
	}
	ADDQ(U32(uint64(8*m.Lanes())), out)
}

// joined returns the masks of the first vectors of a row, one bit for each element.
func joined(m vec.Machine, vectors int, mask func(v int) vec.Mask) gp {
	bits := GP64()
	if !m.Wide {
		for v := range vectors {
			part := bits
			if v > 0 {
				part = GP64()
			}
			if m.Elem.Size() == 8 {
				VMOVMSKPD(mask(v).R, part.As32())
			} else {
				VMOVMSKPS(mask(v).R, part.As32())
			}
			if v > 0 {
				SHLQ(U8(uint8(v*m.Lanes())), part)
				ORQ(part, bits)
			}
		}
		return bits
	}
	all, lanes := mask(0).R, m.Lanes()
	for v := 1; v < vectors; v++ {
		both := K()
		if lanes == 8 && v == 1 {
			KUNPCKBW(all, mask(v).R, both)
		} else {
			KUNPCKWD(all, mask(v).R, both)
		}
		all = both
	}
	KMOVD(all, bits.As32())
	return bits
}

// squares returns the sums of squared distances from the means of the rows, less what the
// rounding error of the mean adds to them: Σd² - (Σd)²/n.
func (s *reducer) squares(means vec.V, splits, scratch gp, short bool) vec.V {
	m := s.m
	m.Store(means, Mem{Base: scratch, Disp: ownAt})
	var square, rest vec.V
	if short {
		square, rest = s.trees(0, m.Lanes(), func(i int) (square, rest vec.V) {
			at, n, own := s.again(splits, scratch, i)
			mask := s.w.masks(n)
			for v := range vectorsOf(m) {
				d := m.Keep(mask(v), m.Sub(s.load(at, v), own))
				if v == 0 {
					square, rest = m.Mul(d, d), d
				} else {
					square, rest = m.MulAdd(square, d, d), m.Add(rest, d)
				}
			}
			return square, rest
		})
	} else {
		size := m.Lanes() * m.Bytes()
		s.eachAgain(splits, scratch, func(i, at, n gp, own vec.V) {
			square, rest := m.Zero(), m.Zero()
			add := func(d vec.V) {
				m.MulAdd(square, d, d)
				VMOVAPD(m.Add(rest, d), rest)
			}
			Label("vector")
			CMPQ(n, U8(uint8(m.Lanes())))
			JL(LabelRef("tail"))
			add(m.Sub(s.load(at, 0), own))
			ADDQ(U8(uint8(s.stride())), at)
			SUBQ(U8(uint8(m.Lanes())), n)
			JMP(LabelRef("vector"))
			Label("tail")
			add(m.Keep(s.w.masks(n)(0), m.Sub(s.load(at, 0), own)))
			to := GP64()
			MOVQ(i, to)
			SHLQ(U8(map[bool]uint8{true: 6, false: 5}[m.Wide]), to)
			m.Store(square, Mem{Base: scratch, Index: to, Scale: 1})
			m.Store(rest, Mem{Base: scratch, Index: to, Scale: 1, Disp: size})
		})
		square, rest = s.trees(0, m.Lanes(), func(i int) (square, rest vec.V) {
			return m.Load(Mem{Base: scratch, Disp: i * m.Bytes()}), m.Load(Mem{Base: scratch, Disp: size + i*m.Bytes()})
		})
	}
	return m.Sub(square, m.Div(m.Mul(rest, rest), lengths(m, splits)))
}

// trees is tree for two vectors of each row.
func (s *reducer) trees(lo, hi int, vectors func(i int) (a, b vec.V)) (a, b vec.V) {
	if hi-lo == 1 {
		return vectors(lo)
	}
	mid := (lo + hi) / 2
	a0, b0 := s.trees(lo, mid, vectors)
	a1, b1 := s.trees(mid, hi, vectors)
	return s.join(a0, a1, hi-lo), s.join(b0, b1, hi-lo)
}
