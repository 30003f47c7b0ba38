package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/sink"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// Moving rows needs no element type: sizes are in bytes, and an item is what one unit
// of a split stands for.

// bytesOf is a machine for vectors of bytes.
func bytesOf(wide bool) vec.Machine { return vec.Machine{Wide: wide, Elem: vec.Float32} }

// argument returns the memory of a parameter that is not worth a register.
func argument(name string) Mem {
	addr, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return addr.Addr
}

// span sets n to the bytes between the split in start and the one at mem, and start
// to the latter.
func span(start gp, item, mem Mem) (n gp) {
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
func pad(m vec.Machine, vectors int, streaming bool, suffix string) {
	name := "pad" + strconv.Itoa(vectors*m.Bytes()) + "b" + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, "src *byte, splits *int64, rows, item, width int, fill *byte"))
	Pragma("noescape")
	Doc(append([]string{
		name + " writes rows of width bytes, at most the length of its vectors, to dst: the bytes of each row, and from its end on fill,",
		"which is as long as those vectors. src is byte 0 of split 0. It writes whole vectors, one row after the other, and reads whole",
		"vectors from the beginning of each row.",
	}, sink.Explain(streaming)...)...)
	out, src, splits, rows := sink.New(m, streaming), param("src"), param("splits"), param("rows")
	item, width, fill := argument("item"), argument("width"), param("fill")
	ones, start, at := GP64(), GP64(), GP64()
	MOVQ(I32(-1), ones)
	MOVQ(Mem{Base: splits}, start)
	var behind []vec.V
	for v := range vectors {
		behind = append(behind, m.Load(Mem{Base: fill, Disp: v * m.Bytes()}))
	}
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
			zero := GP64()
			XORQ(zero, zero)
			SUBQ(U8(uint8(m.Bytes())), n)
			CMOVQLT(zero, n)
		}
		m.Store(firstBytes(m, n, ones, m.Load(Mem{Base: at, Disp: v * m.Bytes()}), behind[v]), Mem{Base: out.At, Disp: v * m.Bytes()})
	}
	ADDQ(width, out.At)
	out.Check()
	DECQ(rows)
	JNZ(LabelRef("row"))
	out.End()
}

// unpad writes a function that takes the beginning of rows of a fixed number of vectors.
func unpad(m vec.Machine, vectors int, streaming bool, suffix string) {
	name := "unpad" + strconv.Itoa(vectors*m.Bytes()) + "b" + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, "src *byte, splits *int64, rows, item, width int"))
	Pragma("noescape")
	Doc(append([]string{
		name + " writes the beginnings of rows of width bytes to dst, one behind the other; their lengths, at most that of its vectors,",
		"are those of the splits. It reads and writes whole vectors, one row after the other.",
	}, sink.Explain(streaming)...)...)
	out, src, splits, rows := sink.New(m, streaming), param("src"), param("splits"), param("rows")
	item, width := argument("item"), argument("width")
	start := GP64()
	MOVQ(Mem{Base: splits}, start)
	Label("row")
	ADDQ(U8(8), splits)
	n := span(start, item, Mem{Base: splits})
	for v := range vectors {
		m.Store(m.Load(Mem{Base: src, Disp: v * m.Bytes()}), Mem{Base: out.At, Disp: v * m.Bytes()})
	}
	ADDQ(n, out.At)
	out.Check()
	ADDQ(width, src)
	DECQ(rows)
	JNZ(LabelRef("row"))
	out.End()
}

// copyRow copies the n bytes at address from, by whole vectors, and moves out behind
// them.
func copyRow(m vec.Machine, out *sink.Sink, from, n gp) {
	Label("copy")
	m.Store(m.Load(Mem{Base: from}), Mem{Base: out.At})
	CMPQ(n, U8(uint8(m.Bytes())))
	JLE(LabelRef("last"))
	ADDQ(U8(uint8(m.Bytes())), from)
	ADDQ(U8(uint8(m.Bytes())), out.At)
	SUBQ(U8(uint8(m.Bytes())), n)
	out.Check()
	JMP(LabelRef("copy"))
	Label("last")
	ADDQ(n, out.At)
	out.Check()
}

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
	VMOVDQU32(wordNumbers(), lanes)
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
func zip(m vec.Machine, streaming bool, suffix string) {
	name := "zipRows" + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, "parts **byte, count, row, rows, item int"))
	Pragma("noescape")
	Doc(append([]string{
		name + " copies, for each row from row on, the rows of all parts to dst, one behind the other. It reads and writes whole vectors,",
		"one row after the other. A part is two pointers, to byte 0 of split 0 and to the splits.",
	}, sink.Explain(streaming)...)...)
	out := sink.New(m, streaming)
	row, rows, item := param("row"), param("rows"), argument("item")
	splits, at, n := GP64(), GP64(), GP64()
	Label("row")
	part, left := param("parts"), param("count")
	Label("part")
	MOVQ(Mem{Base: part, Disp: 8}, splits)
	MOVQ(Mem{Base: splits, Index: row, Scale: 8}, at)
	MOVQ(Mem{Base: splits, Index: row, Scale: 8, Disp: 8}, n)
	SUBQ(at, n)
	IMULQ(item, n)
	IMULQ(item, at)
	ADDQ(Mem{Base: part}, at)
	copyRow(m, out, at, n)
	ADDQ(U8(16), part)
	DECQ(left)
	JNZ(LabelRef("part"))
	INCQ(row)
	DECQ(rows)
	JNZ(LabelRef("row"))
	out.End()
}

