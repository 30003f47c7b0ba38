// Command wire generates the kernels of internal/kernel/wire: packed variable-length
// integers, and asking for memory ahead of its use.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

type gp = reg.GPVirtual

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
	dst, src, end := vec.Arg("dst"), vec.Arg("src"), vec.Arg("limit")
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

// fetch asks for the lines of messages without waiting for them.
func fetch() {
	TEXT("fetchMessages", NOSPLIT, "func(messages *[]byte, n int)")
	Pragma("noescape")
	Doc("fetchMessages asks for the first 512 bytes of n messages. There is at least one.")
	m, n := vec.Arg("messages"), vec.Arg("n")
	Label("message")
	lines(m, "")
	ADDQ(U8(24), m)
	DECQ(n)
	JNZ(LabelRef("message"))
	RET()
}

func main() {
	ConstraintExpr("amd64,!purego")
	varints()
	varintsWide()
	intLists()
	floatLists()
	stringLists()
	fetch()
	noteLists()
	Generate()
}
