package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/sink"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// A spreader is a function being written that combines every element of a row with one
// number of the row's own, a whole vector of elements at a time, whatever rows they are
// of. Marks say where rows begin; the numbers of the rows of one vector lie side by
// side, and a permutation brings them to their elements.
type spreader struct {
	m           vec.Machine
	out, x      gp
	marks, own  gp // own is where the number of the element before the next one is
	i, n        gp // elements done, and all
	shift, half vec.V
	ones        gp // what spreads bits and adds them up
	combine     func(x, c vec.V) vec.V
	streaming   bool
}

// spread writes both forms of a spreader.
func spread(m vec.Machine, name, formula string, combine func(x, c vec.V) vec.V) {
	sink.Variants(func(streaming bool, suffix string) { spreadTo(m, m.Name(name+suffix), formula, streaming, combine) })
}

func spreadTo(m vec.Machine, name, formula string, streaming bool, combine func(x, c vec.V) vec.V) {
	TEXT(name, NOSPLIT, "func(dst, x, c *"+m.Elem.Go()+", splits *int64, rows int, marks *byte, own *"+m.Elem.Go()+")")
	Pragma("noescape")
	doc := []string{
		name + " sets dst[i] = " + formula + " for the elements i of each row r. dst and x are where the first row is. Nothing else is written.",
		"It notes in marks, a byte for each element and 64 more, where rows begin, and in own the numbers of rows that are not empty, with room",
		"for a vector behind them.",
	}
	if streaming {
		doc = append(doc, "Whole lines are written past the cache.")
	}
	Doc(doc...)
	s := spreader{m: m, out: vec.Arg("dst"), x: vec.Arg("x"), marks: vec.Arg("marks"), own: vec.Arg("own"),
		i: GP64(), n: GP64(), ones: GP64(), combine: combine, streaming: streaming}
	s.mark()

	s.begin()
	s.rest()
	VZEROUPPER()
	RET()
}

// step is the number of elements that are done in one go.
const step = 64

// begin gets ready, with marks and own filled and n set.
func (s *spreader) begin() {
	m, size := s.m, uint8(s.m.Elem.Size())
	SUBQ(U8(size), s.own)
	XORQ(s.i, s.i)
	if size == 4 {
		// A number below 16 for each of 16 elements is a word.
		MOVQ(U64(0x1111111111111111), s.ones)
		s.half, s.shift = m.Load(wordsOf("upperHalf", func(i int) int { return i / 8 })), m.Load(wordsOf("nibbles", func(i int) int { return i % 8 * 4 }))
	} else {
		MOVQ(U64(0x0101010101010101), s.ones)
	}
	if s.streaming {
		// Up to where dst is aligned.
		count := GP64()
		MOVQ(s.out, count)
		NEGQ(count)
		ANDQ(U8(63), count)
		JZ(LabelRef("lines"))
		SHRQ(shiftOf(m.Elem), count)
		CMPQ(count, s.n)
		CMOVQGT(s.n, count)
		s.some(count)
		Label("lines")
	}
}

// rest does what is left.
func (s *spreader) rest() {
	m := s.m
	Label("many")
	s.leaveAtEnd("rest")
	s.vectors(s.starts(), 0, step/m.Lanes())
	ADDQ(U8(step), s.i)
	JMP(LabelRef("many"))
	Label("rest")
	CMPQ(s.i, s.n)
	JGE(LabelRef("done"))
	count, most := GP64(), GP64()
	MOVQ(U32(uint64(m.Lanes())), most)
	MOVQ(s.n, count)
	SUBQ(s.i, count)
	CMPQ(count, most)
	CMOVQGT(most, count)
	s.some(count)
	JMP(LabelRef("rest"))
	Label("done")
}

// leaveAtEnd jumps where fewer than step elements are left.
func (s *spreader) leaveAtEnd(label string) {
	left := GP64()
	MOVQ(s.n, left)
	SUBQ(s.i, left)
	CMPQ(left, U8(step))
	JL(LabelRef(label))
}

// starts returns which of the next step elements begin a row.
func (s *spreader) starts() (bits gp) {
	starts, k, bits := ZMM(), K(), GP64()
	VMOVDQU64(Mem{Base: s.marks, Index: s.i, Scale: 1}, starts)
	VPTESTMB(starts, starts, k)
	KMOVQ(k, bits)
	return bits
}

// vectors does the vectors [lo, hi) of the next step elements.
func (s *spreader) vectors(bits gp, lo, hi int) {
	m, size := s.m, s.m.Elem.Size()
	for v := lo; v < hi; v++ {
		at := Mem{Base: s.out, Index: s.i, Scale: uint8(size), Disp: v * m.Bytes()}
		result := s.vector(bits, v*m.Lanes())
		if s.streaming {
			VMOVNTPS(result, at)
		} else {
			m.Store(result, at)
		}
		if (v+1)*m.Lanes() < step {
			SHRQ(U8(uint8(m.Lanes())), bits)
		}
	}
}

