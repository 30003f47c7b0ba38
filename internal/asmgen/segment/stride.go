package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/sink"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// strideWords is the number of four-byte words that stride picks from in one go.
func strideWords(m vec.Machine) int {
	if m.Wide {
		return 32 // two vectors
	}
	return 8
}

// stride writes a function that takes items of rows that are equally far from each other:
// the words of a few vectors are permuted to one of those wanted, the same way all the time.
func stride(m vec.Machine, streaming bool, suffix string) {
	words := strideWords(m)
	name := "stride" + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, "src *byte, splits, starts *int64, rows, item, offset, each, by int, words *int32"))
	Pragma("noescape")
	Doc(append([]string{
		name + " writes rows to dst, one behind the other, as long as splits say: from " + strconv.Itoa(4*words) + " bytes of src, offset bytes behind item",
		"starts[r], the words that words name, which are each items; from as many bytes by bytes further, as many, and so on. It reads those",
		"bytes at least once for each row, and writes whole vectors, one row after the other.",
	}, sink.Explain(streaming)...)...)
	out, src, splits, starts, rows := sink.New(m, streaming), vec.Arg("src"), vec.Arg("splits"), vec.Arg("starts"), vec.Arg("rows")
	item, each := argument("item"), vec.Arg("each")
	order, all, at, n := m.Load(Mem{Base: vec.Arg("words")}), GP64(), GP64(), GP64()
	ADDQ(argument("offset"), src)
	MOVQ(each, all)
	IMULQ(item, all) // bytes
	Label("row")
	MOVQ(Mem{Base: splits, Disp: 8}, n)
	SUBQ(Mem{Base: splits}, n)
	MOVQ(Mem{Base: starts}, at)
	ADDQ(U8(8), splits)
	ADDQ(U8(8), starts)
	IMULQ(item, at)
	ADDQ(src, at)
	PREFETCHT0(Mem{Base: at, Disp: fetchAhead})
	Label("items")
	picked := m.Reg()
	if m.Wide {
		VMOVDQU32(Mem{Base: at}, picked)
		VPERMT2D(Mem{Base: at, Disp: 64}, order, picked)
	} else {
		VPERMD(Mem{Base: at}, order, picked)
	}
	m.Store(picked, Mem{Base: out.At})
	CMPQ(n, each)
	JG(LabelRef("more"))
	IMULQ(item, n)
	ADDQ(n, out.At)
	out.Check()
	DECQ(rows)
	JNZ(LabelRef("row"))
	out.End()
	Label("more")
	SUBQ(each, n)
	ADDQ(all, out.At)
	out.Check()
	ADDQ(argument("by"), at)
	JMP(LabelRef("items"))
}
