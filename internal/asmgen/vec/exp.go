package vec

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// The polynomials of this package are minimax fits of their own (Remez exchange
// in 50-digit arithmetic, coefficients rounded to the element type afterwards);
// the comment at each gives the interval and the largest relative error of what
// it stands in.

// format has what the formulas need to know of a floating type.
type format struct {
	mantissa, bias int
	round          float64 // 1.5·2^mantissa: adding it leaves an integer in the low bits
	ln2Hi, ln2Lo   float64 // ln 2, the first part short enough for exact products with exponents
	expPoly        []float64
}

func (m Machine) format() format {
	if m.Elem == Float64 {
		return format{52, 1023, 0x1.8p52, 0.693147180559663, 2.8235290563031577e-13,
			// (e^r-1-r)/r², |r| <= 0.35: 2^-63
			[]float64{0.5, 0.16666666666666685, 0.04166666666666603, 0.008333333333315705, 0.001388888888913423, 0.0001984126989972544,
				2.4801586903760158e-05, 2.755723148326537e-06, 2.755759245050499e-07, 2.5113226021645914e-08, 2.0825613430536548e-09}}
	}
	return format{23, 127, 0x1.8p23, 0.693145751953125, 1.42860677e-06,
		// (e^r-1-r)/r², |r| <= 0.35: 2^-27.6
		[]float64{0.49999994, 0.166665152, 0.041668456, 0.00836941879, 0.00138131785}}
}

// reduceExp returns n, the integer nearest x/ln 2, and e^r-1 for r = x - n·ln 2.
func (m Machine) reduceExp(x V) (n, em V) {
	f := m.format()
	n = m.Round(ToNearestEven, m.Mul(x, Const(math.Log2E)))
	r := m.MulSub(m.Load(x), n, Const(f.ln2Hi))
	r = m.MulSub(r, n, Const(f.ln2Lo))
	return n, m.expm1Core(r)
}

// expm1Core returns e^r-1 for |r| <= 0.35.
func (m Machine) expm1Core(r V) V {
	q := m.Poly(r, m.format().expPoly...)
	return m.FMA(q, m.Mul(r, r), r)
}

// scale returns p·2^n for an integer n; what leaves the range of normal numbers
// is rounded once.
func (m Machine) scale(p, n V) V {
	if m.Wide {
		dst := m.Reg()
		m.by(VSCALEFPS, VSCALEFPD)(n, p, dst)
		m.emitted()
		return dst
	}
	// Two factors 2^h·2^(n-h), each a normal number.
	f, i := m.format(), m.Ints()
	biased := i.Sub(m.Add(n, Const(f.round)), Bits(m.bits(Const(f.round))-uint64(2*f.bias)))
	h := i.ShiftRight(biased, 1)
	l := i.Sub(biased, h)
	return m.Mul(m.Mul(p, i.ShiftLeft(h, f.mantissa)), i.ShiftLeft(l, f.mantissa))
}

// pow2 returns 2^n for an integer n of which 2^n is a normal number.
func (m Machine) pow2(n V) V {
	f, i := m.format(), m.Ints()
	biased := i.Sub(m.Add(n, Const(f.round)), Bits(m.bits(Const(f.round))-uint64(f.bias)))
	return i.ShiftLeft(biased, f.mantissa)
}

// clampExp keeps x where e^x neither overflows nor vanishes, give or take, so
// that the exponent's arithmetic stays in range; NaN passes.
func (m Machine) clampExp(x V) V {
	lo, hi := -104.0, 89.0
	if m.Elem == Float64 {
		lo, hi = -746, 710
	}
	return m.Min(m.Get(Const(hi)), m.Max(m.Get(Const(lo)), x))
}

// Exp returns e^x.
func (m Machine) Exp(x V) V {
	n, em := m.reduceExp(m.clampExp(x))
	return m.scale(m.Add(em, Const(1)), n)
}

// ExpNear returns e^x for x of which it is known that e^x is a normal number.
func (m Machine) ExpNear(x V) V {
	n, em := m.reduceExp(x)
	return m.Mul(m.Add(em, Const(1)), m.pow2(n))
}

// ExpBounded is [Machine.ExpNear] with the fewest instructions, for |x| <= 40 where
// elements are float32 and vectors are wide.
func (m Machine) ExpBounded(x V) V {
	switch {
	case !m.Wide:
		return m.ExpNear(x)
	case m.Elem == Float64:
		n, em := m.reduceExp(x)
		return m.scale(m.Add(em, Const(1)), n)
	}
	return m.expBySixteenths(x, m.sixteenthsOf(x))
}

