package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/sink"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// repeat writes a function that repeats a number of each row over the row.
func repeat(m vec.Machine, size int, streaming bool, suffix string) {
	name := "repeat" + strconv.Itoa(8*size) + suffix + m.ISA()
	TEXT(name, NOSPLIT, sink.Signature(streaming, "perRow *byte, splits *int64, rows int"))
	Pragma("noescape")
	Doc(append([]string{name + " writes the element of each row to all of the row's elements. It writes whole vectors, one row after the other."},
		sink.Explain(streaming)...)...)
	out, own, splits, rows := sink.New(m, streaming), vec.Arg("perRow"), vec.Arg("splits"), vec.Arg("rows")
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
		out, splits, rows := sink.New(m, streaming), vec.Arg("splits"), vec.Arg("rows")
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
