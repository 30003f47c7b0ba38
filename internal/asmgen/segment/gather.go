package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/sink"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// Lines from memory are asked for so many rows ahead, and into the second-level cache,
// which has more of them on their way at a time than the first-level one: with two lines
// of a row that is what the time of a row depends on.
const (
	splitsAhead = 64
	rowsAhead   = 64
)

// lastEntry returns the address of the last of the entries from at on: there are rows of
// them and as many more as the parameter ahead says.
func lastEntry(at, rows gp) gp {
	last := vec.Arg("ahead")
	ADDQ(rows, last)
	LEAQ(Mem{Base: at, Index: last, Scale: 8, Disp: -8}, last)
	return last
}

// later returns the address of the entry that is steps behind at, or last if that
// comes first.
func later(at, last gp, steps int) gp {
	far := GP64()
	LEAQ(Mem{Base: at, Disp: 8 * steps}, far)
	CMPQ(far, last)
	CMOVQGT(last, far)
	return far
}

// gatherSplits writes a function that looks rows up.
func gatherSplits() {
	const name = "gatherSplits"
	TEXT(name, NOSPLIT, "func(out, starts, splits, idx *int64, rows, ahead, count int, total int64) int")
	Pragma("noescape")
	Doc(name+" sets starts[i] to splits[r], r being idx[i], and out[i] to total and the lengths of these rows up to that one, for rows",
		"rows. It stops before an index that is not below count, and before out overflows, and returns how many rows it did. ahead more",
		"indices follow, of rows that will be asked for next.")
	out, starts, splits, idx, rows := vec.Arg("out"), vec.Arg("starts"), vec.Arg("splits"), vec.Arg("idx"), vec.Arg("rows")
	count, total := vec.Arg("count"), vec.Arg("total")
	last := lastEntry(idx, rows)
	at, start, n := GP64(), GP64(), GP64()
	Label("row")
	far := later(idx, last, splitsAhead)
	MOVQ(Mem{Base: far}, far)
	PREFETCHT1(Mem{Base: splits, Index: far, Scale: 8})
	MOVQ(Mem{Base: idx}, at)
	CMPQ(at, count)
	JAE(LabelRef("done"))
	MOVQ(Mem{Base: splits, Index: at, Scale: 8}, start)
	MOVQ(Mem{Base: splits, Index: at, Scale: 8, Disp: 8}, n)
	SUBQ(start, n)
	ADDQ(n, total)
	JOS(LabelRef("done"))
	MOVQ(start, Mem{Base: starts})
	MOVQ(total, Mem{Base: out})
	ADDQ(U8(8), idx)
	ADDQ(U8(8), starts)
	ADDQ(U8(8), out)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("done")
	done := GP64()
	MOVQ(argument("rows"), done)
	SUBQ(rows, done)
	Store(done, ReturnIndex(0))
	RET()
}

// A gatherer is a function being written that copies rows from here and there.
type gatherer struct {
	out                             *sink.Sink
	src, splits, starts, rows, last gp
	item                            Mem
}

const gatherParams = "src *byte, splits, starts *int64, rows, ahead, item, limit int"

func newGatherer(m vec.Machine, streaming bool) gatherer {
	g := gatherer{out: sink.New(m, streaming), src: vec.Arg("src"), splits: vec.Arg("splits"), starts: vec.Arg("starts"), rows: vec.Arg("rows"), item: argument("item")}
	g.last = lastEntry(g.starts, g.rows)
	SUBQ(g.starts, g.splits) // both go on together
	return g
}

// prefetch asks for the first and the last byte of a row that comes later. Where fewer
// rows follow, the last one stands in for those.
func (g gatherer) prefetch() {
	far := later(g.starts, g.last, rowsAhead)
	at, end := GP64(), GP64()
	MOVQ(Mem{Base: g.splits, Index: far, Scale: 1, Disp: 8}, end)
	SUBQ(Mem{Base: g.splits, Index: far, Scale: 1}, end)
	MOVQ(Mem{Base: far}, at)
	ADDQ(at, end)
	IMULQ(g.item, at)
	IMULQ(g.item, end)
	PREFETCHT1(Mem{Base: g.src, Index: at, Scale: 1})
	PREFETCHT1(Mem{Base: g.src, Index: end, Scale: 1, Disp: -1})
}

// next returns the address and the length of the next row.
func (g gatherer) next() (at, n gp) {
	at, n = GP64(), GP64()
	MOVQ(Mem{Base: g.splits, Index: g.starts, Scale: 1, Disp: 8}, n)
	SUBQ(Mem{Base: g.splits, Index: g.starts, Scale: 1}, n)
	MOVQ(Mem{Base: g.starts}, at)
	ADDQ(U8(8), g.starts)
	IMULQ(g.item, n)
	IMULQ(g.item, at)
	ADDQ(g.src, at)
	return at, n
}

// loop goes on with the next row, if there is one.
func (g gatherer) loop() {
	DECQ(g.rows)
	JNZ(LabelRef("row"))
	g.out.End()
}

// gather writes a function that copies rows.
func gather(m vec.Machine, streaming bool, suffix string) {
	name := "gatherRows" + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, gatherParams))
	Pragma("noescape")
	Doc(append([]string{
		name + " copies rows to dst, one behind the other: as long as splits say, from where starts say in src. It reads and writes whole",
		"vectors, one row after the other; rows that end behind byte limit of src are read by the byte. ahead more rows follow, which will",
		"be asked for next.",
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
		name + " copies rows to dst, one behind the other: as long as splits say, from where starts say in src. src and item are multiples",
		"of 4 bytes. It writes whole vectors, one row after the other, and reads no cache line that does not hold part of a row. ahead more",
		"rows follow, which will be asked for next.",
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
