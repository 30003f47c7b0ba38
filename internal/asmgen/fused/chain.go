package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// A chain is a program of simple operations that is run for some vectors of elements at
// a time. One value is in registers, the accumulator; the other operand of an instruction
// is in memory. An instruction has four words: its code, an address, a mask which
// is 0 where the address is that of a slot, of which every step has the same, and all
// ones where it moves with the elements; the fourth is for repeat alone.

// instructionBytes is the size of an instruction.
const instructionBytes = 32

// A code is an instruction of a chain. The order of all of them is that of the constants in
// internal/kernel/fused/chain.go.
type code struct {
	name string
	emit func(c *chain)
}

// chain is a function being written.
type chain struct {
	m      machine
	acc    []vector
	masks  []vec.Mask       // of the vectors of a step; none where steps are whole
	pc, at reg.GPVirtual    // the instruction, and the address of its operand
	i, end reg.GPVirtual    // the first element of the step, and that behind its last
	ahead  [2]reg.GPVirtual // what the next step reads of two arrays
}

// fetchAhead is how far ahead of what a step reads repeat asks for memory: a step of 16 long vectors.
const fetchAhead = 1024

func codes() []code {
	all := []code{
		{"end", nil},
		{"load", func(c *chain) {
			for u, a := range c.acc {
				c.set(a, c.operand(u))
			}
		}},
		{"store", func(c *chain) { c.store(false) }},
		{"past", func(c *chain) { c.store(true) }},
		{"ahead", func(c *chain) { LEAQ(Mem{Base: c.at, Disp: fetchAhead}, c.ahead[0]) }},
		{"aheadToo", func(c *chain) { LEAQ(Mem{Base: c.at, Disp: fetchAhead}, c.ahead[1]) }},
		{"repeat", (*chain).repeat},
	}
	for _, b := range []struct {
		name string
		f    func(m machine, x, y vector) vector
	}{
		{"add", func(m machine, x, y vector) vector { return m.Add(x, y) }},
		{"sub", func(m machine, x, y vector) vector { return m.Sub(x, y) }},
		{"mul", func(m machine, x, y vector) vector { return m.Mul(x, y) }},
		{"div", func(m machine, x, y vector) vector { return m.Div(x, y) }},
		{"maximum", machine.Maximum},
		{"minimum", machine.Minimum},
		{"squaredDifference", machine.SquaredDifference},
	} {
		all = append(all,
			code{b.name, func(c *chain) {
				for u, a := range c.acc {
					c.set(a, b.f(c.m, a, c.operand(u)))
				}
			}},
			code{b.name + "Reversed", func(c *chain) {
				for u, a := range c.acc {
					c.set(a, b.f(c.m, c.operand(u), a))
				}
			}})
	}
	for _, x := range []struct {
		name string
		f    func(m machine, x vector) vector
	}{
		{"abs", machine.Abs}, {"neg", machine.Neg}, {"sign", machine.Signum}, {"reciprocal", machine.Reciprocal}, {"square", machine.Square},
		{"sqrt", machine.Sqrt}, {"rsqrt", machine.Rsqrt}, {"relu", machine.Relu},
		{"floor", func(m machine, x vector) vector { return m.Round(vec.Down, x) }},
		{"ceil", func(m machine, x vector) vector { return m.Round(vec.Up, x) }},
		{"round", func(m machine, x vector) vector { return m.Round(vec.ToNearestEven, x) }},
		{"trunc", func(m machine, x vector) vector { return m.Round(vec.TowardZero, x) }},
	} {
		all = append(all, code{x.name, func(c *chain) {
			for _, a := range c.acc {
				c.set(a, x.f(c.m, a))
			}
		}})
	}
	return all
}

// chains emits a chain for whole steps, and one for what is less than a step.
func chains(m machine) {
	for _, masked := range []bool{false, true} {
		emitChain(m, masked)
	}
}

