package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Add returns a + b.
func (m Machine) Add(a V, b any) V {
	switch m.Elem {
	case Int32:
		return m.binary(VPADDD, VPADDD_BCST, a, b)
	case Int64:
		return m.binary(VPADDQ, VPADDQ_BCST, a, b)
	}
	return m.binary(m.by(VADDPS, VADDPD), m.by(VADDPS_BCST, VADDPD_BCST), a, b)
}

// Sub returns a - b.
func (m Machine) Sub(a V, b any) V {
	switch m.Elem {
	case Int32:
		return m.binary(VPSUBD, VPSUBD_BCST, a, b)
	case Int64:
		return m.binary(VPSUBQ, VPSUBQ_BCST, a, b)
	}
	return m.binary(m.by(VSUBPS, VSUBPD), m.by(VSUBPS_BCST, VSUBPD_BCST), a, b)
}

// Mul returns a · b. AVX2 has no product of 64-bit integers: it is put together
// from three of their halves.
func (m Machine) Mul(a V, b any) V {
	switch m.Elem {
	case Int32:
		return m.binary(VPMULLD, VPMULLD_BCST, a, b)
	case Int64:
		if m.Wide {
			return m.binary(VPMULLQ, VPMULLQ_BCST, a, b)
		}
		y := m.Load(b)
		ah, bh, low := m.Reg(), m.Reg(), m.Reg()
		VPSRLQ(Imm(32), a, ah)
		VPSRLQ(Imm(32), y, bh)
		VPMULUDQ(y, a, low)
		VPMULUDQ(y, ah, ah)
		VPMULUDQ(bh, a, bh)
		VPADDQ(ah, bh, bh)
		VPSLLQ(Imm(32), bh, bh)
		VPADDQ(bh, low, low)
		return low
	}
	return m.binary(m.by(VMULPS, VMULPD), m.by(VMULPS_BCST, VMULPD_BCST), a, b)
}

// Div returns a / b.
func (m Machine) Div(a V, b any) V {
	return m.binary(m.by(VDIVPS, VDIVPD), m.by(VDIVPS_BCST, VDIVPD_BCST), a, b)
}

// Sqrt returns the square root of a.
func (m Machine) Sqrt(a V) V {
	dst := m.Reg()
	m.by(VSQRTPS, VSQRTPD)(a, dst)
	m.emitted()
	return dst
}

// Max returns the greater of a and b as the instruction has it: b where either is
// NaN or both are zeros. Integers are signed.
func (m Machine) Max(a V, b any) V {
	switch {
	case m.Elem == Int32:
		return m.binary(VPMAXSD, VPMAXSD_BCST, a, b)
	case m.Elem == Int64 && m.Wide:
		return m.binary(VPMAXSQ, VPMAXSQ_BCST, a, b)
	case m.Elem == Int64:
		y := m.Load(b)
		return m.Blend(m.Cmp(Greater, a, y), a, y)
	}
	return m.binary(m.by(VMAXPS, VMAXPD), m.by(VMAXPS_BCST, VMAXPD_BCST), a, b)
}

// Min returns the lesser of a and b, and b where either is NaN or both are zeros.
func (m Machine) Min(a V, b any) V {
	switch {
	case m.Elem == Int32:
		return m.binary(VPMINSD, VPMINSD_BCST, a, b)
	case m.Elem == Int64 && m.Wide:
		return m.binary(VPMINSQ, VPMINSQ_BCST, a, b)
	case m.Elem == Int64:
		y := m.Load(b)
		return m.Blend(m.Cmp(Greater, a, y), y, a)
	}
	return m.binary(m.by(VMINPS, VMINPD), m.by(VMINPS_BCST, VMINPD_BCST), a, b)
}

// FMA sets p to p·x + c in place and returns it.
func (m Machine) FMA(p, x V, c any) V {
	m.emit(m.by(VFMADD213PS, VFMADD213PD), m.by(VFMADD213PS_BCST, VFMADD213PD_BCST), c, x, p)
	return p
}

// FMAConst sets p to p·c + y in place and returns it; c may be a constant.
func (m Machine) FMAConst(p V, c any, y V) V {
	m.emit(m.by(VFMADD132PS, VFMADD132PD), m.by(VFMADD132PS_BCST, VFMADD132PD_BCST), c, y, p)
	return p
}

// MulAdd adds a·b to acc in place and returns it.
func (m Machine) MulAdd(acc, a V, b any) V {
	m.emit(m.by(VFMADD231PS, VFMADD231PD), m.by(VFMADD231PS_BCST, VFMADD231PD_BCST), b, a, acc)
	return acc
}

// MulSub subtracts a·b from acc in place and returns it.
func (m Machine) MulSub(acc, a V, b any) V {
	m.emit(m.by(VFNMADD231PS, VFNMADD231PD), m.by(VFNMADD231PS_BCST, VFNMADD231PD_BCST), b, a, acc)
	return acc
}

