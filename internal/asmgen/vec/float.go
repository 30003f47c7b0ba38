package vec

// Functions of floats that are a few instructions long. They define what a function gives
// for NaN and for zeros of both signs, so every generator has them from here.

// Maximum returns the greater of a and b, NaN where either is, and +0 for zeros of both
// signs. The instruction gives its second operand in those cases: a + b is NaN or
// the greater zero in both.
func (m Machine) Maximum(a, b V) V {
	k := m.Either(m.Cmp(Unordered, a, b), m.Cmp(Equal, a, b))
	both := m.And(a, b) // equal numbers, or the sign that both zeros have
	nan := m.Add(a, b)
	odd := m.Blend(m.Cmp(Unordered, a, b), nan, both)
	return m.Blend(k, odd, m.Max(a, b))
}

// Minimum is Maximum's mirror: of two zeros -0 is the lesser.
func (m Machine) Minimum(a, b V) V {
	k := m.Either(m.Cmp(Unordered, a, b), m.Cmp(Equal, a, b))
	odd := m.Blend(m.Cmp(Unordered, a, b), m.Add(a, b), m.Or(a, b))
	return m.Blend(k, odd, m.Min(a, b))
}

// SquaredDifference returns (a - b)².
func (m Machine) SquaredDifference(a, b V) V {
	d := m.Sub(a, b)
	return m.Mul(d, d)
}

// Relu returns max(a, 0). It relies on Max giving its second operand: a NaN, or a where
// it is a zero, which And-ing with the comparison would also have lost the sign of.
func (m Machine) Relu(a V) V { return m.Add(m.Max(m.Zeros(), a), m.Zeros()) }

// Neg returns -a.
func (m Machine) Neg(a V) V { return m.Xor(a, m.SignBit()) }

// Signum returns -1, 1, or a where it is a zero or NaN.
func (m Machine) Signum(a V) V {
	one := m.WithSign(m.Get(Const(1)), a)
	own := m.Either(m.Cmp(Equal, a, m.Zeros()), m.Cmp(Unordered, a, a))
	return m.Blend(own, a, one)
}

// Reciprocal returns 1 / a.
func (m Machine) Reciprocal(a V) V { return m.Div(m.Get(Const(1)), a) }

// Rsqrt returns 1 / √a, rounded twice.
func (m Machine) Rsqrt(a V) V { return m.Div(m.Get(Const(1)), m.Sqrt(a)) }

// Square returns a².
func (m Machine) Square(a V) V { return m.Mul(a, a) }
