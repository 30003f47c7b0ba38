package vec

// reduceTrig returns r and t with x = n·π/2 + r, |r| <= π/4 and the low bits of
// t those of the integer n. It takes x up to [Machine.TrigLimit]: up to there
// each product of Cody and Waite's reduction, with π/2 in three parts, is exact
// or fused.
func (m Machine) reduceTrig(x V) (t, r V) {
	// Each part is rounded down, so that none turns -0 into +0.
	pi := []float64{1.570796251296997, 7.549789415861596e-08, 5.390302529957765e-15}
	if m.Elem == Float64 {
		pi = []float64{1.5707963267948966, 6.123233995736765e-17, 1.0828566739219139e-32}
	}
	f := m.format()
	const twoOverPi = 0.6366197723675814
	t = m.FMAConst(m.Load(x), Const(twoOverPi), m.Get(Const(f.round)))
	n := m.Sub(t, Const(f.round))
	r = m.Load(x)
	for _, part := range pi {
		r = m.MulSub(r, n, Const(part))
	}
	return t, r
}

// TrigLimit is the largest magnitude for which [Machine.Sin] and [Machine.Cos] hold.
func (m Machine) TrigLimit() Const {
	if m.Elem == Float64 {
		return 1 << 27
	}
	return 1 << 16
}

// sinCos returns sin r and cos r for |r| <= π/4.
func (m Machine) sinCos(r V) (sin, cos V) {
	z := m.Mul(r, r)
	// (sin r - r)/r³ in r²: 2^-27.9 and 2^-57.7; (cos r - 1 + r²/2)/r⁴ in r²: 2^-32.9 and 2^-63.7
	s := []float64{-0.166666538, 0.0083321128, -0.000195087414}
	c := []float64{0.0416666456, -0.00138872513, 2.44256844e-05}
	if m.Elem == Float64 {
		s = []float64{-0.16666666666666627, 0.00833333333332094, -0.00019841269828618763, 2.7557313275989696e-06, -2.50506924679591e-08, 1.5892961187647158e-10}
		c = []float64{0.04166666666666658, -0.0013888888888871375, 2.4801587287783192e-05, -2.7557313865577966e-07, 2.0875657571891098e-09, -1.1356266379656548e-11}
	}
	sin = m.WithSign(m.FMA(m.Poly(z, s...), m.Mul(z, r), r), r) // -0 stays
	// 1 - z/2 is rounded; what it loses goes back in.
	half := m.Mul(z, Const(0.5))
	one := m.Get(Const(1))
	w := m.Sub(one, half)
	lost := m.Sub(m.Sub(one, w), half)
	cos = m.Add(m.FMA(m.Poly(z, c...), m.Mul(z, z), lost), w)
	return sin, cos
}

// trig returns the sine of n quarter turns plus r.
func (m Machine) trig(t, r V) V {
	i := m.Ints()
	sin, cos := m.sinCos(r)
	y := m.Blend(i.TestBit(t, 0), cos, sin)
	sign := i.ShiftLeft(i.And(t, Bits(2)), m.Elem.Size()*8-2)
	return m.Xor(y, sign)
}

// Sin returns the sine of x up to [Machine.TrigLimit].
func (m Machine) Sin(x V) V {
	t, r := m.reduceTrig(x)
	return m.trig(t, r)
}

// Cos returns the cosine of x up to [Machine.TrigLimit].
func (m Machine) Cos(x V) V {
	t, r := m.reduceTrig(x)
	return m.trig(m.Ints().Add(t, Const(1)), r)
}
