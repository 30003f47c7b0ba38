// Command wire generates the kernels of internal/kernel/wire: packed variable-length
// integers, and asking for memory ahead of its use.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type gp = reg.GPVirtual

func param(name string) gp { return Load(Param(name), GP64()).(gp) }

// constant returns a register with a pattern of eight bytes.
func constant(pattern uint64) gp {
	r := GP64()
	MOVQ(U64(pattern), r)
	return r
}

// varints takes numbers of up to eight bytes out of one load each, and two of a load
// where both end in it. In ~x & 0x80…80 the lowest bit is where the first number ends;
// PEXT collects the groups of 7 bits up to there.
func varints() {
	TEXT("varintsBMI2", NOSPLIT, "func(dst *int64, src *byte, limit int) (count, used int)")
	Pragma("noescape")
	Doc("varintsBMI2 decodes numbers that begin in the first limit bytes of src, of which 7 more are readable, until one has more than 8 bytes.",
		"It returns how many there are and how many bytes they take.")
	dst, src, end := param("dst"), param("src"), param("limit")
	more, groups := constant(0x8080808080808080), constant(0x7f7f7f7f7f7f7f7f)
	d, p := GP64(), GP64()
	MOVQ(dst, d)
	MOVQ(src, p)
	ADDQ(src, end)

	Label("loop")
	CMPQ(p, end)
	JAE(LabelRef("done"))
	x, stops, first, mask, value := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: p}, x)
	ANDNQ(more, x, stops)
	JZ(LabelRef("done"))
	TZCNTQ(stops, first)
	SHRQ(U8(3), first)
	BLSMSKQ(stops, mask)
	ANDQ(groups, mask)
	PEXTQ(mask, x, value)
	MOVQ(value, Mem{Base: d})
	LEAQ(Mem{Base: p, Index: first, Scale: 1, Disp: 1}, p)
	ADDQ(U8(8), d)
	CMPQ(p, end)
	JAE(LabelRef("done"))
	second := GP64()
	BLSRQ(stops, stops)
	JZ(LabelRef("loop"))
	// The second number lies between the first stop and the second one.
	both := GP64()
	TZCNTQ(stops, second)
	SHRQ(U8(3), second)
	BLSMSKQ(stops, both)
	ANDQ(groups, both)
	XORQ(mask, both)
	PEXTQ(both, x, value)
	MOVQ(value, Mem{Base: d})
	SUBQ(first, second)
	ADDQ(second, p)
	ADDQ(U8(8), d)
	JMP(LabelRef("loop"))

	Label("done")
	SUBQ(dst, d)
	SHRQ(U8(3), d)
	SUBQ(src, p)
	Store(d, ReturnIndex(0))
	Store(p, ReturnIndex(1))
	RET()
}

// vector returns a register of 64 bytes made of copies of a pattern of eight.
func vector(pattern uint64) reg.VecVirtual {
	v := ZMM()
	VPBROADCASTQ(constant(pattern), v)
	return v
}

// table returns a register with eight words.
func table(name string, word func(i int) uint64) reg.VecVirtual {
	mem := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(word(i)))
	}
	v := ZMM()
	VMOVDQU64(mem, v)
	return v
}

