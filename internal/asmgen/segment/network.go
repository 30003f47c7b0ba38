package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// Short rows are sorted in registers by a bitonic network (K. Batcher, "Sorting
// networks and their applications", 1968), in the form that compares each element of
// one half with its mirror image in the other first, so that all comparisons have the
// same direction and the masks depend on the distance alone. A network takes the same
// time for all rows of its size; there is nothing to guess wrong.

// A network sorts lanes of 32 or 64 bits.
type network struct {
	lanes   int // of one register
	mirror  []reg.VecVirtual
	masks   []reg.OpmaskVirtual // at i: the lanes without bit i in their number
	min     func(ops ...Op)
	max     func(ops ...Op)
	permute func(ops ...Op)
	near    []func(z, dst reg.VecVirtual) // at i: the lanes whose numbers differ in bit i
}

var mirrorTables = map[string]Mem{}

// mirrorTable returns the memory of i^(block-1) for each lane i.
func mirrorTable(lanes, block int) Mem {
	name := fmt.Sprintf("mirror%dof%d", block, lanes)
	if mem, ok := mirrorTables[name]; ok {
		return mem
	}
	mem := GLOBL(name, RODATA|NOPTR)
	for i := range lanes {
		if lanes == 8 {
			DATA(8*i, U64(uint64(i^(block-1))))
		} else {
			DATA(4*i, U32(uint32(i^(block-1))))
		}
	}
	mirrorTables[name] = mem
	return mem
}

// newNetwork returns the network for registers of so many lanes, which hold signed numbers or
// not.
func newNetwork(lanes int, signed bool) *network {
	n := &network{lanes: lanes}
	imm := func(f func(ops ...Op), code uint64, twice bool) func(z, dst reg.VecVirtual) {
		return func(z, dst reg.VecVirtual) {
			if twice {
				f(Imm(code), z, z, dst)
			} else {
				f(Imm(code), z, dst)
			}
		}
	}
	if lanes == 8 {
		n.min, n.max, n.permute = VPMINUQ, VPMAXUQ, VPERMQ
		if signed {
			n.min, n.max = VPMINSQ, VPMAXSQ
		}
		n.near = []func(z, dst reg.VecVirtual){imm(VPSHUFD, 0x4e, false), imm(VPERMQ, 0x4e, false), imm(VSHUFI64X2, 0x4e, true)}
	} else {
		n.min, n.max, n.permute = VPMINSD, VPMAXSD, VPERMD
		n.near = []func(z, dst reg.VecVirtual){imm(VPSHUFD, 0xb1, false), imm(VPSHUFD, 0x4e, false), imm(VSHUFI32X4, 0xb1, true), imm(VSHUFI32X4, 0x4e, true)}
	}
	for block := 2; block <= lanes; block *= 2 {
		z := ZMM()
		VMOVDQU64(mirrorTable(lanes, block), z)
		n.mirror = append(n.mirror, z)
	}
	for bit := range n.near {
		var lower uint32
		for l := range lanes {
			if l>>bit&1 == 0 {
				lower |= 1 << l
			}
		}
		k, bits := K(), GP32()
		MOVL(U32(lower), bits)
		KMOVW(bits, k)
		n.masks = append(n.masks, k)
	}
	return n
}

// exchange puts the lesser of z and partner into the lanes of k, the greater into the
// others.
func (n *network) exchange(z, partner reg.VecVirtual, k reg.OpmaskVirtual) reg.VecVirtual {
	dst := ZMM()
	n.max(z, partner, dst)
	n.min(z, partner, k, dst)
	return dst
}

// sort sorts the registers, of which there are a power of two, as one sequence.
func (n *network) sort(z []reg.VecVirtual) []reg.VecVirtual {
	for i := range z {
		for step := range n.mirror { // blocks of 2, 4, … lanes
			p := ZMM()
			n.permute(z[i], n.mirror[step], p)
			z[i] = n.exchange(z[i], p, n.masks[step])
			z[i] = n.clean(z[i], step-1)
		}
	}
	for block := 2; block <= len(z); block *= 2 {
		for at := 0; at < len(z); at += block {
			n.merge(z[at : at+block])
		}
	}
	return z
}

// clean sorts what is bitonic in each block of 2^(bit+1) lanes.
func (n *network) clean(z reg.VecVirtual, bit int) reg.VecVirtual {
	for ; bit >= 0; bit-- {
		p := ZMM()
		n.near[bit](z, p)
		z = n.exchange(z, p, n.masks[bit])
	}
	return z
}

// merge sorts registers of which each half is sorted.
func (n *network) merge(z []reg.VecVirtual) {
	half := len(z) / 2
	var upper []reg.VecVirtual
	for i := range half {
		other := len(z) - 1 - i
		p, low, high := ZMM(), ZMM(), ZMM()
		n.permute(z[other], n.mirror[len(n.mirror)-1], p)
		n.min(z[i], p, low)
		n.max(z[i], p, high)
		// The upper half is now in reverse order, which does not matter: it is bitonic.
		upper = append(upper, high)
		z[i] = low
	}
	copy(z[half:], upper)
	for part := 0; part < len(z); part += half {
		n.cleanRegisters(z[part : part+half])
	}
}

