package main

import (
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
	row, rows, item := vec.Arg("row"), vec.Arg("rows"), argument("item")
	splits, at, n := GP64(), GP64(), GP64()
	Label("row")
	part, left := vec.Arg("parts"), vec.Arg("count")
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

// movers writes everything that moves rows.
func movers(wide bool) {
	m := bytesOf(wide)
	stream(m)
	sink.Variants(func(streaming bool, suffix string) {
		for _, bytes := range []int{64, 128} {
			pad(m, bytes/m.Bytes(), streaming, suffix)
			unpad(m, bytes/m.Bytes(), streaming, suffix)
		}
		fillUp(m, streaming, suffix)
		gather(m, streaming, suffix)
		if wide {
			gatherWords(m, streaming, suffix)
		}
		zip(m, streaming, suffix)
		stride(m, streaming, suffix)
		for _, size := range []int{4, 8} {
			repeat(m, size, streaming, suffix)
		}
		numbers(m, streaming, suffix)
	})
}