// ExpNoting is [Machine.ExpBounded] of an x that may be anything, for wide vectors: what
// makes the result meaningless stays in far, which begins as zeros. [Machine.Noted] looks at it.
func (m Machine) ExpNoting(x, far V) V {
	if m.Elem == Float64 {
		// As integers, the magnitudes of floats are ordered like them, and NaN behind all.
		VPMAXSQ(m.Abs(x), far, far)
		m.emitted()
		return m.ExpBounded(x)
	}
	t := m.sixteenthsOf(x)
	const farOrDiffers = 0xf0 | 0x0f&(0xcc^0xaa)
	VPTERNLOGD(Imm(farOrDiffers), m.Get(Const(sixteenthsRound)), t, far)
	m.emitted()
	return m.expBySixteenths(x, t)
}

// Noted returns the lanes in which ExpNoting has seen an x that is NaN or not within
// about 40 of 0 where elements are float32, 340 where they are float64.
func (m Machine) Noted(far V) Mask {
	i := m.Ints()
	if m.Elem == Float64 {
		return i.Cmp(Greater, far, m.Get(Const(340)))
	}
	k := K()
	VPTESTMD(m.Get(Bits(^uint32(2*sixteenthsRange-1))), far, k)
	return Mask{k}
}

// sixteenthsOf returns x/ln 2 rounded to sixteenths, plus sixteenthsRound.
func (m Machine) sixteenthsOf(x V) V {
	return m.FMAConst(m.Load(x), Const(math.Log2E), m.Get(Const(sixteenthsRound)))
}

const (
	// sixteenthsRange is the number of sixteenths up to which an x is not far.
	sixteenthsRange = 64 * 16
	// sixteenthsRound is 1.5·2^19, to which a sixteenth is the lowest bit, and sixteenthsRange
	// such bits: for an x that is not far, adding it changes these and the next lower bits only.
	sixteenthsRound = 0x1.8p19 + sixteenthsRange/16
)

// expBySixteenths returns e^x for x = (k + j/16)·ln 2 + r with integers k and j < 16, of
// which t has 16k + j in its low bits.
func (m Machine) expBySixteenths(x, t V) V {
	n := m.Sub(t, Const(sixteenthsRound))
	const high = float32(math.Ln2)
	r := m.MulSub(m.Load(x), n, Const(high))
	r = m.MulSub(r, n, Const(math.Ln2-float64(high)))
	// The look-up takes j. The bits, shifted up, are k as an exponent, and j, which the table
	// has taken away before.
	p, i := m.Reg(), m.Ints()
	VPERMPS(m.table(m.exp2Sixteenths()), t, p)
	m.emitted()
	p = i.Add(p, i.ShiftLeft(t, sixteenthsShift))
	// (e^r-1-r)/r², |r| <= ln 2/32: 2^-32 of e^r
	em := m.FMA(m.Poly(r, 0.5, 0.166669492), m.Mul(r, r), r)
	return m.FMA(em, p, p)
}

var sixteenths *Mem

// sixteenthsShift is where the exponent begins, less the bits of a sixteenth.
const sixteenthsShift = 23 - 4

// exp2Sixteenths returns the memory of 2^(j/16), less what stands above them in the low
// bits of expBySixteenths, shifted.
func (m Machine) exp2Sixteenths() Mem {
	if sixteenths == nil {
		mem := GLOBL("exp2Sixteenths", RODATA|NOPTR)
		for j := range 16 {
			DATA(4*j, U32(math.Float32bits(float32(math.Exp2(float64(j)/16)))-uint32(sixteenthsRange+j)<<sixteenthsShift))
		}
		sixteenths = &mem
	}
	return *sixteenths
}

// Exp2 returns 2^x.
func (m Machine) Exp2(x V) V {
	lo, hi := -151.0, 129.0
	if m.Elem == Float64 {
		lo, hi = -1076, 1025
	}
	x = m.Min(m.Get(Const(hi)), m.Max(m.Get(Const(lo)), x))
	n := m.Round(ToNearestEven, x)
	em := m.expm1Core(m.Mul(m.Sub(x, n), Const(math.Ln2)))
	return m.scale(m.Add(em, Const(1)), n)
}