// mark fills marks and own and sets n.
func (s *spreader) mark() {
	size := uint8(s.m.Elem.Size())
	splits, rows, c := vec.Arg("splits"), vec.Arg("rows"), vec.Arg("c")
	start, end, base, to, moved := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: splits}, start)
	MOVQ(Mem{Base: splits, Index: rows, Scale: 8}, s.n)
	SUBQ(start, s.n)
	zero := s.m.Zero()
	XORQ(s.i, s.i)
	Label("clear")
	s.m.Store(zero, Mem{Base: s.marks, Index: s.i, Scale: 1})
	ADDQ(U8(64), s.i)
	CMPQ(s.i, s.n)
	JL(LabelRef("clear"))
	MOVQ(s.marks, base)
	SUBQ(start, base)
	MOVQ(s.own, to)
	// An empty row's mark is that of the row behind it, and its number is left out.
	const batch = 8
	Label("rows")
	SUBQ(U8(batch), rows)
	JL(LabelRef("last"))
	present, bits := K(), GP64()
	z := ZMM()
	VMOVDQU64(Mem{Base: splits}, z)
	VPCMPQ(Imm(4), Mem{Base: splits, Disp: 8}, z, present)
	KMOVB(present, bits.As32())
	POPCNTL(bits.As32(), bits.As32())
	if size == 4 {
		numbers := YMM()
		VMOVUPS(Mem{Base: c}, numbers)
		VCOMPRESSPS_Z(numbers, present, numbers)
		VMOVUPS(numbers, Mem{Base: to})
	} else {
		numbers := ZMM()
		VMOVUPD(Mem{Base: c}, numbers)
		VCOMPRESSPD_Z(numbers, present, numbers)
		VMOVUPD(numbers, Mem{Base: to})
	}
	LEAQ(Mem{Base: to, Index: bits, Scale: size}, to)
	for i := range batch {
		at := GP64()
		MOVQ(Mem{Base: splits, Disp: 8 * i}, at)
		MOVB(U8(1), Mem{Base: base, Index: at, Scale: 1})
	}
	ADDQ(U8(8*batch), splits)
	ADDQ(U8(batch*size), c)
	JMP(LabelRef("rows"))

	Label("last")
	ADDQ(U8(batch), rows)
	JZ(LabelRef("marked"))
	MOVQ(Mem{Base: splits}, start)
	Label("row")
	ADDQ(U8(8), splits)
	MOVB(U8(1), Mem{Base: base, Index: start, Scale: 1})
	MOVQ(Mem{Base: splits}, end)
	number := GP64()
	if size == 4 {
		MOVL(Mem{Base: c}, number.As32())
		MOVL(number.As32(), Mem{Base: to})
	} else {
		MOVQ(Mem{Base: c}, number)
		MOVQ(number, Mem{Base: to})
	}
	ADDQ(U8(size), c)
	XORL(moved.As32(), moved.As32())
	CMPQ(start, end)
	SETNE(moved.As8())
	LEAQ(Mem{Base: to, Index: moved, Scale: size}, to)
	MOVQ(end, start)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("marked")
}

// vector returns the results of the elements from i+skip on. The lowest of bits say
// which of them begin a row.
func (s *spreader) vector(bits gp, skip int) vec.V {
	m, size := s.m, uint8(s.m.Elem.Size())
	x := m.Load(Mem{Base: s.x, Index: s.i, Scale: size, Disp: skip * int(size)})
	starts, first, behind := GP64(), GP64(), GP64()
	if m.Lanes() == 16 {
		MOVWLZX(bits.As16(), starts.As32())
	} else {
		MOVBLZX(bits.As8(), starts.As32())
	}
	MOVL(starts.As32(), first.As32())
	ANDL(U8(1), first.As32())
	LEAQ(Mem{Base: s.own, Index: first, Scale: size}, s.own)
	XORL(first.As32(), starts.As32())
	// The number of rows that begin behind the first element, up to each: 4 or 8 bits
	// for an element.
	PDEPQ(s.ones, starts, behind)
	IMULQ(s.ones, behind)
	m.Pause()
	POPCNTL(starts.As32(), starts.As32())
	few, at, c := XMM(), ZMM(), ZMM()
	VMOVQ(behind, few)
	if size == 4 {
		// The permutation looks at the lowest four bits.
		VPERMD(few.AsZ(), s.half, at)
		VPSRLVD(s.shift, at, at)
		m.Pause()
		VPERMPS(Mem{Base: s.own}, at, c)
	} else {
		VPMOVZXBQ(few, at)
		VPERMPD(Mem{Base: s.own}, at, c)
	}
	LEAQ(Mem{Base: s.own, Index: starts, Scale: size}, s.own)
	m.Pause()
	return s.combine(x, c)
}

// some does the next count elements, at most a vector.
func (s *spreader) some(count gp) {
	starts, bits, k := XMM(), GP64(), K()
	VMOVDQU(Mem{Base: s.marks, Index: s.i, Scale: 1}, starts)
	VPTESTMB(starts, starts, k)
	KMOVQ(k, bits)
	BZHIQ(count, bits, bits)
	lanes, ones := K(), GP64()
	MOVQ(I32(-1), ones)
	BZHIQ(count, ones, ones)
	KMOVW(ones.As32(), lanes)
	v := s.vector(bits, 0)
	s.m.StoreMasked(v, Mem{Base: s.out, Index: s.i, Scale: uint8(s.m.Elem.Size())}, vec.Mask{R: lanes})
	ADDQ(count, s.i)
}

// wordsOf returns the memory of 16 words.
func wordsOf(name string, word func(i int) int) Mem {
	if mem, ok := wordTables[name]; ok {
		return mem
	}
	mem := GLOBL(name, RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(uint64(word(i))))
	}
	wordTables[name] = mem
	return mem
}

var wordTables = map[string]Mem{}
