package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// inverseMark writes the function that comes before a scaler: it reduces rows as inverse
// does, and puts down what the scaler wants to know of them.
func inverseMark(m vec.Machine) {
	name, t, lanes := m.Name("inverseMark"), m.Elem.Go(), m.Lanes()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(own, x *%s, first int64, splits *int64, rows int, scratch, marks *byte, next *%s) int", t, t))
	Pragma("noescape")
	Doc(
		name+" writes the inverses of the sums of rows that are not empty to own, where there is room for a vector behind them, and returns",
		"how many those are. x is where element first is. It sets the byte in marks of each element that begins a row, and of the one behind",
		fmt.Sprintf("the last row. The number of rows is a multiple of %d; none has more than %d elements.", lanes, longest),
		fmt.Sprintf("Memory is read up to %d elements behind the beginning of each row. What lies behind next as the", vectorsOf(m)*lanes),
		"rows lie behind x is asked for.",
	)
	own, x, splits, todo, scratch := vec.Arg("own"), vec.Arg("x"), vec.Arg("splits"), vec.Arg("rows"), vec.Arg("scratch")
	marks, next, first := vec.Arg("marks"), vec.Arg("next"), vec.Arg("first")
	SUBQ(x, next)
	SUBQ(first, marks)
	SHLQ(shiftOf(m.Elem), first)
	SUBQ(first, x)
	ADDQ(U8(63), scratch)
	ANDQ(I8(-64), scratch)
	k := &marker{reducer: *newReducer(m, m.Elem, inverses, x, splits), own: own, marks: marks, next: next}

	// The half of a vector is half as often in two lines of memory.
	Label("batch")
	for at := 0; at < 8*lanes; at += 64 {
		PREFETCHT0(Mem{Base: k.w.next, Disp: at + lengthsAhead})
	}
	SUBQ(U8(uint8(lanes)), todo)
	JL(LabelRef("done"))
	k.leaveAtLong(k.lengths(0), k.halved(), "whole")
	k.finish(k.tree(0, lanes, func(int) vec.V { return k.row(true) }))
	JMP(LabelRef("batch"))

	Label("whole")
	k.leaveAtLong(k.lengths(0), vectorsOf(m)*lanes, "some")
	k.finish(k.tree(0, lanes, func(int) vec.V { return k.row(false) }))
	JMP(LabelRef("batch"))

	// A batch with a longer row, one row after the other.
	Label("some")
	left, to := GP64(), GP64()
	MOVQ(U32(uint64(lanes)), left)
	MOVQ(scratch, to)
	Label("row")
	at, n, z := k.reducer.row(vectorsOf(m))
	mark := GP64()
	MOVQ(Mem{Base: k.w.next, Disp: -16}, mark)
	MOVB(U8(1), Mem{Base: marks, Index: mark, Scale: 1})
	CMPQ(n, U8(uint8(vectorsOf(m)*lanes)))
	JG(LabelRef("long"))
	Label("reduced")
	m.Store(z, Mem{Base: to})
	ADDQ(U8(uint8(m.Bytes())), to)
	DECQ(left)
	JNZ(LabelRef("row"))
	k.finish(k.stored(scratch))
	JMP(LabelRef("batch"))
	Label("long")
	k.long(z, at, n)
	JMP(LabelRef("reduced"))

	Label("done")
	MOVB(U8(1), Mem{Base: marks, Index: k.w.start, Scale: 1})
	SUBQ(vec.Arg("own"), own)
	SHRQ(shiftOf(m.Elem), own)
	Store(own, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// lengthsAhead is how many bytes early splits are asked for: those of the next piece are
// there when its end is looked for.
const lengthsAhead = 4096

func shiftOf(e vec.Elem) U8 { return U8(map[int]uint8{4: 2, 8: 3}[e.Size()]) }

// A marker is an inverseMark being written.
type marker struct {
	reducer
	own, marks gp
	next       gp // how far behind a row is what is asked for
}

// halved is the number of elements in vectorsOf vectors of which the last is half a one.
func (k *marker) halved() int { return vectorsOf(k.m)*k.m.Lanes() - k.m.Lanes()/2 }

// row reduces the next row to a vector, if no vector behind the ones it loads is needed.
func (k *marker) row(halved bool) (z vec.V) {
	m := k.m
	MOVB(U8(1), Mem{Base: k.marks, Index: k.w.start, Scale: 1})
	at, n := k.w.row()
	PREFETCHT0(Mem{Base: at, Index: k.next, Scale: 1})
	mask := k.w.masks(n)
	for v := range vectorsOf(m) {
		from := Mem{Base: at, Disp: v * m.Bytes()}
		switch {
		case v == 0:
			z = m.Keep(mask(v), m.Load(from))
		case halved && v == vectorsOf(m)-1:
			half := YMM()
			VMOVUPS(from, half)
			k.into[m.Elem](half.AsZ(), z, mask(v).R, z)
		default:
			k.into[m.Elem](m.Load(from), z, mask(v).R, z)
		}
	}
	return z
}

// lengths is where the splits are of the batch that begins with the row rows before the next.
func (k *marker) lengths(rows int) Mem { return Mem{Base: k.w.next, Disp: -8 * (rows + 1)} }

// finish writes the results of the batch that has been read.
func (k *marker) finish(total vec.V) {
	m := k.m
	total = k.last(m, total, nil)
	// Empty rows have no element that would need theirs.
	splits, i64 := k.lengths(m.Lanes()), m.As(vec.Int64)
	present := func(i int) vec.Mask {
		at := splits.Offset(i * 64)
		return i64.Cmp(vec.Less, i64.Load(at), at.Offset(8))
	}
	mask, count := present(0), GP64()
	if m.Lanes() == 16 {
		both := K()
		KUNPCKBW(mask.R, present(1).R, both)
		mask = vec.Mask{R: both}
	}
	KMOVW(mask.R, count.As32())
	POPCNTL(count.As32(), count.As32())
	packed := ZMM()
	if m.Lanes() == 16 {
		VCOMPRESSPS_Z(total, mask.R, packed)
	} else {
		VCOMPRESSPD_Z(total, mask.R, packed)
	}
	m.Store(packed, Mem{Base: k.own})
	LEAQ(Mem{Base: k.own, Index: count, Scale: uint8(m.Elem.Size())}, k.own)
}
