package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// slack is how many bytes beyond the last element there is room for.
const slack = 128

// A walk goes over the rows of a batch: each has a span and a message.
type walk struct {
	messages, row, end  gp
	p, size             gp // of the row's list: where it starts, and its bytes
	first8, messageSize gp // where its eighth byte ends in the message, and the bytes of that
}

// newWalk loads the parameters messages, rows and n.
func newWalk() *walk {
	w := &walk{messages: vec.Arg("messages"), row: vec.Arg("rows"), end: vec.Arg("n"), p: GP64(), size: GP64(), first8: GP64(), messageSize: GP64()}
	LEAQ(Mem{Base: w.row, Index: w.end, Scale: 8}, w.end)
	return w
}

// open starts the loop. A span that does not lie in its message ends it.
func (w *walk) open() {
	Label("row")
	CMPQ(w.row, w.end)
	JAE(LabelRef("done"))
	span, to := GP64(), GP64()
	MOVQ(Mem{Base: w.row}, span)
	CMPQ(span, I8(-1))
	JGE(LabelRef("next"))
	MOVL(span.As32(), w.size.As32())
	ADDQ(span, span)
	SHRQ(U8(33), span)
	LEAQ(Mem{Base: span, Index: w.size, Scale: 1}, to)
	MOVQ(Mem{Base: w.messages, Disp: 8}, w.messageSize)
	CMPQ(to, w.messageSize)
	JA(LabelRef("done"))
	MOVQ(Mem{Base: w.messages}, w.p)
	ADDQ(span, w.p)
	LEAQ(Mem{Base: span, Disp: 8}, w.first8)
}

// close stores the number of elements of the row and goes on with the next one.
func (w *walk) close(count gp) {
	MOVQ(count, Mem{Base: w.row})
	Label("next")
	ADDQ(U8(8), w.row)
	ADDQ(U8(24), w.messages)
	JMP(LabelRef("row"))
}

// result stores how many rows are done.
func (w *walk) result() {
	subtract("rows", w.row)
	SHRQ(U8(3), w.row)
	Store(w.row, ReturnIndex(0))
}

// subtract subtracts a parameter.
func subtract(name string, from gp) {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	SUBQ(c.Addr, from)
}

// limit keeps the end of n elements in memory.
func limit(dst, n gp, size uint8) Mem {
	m := AllocLocal(8)
	LEAQ(Mem{Base: dst, Index: n, Scale: size}, n)
	MOVQ(n, m)
	return m
}

// fits leaves the loop where dst lacks room for n elements and the slack.
func fits(dst, n gp, scale uint8, limit Mem) {
	last := GP64()
	LEAQ(Mem{Base: dst, Index: n, Scale: scale, Disp: slack}, last)
	CMPQ(last, limit)
	JA(LabelRef("done"))
}

const listDoc = "It stops before a row that it leaves to others, or for which dst may lack room, and returns how many rows are done"

