package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// Where the fields of wire.Entry lie, and its size.
const (
	entryAll     = 64
	entryLengths = 72
	entrySize    = 80
	entryLeast   = 88
	entryKey     = 96
	entryTag     = 104
	entryPacked  = 112
	entryRows    = 120
	entryStride  = 128
)

// noteAhead is how many messages before their turn messages are asked for.
const noteAhead = 16

// lines asks for the lines of the message that m points to. The first four are asked for
// without a branch, which would be mispredicted: those that it does not have are its last
// one. It leaves the first 512 bytes of a long one to a loop.
func lines(m gp, name string) {
	p, size, last, at, line := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: m}, p)
	MOVQ(Mem{Base: m, Disp: 8}, size)
	LEAQ(Mem{Base: p, Index: size, Scale: 1, Disp: -1}, last)
	PREFETCHT0(Mem{Base: p})
	for i := 1; i < 4; i++ {
		LEAQ(Mem{Base: p, Disp: 64 * i}, line)
		CMPQ(line, last)
		CMOVQHI(last, line)
		PREFETCHT0(Mem{Base: line})
	}
	CMPQ(size, U32(256))
	JBE(LabelRef(name + "Asked"))
	LEAQ(Mem{Base: p, Disp: 256}, line)
	LEAQ(Mem{Base: p, Disp: 512}, at)
	CMPQ(at, last)
	CMOVQHI(last, at)
	Label(name + "Line")
	PREFETCHT0(Mem{Base: line})
	ADDQ(U8(64), line)
	CMPQ(line, at)
	JB(LabelRef(name + "Line"))
	PREFETCHT0(Mem{Base: at})
	Label(name + "Asked")
}

// closes reads a length of one or two bytes at q, which it moves behind it, and leaves
// the message where the data do not end at stop.
func closes(q, stop gp, name string) {
	n, upper := GP64(), GP64()
	MOVBLZX(Mem{Base: q}, n.As32())
	INCQ(q)
	TESTL(U32(0x80), n.As32())
	JZ(LabelRef(name))
	MOVBLZX(Mem{Base: q}, upper.As32())
	INCQ(q)
	SHLL(U8(7), upper.As32()) // a top bit makes it too much
	LEAQ(Mem{Base: n, Index: upper, Scale: 1, Disp: -0x80}, n)
	Label(name)
	ADDQ(q, n)
	CMPQ(n, stop)
	JNE(LabelRef("done"))
}

