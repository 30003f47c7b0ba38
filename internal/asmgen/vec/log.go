package vec

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// splitLog returns e and f with x = 2^e·(1+f), 1+f between 3/4 and 3/2. Zero
// gives e = -Inf, +Inf gives e = +Inf, negative numbers and NaN give NaN, if
// vectors are wide; otherwise [Machine.logSpecials] mends them. near makes the
// most of x that is known to be a positive normal number.
func (m Machine) splitLog(x V, near bool) (e, f V) {
	if m.Wide {
		mant := m.Reg()
		const from34, negativeIsNaN = 3, 3 << 2
		m.by(VGETMANTPS, VGETMANTPD)(Imm(from34|negativeIsNaN), x, mant)
		a, b := m.Reg(), m.Reg()
		m.emitted()
		m.by(VGETEXPPS, VGETEXPPD)(x, a)
		m.emitted()
		m.by(VGETEXPPS, VGETEXPPD)(mant, b)
		return m.Sub(a, b), m.Sub(mant, Const(1))
	}
	ft, i := m.format(), m.Ints()
	shift := math.Ldexp(1, ft.mantissa)
	var small Mask
	if !near {
		small = m.Cmp(Less, x, Const(math.Ldexp(1, 1-ft.bias)))
		x = m.Blend(small, m.Mul(x, Const(shift)), x)
	}
	// The exponent counted from 3/4, biased to stay positive.
	threeQuarters := m.bits(Const(0.75))
	biased := i.ShiftRight(i.Sub(x, Bits(threeQuarters-uint64(ft.bias)<<ft.mantissa)), ft.mantissa)
	back := i.Sub(biased, Const(ft.bias))
	mant := i.Sub(x, i.ShiftLeft(back, ft.mantissa))
	// Or-ed into 2^mantissa, an integer is a float.
	e = m.Sub(i.Or(biased, Bits(m.bits(Const(shift)))), Const(shift+float64(ft.bias)))
	if !near {
		e = m.Blend(small, m.Sub(e, Const(float64(ft.mantissa))), e)
	}
	return e, m.Sub(mant, Const(1))
}

// logSpecials puts right what splitLog leaves wrong.
func (m Machine) logSpecials(x, y V) V {
	if m.Wide {
		return y
	}
	y = m.Blend(m.Cmp(Less, x, Const(math.Inf(1))), y, x) // +Inf and NaN
	y = m.Blend(m.Cmp(Less, x, m.Zero()), Const(math.NaN()), y)
	return m.Blend(m.Cmp(Equal, x, m.Zero()), Const(math.Inf(-1)), y)
}

// logCore returns log(1+f), 1+f between 3/4 and 3/2, plus the small number low.
// low may be nil.
func (m Machine) logCore(f V, low func(y V) V) V {
	if low == nil {
		low = func(y V) V { return y }
	}
	z := m.Mul(f, f)
	if m.Elem == Float64 {
		// With s = f/(2+f), log(1+f) = f - (z/2 - s·(z/2 + R)), the arrangement of
		// FreeBSD's e_log.c. R/s² in s², |s| <= 1/5: 2^-62
		s := m.Div(f, m.Add(f, Const(2)))
		w := m.Mul(s, s)
		r := m.Mul(w, m.Poly(w, 0.666666666666666, 0.4000000000005695, 0.28571428555767936, 0.222222243028578,
			0.18181665511263728, 0.1539112341446374, 0.13173412034609341, 0.1384427829741904))
		half := m.Mul(z, Const(0.5))
		t := low(m.Mul(s, m.Add(r, half)))
		return m.Sub(f, m.Sub(half, t))
	}
	// (log(1+f) - f + f²/2)/f³, -1/4 <= f <= 1/2: 2^-27
	p := m.Poly(f, 0.333334506, -0.250000983, 0.19990851, -0.166472197, 0.144783586, -0.131622165, 0.104656495, -0.0450942516)
	y := low(m.Mul(p, m.Mul(z, f)))
	y = m.MulSub(y, z, Const(0.5))
	return m.Add(f, y)
}

// logOf returns log x for the parts of x that splitLog gives.
func (m Machine) logOf(e, f V) V {
	ft := m.format()
	y := m.logCore(f, func(y V) V { return m.MulAdd(y, e, Const(ft.ln2Lo)) })
	return m.MulAdd(y, e, Const(ft.ln2Hi))
}

