package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// linesAhead is about how many cache lines are asked for ahead. They come into the
// second-level cache, which has more of them on their way at a time than the first-level one.
const linesAhead = 96

// maxFetched is the length up to which all lines of a row are fetched ahead; those
// further behind are found by the processor itself.
const maxFetched = 512

// A copier steps through rows by index.
type copier struct {
	dst, src, idx, n, ahead, bytes gp
	distance                       gp // rows from the one that is copied to the one that is fetched
}

const rowParams = "dst, src *byte, idx *int64, n, ahead, bytes int"

func newCopier(distance int) copier {
	c := copier{vec.Arg("dst"), vec.Arg("src"), vec.Arg("idx"), vec.Arg("n"), vec.Arg("ahead"), vec.Arg("bytes"), GP64()}
	MOVQ(U32(uint64(distance)), c.distance)
	ADDQ(c.n, c.ahead)
	return c
}

// fetch returns the address of a row that comes later; where fewer follow, of the last.
func (c copier) fetch() gp {
	at := GP64()
	LEAQ(Mem{Base: c.ahead, Disp: -1}, at)
	CMPQ(at, c.distance)
	CMOVQGT(c.distance, at)
	MOVQ(Mem{Base: c.idx, Index: at, Scale: 8}, at)
	IMULQ(c.bytes, at)
	ADDQ(c.src, at)
	return at
}

// row returns the address of the next row.
func (c copier) row() gp {
	at := GP64()
	MOVQ(Mem{Base: c.idx}, at)
	ADDQ(U8(8), c.idx)
	IMULQ(c.bytes, at)
	ADDQ(c.src, at)
	return at
}

func (c copier) loop() {
	ADDQ(c.bytes, c.dst)
	DECQ(c.ahead)
	DECQ(c.n)
	JNZ(LabelRef("row"))
}

const aheadDoc = "ahead more indices follow, of rows that will be asked for next."

// rows writes a function that copies rows of at least one vector.
func rows(m vec.Machine, past bool) {
	name, doc := "rows"+m.ISA(), " copies rows of at least "+strconv.Itoa(m.Bytes())+" bytes to dst, one behind the other. "
	if past {
		name, doc = "rowsPast"+m.ISA(), " copies rows of a multiple of 64 bytes to dst, which is aligned to that, past the cache. "
	}
	TEXT(name, NOSPLIT, "func("+rowParams+")")
	Pragma("noescape")
	Doc(name + doc + aheadDoc)
	c := newCopier(linesAhead / 8)
	// As many rows ahead as make linesAhead lines.
	fetched := GP64()
	MOVQ(U32(maxFetched), fetched)
	CMPQ(c.bytes, fetched)
	CMOVQLT(c.bytes, fetched)
	for _, lines := range []int{4, 2, 1} {
		further := GP64()
		MOVQ(U32(uint64(linesAhead/lines)), further)
		CMPQ(fetched, U32(uint64(64*lines+64)))
		CMOVQLT(further, c.distance)
	}
	Label("row")
	next, left := c.fetch(), GP64()
	PREFETCHT1(Mem{Base: next, Index: fetched, Scale: 1, Disp: -1})
	MOVQ(fetched, left)
	Label("fetch")
	PREFETCHT1(Mem{Base: next})
	ADDQ(U8(64), next)
	SUBQ(U8(64), left)
	JG(LabelRef("fetch"))
	at, to := c.row(), GP64()
	MOVQ(c.dst, to)
	MOVQ(c.bytes, left)
	Label("vector")
	v := m.Load(Mem{Base: at})
	if past {
		VMOVNTPS(v, Mem{Base: to})
	} else {
		m.Store(v, Mem{Base: to})
	}
	ADDQ(U8(uint8(m.Bytes())), at)
	ADDQ(U8(uint8(m.Bytes())), to)
	SUBQ(U8(uint8(m.Bytes())), left)
	CMPQ(left, U8(uint8(m.Bytes())))
	JGE(LabelRef("vector"))
	if !past {
		// The last vector is the one that ends with the row.
		TESTQ(left, left)
		JZ(LabelRef("copied"))
		m.Store(m.Load(Mem{Base: at, Index: left, Scale: 1, Disp: -m.Bytes()}), Mem{Base: to, Index: left, Scale: 1, Disp: -m.Bytes()})
		Label("copied")
	}
	c.loop()
	if past {
		SFENCE()
	}
	VZEROUPPER()
	RET()
}

