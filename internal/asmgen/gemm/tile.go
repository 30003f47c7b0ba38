package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of the struct tile in internal/kernel/gemm, which checks
// them when it is compiled. Strides are in bytes.
const (
	tileK      = 0   // steps, at least 1
	tileA      = 8   // A[0,0]
	tileARow   = 16  // from a row of A to the next
	tileACol   = 24  // from a column of A to the next
	tileB      = 32  // B[0,0]
	tileBRow   = 40  // from a row of B to the next
	tileC      = 48  // C[0,0]
	tileCRow   = 56  // from a row of C to the next
	tileCols   = 64  // columns, for the masked kernels
	tilePack   = 72  // where the packing kernels leave B, two vectors a row, and the carrying ones a row
	tileReadC  = 80  // 1: add beta C; 2: write C past the cache, where the kernel has all columns
	tileAhead  = 88  // what will be needed next: each step asks for a line of it
	tileStep   = 96  // from one such line to the next
	tileSums   = 104 // sums of each row by lanes, for the exponential kernels
	tileTable  = 112 // powers of two, for the same
	tileScaled = 120 // not zero: alpha is not 1
	tileCount  = 128 // tiles, one below the other
	tileDone   = 136 // how many of them are done, or were begun
	tileNext   = 144 // from what one tile asks for to what the next one does
	tileCarry  = 152 // the row that the first tile of the carrying kernels copies
	tileComing = 160 // from it to the row that the next tile will copy
	tileRuns   = 168 // runs of k steps, for the kernels that read A where it is; 0 is 1
	tileLeap   = 176 // from the end of a run of A's columns to the next run
	tileScalar = 184 // alpha, and beta one element later
)

// A shape is one variant of the tile kernel.
type shape struct {
	name    string
	vectors int // columns, in vectors
	rows    []int
	masked  bool // the last columns may be missing
	pack    bool // B is also copied to consecutive memory
	carry   bool // a row of what will be A is copied; A and B are copies already
	exp     bool // C is 2^(A B), and what its rows add up to
}

func upTo(n int) (rows []int) {
	for i := 1; i <= n; i++ {
		rows = append(rows, i)
	}
	return rows
}

// tiles writes all tile kernels of one instruction set. The tile of 14 by 2 vectors
// uses 28 of 32 AVX-512 registers as accumulators; 6 by 2 uses 12 of 16 with AVX2.
// The packing variants run once for each panel, on the tallest tiles only.
func tiles(p isa) {
	tall, narrow := 14, 14
	packing := []int{8, 9, 10, 11, 12, 13, 14}
	if !p.wide() {
		tall, narrow = 6, 8
		packing = []int{4, 5, 6}
	}
	for _, s := range []shape{
		{name: "full", vectors: 2, rows: upTo(tall)},
		{name: "edge", vectors: 2, rows: upTo(tall), masked: true},
		{name: "narrow", vectors: 1, rows: upTo(narrow), masked: true},
		{name: "pack", vectors: 2, rows: packing, masked: true, pack: true},
		{name: "carry", vectors: 2, rows: packing, carry: true},
	} {
		for _, rows := range s.rows {
			tile(p, s, rows)
		}
	}
	if p.wide() && p.size == 4 {
		for _, s := range []shape{
			{name: "exp", vectors: 2, rows: upTo(tall), exp: true},
			{name: "expEdge", vectors: 2, rows: upTo(tall), exp: true, masked: true},
		} {
			for _, rows := range s.rows {
				tile(p, s, rows)
			}
		}
	}
}

// A rowset addresses the rows of A with at most two pointers and four multiples of
// the stride, which x86 addressing combines to nine rows a pointer.
type rowset struct {
	base, base9           reg.GPVirtual
	stride, by3, by5, by7 reg.GPVirtual
	rows                  int
}