// cleanRegisters sorts registers that together are bitonic.
func (n *network) cleanRegisters(z []reg.VecVirtual) {
	for half := len(z) / 2; half >= 1; half /= 2 {
		for at := 0; at < len(z); at += 2 * half {
			for i := at; i < at+half; i++ {
				low, high := ZMM(), ZMM()
				n.min(z[i], z[i+half], low)
				n.max(z[i], z[i+half], high)
				z[i], z[i+half] = low, high
			}
		}
	}
	for i := range z {
		z[i] = n.clean(z[i], len(n.near)-1)
	}
}

// Numbers are sorted as integers. The bits of a float that is negative have to be
// turned around for that.

// signedKey turns the bits of floats into signed integers of the same order, and back.
func signedKey(e vec.Elem, z reg.VecVirtual) reg.VecVirtual {
	sign, dst := ZMM(), ZMM()
	if e == vec.Float64 {
		VPSRAQ(Imm(63), z, sign)
		VPSRLQ(Imm(1), sign, sign)
	} else {
		VPSRAD(Imm(31), z, sign)
		VPSRLD(Imm(1), sign, sign)
	}
	VPXORD(sign, z, dst)
	return dst
}

// sortRows writes a function that sorts rows of up to 32 elements.
func sortRows(e vec.Elem) {
	m := vec.Machine{Wide: true, Elem: e}
	size, lanes := 64/m.Lanes(), m.Lanes()
	name := "sortRows" + e.String()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst, x *%s, splits *int64, rows int, flip int64) int", e.Go()))
	Pragma("noescape")
	Doc(name+" sorts rows, of which the first begins at x, and returns the number of rows done. flip is 0 for ascending order, -1 for",
		"descending order. It stops before a row of more than 32 elements or with NaN. It reads up to 32 elements from the beginning of a",
		"row and writes up to 32, one row after the other.")
	r := newSized(size, size)
	dst, x, n, ones := r.dst, r.x, r.n, r.ones
	flip, last := ZMM(), ZMM()
	VPBROADCASTQ(vec.Arg("flip"), flip)
	VPTERNLOGD(Imm(0xff), last, last, last) // all ones: the greatest unsigned, and
	if size == 8 {
		VPSRLQ(Imm(1), last, last) // now the greatest signed number
	} else {
		VPSRLD(Imm(1), last, last)
	}
	net := newNetwork(lanes, true)
	nan := K()
	// read leaves the row where NaN is seen in it, and puts the last of all behind its end.
	read := func(count int) []reg.VecVirtual {
		var z []reg.VecVirtual
		length := n
		for v := range count {
			if v > 0 {
				none, rest := GP64(), GP64()
				MOVQ(U32(0), none)
				LEAQ(Mem{Base: n, Disp: -lanes * v}, rest)
				TESTQ(rest, rest)
				CMOVQLT(none, rest)
				length = rest
			}
			key := m.Load(Mem{Base: x, Disp: 64 * v})
			bits, k, padded := GP64(), K(), ZMM()
			BZHIQ(length, ones, bits)
			KMOVW(bits.As32(), k)
			switch e {
			case vec.Float32:
				VCMPPS(Imm(3), key, key, nan)
			case vec.Float64:
				VCMPPD(Imm(3), key, key, nan)
			}
			if e == vec.Float32 || e == vec.Float64 {
				KTESTW(nan, k)
				JNZ(LabelRef("done"))
				key = signedKey(e, key)
			}
			VPXORD(flip, key, key)
			VMOVDQA32(last, padded)
			if size == 8 {
				VMOVDQA64(key, k, padded)
			} else {
				VMOVDQA32(key, k, padded)
			}
			z = append(z, padded)
		}
		return z
	}
	write := func(z []reg.VecVirtual) {
		for i, v := range net.sort(z) {
			VPXORD(flip, v, v)
			if e == vec.Float32 || e == vec.Float64 {
				v = signedKey(e, v)
			}
			m.Store(v, Mem{Base: dst, Disp: 64 * i})
		}
	}
	r.bySize(lanes, func(count int) { write(read(count)) })
}

