package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// folds writes what combines rows position by position.
func folds(m vec.Machine) {
	for _, r := range []reduction{sum, prod, greatest, least} {
		fold(m, m.Elem, m.Name(r.name+"Down"), r)
	}
	if m.Elem == vec.Float32 {
		// Of many rows, whose sums are too long for so few digits.
		fold(m.As(vec.Float64), m.Elem, m.Name("longSumDown"), sum)
	}
}

// fold writes a function that lays rows over each other. What they are combined to stays in
// registers, with NaN noted beside it where instructions would lose it.
func fold(m vec.Machine, from vec.Elem, name string, r reduction) {
	vectors := vectorsOf(m)
	openFold(name, m.Elem.Go(), from.Go(), r.doc+" at each position", vectors*m.Lanes())
	out, rows, first := vec.Arg("out"), vec.Arg("rows"), vec.Arg("first")
	x := vec.Arg("x")
	SHLQ(shiftOf(from), first)
	SUBQ(first, x)
	s := newReducer(m, from, r, x, vec.Arg("splits"))
	accs, nans := make([]vec.V, vectors), make([]vec.Mask, vectors)
	if r.fill != nil {
		s.fill = m.Load(r.fill(m))
	}
	for v := range accs {
		if s.fill != nil {
			accs[v] = m.Load(s.fill)
		} else {
			accs[v] = m.Zero()
		}
		if s.ordered {
			s.nan = vec.Mask{}
			s.clearNaN()
			nans[v] = s.nan
		}
	}
	Label("row")
	at, n := s.w.row()
	PREFETCHT0(Mem{Base: at, Disp: fetchAhead})
	mask := s.w.masks(n)
	for v, acc := range accs {
		part := s.load(at, v)
		if m.Wide && !s.ordered {
			s.into[m.Elem](part, acc, mask(v).R, acc)
			continue
		}
		part = s.keep(mask(v), part)
		s.nan = nans[v]
		s.look(part, part)
		VMOVAPS(s.combine(m, part, acc), acc)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	for v, acc := range accs {
		if s.ordered {
			acc = blend(m, nans[v], m.Load(quietNaN(m)), acc)
		}
		m.Store(acc, Mem{Base: out, Disp: v * m.Bytes()})
	}
	VZEROUPPER()
	RET()
}

func openFold(name, out, x, what string, positions int) {
	TEXT(name, NOSPLIT, fmt.Sprintf("func(out *%s, x *%s, first int64, splits *int64, rows int)", out, x))
	Pragma("noescape")
	Doc(
		fmt.Sprintf("%s writes the %s of rows to out, %d of them, behind the last one whatever nothing is combined to.", name, what, positions),
		fmt.Sprintf("x is where element first is. There is at least one row, and none is longer. Memory is read up to %d elements behind the", positions),
		"beginning of each row.",
	)
}

func quietNaN(m vec.Machine) vec.Bits {
	if m.Elem.Size() == 8 {
		return 0x7ff8000000000000
	}
	return 0x7fc00000
}

// foldTruths writes the same for bytes that are 0 or 1.
func foldTruths(wide bool) {
	m := bytesOf(wide)
	const positions = 64
	for _, all := range []bool{false, true} {
		name, what := "anyDown"+m.ISA(), "disjunctions of the bytes at each position"
		if all {
			name, what = "allDown"+m.ISA(), "conjunctions of the bytes at each position"
		}
		openFold(name, "byte", "byte", what, positions)
		out, x, splits, rows := vec.Arg("out"), vec.Arg("x"), vec.Arg("splits"), vec.Arg("rows")
		SUBQ(vec.Arg("first"), x)
		ones, start, end, n, at := GP64(), GP64(), GP64(), GP64(), GP64()
		MOVQ(I32(-1), ones)
		none := m.Zero()
		if all {
			none = m.Load(vec.Bits(0x01010101))
		}
		accs := make([]vec.V, positions/m.Bytes())
		for v := range accs {
			accs[v] = m.Load(none)
		}
		MOVQ(Mem{Base: splits}, start)
		Label("row")
		ADDQ(U8(8), splits)
		MOVQ(Mem{Base: splits}, end)
		LEAQ(Mem{Base: x, Index: start, Scale: 1}, at)
		MOVQ(end, n)
		SUBQ(start, n)
		MOVQ(end, start)
		PREFETCHT0(Mem{Base: at, Disp: fetchAhead})
		for v, acc := range accs {
			if v > 0 {
				lessVector(m, n)
			}
			part := firstBytes(m, n, ones, m.Load(Mem{Base: at, Disp: v * m.Bytes()}), none)
			if all {
				VMOVAPS(m.And(acc, part), acc)
			} else {
				VMOVAPS(m.Or(acc, part), acc)
			}
		}
		DECQ(rows)
		JNZ(LabelRef("row"))
		for v, acc := range accs {
			m.Store(acc, Mem{Base: out, Disp: v * m.Bytes()})
		}
		VZEROUPPER()
		RET()
	}
}
