package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A Mask selects lanes: a mask register, or a vector with all bits set in the
// lanes that are selected.
type Mask struct{ R reg.Register }

// Predicate is a comparison. Those of floats are false for NaN, except NotEqual,
// Unordered and NotLessEqual; the last two are for floats only.
type Predicate int

// The comparisons.
const (
	Equal Predicate = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	Unordered
	NotLessEqual
)

// Cmp returns the lanes in which the comparison of a with b holds.
func (m Machine) Cmp(p Predicate, a V, b any) Mask {
	if m.Elem.IsFloat() {
		code := Imm([...]uint64{0, 4, 17, 18, 30, 29, 3, 22}[p])
		if m.Wide {
			k := K()
			f := m.by(VCMPPS, VCMPPD)
			fb := m.by(VCMPPS_BCST, VCMPPD_BCST)
			m.emit(func(o ...Op) { f(code, o[0], o[1], o[2]) }, func(o ...Op) { fb(code, o[0], o[1], o[2]) }, b, a, k)
			return Mask{k}
		}
		v := m.Reg()
		f := m.by(VCMPPS, VCMPPD)
		m.emit(func(o ...Op) { f(code, o[0], o[1], o[2]) }, nil, b, a, v)
		return Mask{v}
	}
	if m.Wide {
		k := K()
		code := Imm([...]uint64{0, 4, 1, 2, 6, 5}[p])
		f, fb := m.by(VPCMPD, VPCMPQ), m.by(VPCMPD_BCST, VPCMPQ_BCST)
		m.emit(func(o ...Op) { f(code, o[0], o[1], o[2]) }, func(o ...Op) { fb(code, o[0], o[1], o[2]) }, b, a, k)
		return Mask{k}
	}
	y, v := m.Load(b), m.Reg()
	gt, eq := m.by(VPCMPGTD, VPCMPGTQ), m.by(VPCMPEQD, VPCMPEQQ)
	negate := false
	switch p {
	case Equal, NotEqual:
		eq(y, a, v)
		negate = p == NotEqual
	case Greater, LessEqual:
		gt(y, a, v)
		negate = p == LessEqual
	case Less, GreaterEqual:
		gt(a, y, v)
		negate = p == GreaterEqual
	}
	if negate {
		all := m.Reg()
		VPCMPEQD(all, all, all)
		VPXOR(all, v, v)
	}
	return Mask{v}
}

// Not returns the lanes that k does not select.
func (m Machine) Not(k Mask) Mask {
	if m.Wide {
		r := K()
		if m.Elem.Size() == 8 {
			KNOTB(k.R, r)
		} else {
			KNOTW(k.R, r)
		}
		return Mask{r}
	}
	all, v := m.Reg(), m.Reg()
	VPCMPEQD(all, all, all)
	VPXOR(all, k.R, v)
	return Mask{v}
}

// Either returns the lanes that a or b selects.
func (m Machine) Either(a, b Mask) Mask {
	if m.Wide {
		r := K()
		KORW(a.R, b.R, r)
		return Mask{r}
	}
	v := m.Reg()
	VORPS(a.R, b.R, v)
	return Mask{v}
}

// Blend returns yes in the lanes of k and no in the others.
func (m Machine) Blend(k Mask, yes any, no V) V {
	dst := m.Reg()
	if m.zero != nil && m.Wide {
		m.by(VMOVAPS, VMOVAPD)(no, dst)
		m.by(VMOVAPS, VMOVAPD)(m.Get(yes), k.R, dst)
		return dst
	}
	if m.Wide {
		f, fb := m.by(VBLENDMPS, VBLENDMPD), m.by(VBLENDMPS_BCST, VBLENDMPD_BCST)
		m.emit(f, fb, yes, no, k.R, dst)
		return dst
	}
	f := VBLENDVPS
	if m.Elem.Size() == 8 {
		f = VBLENDVPD
	}
	m.emit(func(o ...Op) { f(k.R, o[0], o[1], o[2]) }, nil, yes, no, dst)
	return dst
}

// TestBit returns the lanes of which bit is set. With AVX2 the mask is good for
// Blend only, which looks at a lane's highest bit.
func (m Machine) TestBit(a V, bit int) Mask {
	if m.Wide {
		k := K()
		f, fb := m.by(VPTESTMD, VPTESTMQ), m.by(VPTESTMD_BCST, VPTESTMQ_BCST)
		m.emit(f, fb, Bits(1<<bit), a, k)
		return Mask{k}
	}
	return Mask{m.ShiftLeft(a, m.Elem.Size()*8-1-bit)}
}

// Keep returns a in the lanes of k and zero in the others.
func (m Machine) Keep(k Mask, a V) V {
	defer m.emitted()
	dst := m.Reg()
	if m.Wide {
		if m.Elem.Size() == 8 {
			VMOVAPD_Z(a, k.R, dst)
		} else {
			VMOVAPS_Z(a, k.R, dst)
		}
	} else {
		m.by(VANDPS, VANDPD)(a, k.R, dst)
	}
	return dst
}

var lanesOn *Mem

// FirstLanes returns the mask of the first n lanes, for n below a vector's length.
func (m Machine) FirstLanes(n reg.GPVirtual) Mask {
	if m.Wide {
		ones, k := GP64(), K()
		MOVQ(I64(-1), ones)
		BZHIQ(n, ones, ones)
		if m.Elem.Size() == 8 {
			KMOVB(ones.As32(), k)
		} else {
			KMOVW(ones.As32(), k)
		}
		return Mask{k}
	}
	if lanesOn == nil {
		// 32 bytes of ones, 32 of zeros: a vector read n lanes before the border.
		mem := GLOBL("lanesOn", RODATA|NOPTR)
		for i := range 8 {
			DATA(8*i, U64(uint64(0)-uint64((7-i)/4)))
		}
		lanesOn = &mem
	}
	at, off := GP64(), GP64()
	LEAQ(lanesOn.Offset(32), at)
	MOVQ(n, off)
	SHLQ(Imm(uint64(m.Elem.Size()/4+1)), off)
	SUBQ(off, at)
	v := m.Reg()
	VMOVUPS(Mem{Base: at}, v)
	return Mask{v}
}

// LoadMasked reads the lanes of k; the others are zero and their memory is not touched.
func (m Machine) LoadMasked(mem Mem, k Mask) V {
	dst := m.Reg()
	switch eight := m.Elem.Size() == 8; {
	case m.Wide && eight:
		VMOVUPD_Z(mem, k.R, dst)
	case m.Wide:
		VMOVUPS_Z(mem, k.R, dst)
	case eight:
		VMASKMOVPD(mem, k.R, dst)
	default:
		VMASKMOVPS(mem, k.R, dst)
	}
	return dst
}

// Store writes a vector.
func (m Machine) Store(v V, mem Mem) { m.by(VMOVUPS, VMOVUPD)(v, mem) }

// StoreMasked writes the lanes of k.
func (m Machine) StoreMasked(v V, mem Mem, k Mask) {
	switch {
	case m.Wide:
		m.by(VMOVUPS, VMOVUPD)(v, k.R, mem)
	case m.Elem.Size() == 8:
		VMASKMOVPD(v, k.R, mem)
	default:
		VMASKMOVPS(v, k.R, mem)
	}
}
