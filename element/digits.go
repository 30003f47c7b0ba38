package element

import (
	"math/big"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The functions below work on limbs that are not negative.

func tens(k int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(k)), nil) }

// plus adds a number.
func (l limbs) plus(n *big.Int) limbs {
	mask := big.NewInt(limbMask)
	for i := range l {
		part := new(big.Int).Rsh(n, uint(32*i))
		l[i] = ops.Add(l[i], part.And(part, mask).Int64())
	}
	return l.carried()
}

// shifted multiplies by 10^by. If by is negative, it divides instead and rounds to nearest, with
// halves up.
func (l limbs) shifted(by int) limbs {
	for up := by; up > 0; up -= 9 {
		factor := tens(min(up, 9)).Int64()
		for i := range l {
			l[i] = ops.Mul(l[i], factor)
		}
		l = l.carried()
	}
	if by < 0 && by >= -maxDigits { // with more digits, nothing would be left to round
		l = l.plus(new(big.Int).Rsh(tens(-by), 1))
	}
	for ; by < 0; by += 14 {
		l, _ = l.over(tensor.Scalar(tens(min(-by, 14)).Int64()))
	}
	return l
}

// divisors are below 1<<divisorBits, so that a remainder has room for 16 more bits.
const divisorBits = 47

// over divides by integers between 1 and 1<<divisorBits and returns the quotient and the remainder.
// It is a long division, 16 bits at a time.
func (l limbs) over(d tensor.Tensor) (limbs, tensor.Tensor) {
	rest := tensor.Tensor(tensor.Scalar(int64(0)))
	for i := len(l) - 1; i >= 0; i-- {
		whole := rest
		for k, half := range []tensor.Tensor{ops.RightShift(l[i], int64(16)), ops.BitwiseAnd(l[i], int64(0xffff))} {
			rest = ops.BitwiseOr(ops.LeftShift(rest, int64(16)), half)
			q := ops.FloorDiv(rest, d)
			rest = ops.Sub(rest, ops.Mul(q, d))
			if k > 0 {
				q = ops.BitwiseOr(ops.LeftShift(whole, int64(16)), q)
			}
			whole = q
		}
		l[i] = whole
	}
	return l, rest
}

// times returns the lower 128 bits of products.
func (l limbs) times(m limbs) limbs {
	unsigned := func(l limbs) limbs {
		for i, x := range l {
			l[i] = ops.Cast(x, dtype.Uint64)
		}
		return l
	}
	signed := func(x tensor.Tensor) tensor.Tensor { return ops.Cast(x, dtype.Int64) }
	a, b := unsigned(l), unsigned(m)
	var out limbs
	for i := range out {
		out[i] = ops.ZerosLike(ops.Add(l[0], m[0]))
	}
	for i := range a {
		for j := range b[:len(b)-i] {
			p := ops.Mul(a[i], b[j])
			out[i+j] = ops.Add(out[i+j], signed(ops.BitwiseAnd(p, uint64(limbMask))))
			if i+j+1 < len(out) {
				out[i+j+1] = ops.Add(out[i+j+1], signed(ops.RightShift(p, uint64(32))))
			}
		}
	}
	return out.carried()
}

// multiplied returns the product of decimals.
func multiplied(a, b Tensor, t Type) tensor.Tensor {
	if size, ok := op.Known(ops.Abs(ops.Mul(a.float(), b.float()))); ok && size.Shape().Size() > 0 && tensor.Item[float64](ops.Max(size)) > 1.5e38 {
		tenon.Throw(tooLong(t))
	}
	x, minus := a.magnitude()
	y, negative := b.magnitude()
	return x.times(y).negated(ops.NotEqual(minus, negative)).number(t)
}

// divided returns decimals divided by integers, rounded to nearest with halves away from zero. A
// division by zero gives the smallest number that can be stored.
func divided(x Tensor, by tensor.Tensor, t Type) tensor.Tensor {
	by = ops.Cast(by, dtype.Int64)
	d := ops.Abs(by)
	fits := ops.LogicalAnd(ops.Greater(d, int64(0)), ops.Less(d, int64(1)<<divisorBits))
	if k, ok := op.Known(d); ok && k.Shape().Size() > 0 && tensor.Item[int64](ops.Max(k)) >= 1<<divisorBits {
		tenon.Throw(refuse("ops.Cast(x, dtype.Float64) computes in floating point", "%v is divided by a number of more than %d bits", x.Type, divisorBits))
	}
	d = ops.Where(fits, d, int64(1))
	l, minus := x.magnitude()
	l, rest := l.over(d)
	up := t.Scale - x.Type.Scale
	l = l.shifted(up)
	rest = ops.Mul(rest, tens(up).Int64())
	l[0] = ops.Add(l[0], ops.FloorDiv(ops.Add(rest, ops.FloorDiv(d, int64(2))), d))
	out := l.carried().negated(ops.NotEqual(minus, ops.Less(by, int64(0)))).number(t)
	if out.Low != nil {
		out.Low = ops.Where(fits, out.Low, int64(0))
	}
	out.Data = ops.Where(fits, out.Data, int64(lowest))
	return out
}

// nearest returns the integer quotients rounded to nearest, with halves away from zero. A division
// by zero gives the smallest number, which stands for a duration that does not exist.
func nearest(x, by tensor.Tensor) tensor.Tensor {
	there := ops.NotEqual(by, int64(0))
	d := ops.Abs(ops.Where(there, by, int64(1)))
	size := ops.Abs(x)
	q := ops.FloorDiv(size, d)
	rest := ops.Sub(size, ops.Mul(q, d))
	q = ops.Add(q, ops.Cast(ops.GreaterEqual(rest, ops.Sub(d, rest)), dtype.Int64))
	q = ops.Where(ops.NotEqual(ops.Less(x, int64(0)), ops.Less(by, int64(0))), ops.Neg(q), q)
	return ops.Where(there, q, int64(lowest))
}
