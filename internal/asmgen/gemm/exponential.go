package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What the powers of two are made of, in memory: each is broadcast from there.
var powers struct {
	magic, one, linear, square Mem
}

// powerConstants writes them. A power is 2^h = 2^(k+j/32) 2^r for integers k and 0 <= j < 32
// and |r| <= 1/64. Adding 1.5·2^18 rounds h to 32nds, which leaves 32k+j in the low bits; 2^r
// is 1 + u + u²/2 for u = r ln 2, whose linear term takes over the best approximation
// of the cubic one that is left out: 2^-24 of the whole.
func powerConstants() {
	const a = math.Ln2 / 64
	at := GLOBL("powerConstants", RODATA|NOPTR)
	for i, c := range []struct {
		to *Mem
		v  float64
	}{
		{&powers.magic, 0x1.8p18}, {&powers.one, 1}, {&powers.linear, math.Ln2 * (1 + a*a/8)}, {&powers.square, math.Ln2 * math.Ln2 / 2},
	} {
		DATA(4*i, U32(math.Float32bits(float32(c.v))))
		*c.to = at.Offset(4 * i)
	}
}

// exponentials ends a tile whose accumulators hold exponents of two: it stores the powers
// and adds them to the sums of the rows, by lanes. There are no multiplications but three a
// vector, so that the core can begin with the next tile's while it is at this: the fractions
// come from additions, and the exponents are added to the bits of numbers from a table,
// which is right while they do not overflow.
func exponentials(acc [][]reg.VecVirtual, masks []mask, t reg.GPVirtual, result, sumsAt Mem) {
	c, crow, sums, table := GP64(), GP64(), GP64(), GP64()
	MOVQ(result, c)
	MOVQ(Mem{Base: t}.Offset(tileCRow), crow)
	MOVQ(sumsAt, sums)
	MOVQ(Mem{Base: t}.Offset(tileTable), table)
	low := ZMM()
	VMOVUPS(Mem{Base: table}, low)

	// Constants stay in memory until rows that are done have left registers for them.
	var magic, high, one, linear, square reg.VecVirtual
	kept := func(from Mem) reg.VecVirtual {
		v := ZMM()
		VBROADCASTSS(from, v)
		return v
	}
	with := func(v reg.VecVirtual, from Mem, x, y reg.VecVirtual, register func(ops ...Op), memory func(ops ...Op)) {
		if v != nil {
			register(v, x, y)
		} else {
			memory(from, x, y)
		}
	}
	for i, row := range acc {
		for j, e := range row {
			w, u, p := ZMM(), ZMM(), ZMM()
			with(magic, powers.magic, e, w, VADDPS, VADDPS_BCST)
			with(magic, powers.magic, w, u, VSUBPS, VSUBPS_BCST)
			VSUBPS(u, e, e)
			VPSLLD(Imm(18), w, u)
			if high != nil {
				VPERMI2PS(high, low, w)
			} else {
				VPERMI2PS(Mem{Base: table}.Offset(64), low, w)
			}
			VPADDD(u, w, w)
			if square != nil {
				VMOVAPS(square, p)
			} else {
				VBROADCASTSS(powers.square, p)
			}
			with(linear, powers.linear, e, p, VFMADD213PS, VFMADD213PS_BCST)
			with(one, powers.one, e, p, VFMADD213PS, VFMADD213PS_BCST)
			if k := masks[j]; k == (mask{}) {
				VMULPS(w, p, e)
				VMOVUPS(e, Mem{Base: c}.Offset(64*j))
			} else {
				VMULPS_Z(w, p, k.r, e)
				VMOVUPS(e, k.r, Mem{Base: c}.Offset(64*j))
			}
		}
		sum := ZMM()
		VADDPS(row[0], row[1], sum)
		VADDPS(Mem{Base: sums}.Offset(64*i), sum, sum)
		VMOVUPS(sum, Mem{Base: sums}.Offset(64*i))
		ADDQ(crow, c)
		switch i {
		case 0:
			magic = kept(powers.magic)
			high = ZMM()
			VMOVUPS(Mem{Base: table}.Offset(64), high)
		case 1:
			linear, square = kept(powers.linear), kept(powers.square)
		case 2:
			one = kept(powers.one)
		}
	}
}
