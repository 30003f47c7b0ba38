// Command gemm generates the matrix product kernels of internal/kernel/gemm.
//
// For float32 and float64, for AVX-512 and AVX2 with FMA, it writes
//
//   - tiles: C[r,n] = alpha A[r,k] B[k,n] + beta C for every number of rows r up to the
//     tile's height, with A addressed by strides and never copied;
//   - axpy and dot kernels for products with one row or one column;
//   - a transposing copy of blocks;
//   - conversions of 16-bit floating-point numbers.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	laneMasks()
	powerConstants()
	for _, p := range []isa{{512, 4}, {512, 8}, {256, 4}, {256, 8}} {
		tiles(p)
		axpys(p)
		if !p.wide() {
			dots(p)
		}
	}
	transpose()
	halves()
	Generate()
}

// isa is a vector width in bits and an element size in bytes, with the
// instructions they call for.
type isa struct{ bits, size int }

// wide reports whether vectors are 512 bits long and masks are registers.
func (p isa) wide() bool { return p.bits == 512 }

// lanes returns the elements in a vector, and bytes its length.
func (p isa) lanes() int { return p.bits / 8 / p.size }
func (p isa) bytes() int { return p.bits / 8 }

// suffix names the element type and the instruction set.
func (p isa) suffix() string {
	s := "F32"
	if p.size == 8 {
		s = "F64"
	}
	if p.wide() {
		return s + "AVX512"
	}
	return s + "AVX2"
}

// elem is the element type's name in Go.
func (p isa) elem() string {
	if p.size == 8 {
		return "float64"
	}
	return "float32"
}

func (p isa) vec() reg.VecVirtual {
	if p.wide() {
		return ZMM()
	}
	return YMM()
}

func (p isa) zero(v reg.VecVirtual) { VXORPS(v, v, v) }

func (p isa) broadcast(m Op, v reg.VecVirtual) {
	if p.size == 8 {
		VBROADCASTSD(m, v)
	} else {
		VBROADCASTSS(m, v)
	}
}

// fma computes c += a*b, where a may be memory.
func (p isa) fma(a, b Op, c reg.VecVirtual) {
	if p.size == 8 {
		VFMADD231PD(a, b, c)
	} else {
		VFMADD231PS(a, b, c)
	}
}

func (p isa) mul(a, b, c Op) {
	if p.size == 8 {
		VMULPD(a, b, c)
	} else {
		VMULPS(a, b, c)
	}
}

// A mask selects the first lanes of a vector: a mask register or, with AVX2, the
// memory of a vector of all-ones lanes, for which the tiles leave no register. The
// zero mask selects all.
type mask struct {
	r  reg.Register
	at *Mem
}

// load reads a vector; lanes outside the mask are not touched in memory and read as zero.
func (p isa) load(m Mem, k mask, v reg.VecVirtual) {
	switch {
	case k == mask{} && p.size == 8:
		VMOVUPD(m, v)
	case k == mask{}:
		VMOVUPS(m, v)
	case p.wide() && p.size == 8:
		VMOVUPD_Z(m, k.r, v)
	case p.wide():
		VMOVUPS_Z(m, k.r, v)
	default:
		VMOVUPS(*k.at, v)
		if p.size == 8 {
			VMASKMOVPD(m, v, v)
		} else {
			VMASKMOVPS(m, v, v)
		}
	}
}

// store writes the lanes inside the mask.
func (p isa) store(v reg.VecVirtual, k mask, m Mem) {
	switch {
	case k == mask{} && p.size == 8:
		VMOVUPD(v, m)
	case k == mask{}:
		VMOVUPS(v, m)
	case p.wide() && p.size == 8:
		VMOVUPD(v, k.r, m)
	case p.wide():
		VMOVUPS(v, k.r, m)
	default:
		lanes := YMM()
		VMOVUPS(*k.at, lanes)
		if p.size == 8 {
			VMASKMOVPD(v, lanes, m)
		} else {
			VMASKMOVPS(v, lanes, m)
		}
	}
}

var lanesOn Mem

// laneMasks writes 64 bytes of ones and 64 of zeros: a vector read n elements before
// the border between them selects the first n lanes.
func laneMasks() {
	lanesOn = GLOBL("lanesOn", RODATA|NOPTR)
	for i := range 16 {
		DATA(8*i, U64(uint64(0)-uint64((15-i)/8)))
	}
}

// firstLanes returns masks for n elements (a register, 0 to vectors*lanes) in
// consecutive vectors. It destroys n.
func (p isa) firstLanes(n reg.GPVirtual, vectors int) []mask {
	masks := make([]mask, vectors)
	if p.wide() {
		ones := GP64()
		MOVQ(I64(-1), ones)
		BZHIQ(n, ones, ones)
		for i := range masks {
			k := K()
			if p.size == 8 {
				KMOVB(ones.As32(), k)
			} else {
				KMOVW(ones.As32(), k)
			}
			if i < vectors-1 {
				SHRQ(Imm(uint64(p.lanes())), ones)
			}
			masks[i] = mask{r: k}
		}
		return masks
	}
	at := GP64()
	LEAQ(lanesOn.Offset(64), at)
	if p.size == 8 {
		SHLQ(Imm(3), n)
	} else {
		SHLQ(Imm(2), n)
	}
	SUBQ(n, at)
	for i := range masks {
		mem := Mem{Base: at}.Offset(32 * i)
		masks[i] = mask{at: &mem}
	}
	return masks
}

// none returns masks that select everything.
func none(vectors int) []mask { return make([]mask, vectors) }