// intLists decodes as varintsWide does; where no number has more than four bytes, which
// is the rule, sixteen of them at a time. Stores reach beyond the last number.
func intLists() {
	TEXT("intListsVBMI", NOSPLIT, "func(dst *int64, room int, messages *[]byte, rows *int64, n int) (done, count int)")
	Pragma("noescape")
	Doc("intListsVBMI decodes lists of packed numbers.", listDoc+" and how many numbers they have.")
	w := newWalk()
	d, start := vec.Arg("dst"), GP64()
	end := limit(d, vec.Arg("room"), 8)
	k := newBlockConstants()
	more, groups := words("tops", 0x8080808080808080), words("groups", 0x7f7f7f7f7f7f7f7f)
	low4, masks4, spread4 := vector(0x0302010003020100), ZMM(), ZMM()
	VBROADCASTI32X4(words("groupsOfFour", 0x00007f7f0000007f, 0x7f7f7f7f007f7f7f), masks4)
	VBROADCASTI32X4(words("firstOfFour", 0x0404040400000000, 0x0c0c0c0c08080808), spread4)

	w.open()
	MOVQ(d, start)
	fits(d, w.size, 8, end)
	count := GP64()
	XORL(count.As32(), count.As32())
	TESTQ(w.size, w.size)
	JZ(LabelRef("counted"))
	// Many lists have one number.
	CMPQ(w.size, U8(8))
	JA(LabelRef("block"))
	CMPQ(w.first8, w.messageSize)
	JA(LabelRef("block"))
	x, first, mask := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: w.p}, x)
	MOVQ(x, mask)
	NOTQ(mask)
	ANDQ(more, mask)
	TZCNTQ(mask, first)
	INCQ(first) // 65 where no number ends
	MOVQ(w.size, w.first8)
	SHLQ(U8(3), w.first8)
	CMPQ(first, w.first8)
	JNE(LabelRef("block"))
	BLSMSKQ(mask, mask)
	ANDQ(groups, mask)
	PEXTQ(mask, x, x)
	MOVQ(x, Mem{Base: d})
	ADDQ(U8(8), d)
	MOVL(U32(1), count.As32())
	JMP(LabelRef("counted"))

	Label("block")
	v, runs, stops := k.load(w.p, w.size)
	JZ(LabelRef("leave"))
	half := GP64()
	for _, n := range []uint64{1, 2} { // four bytes in a row with a top bit
		MOVQ(runs, half)
		SHRQ(U8(n), half)
		ANDQ(half, runs)
	}
	from, to := k.places(stops)
	n, used := GP64(), GP64()
	POPCNTQ(stops, n)
	LZCNTQ(stops, used)
	SUBQ(U8(64), used) // what is used, with the sign turned
	SUBQ(used, w.p)
	ADDQ(used, w.size)
	TESTQ(runs, runs)
	JNZ(LabelRef("long"))

	Label("sixteen")
	at, size, y := ZMM(), ZMM(), ZMM()
	VPMOVZXBD(from.AsX(), at)
	VPMOVZXBD(to.AsX(), size)
	VPSHUFB(spread4, at, at)
	VPADDB(low4, at, at)
	VPERMB(v, at, y)
	VPERMD(masks4, size, size)
	VPANDD(size, y, y)
	VPMADDUBSW(y, k.by7, y)
	VPMADDWD(k.by14, y, y)
	VPMOVZXDQ(y.AsY(), at)
	VEXTRACTI64X4(U8(1), y, y.AsY())
	VPMOVZXDQ(y.AsY(), y)
	VMOVDQU64(at, Mem{Base: d})
	VMOVDQU64(y, Mem{Base: d, Disp: 64})
	CMPQ(n, U8(16))
	JBE(LabelRef("last"))
	VALIGNQ(U8(2), from, from, from)
	VALIGNQ(U8(2), to, to, to)
	ADDQ(I32(128), d)
	SUBQ(U8(16), n)
	JMP(LabelRef("sixteen"))

	Label("long")
	MOVQ(runs, half)
	SHRQ(U8(4), half)
	TESTQ(half, runs)
	JNZ(LabelRef("leave"))
	Label("eight")
	y = k.eight(v, from, to)
	VMOVDQU64(y, Mem{Base: d})
	CMPQ(n, U8(8))
	JBE(LabelRef("last"))
	VALIGNQ(U8(1), from, from, from)
	VALIGNQ(U8(1), to, to, to)
	ADDQ(U8(64), d)
	SUBQ(U8(8), n)
	JMP(LabelRef("eight"))

	Label("last")
	LEAQ(Mem{Base: d, Index: n, Scale: 8}, d)
	TESTQ(w.size, w.size)
	JNZ(LabelRef("block"))
	MOVQ(d, count)
	SUBQ(start, count)
	SHRQ(U8(3), count)
	Label("counted")
	w.close(count)

	Label("leave")
	MOVQ(start, d)
	Label("done")
	VZEROUPPER()
	w.result()
	subtract("dst", d)
	SHRQ(U8(3), d)
	Store(d, ReturnIndex(1))
	RET()
}

// upTo returns a mask of the first n of 64 bytes; n is below 128.
func upTo(n, all gp) reg.OpmaskVirtual {
	bits, k := GP64(), K()
	BZHIQ(n, all, bits)
	KMOVQ(bits, k)
	return k
}

// copyPair copies n < 128 bytes and writes 128.
func copyPair(p, d, n, all gp) {
	rest, zero := GP64(), GP64()
	XORL(zero.As32(), zero.As32())
	MOVQ(n, rest)
	SUBQ(U8(64), rest)
	CMOVQLT(zero, rest)
	a, b := ZMM(), ZMM()
	VMOVDQU8_Z(Mem{Base: p}, upTo(n, all), a)
	VMOVDQU8_Z(Mem{Base: p, Disp: 64}, upTo(rest, all), b)
	VMOVDQU64(a, Mem{Base: d})
	VMOVDQU64(b, Mem{Base: d, Disp: 64})
}

