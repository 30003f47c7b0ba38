package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// accumulate writes a function that makes row splits of the lengths of rows: running sums,
// within a vector by a few shifted additions, and from vector to vector by its whole, of
// which only one addition waits for the vector before.
func accumulate(m vec.Machine) {
	name := "accumulate" + m.ISA()
	TEXT(name, NOSPLIT, "func(out, lengths *int64, n int, sum, most int64) int64")
	Pragma("noescape")
	Doc(name+" sets out[i] to the sum of lengths[0], …, lengths[i] and sum, for n lengths, a multiple of "+strconv.Itoa(m.Lanes())+" and at least that. It returns a",
		"negative number if a length is not between 0 and most, or a sum of them overflows.")
	out, x, n := vec.Arg("out"), vec.Arg("lengths"), vec.Arg("n")
	zero := m.Zero()
	before, most := m.Broadcast(argument("sum")), m.Broadcast(argument("most"))
	bad := m.Zero()
	all := lastLane(m)
	Label("lengths")
	l := m.Load(Mem{Base: x})
	partial := m.Add(l, shiftedIn(m, l, zero, 1))
	for by := 2; by < m.Lanes(); by *= 2 {
		partial = m.Add(partial, shiftedIn(m, partial, zero, by))
	}
	sums := m.Add(partial, before)
	m.Store(sums, Mem{Base: out})
	// The difference does not overflow where a length is not negative.
	for _, v := range []vec.V{l, m.Sub(most, l), sums} {
		VMOVAPS(m.Or(bad, v), bad)
	}
	VMOVAPS(m.Add(before, all(partial)), before)
	ADDQ(U8(uint8(m.Bytes())), x)
	ADDQ(U8(uint8(m.Bytes())), out)
	SUBQ(U8(uint8(m.Lanes())), n)
	JNZ(LabelRef("lengths"))
	result := GP64()
	MOVQ(U32(0), result)
	if m.Wide {
		k := K()
		VPMOVQ2M(bad, k)
		KMOVB(k, result.As32())
	} else {
		VMOVMSKPD(bad, result.As32())
	}
	NEGQ(result)
	Store(result, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// shiftedIn returns x with each lane's element where the one by lanes above it was, and
// zeros below.
func shiftedIn(m vec.Machine, x, zero vec.V, by int) vec.V {
	dst := m.Reg()
	switch {
	case m.Wide:
		VALIGNQ(Imm(uint64(m.Lanes()-by)), zero, x, dst)
	case by == 1:
		// 2, 1, 0, 0 from the top, and the lowest is zero.
		VPERMQ(Imm(0x90), x, dst)
		VPBLENDD(Imm(0x03), zero, dst, dst)
	default:
		VPERM2I128(Imm(0x08), x, x, dst)
	}
	return dst
}

// lastLane returns what puts the last element of a vector into all lanes.
func lastLane(m vec.Machine) func(x vec.V) vec.V {
	if !m.Wide {
		return func(x vec.V) vec.V {
			dst := m.Reg()
			VPERMQ(Imm(0xff), x, dst)
			return dst
		}
	}
	last := m.Reg()
	sevens := GP64()
	MOVQ(U32(uint64(m.Lanes()-1)), sevens)
	VPBROADCASTQ(sevens, last)
	return func(x vec.V) vec.V {
		dst := m.Reg()
		VPERMQ(x, last, dst)
		return dst
	}
}
