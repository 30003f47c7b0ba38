package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// A conversion turns step elements at src into as many at dst. The elements
// after the last whole step are left to the caller: conversions are exact or
// correctly rounded, so plain Go does the rest with the same result.
type conversion struct {
	name               string
	from, to           string // in Go
	fromBytes, toBytes int
	step               int
	body               func(src, dst Mem)
}

func casts(m machine) {
	for _, c := range conversions(m) {
		convert(m, c)
	}
}

func convert(m machine, c conversion) {
	TEXT(c.name+m.ISA(), NOSPLIT, "func(dst *"+c.to+", x *"+c.from+", n int)")
	Doc(c.name + m.ISA() + " converts the elements of x up to the last whole vector.")
	Pragma("noescape")
	dst := vec.Arg("dst")
	src := vec.Arg("x")
	n := vec.Arg("n")
	const unroll = 2
	run := func(label string, count int) {
		Label(label)
		CMPQ(n, U32(uint64(count*c.step)))
		JL(LabelRef(label + "_end"))
		for i := range count {
			c.body(Mem{Base: src, Disp: i * c.step * c.fromBytes}, Mem{Base: dst, Disp: i * c.step * c.toBytes})
		}
		ADDQ(U32(uint64(count*c.step*c.fromBytes)), src)
		ADDQ(U32(uint64(count*c.step*c.toBytes)), dst)
		SUBQ(U32(uint64(count*c.step)), n)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	run("main", unroll)
	run("single", 1)
	VZEROUPPER()
	RET()
}

// half returns a register of half a vector's length.
func half(m machine) vector {
	if m.Wide {
		return YMM()
	}
	return XMM()
}

func conversions(m machine) []conversion {
	lanes, few := m.Lanes(), m.Lanes()/2 // of 32 and of 64 bits
	ints := m.Ints()
	all := []conversion{
		{"f32ToF64", "float32", "float64", 4, 8, few, func(src, dst Mem) {
			v := m.Reg()
			VCVTPS2PD(src, v)
			VMOVUPD(v, dst)
		}},
		{"f64ToF32", "float64", "float32", 8, 4, few, func(src, dst Mem) {
			v, h := m.Reg(), half(m)
			VMOVUPD(src, v)
			if m.Wide {
				VCVTPD2PS(v, h)
			} else {
				VCVTPD2PSY(v, h)
			}
			VMOVUPS(h, dst)
		}},
		{"i32ToF32", "int32", "float32", 4, 4, lanes, func(src, dst Mem) {
			v := m.Reg()
			VCVTDQ2PS(src, v)
			VMOVUPS(v, dst)
		}},
		{"i32ToF64", "int32", "float64", 4, 8, few, func(src, dst Mem) {
			v := m.Reg()
			VCVTDQ2PD(src, v)
			VMOVUPD(v, dst)
		}},
		{"i32ToI64", "int32", "int64", 4, 8, few, func(src, dst Mem) {
			v := m.Reg()
			VPMOVSXDQ(src, v)
			VMOVUPD(v, dst)
		}},
		{"u8ToF32", "uint8", "float32", 1, 4, lanes, func(src, dst Mem) {
			v := m.Reg()
			VPMOVZXBD(src, v)
			VCVTDQ2PS(v, v)
			VMOVUPS(v, dst)
		}},
		{"u8ToI32", "uint8", "int32", 1, 4, lanes, func(src, dst Mem) {
			v := m.Reg()
			VPMOVZXBD(src, v)
			VMOVUPS(v, dst)
		}},
		{"f32ToI32", "float32", "int32", 4, 4, lanes, func(src, dst Mem) {
			x, v := m.Load(src), m.Reg()
			VCVTTPS2DQ(x, v) // gives the least integer for what is out of range and for NaN
			v = m.Blend(m.Cmp(vec.GreaterEqual, x, constant(1<<31)), vec.Bits(math.MaxInt32), v)
			m.Store(m.Keep(m.Cmp(vec.Equal, x, x), v), dst)
		}},
		{"f16ToF32", "uint16", "float32", 2, 4, lanes, func(src, dst Mem) {
			v := m.Reg()
			VCVTPH2PS(src, v)
			VMOVUPS(v, dst)
		}},
		{"f32ToF16", "float32", "uint16", 4, 2, lanes, func(src, dst Mem) {
			const toNearestEven = 0
			VCVTPS2PH(Imm(toNearestEven), m.Load(src), dst)
		}},
		{"bf16ToF32", "uint16", "float32", 2, 4, lanes, func(src, dst Mem) {
			v := m.Reg()
			VPMOVZXWD(src, v)
			m.Store(ints.ShiftLeft(v, 16), dst)
		}},
		{"f32ToBF16", "float32", "uint16", 4, 2, lanes, func(src, dst Mem) {
			x := m.Load(src)
			odd := ints.And(ints.ShiftRight(x, 16), vec.Bits(1))
			up := ints.ShiftRight(ints.Add(ints.Add(x, odd), vec.Bits(0x7fff)), 16)
			nan := ints.Or(ints.ShiftRight(x, 16), vec.Bits(0x40))
			v := m.Blend(m.Cmp(vec.Unordered, x, x), nan, up)
			if m.Wide {
				VPMOVDW(v, dst)
				return
			}
			VPACKUSDW(v, v, v)
			VPERMQ(Imm(0xd8), v, v)
			VMOVDQU(v.AsX(), dst)
		}},
	}
	if !m.Wide {
		return all
	}
	d := m.As(vec.Float64)
	return append(all, []conversion{
		{"f64ToI32", "float64", "int32", 8, 4, few, func(src, dst Mem) {
			// What is above the range saturates before, and NaN becomes 0, which is exact.
			x, h := d.Load(src), YMM()
			x = d.Keep(d.Cmp(vec.Equal, x, x), x)
			VCVTTPD2DQ(d.Min(x, constant(math.MaxInt32)), h)
			VMOVUPS(h, dst)
		}},
		{"f32ToI64", "float32", "int64", 4, 8, few, func(src, dst Mem) {
			x, v, top, ordered := YMM(), ZMM(), K(), K()
			VMOVUPS(src, x)
			VCVTTPS2QQ(x, v)
			limit := machine{Elem: vec.Float32}.Get(constant(1 << 63))
			VCMPPS(Imm(29), limit, x, top)
			VCMPPS(Imm(7), x, x, ordered)
			v = d.Blend(vec.Mask{R: top}, vec.Bits(math.MaxInt64), v)
			d.Store(d.Keep(vec.Mask{R: ordered}, v), dst)
		}},
		{"f64ToI64", "float64", "int64", 8, 8, few, func(src, dst Mem) {
			x, v := d.Load(src), ZMM()
			VCVTTPD2QQ(x, v)
			v = d.Blend(d.Cmp(vec.GreaterEqual, x, constant(1<<63)), vec.Bits(math.MaxInt64), v)
			d.Store(d.Keep(d.Cmp(vec.Equal, x, x), v), dst)
		}},
		{"i64ToI32", "int64", "int32", 8, 4, few, func(src, dst Mem) {
			VPMOVQD(d.Load(src), dst)
		}},
		{"i64ToF64", "int64", "float64", 8, 8, few, func(src, dst Mem) {
			v := ZMM()
			VCVTQQ2PD(src, v)
			d.Store(v, dst)
		}},
		{"i64ToF32", "int64", "float32", 8, 4, few, func(src, dst Mem) {
			h := YMM()
			VCVTQQ2PS(d.Load(src), h)
			VMOVUPS(h, dst)
		}},
	}...)
}
