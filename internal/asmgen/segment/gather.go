package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/sink"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// Rows are fetched so many rows ahead, and their splits so much earlier that they are
// there by then: a line from memory takes as long as some 16 short rows.
const (
	rowsAhead   = 16
	splitsAhead = 32
)

// A gatherer is a function being written that copies rows by index.
type gatherer struct {
	out                           *sink.Sink
	src, splits, idx, rows, ahead gp
	item                          Mem
}

const gatherParams = "src *byte, splits, idx *int64, rows, ahead, item, limit int"

func newGatherer(m vec.Machine, streaming bool) gatherer {
	g := gatherer{sink.New(m, streaming), param("src"), param("splits"), param("idx"), param("rows"), param("ahead"), argument("item")}
	ADDQ(g.rows, g.ahead) // indices that are left
	return g
}

// prefetch asks for the splits and the first and last byte of rows that come later.
// Where fewer indices follow, the last row stands in for those.
func (g gatherer) prefetch() {
	later := func(steps int) gp {
		at, limit := GP64(), GP64()
		LEAQ(Mem{Base: g.ahead, Disp: -1}, at)
		MOVQ(U32(uint64(steps)), limit)
		CMPQ(at, limit)
		CMOVQGT(limit, at)
		MOVQ(Mem{Base: g.idx, Index: at, Scale: 8}, at)
		return at
	}
	PREFETCHT0(Mem{Base: g.splits, Index: later(splitsAhead), Scale: 8})
	row := later(rowsAhead)
	at, end := GP64(), GP64()
	MOVQ(Mem{Base: g.splits, Index: row, Scale: 8}, at)
	MOVQ(Mem{Base: g.splits, Index: row, Scale: 8, Disp: 8}, end)
	IMULQ(g.item, at)
	IMULQ(g.item, end)
	PREFETCHT0(Mem{Base: g.src, Index: at, Scale: 1})
	PREFETCHT0(Mem{Base: g.src, Index: end, Scale: 1, Disp: -1})
}

// next returns the address and the length of the next row.
func (g gatherer) next() (at, n gp) {
	row := GP64()
	at, n = GP64(), GP64()
	MOVQ(Mem{Base: g.idx}, row)
	ADDQ(U8(8), g.idx)
	MOVQ(Mem{Base: g.splits, Index: row, Scale: 8}, at)
	MOVQ(Mem{Base: g.splits, Index: row, Scale: 8, Disp: 8}, n)
	SUBQ(at, n)
	IMULQ(g.item, n)
	IMULQ(g.item, at)
	ADDQ(g.src, at)
	return at, n
}

// loop goes on with the next row, if there is one.
func (g gatherer) loop() {
	DECQ(g.ahead)
	DECQ(g.rows)
	JNZ(LabelRef("row"))
	g.out.End()
}

// gather writes a function that copies rows by index.
func gather(m vec.Machine, streaming bool, suffix string) {
	name := "gatherRows" + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, gatherParams))
	Pragma("noescape")
	Doc(append([]string{
		name + " copies the rows idx to dst, one behind the other. It reads and writes whole vectors, one row after the other; rows that",
		"end behind byte limit of src are read by the byte. ahead more indices follow, of rows that will be asked for next.",
	}, sink.Explain(streaming)...)...)
	g := newGatherer(m, streaming)
	end := GP64()
	Label("row")
	g.prefetch()
	at, n := g.next()
	LEAQ(Mem{Base: at, Index: n, Scale: 1}, end)
	SUBQ(g.src, end)
	CMPQ(end, argument("limit"))
	JG(LabelRef("exact"))
	copyRow(m, g.out, at, n)
	Label("copied")
	g.loop()
	Label("exact")
	TESTQ(n, n)
	JZ(LabelRef("copied"))
	one := GP64()
	MOVBQZX(Mem{Base: at}, one)
	MOVB(one.As8(), Mem{Base: g.out.At})
	INCQ(at)
	INCQ(g.out.At)
	g.out.Check()
	DECQ(n)
	JMP(LabelRef("exact"))
}

// gatherWords writes the form of gather for rows of four-byte words that touches no
// cache line which holds nothing of the row: lines from memory are what it waits for.
func gatherWords(m vec.Machine, streaming bool, suffix string) {
	name := "gatherWords" + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, gatherParams))
	Pragma("noescape")
	Doc(append([]string{
		name + " copies the rows idx to dst, one behind the other. src and item are multiples of 4 bytes. It writes whole vectors, one row",
		"after the other, and reads no cache line that does not hold part of a row. ahead more indices follow, of rows that will be asked for next.",
	}, sink.Explain(streaming)...)...)
	g := newGatherer(m, streaming)
	lanes := ZMM()
	VMOVDQU32(wordsOf("wordNumbers", func(i int) int { return i }), lanes)
	Label("row")
	g.prefetch()
	at, n := g.next()
	CMPQ(n, U8(64))
	JG(LabelRef("long"))
	// A row within one line is read with its line and moved down; one that crosses
	// into the next is read from where it begins.
	from, off, end := GP64(), GP64(), GP64()
	MOVQ(at, off)
	ANDQ(U8(63), off)
	MOVQ(at, from)
	SUBQ(off, from)
	zero := GP64()
	XORQ(zero, zero)
	LEAQ(Mem{Base: off, Index: n, Scale: 1}, end)
	CMPQ(end, U8(64))
	CMOVQGT(at, from)
	CMOVQGT(zero, off)
	TESTQ(n, n)
	CMOVQEQ(g.out.At, from) // an empty row may be where nothing is
	Label("move")
	SHRQ(U8(2), off)
	shift, z := ZMM(), ZMM()
	VPBROADCASTD(off.As32(), shift)
	VPADDD(lanes, shift, shift)
	VMOVDQU32(Mem{Base: from}, z)
	VPERMD(z, shift, z)
	VMOVDQU32(z, Mem{Base: g.out.At})
	ADDQ(n, g.out.At)
	g.out.Check()
	g.loop()
	// The last vector of a longer row is the one that ends with it, moved down.
	Label("long")
	LEAQ(Mem{Base: at, Index: n, Scale: 1, Disp: -64}, end)
	Label("vector")
	VMOVDQU32(Mem{Base: at}, z)
	VMOVDQU32(z, Mem{Base: g.out.At})
	ADDQ(U8(64), at)
	ADDQ(U8(64), g.out.At)
	SUBQ(U8(64), n)
	g.out.Check()
	CMPQ(n, U8(64))
	JG(LabelRef("vector"))
	MOVQ(at, off)
	SUBQ(end, off)
	MOVQ(end, from)
	JMP(LabelRef("move"))
}
