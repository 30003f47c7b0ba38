package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// argsortLong writes a function that finds the order of rows of up to 32 elements of eight
// bytes. A lane has no room for a key and a position beside it: the position takes the five
// lowest bits. An integer gives up its highest ones for that, which have to be those of its
// sign. A float gives up its lowest ones; where that makes elements of a row equal, and some
// had such bits, the row is left.
func argsortLong(e vec.Elem) {
	const room = 5
	name := "argsortRows" + e.String()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst *int64, x *%s, splits *int64, rows int, flip int64) int", e.Go()))
	Pragma("noescape")
	Doc(name+" writes the positions of each row's elements in stable order and returns the number of rows done; the first row begins at x.",
		"flip is 0 for ascending order, -1 for descending order; NaN is last. It stops before a row of more than 32 elements, and before one",
		"whose order takes more than the bits that its elements leave beside their positions. It reads up to 32 elements from the beginning",
		"of a row and writes up to 32, one row after the other.")
	r := newSized(8, 8)
	dst, x, n, ones := r.dst, r.x, r.n, r.ones
	flip, last, lanes, eight, low := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VPBROADCASTQ(vec.Arg("flip"), flip)
	VMOVDQU64(laneNumbers(), lanes)
	VPTERNLOGQ(Imm(0xff), last, last, last)
	VPSRLQ(Imm(64-room), last, low) // the bits of a position
	VPSRLQ(Imm(63), last, eight)
	VPSLLQ(Imm(3), eight, eight)
	VPSRLQ(Imm(1), last, last) // the greatest signed number
	zero := ZMM()
	VPXORQ(zero, zero, zero)
	net := newNetwork(8, true)
	long := GP64() // whether some element has bits where positions go
	// member returns the mask of the first so many lanes.
	member := func(length gp) reg.OpmaskVirtual {
		bits, k := GP64(), K()
		BZHIQ(length, ones, bits)
		KMOVB(bits.As32(), k)
		return k
	}
	// beyond returns the number of elements from number 8v+less on, at least 0.
	beyond := func(v, less int) gp {
		none, rest := GP64(), GP64()
		MOVQ(U32(0), none)
		LEAQ(Mem{Base: n, Disp: -8*v - less}, rest)
		TESTQ(rest, rest)
		CMOVQLT(none, rest)
		return rest
	}
	read := func(count int) []reg.VecVirtual {
		var z []reg.VecVirtual
		number := lanes
		if e == vec.Float64 {
			XORQ(long, long)
		}
		for v := range count {
			key, padded := ZMM(), ZMM()
			k := member(beyond(v, 0))
			if v > 0 {
				next := ZMM()
				VPADDQ(eight, number, next)
				number = next
			}
			if e == vec.Float64 {
				nan, some, has := K(), K(), GP32()
				f, far := ZMM(), ZMM()
				VADDPD(Mem{Base: x, Disp: 64 * v}, zero, f) // -0 becomes +0
				VCMPPD(Imm(3), f, f, nan)
				VPXORQ(flip, signedKey(e, f), key)
				VPANDNQ(last, low, far)
				VMOVDQA64(far, nan, key)
				VPTESTMQ(low, key, k, some)
				KMOVB(some, has)
				ORQ(has.As64(), long)
				VPANDNQ(key, low, key)
			} else {
				short, back, wide := ZMM(), ZMM(), K()
				VMOVDQU64(Mem{Base: x, Disp: 64 * v}, key)
				VPXORQ(flip, key, key)
				VPSLLQ(Imm(room), key, short)
				VPSRAQ(Imm(room), short, back)
				VPCMPQ(Imm(4), back, key, k, wide)
				KTESTB(wide, wide)
				JNZ(LabelRef("done"))
				key = short
			}
			VPORQ(number, key, key)
			VMOVDQA64(last, padded)
			VMOVDQA64(key, k, padded)
			z = append(z, padded)
		}
		return z
	}
	write := func(count int) {
		z := net.sort(read(count))
		if e == vec.Float64 {
			sure := fmt.Sprintf("sure%d", count)
			TESTQ(long, long)
			JZ(LabelRef(sure))
			for v := range z {
				// Each element beside the next one of the row.
				next, same := ZMM(), K()
				behind := last
				if v+1 < len(z) {
					behind = z[v+1]
				}
				VALIGNQ(Imm(1), z[v], behind, next)
				VPXORQ(z[v], next, next)
				VPANDNQ(next, low, next)
				VPTESTNMQ(next, next, member(beyond(v, 1)), same)
				KTESTB(same, same)
				JNZ(LabelRef("done"))
			}
			Label(sure)
		}
		for i, v := range z {
			place := ZMM()
			VPANDQ(low, v, place)
			VMOVDQU64(place, Mem{Base: dst, Disp: 64 * i})
		}
	}
	r.bySize(8, write)
}
