package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// A tally counts the elements of rows that are not zero: a bit for each in a register, of
// which the population is counted.
type tally struct {
	name, doc string
	elem      string // of x
	size      int    // bytes of an element
	step      int    // elements that are looked at in one go
	wide      bool
	// out gets bytes that say whether the flags hold behind a comparison of the count with
	// the length, or behind one with 0; or the count.
	truth func(Op)
	whole bool
}

// tallies writes the count of elements that are not zero.
func tallies(m vec.Machine) {
	t := tally{name: m.Name("countNonzero"), doc: "numbers of elements that are not zero", elem: m.Elem.Go(), size: m.Elem.Size(), step: vectorsOf(m) * m.Lanes(), wide: m.Wide}
	t.write(func() func(at gp) gp {
		zero := m.Zero()
		return func(at gp) gp {
			return joined(m, vectorsOf(m), func(v int) vec.Mask {
				return m.Cmp(vec.NotEqual, zero, Mem{Base: at, Disp: v * m.Bytes()})
			})
		}
	})
}

// truths writes the same for bytes, and what it says of truth values.
func truths(wide bool) {
	m := vec.Machine{Wide: wide}
	for _, t := range []tally{
		{name: "countNonzeroI8", doc: "numbers of elements that are not zero"},
		{name: "any", doc: "whether there are elements that are not zero", truth: SETNE},
		{name: "all", doc: "whether no element is zero", truth: SETEQ, whole: true},
	} {
		t.name, t.elem, t.size, t.step, t.wide = t.name+m.ISA(), "byte", 1, m.Bytes(), wide
		t.write(func() func(at gp) gp {
			zero := m.Zero()
			return func(at gp) gp {
				bits := GP64()
				if wide {
					k, x := K(), m.Load(Mem{Base: at})
					VPTESTMB(x, x, k)
					KMOVQ(k, bits)
					return bits
				}
				equal := m.Reg()
				VPCMPEQB(Mem{Base: at}, zero, equal)
				VPMOVMSKB(equal, bits.As32())
				NOTL(bits.As32())
				return bits
			}
		})
	}
}

// write writes the function; ready prepares what looks at elements.
func (t tally) write(ready func() func(at gp) gp) {
	result, resultSize := "int64", 8
	if t.truth != nil {
		result, resultSize = "byte", 1
	}
	TEXT(t.name, NOSPLIT, fmt.Sprintf("func(out *%s, x *%s, first int64, splits *int64, rows int, scratch *byte) int", result, t.elem))
	Pragma("noescape")
	Doc(
		fmt.Sprintf("%s writes the %s in rows to out, and returns the number of rows done.", t.name, t.doc),
		"x is where element first is.",
		fmt.Sprintf("Memory is read up to %d elements behind the beginning of each row, and behind its end.", t.step),
		fmt.Sprintf("It stops before a row of more than %d elements.", longest),
	)
	out, x, splits, rows, first := vec.Arg("out"), vec.Arg("x"), vec.Arg("splits"), vec.Arg("rows"), vec.Arg("first")
	if t.size > 1 {
		SHLQ(U8(map[int]uint8{4: 2, 8: 3}[t.size]), first)
	}
	SUBQ(first, x)
	bits := ready()
	start, todo := GP64(), GP64()
	MOVQ(Mem{Base: splits}, start)
	MOVQ(rows, todo)

	Label("row")
	DECQ(todo)
	JL(LabelRef("done"))
	at, n, count := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: x, Index: start, Scale: uint8(t.size)}, at)
	ADDQ(U8(8), splits)
	MOVQ(Mem{Base: splits}, n)
	PREFETCHT0(Mem{Base: splits, Disp: fetchAhead})
	PREFETCHT0(Mem{Base: at, Disp: fetchAhead})
	SUBQ(start, n)
	ADDQ(n, start)
	CMPQ(n, U8(uint8(t.step)))
	JG(LabelRef("long"))
	found := bits(at)
	BZHIQ(n, found, found)
	POPCNTQ(found, count)
	Label("counted")
	switch {
	case t.whole:
		CMPQ(count, n)
		t.truth(Mem{Base: out})
	case t.truth != nil:
		TESTQ(count, count)
		t.truth(Mem{Base: out})
	default:
		MOVQ(count, Mem{Base: out})
	}
	ADDQ(U8(uint8(resultSize)), out)
	JMP(LabelRef("row"))

	Label("long")
	left, part := GP64(), GP64()
	MOVQ(n, left)
	XORQ(count, count)
	CMPQ(n, U32(longest))
	JG(LabelRef("stop"))
	Label("step")
	POPCNTQ(bits(at), part)
	ADDQ(part, count)
	ADDQ(U32(uint64(t.step*t.size)), at)
	SUBQ(U8(uint8(t.step)), left)
	CMPQ(left, U8(uint8(t.step)))
	JG(LabelRef("step"))
	last := bits(at)
	BZHIQ(left, last, last)
	POPCNTQ(last, part)
	ADDQ(part, count)
	JMP(LabelRef("counted"))

	Label("stop")
	INCQ(todo)
	SUBQ(todo, rows)
	Store(rows, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("done")
	Store(rows, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