func emitChain(m machine, masked bool) {
	c := &chain{m: m}
	count, name := 8, "chain"
	doc := []string{"runs a program on elements from to to-1, of which there are so many that whole steps of chainVectors vectors do them all."}
	switch {
	case masked:
		count, name = 2, "chainRest"
		if m.Wide {
			count = 4
		}
		doc = []string{"runs a program on elements from to to-1, however many."}
	case m.Wide:
		count = 16
	}
	TEXT(m.Name(name), NOSPLIT, "func(program *uint64, from, to int)")
	doc[0] = m.Name(name) + " " + doc[0]
	Doc(append(doc, "Addresses that move with the elements are those of element 0, which need not be there.")...)
	Pragma("noescape")
	program := vec.Arg("program")
	c.i = vec.Arg("from")
	to := vec.Arg("to")
	m = m.ForChoice()
	c.m = m
	for range count {
		c.acc = append(c.acc, m.Zero())
	}
	c.pc, c.at, c.end = GP64(), GP64(), GP64()
	for i := range c.ahead {
		c.ahead[i] = GP64()
		MOVQ(program, c.ahead[i]) // something that is there, for programs that read no array
	}
	for range count {
		switch {
		case !masked:
		case m.Wide:
			c.masks = append(c.masks, vec.Mask{R: K()})
		default:
			c.masks = append(c.masks, vec.Mask{R: m.Reg()})
		}
	}

	Label("step")
	CMPQ(c.i, to)
	JGE(LabelRef("done"))
	if masked {
		left, most, zero := GP64(), GP64(), GP64()
		MOVQ(U32(uint64(count*m.Lanes())), most)
		MOVQ(to, left)
		SUBQ(c.i, left)
		CMPQ(left, most)
		CMOVQGT(most, left)
		LEAQ(Mem{Base: c.i, Index: left, Scale: 1}, c.end)
		MOVQ(U32(uint64(m.Lanes())), most)
		XORL(zero.As32(), zero.As32())
		for u := range c.masks {
			lanes := GP64()
			MOVQ(left, lanes)
			if u < count-1 {
				CMPQ(lanes, most)
				CMOVQGT(most, lanes)
			}
			k := m.FirstLanes(lanes)
			if m.Wide {
				KMOVW(k.R, c.masks[u].R)
			} else {
				VMOVAPS(k.R, c.masks[u].R)
			}
			if u < count-1 {
				SUBQ(most, left)
				CMOVQLT(zero, left)
			}
		}
	} else {
		LEAQ(Mem{Base: c.i, Disp: count * m.Lanes()}, c.end)
	}
	MOVQ(program, c.pc)
	Label("next")
	which := GP64()
	MOVQ(Mem{Base: c.pc}, which)
	MOVQ(Mem{Base: c.pc, Disp: 16}, c.at)
	ANDQ(c.i, c.at)
	SHLQ(U8(map[int]uint64{4: 2, 8: 3}[m.Elem.Size()]), c.at)
	ADDQ(Mem{Base: c.pc, Disp: 8}, c.at)
	all := codes()
	c.choose(which, 0, len(all), all)
	for _, x := range all {
		Label(x.name)
		if x.emit == nil {
			MOVQ(c.end, c.i)
			JMP(LabelRef("step"))
			continue
		}
		x.emit(c)
		ADDQ(U8(instructionBytes), c.pc)
		JMP(LabelRef("next"))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// choose jumps to one of the instructions lo to hi-1.
func (c *chain) choose(which reg.GPVirtual, lo, hi int, all []code) {
	if hi-lo == 1 {
		JMP(LabelRef(all[lo].name))
		return
	}
	mid := (lo + hi) / 2
	upper := fmt.Sprintf("from%d", mid)
	CMPQ(which, U8(uint8(mid)))
	JGE(LabelRef(upper))
	c.choose(which, lo, mid, all)
	Label(upper)
	c.choose(which, mid, hi, all)
}

// set copies a result to a part of the accumulator.
func (c *chain) set(acc, v vector) { VMOVAPS(v, acc) }

func (c *chain) memory(u int) Mem { return Mem{Base: c.at, Disp: u * c.m.Bytes()} }

// operand returns vector u of the operand.
func (c *chain) operand(u int) vector {
	if c.masks != nil {
		return c.m.LoadMasked(c.memory(u), c.masks[u])
	}
	return c.m.Load(c.memory(u))
}

func (c *chain) store(past bool) {
	for u, a := range c.acc {
		switch {
		case c.masks != nil:
			c.m.StoreMasked(a, c.memory(u), c.masks[u])
		case past:
			VMOVNTPS(a, c.memory(u))
		default:
			c.m.Store(a, c.memory(u))
		}
	}
}

// repeat fills a slot with the numbers of the rows that the elements belong to. The
// instruction holds where the slot is, the number of the row that the first element
// belongs to, and where the row's end is among the splits. A row may end behind the step: then the
// next step begins with it. What a row does not fill of two vectors the next one overwrites, so
// that there is one jump to foresee for most rows; behind a slot there is room for them.
// Between rows it asks for what the next step reads: a step has no other part that leaves the
// memory idle for so long that the processor does not look beyond it.
func (c *chain) repeat() {
	m := c.m
	size := m.Elem.Size()
	to, number, ends := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: c.pc, Disp: 8}, to)
	MOVQ(Mem{Base: c.pc, Disp: 16}, number)
	MOVQ(Mem{Base: c.pc, Disp: 24}, ends)
	at, n, end := GP64(), GP64(), GP64()
	MOVQ(c.i, at)
	line := GP64()
	XORL(line.As32(), line.As32())
	Label("row")
	for _, a := range c.ahead {
		PREFETCHT0(Mem{Base: a, Index: line, Scale: 1})
	}
	ADDQ(U8(64), line)
	ANDQ(U32(uint32(len(c.acc)*m.Bytes()-1)), line)
	v := m.Broadcast(Mem{Base: number})
	MOVQ(Mem{Base: ends}, end)
	m.Store(v, Mem{Base: to})
	m.Store(v, Mem{Base: to, Disp: m.Bytes()})
	MOVQ(end, n)
	SUBQ(at, n)
	CMPQ(n, U32(uint64(2*m.Lanes())))
	JG(LabelRef("long"))
	Label("filled")
	CMPQ(end, c.end)
	JG(LabelRef("held"))
	LEAQ(Mem{Base: to, Index: n, Scale: uint8(size)}, to)
	MOVQ(end, at)
	ADDQ(U8(uint8(size)), number)
	ADDQ(U8(8), ends)
	CMPQ(at, c.end)
	JL(LabelRef("row"))
	Label("held")
	MOVQ(number, Mem{Base: c.pc, Disp: 16})
	MOVQ(ends, Mem{Base: c.pc, Disp: 24})
	ADDQ(U8(instructionBytes), c.pc)
	JMP(LabelRef("next"))

	Label("long")
	left, p, stop := GP64(), GP64(), GP64()
	MOVQ(c.end, left)
	SUBQ(at, left)
	CMPQ(n, left)
	CMOVQLT(n, left)
	LEAQ(Mem{Base: to, Disp: 2 * m.Bytes()}, p)
	LEAQ(Mem{Base: to, Index: left, Scale: uint8(size)}, stop)
	Label("more")
	CMPQ(p, stop)
	JGE(LabelRef("filled"))
	m.Store(v, Mem{Base: p})
	ADDQ(U32(uint64(m.Bytes())), p)
	JMP(LabelRef("more"))
}
