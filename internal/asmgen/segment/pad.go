package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/sink"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

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
	out, src, splits, rows := sink.New(m, streaming), vec.Arg("src"), vec.Arg("splits"), vec.Arg("rows")
	item, width, fill := argument("item"), argument("width"), vec.Arg("fill")
	ones, start, at := GP64(), GP64(), GP64()
	MOVQ(I32(-1), ones)
	MOVQ(Mem{Base: splits}, start)
	var behind []vec.V
	for v := range vectors {
		behind = append(behind, m.Load(Mem{Base: fill, Disp: v * m.Bytes()}))
	}
	n := nextRow(at, src, start, item, splits)
	CMPQ(n, width)
	CMOVQGT(width, n)
	for v := range vectors {
		if v > 0 {
			lessVector(m, n)
		}
		m.Store(firstBytes(m, n, ones, m.Load(Mem{Base: at, Disp: v * m.Bytes()}), behind[v]), Mem{Base: out.At, Disp: v * m.Bytes()})
	}
	ADDQ(width, out.At)
	out.Check()
	DECQ(rows)
	JNZ(LabelRef("row"))
	out.End()
}

// nextRow begins the loop over rows: it sets at to where the next one is, and returns how many
// bytes it has.
func nextRow(at, src, start gp, item Mem, splits gp) (n gp) {
	Label("row")
	ADDQ(U8(8), splits)
	MOVQ(start, at)
	IMULQ(item, at)
	ADDQ(src, at)
	return span(start, item, Mem{Base: splits})
}

// lessVector takes the bytes of a vector from n, which does not become negative.
func lessVector(m vec.Machine, n gp) {
	zero := GP64()
	XORQ(zero, zero)
	SUBQ(U8(uint8(m.Bytes())), n)
	CMOVQLT(zero, n)
}

// fillUp writes a function that makes rows at least so long.
func fillUp(m vec.Machine, streaming bool, suffix string) {
	const vectors = 128 // bytes
	name := "fillUp" + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, "src *byte, splits *int64, rows, item, width int"))
	Pragma("noescape")
	Doc(append([]string{
		name + " writes rows to dst, one behind the other: the bytes of each row, and zeros up to width, which is at most " + strconv.Itoa(vectors) + ".",
		"src is byte 0 of split 0. It reads and writes " + strconv.Itoa(vectors) + " bytes from the beginning of each row, and a vector behind its end,",
		"one row after the other.",
	}, sink.Explain(streaming)...)...)
	out, src, splits, rows := sink.New(m, streaming), vec.Arg("src"), vec.Arg("splits"), vec.Arg("rows")
	item, width := argument("item"), argument("width")
	ones, start, at, full, zero := GP64(), GP64(), GP64(), GP64(), m.Zero()
	MOVQ(I32(-1), ones)
	MOVQ(Mem{Base: splits}, start)
	n := nextRow(at, src, start, item, splits)
	CMPQ(n, U32(vectors))
	JG(LabelRef("copy"))
	MOVQ(n, full)
	CMPQ(full, width)
	CMOVQLT(width, full)
	for off := 0; off < vectors; off += m.Bytes() {
		if off > 0 {
			lessVector(m, n)
		}
		m.Store(firstBytes(m, n, ones, m.Load(Mem{Base: at, Disp: off}), zero), Mem{Base: out.At, Disp: off})
	}
	ADDQ(full, out.At)
	out.Check()
	Label("next")
	DECQ(rows)
	JNZ(LabelRef("row"))
	out.End()
	// What is longer needs no zeros.
	copyRow(m, out, at, n)
	JMP(LabelRef("next"))
}

// denseAhead is how far ahead unpad asks for what it reads, in bytes: while lines travel
// past the cache, the processor does not look for the next ones by itself. They come into
// the second cache, which has more of them on their way at a time than the first.
const denseAhead = 16384

// unpad writes a function that takes the beginning of rows of a fixed number of vectors.
func unpad(m vec.Machine, vectors int, streaming bool, suffix string) {
	name := "unpad" + strconv.Itoa(vectors*m.Bytes()) + "b" + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, "src *byte, splits *int64, rows, item, width int"))
	Pragma("noescape")
	Doc(append([]string{
		name + " writes the beginnings of rows of width bytes to dst, one behind the other; their lengths, at most that of its vectors,",
		"are those of the splits. It reads and writes whole vectors, one row after the other.",
	}, sink.Explain(streaming)...)...)
	out, src, splits, rows := sink.New(m, streaming), vec.Arg("src"), vec.Arg("splits"), vec.Arg("rows")
	item, width := argument("item"), argument("width")
	start := GP64()
	MOVQ(Mem{Base: splits}, start)
	Label("row")
	ADDQ(U8(8), splits)
	n := span(start, item, Mem{Base: splits})
	for v := range vectors {
		m.Store(m.Load(Mem{Base: src, Disp: v * m.Bytes()}), Mem{Base: out.At, Disp: v * m.Bytes()})
	}
	for off := 0; off < vectors*m.Bytes(); off += 64 {
		PREFETCHT1(Mem{Base: src, Disp: denseAhead + off})
	}
	ADDQ(n, out.At)
	out.Check()
	ADDQ(width, src)
	DECQ(rows)
	JNZ(LabelRef("row"))
	out.End()
}