func newRowset(base, stride reg.GPVirtual, rows int) rowset {
	s := rowset{base: base, stride: stride, rows: rows}
	if rows > 3 {
		s.by3 = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, s.by3)
	}
	if rows > 5 {
		s.by5 = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 4}, s.by5)
	}
	if rows > 7 {
		s.by7 = GP64()
		LEAQ(Mem{Base: s.by3, Index: stride, Scale: 4}, s.by7)
	}
	if rows > 9 {
		s.base9 = GP64()
		LEAQ(Mem{Base: base, Index: stride, Scale: 8}, s.base9)
		ADDQ(stride, s.base9)
	}
	return s
}

// row returns the address of row i.
func (s rowset) row(i int) Mem {
	base := s.base
	if i >= 9 {
		base, i = s.base9, i-9
	}
	switch i {
	case 0:
		return Mem{Base: base}
	case 1, 2, 4, 8:
		return Mem{Base: base, Index: s.stride, Scale: uint8(i)}
	case 3:
		return Mem{Base: base, Index: s.by3, Scale: 1}
	case 5:
		return Mem{Base: base, Index: s.by5, Scale: 1}
	case 6:
		return Mem{Base: base, Index: s.by3, Scale: 2}
	}
	return Mem{Base: base, Index: s.by7, Scale: 1}
}

// advance moves all rows on by step bytes.
func (s rowset) advance(step Op) {
	ADDQ(step, s.base)
	if s.rows > 9 {
		ADDQ(step, s.base9)
	}
}

// A soon asks for the rows of C, which the kernel needs when its steps are done, a row
// at a time every few steps. Asked for at once, they would take all the places in which
// the core keeps track of lines that are on their way, and the operands would have to wait
// until they have arrived from memory.
type soon struct {
	c, k  reg.GPVirtual
	mask  Mem // of the bits of k that are zero where a row is due
	from  Mem // k at which to start
	bytes int // in a row
}

// newSoon prepares it: with 128 steps or more, a row every 8 steps, so that the last one is
// asked for 64 steps before the end, and with less every 4 steps. Where there are too few
// for that too, it asks for all rows now. Of several runs, only the first counts. Rows that are
// written past the cache are not asked for.
func (s shape) newSoon(p isa, t, c, k reg.GPVirtual, rows int) soon {
	n := soon{c: c, k: k, mask: AllocLocal(8), from: AllocLocal(8), bytes: s.vectors * p.bytes()}
	if s.streams() {
		MOVQ(U32(0), n.from)
		CMPQ(Mem{Base: t}.Offset(tileReadC), Imm(2))
		JEQ(LabelRef("operands"))
	}
	MOVQ(U32(8-1), n.mask)
	MOVQ(U32(uint32(8*(rows+8))), n.from)
	CMPQ(k, Imm(128))
	JAE(LabelRef("operands"))
	MOVQ(U32(4-1), n.mask)
	MOVQ(U32(uint32(4*(rows+16))), n.from)
	CMPQ(k, Imm(64))
	JAE(LabelRef("operands"))
	now := GP64()
	MOVQ(c, now)
	MOVQ(U32(0), n.from)
	for range rows {
		n.row(now)
		ADDQ(Mem{Base: t}.Offset(tileCRow), now)
	}
	Label("operands")
	return n
}

// row asks for the lines of one row, of which kernels for fewer columns touch at least
// one element more than half.
func (s soon) row(c reg.GPVirtual) {
	PREFETCHT0(Mem{Base: c})
	if s.bytes > 64 {
		PREFETCHT0(Mem{Base: c}.Offset(64))
	}
}

// step does what is due when k steps are left.
func (s soon) step(crow Mem) {
	TESTQ(s.k, s.mask)
	JNE(LabelRef("next"))
	CMPQ(s.k, s.from)
	JA(LabelRef("next"))
	s.row(s.c)
	ADDQ(crow, s.c)
	Label("next")
}

