package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// Moving rows needs no element type: sizes are in bytes, and an item is what one unit
// of a split stands for.

// bytesOf is a machine for vectors of bytes.
func bytesOf(wide bool) vec.Machine { return vec.Machine{Wide: wide, Elem: vec.Float32} }

// span sets n to the bytes between the split in start and the one at mem, and start
// to the latter.
func span(start, item gp, mem Mem) (n gp) {
	n = GP64()
	MOVQ(start, n)
	MOVQ(mem, start)
	SUBQ(start, n)
	NEGQ(n)
	IMULQ(item, n)
	return n
}

var byteTable *Mem

// firstBytes returns yes in the first n bytes and no behind them; n is from 0 to the
// length of a vector, or more.
func firstBytes(m vec.Machine, n, ones gp, yes, no vec.V) vec.V {
	if m.Wide {
		bits, k, dst := GP64(), K(), m.Load(no)
		BZHIQ(n, ones, bits)
		KMOVQ(bits, k)
		VMOVDQU8(yes, k, dst)
		return dst
	}
	if byteTable == nil {
		// 32 bytes of ones and 32 of zeros: a vector read n bytes before the border.
		mem := GLOBL("byteTable", RODATA|NOPTR)
		for i := range 8 {
			bits := uint64(0)
			if i < 4 {
				bits--
			}
			DATA(8*i, U64(bits))
		}
		byteTable = &mem
	}
	at, off, mask, dst := GP64(), GP64(), YMM(), YMM()
	MOVQ(U32(32), off)
	CMPQ(n, off)
	CMOVQLT(n, off)
	LEAQ(byteTable.Offset(32), at)
	SUBQ(off, at)
	VMOVDQU(Mem{Base: at}, mask)
	VPBLENDVB(mask, yes, no, dst)
	return dst
}