// repeat writes a function that repeats a number of each row over the row.
func repeat(m vec.Machine, size int, streaming bool, suffix string) {
	name := "repeat" + strconv.Itoa(8*size) + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, "perRow *byte, splits *int64, rows int"))
	Pragma("noescape")
	Doc(append([]string{name + " writes the element of each row to all of the row's elements. It writes whole vectors, one row after the other."},
		sink.Explain(streaming)...)...)
	out, own, splits, rows := sink.New(m, streaming), param("perRow"), param("splits"), param("rows")
	start, n := GP64(), GP64()
	MOVQ(Mem{Base: splits}, start)
	Label("row")
	ADDQ(U8(8), splits)
	MOVQ(start, n)
	MOVQ(Mem{Base: splits}, start)
	SUBQ(start, n)
	NEGQ(n)
	v := m.Reg()
	map[int]func(...Op){4: VPBROADCASTD, 8: VPBROADCASTQ}[size](Mem{Base: own}, v)
	ADDQ(U8(uint8(size)), own)
	rest := fillRow(m, out, n, size, v, nil)
	DECQ(rows)
	JNZ(LabelRef("row"))
	out.End()
	rest()
}

// unasked is the number of vectors that a row is filled with before its length is
// looked at: for short rows that takes less than guessing wrong. They are at most
// three, and 192 bytes.
func unasked(m vec.Machine, size int) int {
	const usual = 20 // elements
	return min((usual*size+m.Bytes()-1)/m.Bytes(), 3)
}

// fillRow writes n elements by whole vectors and moves out behind them. step, if not
// nil, makes v the next vector. It returns what has to be written behind the function's
// end.
func fillRow(m vec.Machine, out *sink.Sink, n gp, size int, v vec.V, step func()) (outOfLine func()) {
	lanes, first := m.Bytes()/size, unasked(m, size)
	for i := range first {
		m.Store(v, Mem{Base: out.At, Disp: i * m.Bytes()})
		if step != nil {
			step()
		}
	}
	CMPQ(n, U8(uint8(first*lanes)))
	JG(LabelRef("more"))
	Label("filled")
	LEAQ(Mem{Base: out.At, Index: n, Scale: uint8(size)}, out.At)
	out.Check()
	return func() {
		Label("more")
		ADDQ(U8(uint8(first*m.Bytes())), out.At)
		SUBQ(U8(uint8(first*lanes)), n)
		Label("vector")
		out.Check()
		m.Store(v, Mem{Base: out.At})
		CMPQ(n, U8(uint8(lanes)))
		JLE(LabelRef("filled"))
		if step != nil {
			step()
		}
		ADDQ(U8(uint8(m.Bytes())), out.At)
		SUBQ(U8(uint8(lanes)), n)
		JMP(LabelRef("vector"))
	}
}

// numbers writes the functions that number values by their rows and within them.
func numbers(m vec.Machine, streaming bool, suffix string) {
	i64 := m.As(vec.Int64)
	for _, byRow := range []bool{true, false} {
		name, doc := "offsets"+suffix, "the position of each value in its row"
		if byRow {
			name, doc = "rowIDs"+suffix, "the row of each value, the first being row"
		}
		TEXT(name+m.ISA(), NOSPLIT, sink.Signature(streaming, "splits *int64, row, rows int"))
		Pragma("noescape")
		Doc(append([]string{name + m.ISA() + " writes " + doc + ", as int64. It writes whole vectors, one row after the other."}, sink.Explain(streaming)...)...)
		out, splits, rows := sink.New(m, streaming), param("splits"), param("rows")
		start, n := GP64(), GP64()
		MOVQ(Mem{Base: splits}, start)
		var id, one, v, lane vec.V
		if byRow {
			id = i64.Broadcast(argument("row"))
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
			rest = fillRow(i64, out, n, 8, id, nil)
			VPADDQ(one, id, id)
		} else {
			VMOVAPS(lane, v)
			rest = fillRow(i64, out, n, 8, v, func() { VPADDQ(one, v, v) })
		}
		DECQ(rows)
		JNZ(LabelRef("row"))
		out.End()
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
	sink.Variants(func(streaming bool, suffix string) {
		for _, bytes := range []int{64, 128} {
			pad(m, bytes/m.Bytes(), streaming, suffix)
			unpad(m, bytes/m.Bytes(), streaming, suffix)
		}
		gather(m, streaming, suffix)
		if wide {
			gatherWords(m, streaming, suffix)
		}
		zip(m, streaming, suffix)
		for _, size := range []int{4, 8} {
			repeat(m, size, streaming, suffix)
		}
		numbers(m, streaming, suffix)
	})
}