// argsortRows writes a function that finds the order of rows of up to 32 elements. A
// lane holds an element's key above its position.
func argsortRows(e vec.Elem) {
	name := "argsortRows" + e.String()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst *int64, x *%s, splits *int64, rows int, flip int64) int", e.Go()))
	Pragma("noescape")
	Doc(name+" writes the positions of each row's elements in stable order and returns the number of rows done; the first row begins at x.",
		"flip is 0 for ascending order, -1 for descending order; NaN is last. It stops before a row of more than 32 elements. It reads up to",
		"32 elements from the beginning of a row and writes up to 32, one row after the other.")
	r := newSized(4, 8)
	dst, x, n, ones := r.dst, r.x, r.n, r.ones
	flip, last, lanes, eight, low, sign := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), YMM()
	VPBROADCASTQ(vec.Arg("flip"), flip)
	VPTERNLOGQ(Imm(0xff), last, last, last)
	VPSRLQ(Imm(32), last, low)
	VMOVDQU64(laneNumbers(), lanes)
	VPSRLQ(Imm(63), last, eight)
	VPSLLQ(Imm(3), eight, eight)
	VPSLLD(Imm(31), last.AsY(), sign)
	zero := ZMM()
	VPXORD(zero, zero, zero)
	net := newNetwork(8, false)
	nan := K()
	read := func(count int) []reg.VecVirtual {
		var z []reg.VecVirtual
		length, number := GP64(), lanes
		for v := range count {
			y, key := YMM(), ZMM()
			at := Mem{Base: x, Disp: 32 * v}
			if e == vec.Float32 {
				s := YMM()
				VADDPS(at, zero.AsY(), y) // -0 becomes +0
				VCMPPS(Imm(3), y, y, nan)
				VPSRAD(Imm(31), y, s)
				VPORD(sign, s, s)
				VPXORD(s, y, y)
			} else {
				VPXORD(at, sign, y)
			}
			VPMOVZXDQ(y, key)
			VPSLLQ(Imm(32), key, key)
			VPXORQ(flip, key, key)
			if e == vec.Float32 {
				VMOVDQA64(last, nan, key)
			}
			bits, k, packed, padded := GP64(), K(), ZMM(), ZMM()
			MOVQ(n, length)
			if v > 0 {
				none, next := GP64(), ZMM()
				MOVQ(U32(0), none)
				SUBQ(U8(uint8(8*v)), length)
				CMOVQLT(none, length)
				VPADDQ(eight, number, next)
				number = next
			}
			// The position takes the lower half, whatever flipping left there.
			VMOVDQA64(low, packed)
			VPTERNLOGQ(Imm(0xca), key, number, packed) // low ? number : key
			BZHIQ(length, ones, bits)
			KMOVW(bits.As32(), k)
			VMOVDQA64(last, padded)
			VMOVDQA64(packed, k, padded)
			z = append(z, padded)
		}
		return z
	}
	write := func(z []reg.VecVirtual) {
		for i, v := range net.sort(z) {
			VPANDQ(low, v, v)
			VMOVDQU64(v, Mem{Base: dst, Disp: 64 * i})
		}
	}
	r.bySize(8, func(count int) { write(read(count)) })
}

// A sized is a function being written that does one row after the other, with code of its
// own for each number of vectors that a row takes.
type sized struct {
	dst, x, splits, rows gp
	start, n             gp  // where the row begins, as its split says, and its length
	todo, ones           gp  // rows left, and 64 ones
	from, to             int // bytes of an element of x and of dst
}

func newSized(from, to int) *sized {
	r := &sized{dst: vec.Arg("dst"), x: vec.Arg("x"), splits: vec.Arg("splits"), rows: vec.Arg("rows"),
		start: GP64(), n: GP64(), todo: GP64(), ones: GP64(), from: from, to: to}
	MOVQ(r.rows, r.todo)
	MOVQ(Mem{Base: r.splits}, r.start)
	MOVQ(I32(-1), r.ones)
	return r
}

// bySize writes the loop: body does a row of up to count vectors of lanes elements. Who
// jumps to done leaves the row, like those of more than 32 elements, to the caller.
func (r *sized) bySize(lanes int, body func(count int)) {
	Label("row")
	MOVQ(Mem{Base: r.splits, Disp: 8}, r.n)
	SUBQ(r.start, r.n)
	for count := 1; count*lanes <= 32; count *= 2 {
		if count > 1 {
			Label(fmt.Sprintf("of%d", count))
		}
		CMPQ(r.n, U8(uint8(count*lanes)))
		if count*lanes == 32 {
			JG(LabelRef("done"))
		} else {
			JG(LabelRef(fmt.Sprintf("of%d", 2*count)))
		}
		body(count)
		if count > 1 {
			JMP(LabelRef("next"))
			continue
		}
		Label("next")
		LEAQ(Mem{Base: r.x, Index: r.n, Scale: uint8(r.from)}, r.x)
		LEAQ(Mem{Base: r.dst, Index: r.n, Scale: uint8(r.to)}, r.dst)
		ADDQ(r.n, r.start)
		ADDQ(U8(8), r.splits)
		DECQ(r.todo)
		JNZ(LabelRef("row"))
		Label("done")
		SUBQ(r.todo, r.rows)
		Store(r.rows, ReturnIndex(0))
		VZEROUPPER()
		RET()
	}
}