// varintsWide takes all numbers that end in 64 bytes at once. The bytes without a top
// bit are the last ones of their numbers, so that compressing the places 0, 1, 2, … by
// them, and by them moved up by one, says where numbers end and start. Eight numbers
// at a time are moved into a word each; the bits above a number's last byte are masked;
// two multiplications add neighbouring groups of 7 and of 14 bits, a shift those of 28.
func varintsWide() {
	TEXT("varintsVBMI", NOSPLIT, "func(dst *int64, src *byte, limit int) (count, used int)")
	Pragma("noescape")
	Doc("varintsVBMI decodes the numbers in the first limit bytes of src, of which there is one at least, and reads no others.",
		"It stops before 64 bytes in which a number has more than 8 bytes or no number ends.",
		"It returns how many there are and how many bytes they take.")
	dst, src, rest := param("dst"), param("src"), param("limit")
	d, p := GP64(), GP64()
	MOVQ(dst, d)
	MOVQ(src, p)
	all, most := constant(^uint64(0)), constant(64)
	places := table("places", func(i int) uint64 { return 0x0706050403020100 + uint64(8*i)*0x0101010101010101 })
	masks := table("groupsOf", func(i int) uint64 { return 0x7f7f7f7f7f7f7f7f >> (56 - 8*i) })
	first, low := ZMM(), vector(0x0706050403020100)
	spread := GLOBL("firstOfEach", RODATA|NOPTR)
	DATA(0, U64(0))
	DATA(8, U64(0x0808080808080808))
	VBROADCASTI32X4(spread, first)
	by7, by14, by28 := vector(0x8001800180018001), vector(0x4000000140000001), vector(0x0fffffff)

	Label("block")
	here, part := GP64(), K()
	MOVQ(rest, here)
	CMPQ(here, most)
	CMOVQGT(most, here)
	BZHIQ(here, all, here)
	KMOVQ(here, part)
	x, tops := ZMM(), K()
	VMOVDQU8_Z(Mem{Base: p}, part, x)
	VPMOVB2M(x, tops)
	runs, stops, half := GP64(), GP64(), GP64()
	KMOVQ(tops, runs)
	ANDNQ(here, runs, stops)
	JZ(LabelRef("end"))
	for _, n := range []uint64{1, 2, 4} { // eight bytes in a row with a top bit
		MOVQ(runs, half)
		SHRQ(U8(n), half)
		ANDQ(half, runs)
	}
	JNZ(LabelRef("end"))
	lasts, starts := K(), K()
	KMOVQ(stops, lasts)
	LEAQ(Mem{Base: stops, Index: stops, Scale: 1, Disp: 1}, half)
	KMOVQ(half, starts)
	from, to := ZMM(), ZMM()
	VPCOMPRESSB_Z(places, starts, from)
	VPCOMPRESSB_Z(places, lasts, to)
	VPSUBB(from, to, to)
	n, used := GP64(), GP64()
	POPCNTQ(stops, n)
	LZCNTQ(stops, used)
	SUBQ(U8(64), used) // what is used, with the sign turned
	SUBQ(used, p)
	ADDQ(used, rest)

	Label("eight")
	at, size, v, upper := ZMM(), ZMM(), ZMM(), ZMM()
	VPMOVZXBQ(from.AsX(), at)
	VPMOVZXBQ(to.AsX(), size)
	VPSHUFB(first, at, at)
	VPADDB(low, at, at)
	VPERMB(x, at, v)
	VPERMQ(masks, size, size)
	VPANDQ(size, v, v)
	VPMADDUBSW(v, by7, v)
	VPMADDWD(by14, v, v)
	VPSRLQ(U8(4), v, upper)
	VPTERNLOGQ(U8(0xe4), by28, upper, v)
	CMPQ(n, U8(8))
	JBE(LabelRef("last"))
	VMOVDQU64(v, Mem{Base: d})
	VALIGNQ(U8(1), from, from, from)
	VALIGNQ(U8(1), to, to, to)
	ADDQ(U8(64), d)
	SUBQ(U8(8), n)
	JMP(LabelRef("eight"))

	Label("last")
	BZHIQ(n, all, half)
	KMOVB(half.As32(), lasts)
	VMOVDQU64(v, lasts, Mem{Base: d})
	LEAQ(Mem{Base: d, Index: n, Scale: 8}, d)
	TESTQ(rest, rest)
	JNZ(LabelRef("block"))

	Label("end")
	VZEROUPPER()
	SUBQ(dst, d)
	SHRQ(U8(3), d)
	SUBQ(src, p)
	Store(d, ReturnIndex(0))
	Store(p, ReturnIndex(1))
	RET()
}

// fetch asks for the lines of a range of memory without waiting for them.
func fetch() {
	TEXT("fetchLines", NOSPLIT, "func(p *byte, lines int)")
	Pragma("noescape")
	Doc("fetchLines asks for the cache lines of 64 bytes from p on. There is at least one.")
	p, n := param("p"), param("lines")
	Label("line")
	PREFETCHT0(Mem{Base: p})
	ADDQ(U8(64), p)
	DECQ(n)
	JNZ(LabelRef("line"))
	RET()
}

func main() {
	ConstraintExpr("amd64,!purego")
	varints()
	varintsWide()
	fetch()
	Generate()
}