// Poly returns c[0] + c[1]·x + c[2]·x² + … by Horner's rule.
func (m Machine) Poly(x V, c ...float64) V {
	p := m.Load(Const(c[len(c)-1]))
	for i := len(c) - 2; i >= 0; i-- {
		p = m.FMA(p, x, Const(c[i]))
	}
	return p
}

// And, Or and Xor combine bits; AndNot returns b without the bits of a.

// And returns a & b.
func (m Machine) And(a V, b any) V {
	if m.Wide && !m.Elem.IsFloat() {
		return m.binary(m.by(VPANDD, VPANDQ), m.by(VPANDD_BCST, VPANDQ_BCST), a, b)
	}
	return m.binary(m.by(VANDPS, VANDPD), m.by(VANDPS_BCST, VANDPD_BCST), a, b)
}

// Or returns a | b.
func (m Machine) Or(a V, b any) V {
	if m.Wide && !m.Elem.IsFloat() {
		return m.binary(m.by(VPORD, VPORQ), m.by(VPORD_BCST, VPORQ_BCST), a, b)
	}
	return m.binary(m.by(VORPS, VORPD), m.by(VORPS_BCST, VORPD_BCST), a, b)
}

// Xor returns a ^ b.
func (m Machine) Xor(a V, b any) V {
	if m.Wide && !m.Elem.IsFloat() {
		return m.binary(m.by(VPXORD, VPXORQ), m.by(VPXORD_BCST, VPXORQ_BCST), a, b)
	}
	return m.binary(m.by(VXORPS, VXORPD), m.by(VXORPS_BCST, VXORPD_BCST), a, b)
}

// AndNot returns b with the bits of a cleared.
func (m Machine) AndNot(a V, b any) V {
	if m.Wide && !m.Elem.IsFloat() {
		return m.binary(m.by(VPANDND, VPANDNQ), m.by(VPANDND_BCST, VPANDNQ_BCST), a, b)
	}
	return m.binary(m.by(VANDNPS, VANDNPD), m.by(VANDNPS_BCST, VANDNPD_BCST), a, b)
}

// SignBit is the bit pattern of -0 in the machine's element type.
func (m Machine) SignBit() Bits {
	if m.Elem.Size() == 8 {
		return 1 << 63
	}
	return 1 << 31
}

// Abs returns a without its sign, and Sign the sign bit alone.
func (m Machine) Abs(a V) V { return m.And(a, m.SignBit()^Bits(m.ones())) }

// Sign returns a's sign bit alone.
func (m Machine) Sign(a V) V { return m.And(a, m.SignBit()) }

// WithSign returns a, which is not negative or has x's sign, with the sign of x.
func (m Machine) WithSign(a, x V) V {
	if !m.Wide {
		return m.Or(a, m.Sign(x))
	}
	dst := m.Load(a)
	const aOrBAndC = 0xf8
	f, fb := m.by(VPTERNLOGD, VPTERNLOGQ), m.by(VPTERNLOGD_BCST, VPTERNLOGQ_BCST)
	code := Imm(aOrBAndC)
	m.emit(func(o ...Op) { f(code, o[0], o[1], o[2]) }, func(o ...Op) { fb(code, o[0], o[1], o[2]) }, m.SignBit(), x, dst)
	return dst
}

func (m Machine) ones() uint64 {
	if m.Elem.Size() == 8 {
		return 1<<64 - 1
	}
	return 1<<32 - 1
}

// Rounding modes of [Machine.Round].
const (
	ToNearestEven = 0
	Down          = 1
	Up            = 2
	TowardZero    = 3
)

// Round returns a rounded to an integer.
func (m Machine) Round(mode int, a V) V {
	dst := m.Reg()
	const quiet = 8
	switch how := Imm(uint64(mode | quiet)); {
	case m.Wide:
		m.by(VRNDSCALEPS, VRNDSCALEPD)(how, a, dst)
	case m.Elem.Size() == 8:
		VROUNDPD(how, a, dst)
	default:
		VROUNDPS(how, a, dst)
	}
	m.emitted()
	return dst
}

// ShiftLeft and ShiftRight move the bits of each lane by a constant; the sign is not kept.

// ShiftLeft returns a with the bits of each lane moved up.
func (m Machine) ShiftLeft(a V, by int) V {
	dst := m.Reg()
	m.by(VPSLLD, VPSLLQ)(Imm(uint64(by)), a, dst)
	m.emitted()
	return dst
}

// ShiftRight returns a with the bits of each lane moved down, zeros coming in.
func (m Machine) ShiftRight(a V, by int) V {
	dst := m.Reg()
	m.by(VPSRLD, VPSRLQ)(Imm(uint64(by)), a, dst)
	m.emitted()
	return dst
}

// Ints returns the machine for integers as wide as the floats of m.
func (m Machine) Ints() Machine {
	if m.Elem.Size() == 8 {
		return m.As(Int64)
	}
	return m.As(Int32)
}
