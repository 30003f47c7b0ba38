package onnx

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// powers are the element types of Pow.
var powers = typeSet(func(d dtype.DType) bool { return d.IsFloat() || d == dtype.Int32 || d == dtype.Int64 })

// zeroOf returns the zero of a tensor's type, which may be false or an empty string.
func zeroOf(x T) T {
	if x.DType().IsString() {
		return tensor.WrapStrings([]int64{0, 0}, nil, shape.Of())
	}
	return tensor.NewDense(x.DType(), shape.Of())
}

// divided is the quotient, which is floating-point for integers.
func divided(e *node) string {
	d := e.dtypeOf()
	if d.IsFloat() {
		return e.typed("Div", floating, e.ins())
	}
	if !compared(d) {
		refuse(tenon.ErrUnsupported, "ONNX's Div does not support elements of type %v", d)
	}
	to := e.Outs[0].DType()
	return e.do("Div", []string{e.cast(e.in(0), to), e.cast(e.in(1), to)})
}

func infinite(e *node) string {
	if !e.dtypeOf().IsFloat() {
		return ""
	}
	return e.do("IsInf", e.ins())
}

func converted(e *node) string {
	from, to := e.dtypeOf(), e.Outs[0].DType()
	if dtypeNumbers[from] == 0 || dtypeNumbers[to] == 0 || from.IsComplex() || to.IsComplex() {
		refuse(tenon.ErrUnsupported, "ONNX's Cast does not convert elements of type %v to %v", from, to)
	}
	return e.cast(e.in(0), to)
}

// clipped writes Clip, if the limits are scalars.
func clipped(e *node) string {
	for i := 1; i <= 2; i++ {
		if e.c.Has(i) && !e.t(i).Shape().IsScalar() {
			return ""
		}
	}
	if !reals(e.dtypeOf()) {
		return ""
	}
	in := []string{e.in(0), e.in(1), e.in(2)}
	if in[2] == "" {
		in = in[:2]
	}
	return e.do("Clip", in)
}

func between(c *op.Call) T {
	x := c.Tensor(0)
	if c.Has(1) {
		x = ops.Maximum(x, c.Tensor(1))
	}
	if c.Has(2) {
		x = ops.Minimum(x, c.Tensor(2))
	}
	return x
}

// withAlpha writes an operation with the attribute alpha, if the call's value fits: the
// attribute is a float32.
func withAlpha(operation string, types typeSet) func(e *node) string {
	return func(e *node) string {
		alpha := e.c.Float(1)
		if e.Outs[0].DType() == dtype.Float64 && float64(float32(alpha)) != alpha {
			return ""
		}
		return e.typed(operation, types, e.ins(), withFloat("alpha", alpha))
	}
}

// single writes an operation that is defined with float32 constants, which are not accurate
// enough for float64.
func single(operation string, types typeSet, attrs ...attr) func(e *node) string {
	return func(e *node) string {
		if e.Outs[0].DType() == dtype.Float64 {
			return ""
		}
		return e.typed(operation, types, e.ins(), attrs...)
	}
}

func geluOf(c *op.Call) T {
	x := c.Tensor(0)
	return ops.Mul(ops.Mul(x, like(0.5, x)), ops.Add(like(1, x), ops.Erf(ops.Mul(x, like(math.Sqrt2/2, x)))))
}

func geluTanhOf(c *op.Call) T {
	x := c.Tensor(0)
	cube := ops.Mul(x, ops.Mul(x, x))
	inner := ops.Mul(like(math.Sqrt(2/math.Pi), x), ops.Add(x, ops.Mul(like(0.044715, x), cube)))
	return ops.Mul(ops.Mul(x, like(0.5, x)), ops.Add(like(1, x), ops.Tanh(inner)))
}

func shifted(direction string) func(e *node) string {
	return func(e *node) string {
		if !e.dtypeOf().IsUnsigned() {
			refuse(tenon.ErrUnsupported, "ONNX's BitShift takes unsigned integers only")
		}
		return e.do("BitShift", e.ins(), withText("direction", direction))
	}
}

func seluOf(x T) T {
	const alpha, scale = 1.6732632423543772, 1.0507009873554805
	y := ops.Where(ops.Greater(x, like(0, x)), x, ops.Mul(ops.Expm1(ops.Minimum(x, like(0, x))), like(alpha, x)))
	return ops.Mul(y, like(scale, x))
}

func logarithm(x T, base float64) T { return ops.Mul(ops.Log(x), like(1/math.Log(base), x)) }

// expm1 and log1p are as accurate as the functions that they are made of, by Kahan's method
// (Higham, Accuracy and Stability of Numerical Algorithms, §1.14.1).
func expm1(x T) T {
	u, one := ops.Exp(x), like(1, x)
	v := ops.Sub(u, one)
	log := ops.Log(u)
	plain := ops.LogicalOr(ops.Equal(v, ops.Neg(one)), ops.IsInf(u))
	small := ops.Equal(u, one)
	ratio := ops.Div(ops.Mul(v, x), ops.Where(ops.LogicalOr(small, plain), one, log))
	return ops.Where(small, x, ops.Where(plain, v, ratio))
}

func log1p(x T) T {
	one := like(1, x)
	u := ops.Add(one, x)
	v := ops.Sub(u, one)
	small := ops.Equal(v, like(0, x))
	plain := ops.IsInf(u)
	ratio := ops.Mul(ops.Log(u), ops.Div(ops.Where(plain, one, x), ops.Where(ops.LogicalOr(small, plain), one, v)))
	return ops.Where(small, x, ratio)
}