// Exp2Rough returns 2^h of float32, with a relative error of a few times 2^-24 where
// the result is a normal number. With AVX2, h lies between -127, which gives 0, and
// 127; with AVX-512 it is any number.
func (m Machine) Exp2Rough(h V) V {
	if !m.Wide {
		f, i := m.format(), m.Ints()
		t := m.Add(h, Const(f.round))
		r := m.Sub(h, m.Sub(t, Const(f.round)))
		// 2^r, |r| <= 1/2: 2^-23.1. The low bits of t are the exponent to add; all
		// others leave at the top.
		p := m.Poly(r, 1, 0.693147004, 0.240222424, 0.0555073395, 0.00967153441, 0.00132647157)
		return i.Add(p, i.ShiftLeft(t, f.mantissa))
	}
	return m.exp2Rough(h, func() (lo, hi V) {
		first, second := m.exp2Tables()
		hi = m.table(second)
		return m.table(first), hi
	})
}

// ScaledExp2Rough returns what computes unit · [Machine.Exp2Rough] for a unit that is a power
// of two: with AVX-512 it costs nothing, because the unit is in the tables.
func (m Machine) ScaledExp2Rough(unit V) func(h V) V {
	if !m.Wide {
		return func(h V) V { return m.Mul(m.Exp2Rough(h), unit) }
	}
	lo, hi := m.exp2Tables()
	first, second := m.Mul(m.Load(lo), unit), m.Mul(m.Load(hi), unit)
	return func(h V) V { return m.exp2Rough(h, func() (lo, hi V) { return first, second }) }
}

// exp2Rough returns 2^h by look-up in two registers with tables.
func (m Machine) exp2Rough(h V, tables func() (lo, hi V)) V {
	// h = k + j/32 + r with integers k and j < 32, and 0 <= r < 1/32. Adding 1.5·2^18,
	// rounded down, leaves 32k + j in the low bits, of which the look-up takes j; k is
	// what VSCALEFPS makes of h.
	t, r, scaled := m.Reg(), m.Reg(), m.Reg()
	VADDPS_RD_SAE(m.Get(Const(0x1.8p18)), h, t)
	m.emitted()
	const fractionBits, down = 5 << 4, 1
	VREDUCEPS(Imm(fractionBits|down), h, r)
	m.emitted()
	lo, hi := tables()
	VPERMI2PS(hi, lo, t)
	m.emitted()
	// The table has 2^((j+½)/32), so what is left is e^u for u = (r - 1/64)·ln 2. Of
	// the cubic term, which is left out, the linear one takes over its best
	// approximation: 2^-24 of the whole.
	const a = math.Ln2 / 64
	const linear = 1 + a*a/8
	p := m.Poly(r, 1-a*linear+a*a/2, math.Ln2*(linear-a), math.Ln2*math.Ln2/2)
	VSCALEFPS(h, m.Mul(p, t), scaled)
	m.emitted()
	return scaled
}

var exp2Memory []Mem

func (m Machine) exp2Tables() (lo, hi Mem) {
	if exp2Memory == nil {
		for part := range 2 {
			mem := GLOBL(fmt.Sprintf("exp2Table%d", part), RODATA|NOPTR)
			for l := range 16 {
				j := float64(16*part + l)
				DATA(4*l, U32(math.Float32bits(float32(math.Exp2((j+0.5)/32)))))
			}
			exp2Memory = append(exp2Memory, mem)
		}
	}
	return exp2Memory[0], exp2Memory[1]
}

// Expm1 returns e^x-1.
func (m Machine) Expm1(x V) V {
	lo, hi, tiny := -60.0, 89.0, 0x1p-25
	if m.Elem == Float64 {
		hi, tiny = 710, 0x1p-54
	}
	clamped := m.Min(m.Get(Const(hi)), m.Max(m.Get(Const(lo)), x))
	n, em := m.reduceExp(clamped)
	// With s = 2^(n-1), which never overflows: 2·(em·s + (s - ½)).
	s := m.pow2(m.Sub(n, Const(1)))
	y := m.FMA(em, s, m.Sub(s, Const(0.5)))
	y = m.Add(y, y)
	return m.Blend(m.Cmp(Less, m.Abs(x), Const(tiny)), x, y)
}

