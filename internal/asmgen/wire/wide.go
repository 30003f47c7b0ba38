package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// words returns read-only memory that holds words. There is one of a name.
func words(name string, xs ...uint64) Mem {
	if m, ok := memory[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i, x := range xs {
		DATA(8*i, U64(x))
	}
	memory[name] = m
	return m
}

var memory = map[string]Mem{}

// table returns a register with eight words.
func table(name string, word func(i int) uint64) reg.VecVirtual {
	var xs [8]uint64
	for i := range xs {
		xs[i] = word(i)
	}
	v := ZMM()
	VMOVDQU64(words(name, xs[:]...), v)
	return v
}

// blockConstants are the registers with which 64 bytes of numbers are taken at once.
// The bytes without a top bit are the last ones of their numbers, so that compressing
// the places 0, 1, 2, … by them, and by them moved up by one, says where numbers end
// and start.
type blockConstants struct {
	all              gp
	inOrder          reg.VecVirtual // the places
	masks            reg.VecVirtual // of the groups in numbers of 1 to 8 bytes
	first, low       reg.VecVirtual // spread a place over the bytes of a word, and number them
	by7, by14, lower reg.VecVirtual
}

func newBlockConstants() *blockConstants {
	k := &blockConstants{all: constant(^uint64(0)), first: ZMM()}
	k.inOrder = table("places", func(i int) uint64 { return 0x0706050403020100 + uint64(8*i)*0x0101010101010101 })
	k.masks = table("groupsOf", func(i int) uint64 { return 0x7f7f7f7f7f7f7f7f >> (56 - 8*i) })
	k.low = vector(0x0706050403020100)
	VBROADCASTI32X4(words("firstOfEach", 0, 0x0808080808080808), k.first)
	k.by7, k.by14, k.lower = vector(0x8001800180018001), vector(0x4000000140000001), vector(0x0fffffff)
	return k
}

// load returns the next bytes of rest, at most 64, which of them have a top bit, and
// which of them end a number; the zero flag says that none does.
func (k *blockConstants) load(p, rest gp) (x reg.VecVirtual, tops, stops gp) {
	here, part, top := GP64(), K(), K()
	MOVL(U32(64), here.As32())
	CMPQ(rest, here)
	CMOVQLT(rest, here)
	BZHIQ(here, k.all, here)
	KMOVQ(here, part)
	x, tops, stops = ZMM(), GP64(), GP64()
	VMOVDQU8_Z(Mem{Base: p}, part, x)
	VPMOVB2M(x, top)
	KMOVQ(top, tops)
	ANDNQ(here, tops, stops)
	return x, tops, stops
}

// places returns where the numbers start that end at stops, and how many bytes each
// has besides its first.
func (k *blockConstants) places(stops gp) (from, size reg.VecVirtual) {
	lasts, starts, next := K(), K(), GP64()
	KMOVQ(stops, lasts)
	LEAQ(Mem{Base: stops, Index: stops, Scale: 1, Disp: 1}, next)
	KMOVQ(next, starts)
	from, size = ZMM(), ZMM()
	VPCOMPRESSB_Z(k.inOrder, starts, from)
	VPCOMPRESSB_Z(k.inOrder, lasts, size)
	VPSUBB(from, size, size)
	return from, size
}

// eight decodes the first eight numbers of x: they are moved into a word each, the bits
// above a number's last byte are masked, two multiplications add neighbouring groups of
// 7 and of 14 bits, and a shift those of 28.
func (k *blockConstants) eight(x, from, size reg.VecVirtual) reg.VecVirtual {
	at, n, v, upper := ZMM(), ZMM(), ZMM(), ZMM()
	VPMOVZXBQ(from.AsX(), at)
	VPMOVZXBQ(size.AsX(), n)
	VPSHUFB(k.first, at, at)
	VPADDB(k.low, at, at)
	VPERMB(x, at, v)
	VPERMQ(k.masks, n, n)
	VPANDQ(n, v, v)
	VPMADDUBSW(v, k.by7, v)
	VPMADDWD(k.by14, v, v)
	VPSRLQ(U8(4), v, upper)
	VPTERNLOGQ(U8(0xe4), k.lower, upper, v)
	return v
}

// varintsWide takes all numbers that end in 64 bytes at once.
func varintsWide() {
	TEXT("varintsVBMI", NOSPLIT, "func(dst *int64, src *byte, limit int) (count, used int)")
	Pragma("noescape")
	Doc("varintsVBMI decodes the numbers in the first limit bytes of src, of which there is one at least, and reads no others.",
		"It stops before 64 bytes in which a number has more than 8 bytes or no number ends.",
		"It returns how many there are and how many bytes they take.")
	dst, src, rest := vec.Arg("dst"), vec.Arg("src"), vec.Arg("limit")
	d, p := GP64(), GP64()
	MOVQ(dst, d)
	MOVQ(src, p)
	k := newBlockConstants()

	Label("block")
	x, runs, stops := k.load(p, rest)
	JZ(LabelRef("end"))
	half := GP64()
	for _, n := range []uint64{1, 2, 4} { // eight bytes in a row with a top bit
		MOVQ(runs, half)
		SHRQ(U8(n), half)
		ANDQ(half, runs)
	}
	JNZ(LabelRef("end"))
	from, size := k.places(stops)
	n, used := GP64(), GP64()
	POPCNTQ(stops, n)
	LZCNTQ(stops, used)
	SUBQ(U8(64), used) // what is used, with the sign turned
	SUBQ(used, p)
	ADDQ(used, rest)

	Label("eight")
	v := k.eight(x, from, size)
	CMPQ(n, U8(8))
	JBE(LabelRef("last"))
	VMOVDQU64(v, Mem{Base: d})
	VALIGNQ(U8(1), from, from, from)
	VALIGNQ(U8(1), size, size, size)
	ADDQ(U8(64), d)
	SUBQ(U8(8), n)
	JMP(LabelRef("eight"))

	Label("last")
	some := K()
	BZHIQ(n, k.all, half)
	KMOVB(half.As32(), some)
	VMOVDQU64(v, some, Mem{Base: d})
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
