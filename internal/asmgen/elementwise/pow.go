package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// power emits x^y of float32 as 2^(y·log2 |x|) in float64, half a vector at a time.
// Like the other functions that cannot do everything it returns how many elements
// it has done: it stops where x is zero or x or y is not finite.
func power(m machine, name string, scalar bool) {
	d := m.As(vec.Float64)
	if scalar {
		TEXT(name+"F32"+m.ISA(), NOSPLIT, "func(dst, x *float32, n int, y float32) int")
	} else {
		TEXT(name+"F32"+m.ISA(), NOSPLIT, "func(dst, x, y *float32, n int) int")
	}
	Doc(name + "F32" + m.ISA() + " sets dst to x^y, as far as x is neither zero nor infinite and y finite, and returns how many elements it did.")
	Pragma("noescape")
	dst := vec.Arg("dst")
	x := vec.Arg("x")
	n := vec.Arg("n")
	var y reg.GPVirtual
	var same vector
	if scalar {
		s := XMM()
		Load(Param("y"), s)
		VCVTSS2SD(s, s, s)
		same = d.Reg()
		VBROADCASTSD(s, same)
	} else {
		y = vec.Arg("y")
	}
	lanes := d.Lanes()
	step := func(k *vec.Mask) {
		load := func(p reg.GPVirtual) vector {
			v, h := d.Reg(), half(m)
			switch {
			case k == nil:
				VCVTPS2PD(Mem{Base: p}, v)
				return v
			case m.Wide:
				VMOVUPS_Z(Mem{Base: p}, k.R, h)
			default:
				VMASKMOVPS(Mem{Base: p}, k.R, h)
			}
			VCVTPS2PD(h, v)
			return v
		}
		xs, ys := load(x), same
		if !scalar {
			ys = load(y)
		}
		a := d.Abs(xs)
		if k != nil { // lanes beyond the end must not stop the loop
			if m.Wide {
				a = d.Blend(*k, a, d.Load(constant(1)))
			} else {
				full := YMM()
				VPMOVSXDQ(k.R, full)
				a = d.Blend(vec.Mask{R: full}, a, d.Load(constant(1)))
			}
		}
		bad := d.Either(d.Cmp(vec.NotLessEqual, a, constant(math.MaxFloat32)), d.Cmp(vec.Equal, a, d.Zero()))
		bad = d.Either(bad, d.Cmp(vec.NotLessEqual, d.Abs(ys), constant(math.MaxFloat32)))
		if m.Wide {
			KORTESTW(bad.R, bad.R)
		} else {
			VPTEST(bad.R, bad.R)
		}
		JNE(LabelRef("done"))
		r := d.Exp2(d.Mul(d.Log2Normal(a), ys))
		// A negative x wants an integer y, and an odd one gives the sign.
		negative := d.Sign(xs)
		whole := d.Cmp(vec.Equal, d.Round(vec.ToNearestEven, ys), ys)
		h := d.Mul(ys, constant(0.5))
		even := d.Cmp(vec.Equal, d.Round(vec.ToNearestEven, h), h)
		signed := d.Blend(even, r, d.Or(r, negative))
		other := d.Blend(d.Cmp(vec.Less, xs, d.Zero()), constant(math.NaN()), r)
		r = d.Blend(whole, signed, other)
		out := half(m)
		if m.Wide {
			VCVTPD2PS(r, out)
		} else {
			VCVTPD2PSY(r, out)
		}
		switch {
		case k == nil:
			VMOVUPS(out, Mem{Base: dst})
		case m.Wide:
			VMOVUPS(out, k.R, Mem{Base: dst})
		default:
			VMASKMOVPS(out, k.R, Mem{Base: dst})
		}
	}
	Label("main")
	CMPQ(n, U32(uint64(lanes)))
	JL(LabelRef("tail"))
	step(nil)
	ADDQ(U32(uint64(4*lanes)), dst)
	ADDQ(U32(uint64(4*lanes)), x)
	if !scalar {
		ADDQ(U32(uint64(4*lanes)), y)
	}
	SUBQ(U32(uint64(lanes)), n)
	JMP(LabelRef("main"))
	Label("tail")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	k := d.FirstLanes(n)
	if !m.Wide {
		// Masks of four 32-bit lanes from those of 64.
		narrow := XMM()
		hi := XMM()
		VEXTRACTF128(Imm(1), k.R, hi)
		VSHUFPS(Imm(0x88), hi, k.R.(reg.VecVirtual).AsX(), narrow)
		k = vec.Mask{R: narrow}
	}
	step(&k)
	XORQ(n, n)
	Label("done")
	done := vec.Arg("n")
	SUBQ(n, done)
	Store(done, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