func floatLists() {
	TEXT("floatListsVBMI", NOSPLIT, "func(dst *float32, room int, messages *[]byte, rows *int64, n int) (done, count int)")
	Pragma("noescape")
	Doc("floatListsVBMI copies lists of packed numbers of four bytes.", listDoc+" and how many numbers they have.")
	w := newWalk()
	d := vec.Arg("dst")
	end := limit(d, vec.Arg("room"), 4)
	all := constant(^uint64(0))

	w.open()
	fits(d, w.size, 1, end)
	TESTQ(U32(3), w.size)
	JNZ(LabelRef("done"))
	count := GP64()
	MOVQ(w.size, count)
	SHRQ(U8(2), count)
	Label("long")
	CMPQ(w.size, U32(128))
	JB(LabelRef("short"))
	a, b := ZMM(), ZMM()
	VMOVDQU64(Mem{Base: w.p}, a)
	VMOVDQU64(Mem{Base: w.p, Disp: 64}, b)
	VMOVDQU64(a, Mem{Base: d})
	VMOVDQU64(b, Mem{Base: d, Disp: 64})
	ADDQ(I32(128), w.p)
	ADDQ(I32(128), d)
	SUBQ(I32(128), w.size)
	JMP(LabelRef("long"))
	Label("short")
	copyPair(w.p, d, w.size, all)
	ADDQ(w.size, d)
	w.close(count)

	Label("done")
	VZEROUPPER()
	w.result()
	subtract("dst", d)
	SHRQ(U8(2), d)
	Store(d, ReturnIndex(1))
	RET()
}

func stringLists() {
	TEXT("stringListsVBMI", NOSPLIT, "func(dst *byte, room int, ends *int64, roomEnds int, offset int, messages *[]byte, rows *int64, n int) (done, size, count int)")
	Pragma("noescape")
	Doc("stringListsVBMI copies lists of strings shorter than 128 bytes.", listDoc+", how many bytes the strings have, and how many there are.")
	w := newWalk()
	d, e, offset := vec.Arg("dst"), vec.Arg("ends"), vec.Arg("offset")
	endD, endE := limit(d, vec.Arg("room"), 1), limit(e, vec.Arg("roomEnds"), 8)
	all := constant(^uint64(0))
	SUBQ(d, offset) // the end of a string is where it ends in memory, and this
	startD, startE := AllocLocal(8), AllocLocal(8)

	w.open()
	fits(d, w.size, 1, endD)
	fits(e, w.size, 4, endE) // a string takes two bytes besides its own
	MOVQ(d, startD)
	MOVQ(e, startE)
	ADDQ(w.p, w.size)
	Label("string")
	CMPQ(w.p, w.size)
	JE(LabelRef("all"))
	n, next, end := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: w.p, Disp: 2}, next)
	CMPQ(next, w.size)
	JA(LabelRef("leave"))
	MOVWLZX(Mem{Base: w.p}, n.As32())
	XORL(U32(firstTag), n.As32())
	TESTL(U32(0x80ff), n.As32())
	JNZ(LabelRef("leave"))
	SHRL(U8(8), n.As32())
	LEAQ(Mem{Base: next, Index: n, Scale: 1}, w.p)
	CMPQ(w.p, w.size)
	JA(LabelRef("leave"))
	CMPQ(n, U8(32))
	JA(LabelRef("long"))
	a := YMM()
	bits, k := GP64(), K()
	BZHIQ(n, all, bits)
	KMOVD(bits.As32(), k)
	VMOVDQU8_Z(Mem{Base: next}, k, a)
	VMOVDQU(a, Mem{Base: d})
	Label("copied")
	ADDQ(n, d)
	LEAQ(Mem{Base: d, Index: offset, Scale: 1}, end)
	MOVQ(end, Mem{Base: e})
	ADDQ(U8(8), e)
	JMP(LabelRef("string"))
	Label("long")
	copyPair(next, d, n, all)
	JMP(LabelRef("copied"))

	Label("all")
	count := GP64()
	MOVQ(e, count)
	SUBQ(startE, count)
	SHRQ(U8(3), count)
	w.close(count)

	Label("leave")
	MOVQ(startD, d)
	MOVQ(startE, e)
	Label("done")
	VZEROUPPER()
	w.result()
	subtract("dst", d)
	Store(d, ReturnIndex(1))
	subtract("ends", e)
	SHRQ(U8(3), e)
	Store(e, ReturnIndex(2))
	RET()
}

// firstTag precedes the elements of a list of strings: field 1 with a length.
const firstTag = 1<<3 | 2