// Tanh returns the hyperbolic tangent.
func (m Machine) Tanh(x V) V {
	if m.Elem == Float64 {
		// em/(em+2) with em = e^2|x|-1.
		a := m.Min(m.Get(Const(44)), m.Abs(m.Add(x, x)))
		n, em := m.reduceExp(a)
		s := m.pow2(n)
		em = m.FMA(em, s, m.Sub(s, Const(1)))
		return m.WithSign(m.Div(em, m.Add(em, Const(2))), x)
	}
	a := m.Abs(x)
	z := m.Mul(x, x)
	// (tanh x - x)/x³ in x², |x| <= 0.625: 2^-26.8
	p := m.Poly(z, -0.333332807, 0.133314416, -0.0537397154, 0.0206390787, -0.00570497429)
	near := m.FMA(p, m.Mul(z, x), x)
	e := m.ExpNear(m.Min(m.Get(Const(20)), m.Add(a, a)))
	far := m.Sub(m.Get(Const(1)), m.Div(m.Get(Const(2)), m.Add(e, Const(1))))
	return m.WithSign(m.Blend(m.Cmp(Less, a, Const(0.625)), near, far), x)
}

// Sigmoid returns 1/(1+e^-x), as e/(1+e) with e = e^-|x| for negative x.
func (m Machine) Sigmoid(x V) V {
	e := m.Exp(m.Or(x, m.SignBit()))
	one := m.Get(Const(1))
	return m.Div(m.Blend(m.Cmp(Less, x, m.Zero()), e, one), m.Add(e, one))
}

// bounded returns x, or -1000 where it is below: enough to be multiplied by what
// vanishes there without giving NaN at -Inf.
func (m Machine) bounded(x V) V { return m.Max(m.Get(Const(-1000)), x) }

// Silu returns x·sigmoid(x).
func (m Machine) Silu(x V) V { return m.Mul(m.Sigmoid(x), m.bounded(x)) }

// Mish returns x·tanh(log(1+e^x)), the factor as n/(n+2) with n = e^x(e^x+2).
func (m Machine) Mish(x V) V {
	e := m.Exp(m.Min(m.Get(Const(20)), x))
	n := m.Mul(e, m.Add(e, Const(2)))
	return m.Mul(m.Div(n, m.Add(n, Const(2))), m.bounded(x))
}

// Elu returns x where it is positive and alpha·(e^x-1) elsewhere.
func (m Machine) Elu(x V, alpha any) V {
	return m.Blend(m.Cmp(Greater, x, m.Zero()), x, m.Mul(m.Expm1(x), alpha))
}

// Selu returns scale·Elu(x, alpha) with the constants of arXiv:1706.02515.
func (m Machine) Selu(x V) V {
	const alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
	return m.Mul(m.Elu(x, Const(alpha)), Const(scale))
}

// GeluTanh returns x·sigmoid(2u) with u = √(2/π)(x + 0.044715x³), which is
// x/2·(1+tanh u).
func (m Machine) GeluTanh(x V) V {
	const c = 0.797884560802865355879892119868763737
	if m.Elem == Float64 {
		b := m.Max(m.Get(Const(-100)), x)
		u := m.Mul(m.FMAConst(m.Mul(b, b), Const(2*c*0.044715), m.Get(Const(2*c))), b)
		return m.Mul(m.Sigmoid(u), b)
	}
	// x/(1+2^h), h = -2u·log2 e.
	b := m.Max(m.Get(Const(-10)), x)
	h := m.Mul(m.FMAConst(m.Mul(b, b), Const(-2*c*0.044715*math.Log2E), m.Get(Const(-2*c*math.Log2E))), b)
	if !m.Wide {
		h = m.Max(m.Get(Const(-126)), h)
	}
	e := m.Exp2Rough(h)
	return m.Div(b, m.Add(e, Const(1)))
}

// Gelu returns x·Φ(x) for float32, Φ the normal distribution function, as
// max(x, 0) - |x|·c with c = Φ(-|x|). Its error is below 1e-7·|x|.
func (m Machine) Gelu(x V) V {
	a := m.Abs(x)
	near := m.Min(m.Get(Const(6)), a)
	// log2 Φ(-a), 0 <= a <= 6: Φ to 2.6e-8
	h := m.Poly(near, -1, -1.15110695, -0.459191144, -0.0525465868, 0.00712499488, -0.000166160185, -0.000188055521, 4.5931607e-05, -4.94585811e-06, 2.13710891e-07)
	c := m.Keep(m.Cmp(Less, a, Const(6)), m.Exp2Rough(h))
	return m.MulSub(m.Max(m.Zero(), x), near, c)
}