// shortRows writes a function that copies rows of bytes to twice as many bytes, as two
// pieces that may overlap.
func shortRows(bytes int) {
	name := "rows" + strconv.Itoa(bytes) + "b"
	TEXT(name, NOSPLIT, "func("+rowParams+")")
	Pragma("noescape")
	Doc(name + " copies rows of " + strconv.Itoa(bytes) + " to " + strconv.Itoa(2*bytes) + " bytes to dst, one behind the other. " + aheadDoc)
	c := newCopier(linesAhead / 2)
	Label("row")
	next := c.fetch()
	PREFETCHT1(Mem{Base: next})
	PREFETCHT1(Mem{Base: next, Index: c.bytes, Scale: 1, Disp: -1})
	at := c.row()
	first, last := Mem{Base: at}, Mem{Base: at, Index: c.bytes, Scale: 1, Disp: -bytes}
	toFirst, toLast := Mem{Base: c.dst}, Mem{Base: c.dst, Index: c.bytes, Scale: 1, Disp: -bytes}
	switch bytes {
	case 8:
		a, b := GP64(), GP64()
		MOVQ(first, a)
		MOVQ(last, b)
		MOVQ(a, toFirst)
		MOVQ(b, toLast)
	case 16:
		a, b := XMM(), XMM()
		VMOVDQU(first, a)
		VMOVDQU(last, b)
		VMOVDQU(a, toFirst)
		VMOVDQU(b, toLast)
	default:
		a, b := YMM(), YMM()
		VMOVDQU(first, a)
		VMOVDQU(last, b)
		VMOVDQU(a, toFirst)
		VMOVDQU(b, toLast)
	}
	c.loop()
	VZEROUPPER()
	RET()
}

// addRows writes a function that adds rows to rows by index.
func addRows(m vec.Machine) {
	name := m.Name("addRows")
	TEXT(name, NOSPLIT, "func(dst, x *"+m.Elem.Go()+", idx *int64, n, stride, width int)")
	Pragma("noescape")
	Doc(name+" adds row i of x to row idx[i] of dst, for every i below n in order; negative ones are left out.",
		"Rows have width elements, at least one, and begin stride elements after each other.")
	dst, x, idx, n := vec.Arg("dst"), vec.Arg("x"), vec.Arg("idx"), vec.Arg("n")
	stride, width := vec.Arg("stride"), vec.Arg("width")
	SHLQ(U8(map[int]uint8{4: 2, 8: 3}[m.Elem.Size()]), stride)
	whole, rest := GP64(), GP64()
	MOVQ(width, whole)
	ANDQ(I32(int32(-m.Lanes())), whole)
	MOVQ(width, rest)
	SUBQ(whole, rest)
	tail := m.FirstLanes(rest)
	Label("row")
	at, from, left := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: idx}, at)
	ADDQ(U8(8), idx)
	TESTQ(at, at)
	JL(LabelRef("next"))
	IMULQ(stride, at)
	ADDQ(dst, at)
	MOVQ(x, from)
	MOVQ(whole, left)
	Label("vector")
	SUBQ(U8(uint8(m.Lanes())), left)
	JL(LabelRef("rest"))
	m.Store(m.Add(m.Load(Mem{Base: at}), Mem{Base: from}), Mem{Base: at})
	ADDQ(U8(uint8(m.Bytes())), at)
	ADDQ(U8(uint8(m.Bytes())), from)
	JMP(LabelRef("vector"))
	Label("rest")
	TESTQ(rest, rest)
	JZ(LabelRef("next"))
	m.StoreMasked(m.Add(m.LoadMasked(Mem{Base: at}, tail), m.LoadMasked(Mem{Base: from}, tail)), Mem{Base: at}, tail)
	Label("next")
	ADDQ(stride, x)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