// pad writes a function that pads rows of up to a fixed number of vectors.
func pad(m vec.Machine, vectors int) {
	name := "pad" + strconv.Itoa(vectors*m.Bytes()) + "b" + m.ISA()
	TEXT(name, NOSPLIT, "func(dst, src *byte, splits *int64, rows, item, width int, fill *byte)")
	Pragma("noescape")
	Doc(name+" writes rows of width bytes, at most the length of its vectors, to dst: the bytes of each row, and from its end on fill,",
		"which is as long as those vectors. src is byte 0 of split 0. It writes whole vectors, one row after the other, and reads whole",
		"vectors from the beginning of each row.")
	dst, src, splits, rows := param("dst"), param("src"), param("splits"), param("rows")
	item, width, fill := param("item"), param("width"), param("fill")
	ones, start, at := GP64(), GP64(), GP64()
	MOVQ(I32(-1), ones)
	MOVQ(Mem{Base: splits}, start)
	var behind []vec.V
	for v := range vectors {
		behind = append(behind, m.Load(Mem{Base: fill, Disp: v * m.Bytes()}))
	}
	zero := GP64()
	XORQ(zero, zero)
	Label("row")
	ADDQ(U8(8), splits)
	MOVQ(start, at)
	IMULQ(item, at)
	ADDQ(src, at)
	n := span(start, item, Mem{Base: splits})
	CMPQ(n, width)
	CMOVQGT(width, n)
	for v := range vectors {
		if v > 0 {
			SUBQ(U8(uint8(m.Bytes())), n)
			CMOVQLT(zero, n)
		}
		m.Store(firstBytes(m, n, ones, m.Load(Mem{Base: at, Disp: v * m.Bytes()}), behind[v]), Mem{Base: dst, Disp: v * m.Bytes()})
	}
	ADDQ(width, dst)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// unpad writes a function that takes the beginning of rows of a fixed number of vectors.
func unpad(m vec.Machine, vectors int) {
	name := "unpad" + strconv.Itoa(vectors*m.Bytes()) + "b" + m.ISA()
	TEXT(name, NOSPLIT, "func(dst, src *byte, splits *int64, rows, item, width int)")
	Pragma("noescape")
	Doc(name+" writes the beginnings of rows of width bytes to dst, one behind the other; their lengths, at most that of its vectors,",
		"are those of the splits. It reads and writes whole vectors, one row after the other.")
	dst, src, splits, rows := param("dst"), param("src"), param("splits"), param("rows")
	item, width := param("item"), param("width")
	start := GP64()
	MOVQ(Mem{Base: splits}, start)
	Label("row")
	ADDQ(U8(8), splits)
	n := span(start, item, Mem{Base: splits})
	for v := range vectors {
		m.Store(m.Load(Mem{Base: src, Disp: v * m.Bytes()}), Mem{Base: dst, Disp: v * m.Bytes()})
	}
	ADDQ(n, dst)
	ADDQ(width, src)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// copyRow copies the n bytes at address from to dst, by whole vectors, and moves dst
// behind them. label has to be unique.
func copyRow(m vec.Machine, dst, from, n gp, label string) {
	Label(label)
	m.Store(m.Load(Mem{Base: from}), Mem{Base: dst})
	CMPQ(n, U8(uint8(m.Bytes())))
	JLE(LabelRef(label + "_end"))
	ADDQ(U8(uint8(m.Bytes())), from)
	ADDQ(U8(uint8(m.Bytes())), dst)
	SUBQ(U8(uint8(m.Bytes())), n)
	JMP(LabelRef(label))
	Label(label + "_end")
	ADDQ(n, dst)
}

// Rows are fetched so many rows ahead, and their splits so much earlier that they are
// there by then: a line from memory takes as long as some 16 short rows.
const (
	rowsAhead   = 16
	splitsAhead = 32
)

// A gatherer is a function being written that copies rows by index.
type gatherer struct {
	dst, src, splits, idx, rows, ahead, item gp
}

func newGatherer() gatherer {
	g := gatherer{param("dst"), param("src"), param("splits"), param("idx"), param("rows"), param("ahead"), param("item")}
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
	VZEROUPPER()
	RET()
}

// gather writes a function that copies rows by index.
func gather(m vec.Machine) {
	name := "gatherRows" + m.ISA()
	TEXT(name, NOSPLIT, "func(dst, src *byte, splits, idx *int64, rows, ahead, item, limit int)")
	Pragma("noescape")
	Doc(name+" copies the rows idx to dst, one behind the other. It reads and writes whole vectors, one row after the other; rows that",
		"end behind byte limit of src are read by the byte. ahead more indices follow, of rows that will be asked for next.")
	g := newGatherer()
	limit, end := param("limit"), GP64()
	ADDQ(g.src, limit)
	Label("row")
	g.prefetch()
	at, n := g.next()
	LEAQ(Mem{Base: at, Index: n, Scale: 1}, end)
	CMPQ(end, limit)
	JA(LabelRef("exact"))
	copyRow(m, g.dst, at, n, "copy")
	Label("copied")
	g.loop()
	Label("exact")
	TESTQ(n, n)
	JZ(LabelRef("copied"))
	one := GP64()
	MOVBQZX(Mem{Base: at}, one)
	MOVB(one.As8(), Mem{Base: g.dst})
	INCQ(at)
	INCQ(g.dst)
	DECQ(n)
	JMP(LabelRef("exact"))
}

// gatherWords writes the form of gather for rows of four-byte words that touches no
// cache line which holds nothing of the row: lines from memory are what it waits for.
func gatherWords(m vec.Machine) {
	name := "gatherWords" + m.ISA()
	TEXT(name, NOSPLIT, "func(dst, src *byte, splits, idx *int64, rows, ahead, item, limit int)")
	Pragma("noescape")
	Doc(name+" copies the rows idx to dst, one behind the other. src and item are multiples of 4 bytes. It writes whole vectors, one row",
		"after the other, and reads no cache line that does not hold part of a row. ahead more indices follow, of rows that will be asked for next.")
	g := newGatherer()
	lanes := ZMM()
	VMOVDQU32(wordNumbers(), lanes)
	zero := GP64()
	XORQ(zero, zero)
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
	LEAQ(Mem{Base: off, Index: n, Scale: 1}, end)
	CMPQ(end, U8(64))
	CMOVQGT(at, from)
	CMOVQGT(zero, off)
	TESTQ(n, n)
	CMOVQEQ(g.dst, from) // an empty row may be where nothing is
	SHRQ(U8(2), off)
	shift, z := ZMM(), ZMM()
	VPBROADCASTD(off.As32(), shift)
	VPADDD(lanes, shift, shift)
	VMOVDQU32(Mem{Base: from}, z)
	VPERMD(z, shift, z)
	VMOVDQU32(z, Mem{Base: g.dst})
	ADDQ(n, g.dst)
	Label("copied")
	g.loop()
	// The last vector of a longer row is the one that ends with it.
	Label("long")
	LEAQ(Mem{Base: at, Index: n, Scale: 1, Disp: -64}, end)
	VMOVDQU32(Mem{Base: end}, z)
	VMOVDQU32(z, Mem{Base: g.dst, Index: n, Scale: 1, Disp: -64})
	ADDQ(g.dst, n)
	Label("vector")
	VMOVDQU32(Mem{Base: at}, z)
	VMOVDQU32(z, Mem{Base: g.dst})
	ADDQ(U8(64), at)
	ADDQ(U8(64), g.dst)
	CMPQ(at, end)
	JL(LabelRef("vector"))
	MOVQ(n, g.dst)
	JMP(LabelRef("copied"))
}

var wordTable *Mem

// wordNumbers returns the memory of 0, 1, 2, … as 32-bit integers.
func wordNumbers() Mem {
	if wordTable == nil {
		mem := GLOBL("wordNumbers", RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(uint64(i)))
		}
		wordTable = &mem
	}
	return *wordTable
}

// zip writes a function that joins several rows to one.
func zip(m vec.Machine) {
	name := "zipRows" + m.ISA()
	TEXT(name, NOSPLIT, "func(dst *byte, parts **byte, count, row, rows, item int)")
	Pragma("noescape")
	Doc(name+" copies, for each row from row on, the rows of all parts to dst, one behind the other. It reads and writes whole vectors,",
		"one row after the other. A part is two pointers, to byte 0 of split 0 and to the splits.")
	dst, parts, count := param("dst"), param("parts"), param("count")
	row, rows, item := param("row"), param("rows"), param("item")
	part, left, splits, at, n := GP64(), GP64(), GP64(), GP64(), GP64()
	Label("row")
	MOVQ(parts, part)
	MOVQ(count, left)
	Label("part")
	MOVQ(Mem{Base: part, Disp: 8}, splits)
	MOVQ(Mem{Base: splits, Index: row, Scale: 8}, at)
	MOVQ(Mem{Base: splits, Index: row, Scale: 8, Disp: 8}, n)
	SUBQ(at, n)
	IMULQ(item, n)
	IMULQ(item, at)
	ADDQ(Mem{Base: part}, at)
	copyRow(m, dst, at, n, "copy")
	ADDQ(U8(16), part)
	DECQ(left)
	JNZ(LabelRef("part"))
	INCQ(row)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// repeat writes a function that repeats a number of each row over the row.
func repeat(m vec.Machine, size int) {
	name := "repeat" + strconv.Itoa(8*size) + m.ISA()
	TEXT(name, NOSPLIT, "func(dst, perRow *byte, splits *int64, rows int)")
	Pragma("noescape")
	Doc(name + " writes the element of each row to all of the row's elements. It writes whole vectors, one row after the other.")
	dst, own, splits, rows := param("dst"), param("perRow"), param("splits"), param("rows")
	start, n := GP64(), GP64()
	MOVQ(Mem{Base: splits}, start)
	Label("row")
	ADDQ(U8(8), splits)
	MOVQ(start, n)
	MOVQ(Mem{Base: splits}, start)
	SUBQ(start, n)
	NEGQ(n)
	v := m.Reg()
	map[int]func(...Op){1: VPBROADCASTB, 2: VPBROADCASTW, 4: VPBROADCASTD, 8: VPBROADCASTQ}[size](Mem{Base: own}, v)
	ADDQ(U8(uint8(size)), own)
	rest := fillRow(m, dst, n, size, v, nil)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
	rest()
}

// unasked is the number of vectors that a row is filled with before its length is
// looked at: for short rows that takes less than guessing wrong. They are at most
// three, and 192 bytes.
func unasked(m vec.Machine, size int) int {
	const usual = 20 // elements
	return min((usual*size+m.Bytes()-1)/m.Bytes(), 3)
}

// fillRow writes n elements to dst by whole vectors and moves dst behind them. step,
// if not nil, makes v the next vector. It returns what has to be written behind the
// function's end.
func fillRow(m vec.Machine, dst, n gp, size int, v vec.V, step func()) (outOfLine func()) {
	lanes, first := m.Bytes()/size, unasked(m, size)
	for i := range first {
		m.Store(v, Mem{Base: dst, Disp: i * m.Bytes()})
		if step != nil {
			step()
		}
	}
	CMPQ(n, U8(uint8(first*lanes)))
	JG(LabelRef("more"))
	Label("filled")
	LEAQ(Mem{Base: dst, Index: n, Scale: uint8(size)}, dst)
	return func() {
		Label("more")
		left, to := GP64(), GP64()
		LEAQ(Mem{Base: n, Disp: -first * lanes}, left)
		LEAQ(Mem{Base: dst, Disp: first * m.Bytes()}, to)
		Label("vector")
		m.Store(v, Mem{Base: to})
		if step != nil {
			step()
		}
		ADDQ(U8(uint8(m.Bytes())), to)
		SUBQ(U8(uint8(lanes)), left)
		JG(LabelRef("vector"))
		JMP(LabelRef("filled"))
	}
}

// numbers writes the functions that number values by their rows and within them.
func numbers(m vec.Machine) {
	i64 := m.As(vec.Int64)
	for _, byRow := range []bool{true, false} {
		name, doc := "offsets", "the position of each value in its row"
		if byRow {
			name, doc = "rowIDs", "the row of each value, the first being row"
		}
		TEXT(name+m.ISA(), NOSPLIT, "func(dst, splits *int64, row, rows int)")
		Pragma("noescape")
		Doc(name + m.ISA() + " writes " + doc + ". It writes whole vectors, one row after the other.")
		dst, splits, rows := param("dst"), param("splits"), param("rows")
		start, n := GP64(), GP64()
		MOVQ(Mem{Base: splits}, start)
		var id, one, v, lane vec.V
		if byRow {
			addr, err := Param("row").Resolve()
			if err != nil {
				panic(err)
			}
			id = i64.Broadcast(addr.Addr)
			one = i64.Load(vec.Const(1))
		} else {
			lane = i64.Load(laneNumbers())
			one = i64.Load(vec.Const(float64(i64.Lanes())))
			v = i64.Reg()
		}
		Label("row")
		ADDQ(U8(8), splits)
		MOVQ(start, n)
		MOVQ(Mem{Base: splits}, start)
		SUBQ(start, n)
		NEGQ(n)
		var rest func()
		if byRow {
			rest = fillRow(i64, dst, n, 8, id, nil)
			VPADDQ(one, id, id)
		} else {
			VMOVAPS(lane, v)
			rest = fillRow(i64, dst, n, 8, v, func() { VPADDQ(one, v, v) })
		}
		DECQ(rows)
		JNZ(LabelRef("row"))
		VZEROUPPER()
		RET()
		rest()
	}
}

var laneTable64 *Mem

// laneNumbers returns the memory of 0, 1, 2, … as 64-bit integers.
func laneNumbers() Mem {
	if laneTable64 == nil {
		mem := GLOBL("laneNumbers", RODATA|NOPTR)
		for i := range 8 {
			DATA(8*i, U64(uint64(i)))
		}
		laneTable64 = &mem
	}
	return *laneTable64
}

// movers writes everything that moves rows.
func movers(wide bool) {
	m := bytesOf(wide)
	stream(m)
	for _, bytes := range []int{64, 128} {
		pad(m, bytes/m.Bytes())
		unpad(m, bytes/m.Bytes())
	}
	gather(m)
	if wide {
		gatherWords(m)
	}
	zip(m)
	for _, size := range []int{1, 2, 4, 8} {
		repeat(m, size)
	}
	numbers(m)
}
