package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// ranks writes a function that packs a mask of bytes into bits and counts them.
func ranks(m vec.Machine) {
	name := "ranks" + m.ISA()
	TEXT(name, NOSPLIT, "func(bits *uint64, ranks *int64, mask *byte, words int) int64")
	Pragma("noescape")
	Doc(name+" packs 64 bytes that are 0 or not into each word of bits, writes the number of ones before each word to ranks and returns the",
		"number of all. There is at least one word.")
	bits, ranks, mask, n := vec.Arg("bits"), vec.Arg("ranks"), vec.Arg("mask"), vec.Arg("words")
	count, b := GP64(), GP64()
	XORQ(count, count)
	zero := m.Zero()
	Label("word")
	if m.Wide {
		z, k := ZMM(), K()
		VMOVDQU8(Mem{Base: mask}, z)
		VPTESTMB(z, z, k)
		KMOVQ(k, b)
	} else {
		low, high := YMM(), YMM()
		VPCMPEQB(Mem{Base: mask}, zero, low)
		VPCMPEQB(Mem{Base: mask, Disp: 32}, zero, high)
		upper := GP32()
		VPMOVMSKB(low, b.As32())
		VPMOVMSKB(high, upper)
		SHLQ(U8(32), upper.As64())
		ORQ(upper.As64(), b)
		NOTQ(b)
	}
	MOVQ(b, Mem{Base: bits})
	MOVQ(count, Mem{Base: ranks})
	POPCNTQ(b, b)
	ADDQ(b, count)
	ADDQ(U8(64), mask)
	ADDQ(U8(8), bits)
	ADDQ(U8(8), ranks)
	DECQ(n)
	JNZ(LabelRef("word"))
	Store(count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// before writes a function that looks up how many bits are set before positions. It
// has no vectors; it is here for BZHI, which Go's compiler does not use by default.
func before() {
	TEXT("before", NOSPLIT, "func(out, positions *int64, bits *uint64, ranks *int64, n int)")
	Pragma("noescape")
	Doc("before sets out[i] to the number of bits that are set before positions[i], ranks holding that of each word. n is at least 1.")
	out, positions, bits, ranks, n := vec.Arg("out"), vec.Arg("positions"), vec.Arg("bits"), vec.Arg("ranks"), vec.Arg("n")
	p, w, b := GP64(), GP64(), GP64()
	Label("position")
	MOVQ(Mem{Base: positions}, p)
	MOVQ(p, w)
	SHRQ(U8(6), w)
	ANDQ(U8(63), p)
	BZHIQ(p, Mem{Base: bits, Index: w, Scale: 8}, b)
	POPCNTQ(b, b)
	ADDQ(Mem{Base: ranks, Index: w, Scale: 8}, b)
	MOVQ(b, Mem{Base: out})
	ADDQ(U8(8), positions)
	ADDQ(U8(8), out)
	DECQ(n)
	JNZ(LabelRef("position"))
	RET()
}

// compress writes a function that keeps the elements whose bits are set.
func compress(m vec.Machine, size int) {
	name := "compress" + strconv.Itoa(8*size) + m.ISA()
	TEXT(name, NOSPLIT, "func(dst, x *byte, bits *uint64, words int)")
	Pragma("noescape")
	Doc(name + " copies the elements of x whose bits are set to dst, one behind the other. It writes whole vectors. There is at least one word.")
	dst, x, bits, n := vec.Arg("dst"), vec.Arg("x"), vec.Arg("bits"), vec.Arg("words")
	lanes := m.Bytes() / size
	b, part, count := GP64(), GP64(), GP64()
	Label("word")
	MOVQ(Mem{Base: bits}, b)
	ADDQ(U8(8), bits)
	for i := range 64 / lanes {
		if i > 0 {
			SHRQ(U8(uint8(lanes)), b)
		}
		v := m.Load(Mem{Base: x, Disp: i * m.Bytes()})
		MOVQ(b, part)
		ANDQ(U32(1<<lanes-1), part)
		packed := m.Reg()
		if m.Wide {
			k := K()
			if size == 4 {
				KMOVW(part.As32(), k)
				VPCOMPRESSD_Z(v, k, packed)
			} else {
				KMOVB(part.As32(), k)
				VPCOMPRESSQ_Z(v, k, packed)
			}
		} else {
			order := YMM()
			table := GP64()
			LEAQ(laneOrders(size), table)
			VPMOVZXBD(Mem{Base: table, Index: part, Scale: 8}, order)
			VPERMD(v, order, packed)
		}
		m.Store(packed, Mem{Base: dst})
		POPCNTQ(part, count)
		LEAQ(Mem{Base: dst, Index: count, Scale: uint8(size)}, dst)
	}
	ADDQ(U32(uint64(64*size)), x)
	DECQ(n)
	JNZ(LabelRef("word"))
	VZEROUPPER()
	RET()
}

var laneTables = map[int]Mem{}

// laneOrders returns the memory of eight bytes for each set of lanes: the numbers of
// the four-byte words that make up the lanes in the set, in order.
func laneOrders(size int) Mem {
	if mem, ok := laneTables[size]; ok {
		return mem
	}
	mem := GLOBL("laneOrders"+strconv.Itoa(8*size), RODATA|NOPTR)
	lanes, words := 32/size, size/4
	for set := range 1 << lanes {
		var order, at uint64
		for l := range lanes {
			if set>>l&1 == 1 {
				for w := range words {
					order |= uint64(l*words+w) << at
					at += 8
				}
			}
		}
		DATA(8*set, U64(order))
	}
	laneTables[size] = mem
	return mem
}