// Log returns the natural logarithm.
func (m Machine) Log(x V) V {
	e, f := m.splitLog(x, false)
	return m.logSpecials(x, m.logOf(e, f))
}

// Log2 returns the binary logarithm.
func (m Machine) Log2(x V) V {
	e, f := m.splitLog(x, false)
	y := m.logCore(f, nil)
	return m.logSpecials(x, m.FMAConst(y, Const(math.Log2E), e))
}

// Log2Normal returns the binary logarithm of x, which is positive and normal.
func (m Machine) Log2Normal(x V) V {
	e, f := m.splitLog(x, true)
	return m.FMAConst(m.logCore(f, nil), Const(math.Log2E), e)
}

// Log10 returns the decimal logarithm.
func (m Machine) Log10(x V) V {
	hi, lo := 0.301025390625, 4.605038981195214e-06
	if m.Elem == Float64 {
		hi, lo = 0.30102999566383914, 1.42050232272661e-13
	}
	e, f := m.splitLog(x, false)
	y := m.Mul(m.logCore(f, nil), Const(math.Log10E))
	y = m.MulAdd(y, e, Const(lo))
	return m.logSpecials(x, m.MulAdd(y, e, Const(hi)))
}

// Log1p returns log(1+x).
func (m Machine) Log1p(x V) V {
	ft := m.format()
	u := m.Add(x, Const(1))
	e, f := m.splitLog(u, true)
	// Where x is not large, f is (1+x)·2^-e - 1 without the rounding of 1+x.
	s := m.pow2(m.Sub(m.Zero(), m.Min(m.Get(Const(60)), e)))
	exact := m.FMA(m.Load(x), s, m.Sub(s, Const(1)))
	f = m.Blend(m.Cmp(Less, x, Const(0x1p59)), exact, f)
	y := m.logOf(e, f)
	// Tiny numbers and -0 are their own, +Inf and NaN too.
	a := m.Abs(x)
	own := m.Either(m.Cmp(NotLessEqual, a, m.largest()), m.Cmp(Less, a, Const(math.Ldexp(1, -ft.mantissa-2))))
	y = m.Blend(own, x, y)
	y = m.Blend(m.Cmp(Equal, x, Const(-1)), Const(math.Inf(-1)), y)
	return m.Blend(m.Cmp(Less, x, Const(-1)), Const(math.NaN()), y)
}

// largest is the largest finite number.
func (m Machine) largest() Const {
	if m.Elem == Float64 {
		return math.MaxFloat64
	}
	return math.MaxFloat32
}

// log1pUnit returns log(1+y) for y between 0 and 1.
func (m Machine) log1pUnit(y V) V {
	ft := m.format()
	k := m.Cmp(GreaterEqual, y, Const(0.5))
	f := m.Blend(k, m.Mul(m.Sub(y, Const(1)), Const(0.5)), y)
	r := m.logCore(f, func(v V) V { return m.Add(v, m.Keep(k, m.Get(Const(ft.ln2Lo)))) })
	return m.Add(r, m.Keep(k, m.Get(Const(ft.ln2Hi))))
}

// Softplus returns log(1+e^x) = max(x, 0) + log(1+e^-|x|).
func (m Machine) Softplus(x V) V {
	return m.Add(m.log1pUnit(m.Exp(m.Or(x, m.SignBit()))), m.Max(m.Zero(), x))
}

// LogSigmoid returns -log(1+e^-x).
func (m Machine) LogSigmoid(x V) V { return m.Xor(m.Softplus(m.Xor(x, m.SignBit())), m.SignBit()) }

// Erf returns the error function of float32.
func (m Machine) Erf(x V) V {
	z := m.Mul(x, x)
	// (erf x)/x - 1 in x², |x| <= 0.9375: 2^-25.5
	p := m.Poly(z, 0.128379151, -0.37612474, 0.112815835, -0.0267578308, 0.00498002721, -0.000592309574)
	near := m.FMA(p, x, x)
	a := m.Abs(x)
	t := m.Min(m.Get(Const(4)), a)
	// -log(1 - erf t), 0.92 <= t <= 4: erf to 2^-31.7
	g := m.Poly(t, -0.00017468202, 1.12951493, 0.633346915, 0.108280063, -0.0251194071, 0.00417105481, -0.000434460817, 2.10948838e-05)
	far := m.Sub(m.Get(Const(1)), m.ExpNear(m.Xor(g, m.SignBit())))
	return m.Blend(m.Cmp(Less, a, Const(0.9375)), near, m.WithSign(far, x))
}