func cubeRoot(x T) T {
	a := ops.Abs(x)
	y := ops.Pow(a, like(1./3, x))
	// One step of Newton's method.
	ok := ops.LogicalAnd(ops.Greater(y, like(0, x)), ops.LogicalNot(ops.IsInf(y)))
	square := ops.Where(ok, ops.Mul(y, y), like(1, x))
	y = ops.Where(ok, ops.Sub(y, ops.Div(ops.Sub(y, ops.Div(a, square)), like(3, x))), y)
	return ops.Where(ops.Equal(x, like(0, x)), x, ops.Mul(ops.Sign(x), y))
}

// angleOf returns the angle of the point (x, y), in all quadrants.
func angleOf(y, x T) T {
	zero, one := like(0, x), like(1, x)
	negative := func(v T) T {
		return ops.LogicalOr(ops.Less(v, zero), ops.LogicalAnd(ops.Equal(v, zero), ops.Less(ops.Div(one, v), zero)))
	}
	a, b := ops.Abs(y), ops.Abs(x)
	ratio := ops.Where(ops.LogicalAnd(ops.Equal(a, zero), ops.Equal(b, zero)), zero, ops.Where(ops.LogicalAnd(ops.IsInf(a), ops.IsInf(b)), one, ops.Div(a, b)))
	angle := ops.Atan(ratio)
	angle = ops.Where(negative(x), ops.Sub(like(math.Pi, x), angle), angle)
	return ops.Where(negative(y), ops.Neg(angle), angle)
}

func hypot(x, y T) T {
	a, b := ops.Abs(x), ops.Abs(y)
	large, small := ops.Maximum(a, b), ops.Minimum(a, b)
	plain := ops.LogicalOr(ops.Equal(large, like(0, x)), ops.LogicalOr(ops.IsInf(a), ops.IsInf(b)))
	ratio := ops.Div(small, ops.Where(plain, like(1, x), large))
	out := ops.Mul(large, ops.Sqrt(ops.Add(like(1, x), ops.Mul(ratio, ratio))))
	infinite := ops.LogicalOr(ops.IsInf(a), ops.IsInf(b))
	return ops.Where(infinite, like(math.Inf(1), x), ops.Where(plain, large, out))
}

func trunc(x T) T {
	if !x.DType().IsFloat() {
		return x
	}
	return ops.Where(ops.Less(x, like(0, x)), ops.Ceil(x), ops.Floor(x))
}

// truncated is the quotient rounded toward zero, as ONNX's Div is for integers.
func truncated(e *node) string {
	if e.dtypeOf().IsFloat() {
		return ""
	}
	return e.typed("Div", reals, e.ins())
}

func truncateDiv(c *op.Call) T { return ops.Trunc(ops.Div(c.Tensor(0), c.Tensor(1))) }

func floorDiv(x, y T) T {
	if x.DType().IsFloat() {
		return ops.Floor(ops.Div(x, y))
	}
	return ops.TruncateDiv(ops.Sub(x, ops.Mod(x, y)), y)
}

// remainder is the remainder with the sign of the divisor. ONNX has it for integers.
func remainder(e *node) string {
	if e.dtypeOf().IsFloat() {
		return ""
	}
	return e.typed("Mod", reals, e.ins())
}

func floorMod(c *op.Call) T {
	x, y := c.Tensor(0), c.Tensor(1)
	r, zero := ops.TruncateMod(x, y), like(0, x)
	other := ops.LogicalAnd(ops.LogicalNot(ops.Equal(r, zero)), ops.LogicalXor(ops.Less(r, zero), ops.Less(y, zero)))
	return ops.Where(other, ops.Add(r, y), r)
}

func logAddExp(x, y T) T {
	m := ops.Maximum(x, y)
	apart := ops.Add(m, ops.Log1p(ops.Exp(ops.Neg(ops.Abs(ops.Sub(x, y))))))
	return ops.Where(ops.Equal(x, y), ops.Add(x, like(math.Ln2, x)), apart)
}

func nanToNum(x T) T {
	if !x.DType().IsFloat() {
		return x
	}
	top := finite(x)
	return ops.Where(ops.IsNaN(x), like(0, x), ops.Minimum(ops.Maximum(x, ops.Neg(top)), top))
}

// leastOf and greatestOf are the bounds of the numbers of a type: infinities if it has them.
func leastOf(x T) T {
	if x.DType().IsBool() {
		return zeroOf(x)
	}
	return like(lowest(x.DType()), x)
}

func greatestOf(x T) T {
	switch d := x.DType(); {
	case d.IsFloat():
		return like(math.Inf(1), x)
	case d.IsBool():
		return ops.LogicalNot(zeroOf(x))
	}
	return ops.BitwiseNot(leastOf(x))
}

// finite is the largest finite number of a floating-point type.
func finite(x T) T {
	top := map[dtype.DType]float64{dtype.Float16: 65504, dtype.BFloat16: 0x1.fep127, dtype.Float32: math.MaxFloat32, dtype.Float64: math.MaxFloat64}
	return like(top[x.DType()], x)
}

// joined writes the concatenation of strings.
func joined(e *node) string {
	parts, separator := e.list(0), e.c.Str(1)
	out := parts[0]
	for _, p := range parts[1:] {
		if separator != "" {
			out = e.do("StringConcat", []string{out, e.w.constant(tensor.Scalar(separator))})
		}
		out = e.do("StringConcat", []string{out, p})
	}
	return out
}