// noteLists compares what an entry starts with at once: the key is known, and with lengths
// of one byte all of them follow from the first.
func noteLists() {
	TEXT("noteListsVBMI", NOSPLIT, "func(messages *[]byte, n int, table *byte, entries int, row int, budget int) (done, size int)")
	Pragma("noescape")
	Doc("noteListsVBMI notes where the lists of messages lie, as Note does.")
	m, end, table, row, budget := vec.Arg("messages"), vec.Arg("n"), vec.Arg("table"), vec.Arg("row"), vec.Arg("budget")
	LEAQ(Mem{Base: end, Index: end, Scale: 2}, end)
	lastMessage, endMessages, endTable := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	LEAQ(Mem{Base: m, Index: end, Scale: 8}, end)
	MOVQ(end, endMessages)
	SUBQ(U8(24), end)
	MOVQ(end, lastMessage)
	entries := vec.Arg("entries")
	SHLQ(U8(7), entries)
	ADDQ(table, entries)
	MOVQ(entries, endTable)

	Label("message")
	CMPQ(m, endMessages)
	JAE(LabelRef("done"))
	TESTQ(budget, budget)
	JLE(LabelRef("done"))
	next := GP64()
	LEAQ(Mem{Base: m, Disp: 24 * noteAhead}, next)
	CMPQ(next, lastMessage)
	CMOVQHI(lastMessage, next)
	lines(next, "ahead")

	// A message that is one field with features starts with its tag and a length that
	// follows from the size of the message.
	base, p := GP64(), GP64()
	MOVQ(Mem{Base: m}, base)
	MOVQ(Mem{Base: m, Disp: 8}, end)
	CMPQ(end, U32(1<<14+2))
	JA(LabelRef("done"))
	CMPQ(end, U8(4))
	JB(LabelRef("done"))
	brief, long, mask, wide := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: end, Disp: -3}, long)
	MOVL(U32(0x7f7f00), wide.As32())
	PDEPQ(wide, long, long)
	ORQ(U32(0x8000|firstTag), long)
	LEAQ(Mem{Base: end, Disp: -2}, brief)
	SHLQ(U8(8), brief)
	ORQ(U8(firstTag), brief)
	MOVL(U32(0xffff), mask.As32())
	MOVL(U32(0xffffff), wide.As32())
	LEAQ(Mem{Base: base, Disp: 2}, p)
	body := GP64()
	LEAQ(Mem{Base: base, Disp: 3}, body)
	CMPQ(end, U32(130))
	CMOVQCC(long, brief)
	CMOVQCC(wide, mask)
	CMOVQCC(body, p)
	XORL(Mem{Base: base}, brief.As32())
	TESTL(mask.As32(), brief.As32())
	JNZ(LabelRef("done"))
	ADDQ(base, end)
	j := GP64()
	MOVQ(table, j)

	Label("entry")
	CMPQ(p, end)
	JAE(LabelRef("row"))
	n, stop := GP64(), GP64()
	LEAQ(Mem{Base: p, Disp: 2}, body)
	CMPQ(body, end)
	JA(LabelRef("done"))
	MOVBLZX(Mem{Base: p, Disp: 1}, n.As32())
	TESTL(U32(0x80), n.As32())
	JNZ(LabelRef("long"))
	LEAQ(Mem{Base: body, Index: n, Scale: 1}, stop)
	CMPQ(stop, end)
	JA(LabelRef("done"))
	lengths := ZMM()
	VPBROADCASTB(n.As32(), lengths)
	ADDQ(U8(2), n)
	Label("try")
	CMPQ(j, endTable)
	JAE(LabelRef("done"))
	from := GP64()
	part, which, differ := K(), K(), K()
	MOVQ(Mem{Base: j, Disp: entrySize}, from)
	CMPQ(n, from)
	JB(LabelRef("small"))
	KMOVQ(Mem{Base: j, Disp: entryAll}, part)
	Label("compare")
	head := ZMM()
	VMOVDQU64(Mem{Base: j}, head)
	KMOVQ(Mem{Base: j, Disp: entryLengths}, which)
	VPADDB(lengths, head, which, head)
	VPCMPUB(U8(4), Mem{Base: p}, head, part, differ)
	KORTESTQ(differ, differ)
	JNZ(LabelRef("differs"))
	ADDQ(p, from)

	Label("note")
	rows, span := GP64(), GP64()
	MOVQ(Mem{Base: j, Disp: entryRows}, rows)
	SUBQ(I32(-entryStride), j)
	TESTQ(rows, rows)
	JZ(LabelRef("noted"))
	MOVQ(stop, span)
	SUBQ(from, span)
	SUBQ(base, from)
	SHLQ(U8(32), from)
	ORQ(from, span)
	BTSQ(U8(63), span)
	MOVQ(span, Mem{Base: rows, Index: row, Scale: 8})
	Label("noted")
	MOVQ(stop, p)
	JMP(LabelRef("entry"))

	Label("differs")
	SUBQ(I32(-entryStride), j)
	JMP(LabelRef("try"))

	// An empty list of numbers lacks the tag and the length of packed ones.
	Label("small")
	CMPQ(n, Mem{Base: j, Disp: entryLeast})
	JNE(LabelRef("differs"))
	some := constant(^uint64(0))
	BZHIQ(n, some, some)
	KMOVQ(some, part)
	MOVQ(n, from)
	JMP(LabelRef("compare"))

	// With a length of two bytes, those inside have one or two.
	Label("long")
	INCQ(body)
	CMPQ(body, end)
	JA(LabelRef("done"))
	upper := GP64()
	MOVBLZX(Mem{Base: p, Disp: 2}, upper.As32())
	DECL(upper.As32())
	CMPL(upper.As32(), U32(0x7f))
	JAE(LabelRef("done"))
	SHLL(U8(7), upper.As32())
	ADDQ(upper, n) // with a top bit for the one that is taken off
	LEAQ(Mem{Base: body, Index: n, Scale: 1}, stop)
	CMPQ(stop, end)
	JA(LabelRef("done"))
	Label("tryLong")
	CMPQ(j, endTable)
	JAE(LabelRef("done"))
	some = constant(^uint64(0))
	MOVQ(Mem{Base: j, Disp: entryKey}, from)
	BZHIQ(from, some, some)
	KMOVQ(some, part)
	VMOVDQU8(Mem{Base: j, Disp: 2}, head)
	VPCMPUB(U8(4), Mem{Base: body}, head, part, differ)
	KORTESTQ(differ, differ)
	JNZ(LabelRef("differsLong"))
	ADDQ(body, from)
	closes(from, stop, "value")
	tag := GP64()
	MOVQ(Mem{Base: j, Disp: entryTag}, tag)
	TESTQ(tag, tag)
	JZ(LabelRef("note"))
	CMPB(tag.As8(), Mem{Base: from})
	JNE(LabelRef("done"))
	INCQ(from)
	closes(from, stop, "list")
	CMPQ(Mem{Base: j, Disp: entryPacked}, U8(0))
	JE(LabelRef("note"))
	CMPB(Mem{Base: from}, U8(firstTag))
	JNE(LabelRef("done"))
	INCQ(from)
	closes(from, stop, "packed")
	JMP(LabelRef("note"))
	Label("differsLong")
	SUBQ(I32(-entryStride), j)
	JMP(LabelRef("tryLong"))

	Label("row")
	SUBQ(base, end)
	SUBQ(end, budget)
	INCQ(row)
	ADDQ(U8(24), m)
	JMP(LabelRef("message"))

	Label("done")
	VZEROUPPER()
	subtract("row", row)
	Store(row, ReturnIndex(0))
	used := vec.Arg("budget")
	SUBQ(budget, used)
	Store(used, ReturnIndex(1))
	RET()
}