// tile writes one kernel: the accumulators stay in registers for all k steps; each
// step loads a row of B once and broadcasts each element of a column of A once. Where steps are
// few, a call computes several tiles, one below the other: what a caller does between two of
// them would have to wait until the core has got rid of the stores of the first one.
func tile(p isa, s shape, rows int) {
	TEXT(fmt.Sprintf("%s%d%s", s.name, rows, p.suffix()), NOSPLIT, "func(t *byte)")
	Pragma("noescape")
	what := "computes"
	if s.exp {
		what = "computes powers of two of"
	}
	Doc(fmt.Sprintf("%s%d%s %s the tile t of %[2]d rows and up to %[5]d columns.", s.name, rows, p.suffix(), what, s.vectors*p.lanes()))
	t := Load(Param("t"), GP64()).(reg.GPVirtual)
	field := func(offset int) reg.GPVirtual {
		r := GP64()
		MOVQ(Mem{Base: t}.Offset(offset), r)
		return r
	}
	masks := none(s.vectors)
	if s.masked {
		masks = p.firstLanes(field(tileCols), s.vectors)
	}

	Label("tile")
	acc := make([][]reg.VecVirtual, rows)
	for i := range acc {
		for range s.vectors {
			v := p.vec()
			p.zero(v)
			acc[i] = append(acc[i], v)
		}
	}

	done, above := field(tileDone), GP64()
	IMUL3Q(U32(uint32(rows)), done, above) // the number of rows above this tile
	// moved returns the pointer in a field, n times the stride in another one further on.
	moved := func(pointer, stride int, n reg.GPVirtual) reg.GPVirtual {
		at := GP64()
		MOVQ(n, at)
		IMULQ(Mem{Base: t}.Offset(stride), at)
		ADDQ(Mem{Base: t}.Offset(pointer), at)
		return at
	}
	var sums Mem
	if s.exp {
		sums = AllocLocal(8)
		at := GP64()
		MOVQ(above, at)
		SHLQ(Imm(6), at)
		ADDQ(Mem{Base: t}.Offset(tileSums), at)
		MOVQ(at, sums)
	}
	var ahead reg.GPVirtual
	if p.wide() && rows >= 8 {
		ahead = moved(tileAhead, tileNext, done)
	}
	var packed, carried reg.GPVirtual
	if s.carry {
		carried, packed = moved(tileCarry, tileComing, done), moved(tilePack, tileARow, done)
		SUBQ(carried, packed)
	}
	INCQ(done)
	MOVQ(done, Mem{Base: t}.Offset(tileDone))
	result := AllocLocal(8)
	c := moved(tileC, tileCRow, above)
	MOVQ(c, result)
	rowsOfA := moved(tileA, tileARow, above)
	k := field(tileK)
	soon := s.newSoon(p, t, c, k, rows)

	a := newRowset(rowsOfA, field(tileARow), rows)
	// Copies of A and B have strides that are known here.
	b, width := field(tileB), s.vectors*p.bytes()
	var acol, brow Op = Imm(uint64(p.size)), U32(uint32(width))
	next, ask := Mem{Base: b}.Offset(8*width), PREFETCHT0
	if !s.carry {
		acol = field(tileACol)
		r := field(tileBRow)
		brow, next = r, Mem{Base: b, Index: r, Scale: 8}
		if s.pack {
			// B is in memory or the third cache: 8 steps would be too late, and more rows than
			// that may not fit in the first cache, where they can all belong to the same set.
			SHLQ(Imm(5), r)
			brow, next, ask = Mem{Base: t}.Offset(tileBRow), Mem{Base: b, Index: r, Scale: 1}, PREFETCHT1
			packed = field(tilePack)
		}
	}
	bv := make([]reg.VecVirtual, s.vectors)
	for j := range bv {
		bv[j] = p.vec()
	}

	runs := !s.pack && !s.carry && !s.exp
	var left Mem
	if runs {
		left = AllocLocal(8)
		n := GP64()
		MOVQ(Mem{Base: t}.Offset(tileRuns), n)
		MOVQ(n, left)
	}
	Label("step")
	for j := range bv {
		p.load(Mem{Base: b}.Offset(j*p.bytes()), masks[j], bv[j])
		if s.pack {
			p.store(bv[j], mask{}, Mem{Base: packed}.Offset(j*p.bytes()))
		}
	}
	if p.wide() && rows >= 8 || s.pack {
		ask(next)
		if width > 64 {
			ask(next.Offset(64))
		}
	}
	if s.carry {
		x := GP64()
		MOVQ(Mem{Base: t}.Offset(tileComing), x)
		PREFETCHT1(Mem{Base: carried, Index: x, Scale: 1})
		if p.size == 8 {
			MOVQ(Mem{Base: carried}, x)
			MOVQ(x, Mem{Base: carried, Index: packed, Scale: 1})
		} else {
			MOVL(Mem{Base: carried}, x.As32())
			MOVL(x.As32(), Mem{Base: carried, Index: packed, Scale: 1})
		}
		ADDQ(Imm(uint64(p.size)), carried)
	}
	if ahead != nil {
		PREFETCHT1(Mem{Base: ahead})
		ADDQ(Mem{Base: t}.Offset(tileStep), ahead)
	}
	for i := range acc {
		ai := p.vec()
		p.broadcast(a.row(i), ai)
		for j := range bv {
			p.fma(ai, bv[j], acc[i][j])
		}
	}
	soon.step(Mem{Base: t}.Offset(tileCRow))
	ADDQ(brow, b)
	if s.pack {
		ADDQ(U32(uint32(width)), packed)
	}
	a.advance(acol)
	DECQ(k)
	JNZ(LabelRef("step"))
	if runs {
		DECQ(left)
		JLE(LabelRef("summed"))
		MOVQ(U32(0), soon.from)
		MOVQ(Mem{Base: t}.Offset(tileK), k)
		a.advance(Mem{Base: t}.Offset(tileLeap))
		JMP(LabelRef("step"))
		Label("summed")
	}
	if s.exp {
		exponentials(acc, masks, t, result, sums)
	} else {
		s.results(p, acc, bv, masks, t, result)
	}
	done = field(tileDone)
	CMPQ(done, Mem{Base: t}.Offset(tileCount))
	JLT(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// results ends a tile: it scales the accumulators, adds C times beta, and stores them where
// result says. It may use the registers bv.
func (s shape) results(p isa, acc [][]reg.VecVirtual, bv []reg.VecVirtual, masks []mask, t reg.GPVirtual, result Mem) {
	alpha, beta := p.vec(), p.vec()
	CMPQ(Mem{Base: t}.Offset(tileScaled), Imm(0))
	JEQ(LabelRef("scaled"))
	p.broadcast(Mem{Base: t}.Offset(tileScalar), alpha)
	for i := range acc {
		for j := range bv {
			p.mul(alpha, acc[i][j], acc[i][j])
		}
	}
	Label("scaled")
	c, crow := GP64(), GP64()
	MOVQ(result, c)
	MOVQ(Mem{Base: t}.Offset(tileCRow), crow)
	CMPQ(Mem{Base: t}.Offset(tileReadC), Imm(1))
	if s.streams() {
		JA(LabelRef("past"))
	}
	JNE(LabelRef("store"))
	p.broadcast(Mem{Base: t}.Offset(tileScalar+p.size), beta)
	old := GP64()
	MOVQ(c, old)
	for i := range acc {
		for j := range bv {
			m := Mem{Base: old}.Offset(j * p.bytes())
			if s.masked {
				p.load(m, masks[j], bv[j])
				p.fma(bv[j], beta, acc[i][j])
			} else {
				p.fma(m, beta, acc[i][j])
			}
		}
		ADDQ(crow, old)
	}
	Label("store")
	for i := range acc {
		for j := range bv {
			p.store(acc[i][j], masks[j], Mem{Base: c}.Offset(j*p.bytes()))
		}
		ADDQ(crow, c)
	}
	if !s.streams() {
		return
	}
	JMP(LabelRef("stored"))
	Label("past")
	for i := range acc {
		for j := range bv {
			VMOVNTPS(acc[i][j], Mem{Base: c}.Offset(j*p.bytes()))
		}
		ADDQ(crow, c)
	}
	Label("stored")
}

// streams reports whether a kernel can write C past the cache.
func (s shape) streams() bool { return !s.masked && !s.pack && !s.carry && !s.exp }
