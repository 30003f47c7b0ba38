package ops

import (
	"math"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// The operations in this file accept floating-point and complex tensors, and
// return float64 for integers.

// Exp returns e^x.
//
// Gradient: ct·y, with the result y.
func Exp(x any) tensor.Tensor { return op.Eval(expOp, x) }

var expOp = unary(elementwise.Exp, op.Op{Statement: mapped, Doc: "e to the power x"})

var _ = gradient(expOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, conj(y)) })

// Exp2 returns 2^x, for real tensors.
//
// Gradient: ct·y·log 2.
func Exp2(x any) tensor.Tensor { return op.Eval(exp2Op, x) }

var exp2Op = unary(elementwise.Exp2, op.Op{Statement: mapped, Doc: "2 to the power x"})

var _ = gradient(exp2Op, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Mul(y, math.Ln2)) })

// Expm1 returns e^x - 1 without losing digits near 0.
//
// Gradient: ct·(y + 1).
func Expm1(x any) tensor.Tensor { return op.Eval(expm1Op, x) }

var expm1Op = unary(elementwise.Expm1, op.Op{Statement: keepsZero, Doc: "e to the power x, minus 1"})

var _ = gradient(expm1Op, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, conj(Add(y, 1))) })

// Log returns the natural logarithm: -Inf at 0, NaN below.
//
// Gradient: ct/x.
func Log(x any) tensor.Tensor { return op.Eval(logOp, x) }

var logOp = unary(elementwise.Log, op.Op{Statement: mapped, Doc: "natural logarithm"})

var _ = gradient(logOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(ct, conj(x)) })

// Log2 returns the logarithm to base 2, for real tensors.
//
// Gradient: ct/(x·log 2).
func Log2(x any) tensor.Tensor { return op.Eval(log2Op, x) }

var log2Op = unary(elementwise.Log2, op.Op{Statement: mapped, Doc: "logarithm to base 2"})

var _ = gradient(log2Op, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(ct, Mul(x, math.Ln2)) })

// Log10 returns the logarithm to base 10.
//
// Gradient: ct/(x·log 10).
func Log10(x any) tensor.Tensor { return op.Eval(log10Op, x) }

var log10Op = unary(elementwise.Log10, op.Op{Statement: mapped, Doc: "logarithm to base 10"})

var _ = gradient(log10Op, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(ct, Mul(conj(x), math.Ln10)) })

// Log1p returns log(1 + x) without losing digits near 0.
//
// Gradient: ct/(1 + x).
func Log1p(x any) tensor.Tensor { return op.Eval(log1pOp, x) }

var log1pOp = unary(elementwise.Log1p, op.Op{Statement: keepsZero, Doc: "natural logarithm of 1 + x"})

var _ = gradient(log1pOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(ct, conj(Add(x, 1))) })

// Reciprocal returns 1/x.
//
// Gradient: -ct·y².
func Reciprocal(x any) tensor.Tensor { return op.Eval(reciprocalOp, x) }

var reciprocalOp = unary(elementwise.Reciprocal, op.Op{Statement: mapped, Doc: "1/x"})

var _ = gradient(reciprocalOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Neg(Mul(ct, Square(conj(y)))) })

// Square returns x². Integers wrap.
//
// Gradient: 2·ct·x.
func Square(x any) tensor.Tensor { return op.Eval(squareOp, x) }

var squareOp = unary(elementwise.Square, op.Op{Statement: keepsZero, Doc: "x²"})

var _ = gradient(squareOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Mul(conj(x), 2)) })

// Sqrt returns √x: NaN below 0 for real tensors.
//
// Gradient: ct/(2·y).
func Sqrt(x any) tensor.Tensor { return op.Eval(sqrtOp, x) }

var sqrtOp = unary(elementwise.Sqrt, op.Op{Statement: keepsZero, Doc: "square root"})

var _ = gradient(sqrtOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(Mul(ct, 0.5), conj(y)) })

// Rsqrt returns 1/√x.
//
// Gradient: -ct·y³/2.
func Rsqrt(x any) tensor.Tensor { return op.Eval(rsqrtOp, x) }

var rsqrtOp = unary(elementwise.Rsqrt, op.Op{Statement: mapped, Doc: "1 / square root"})

var _ = gradient(rsqrtOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	y = conj(y)
	return Mul(ct, Mul(Mul(y, Square(y)), -0.5))
})

// Cbrt returns the cube root of real numbers, negative ones too.
//
// Gradient: ct/(3·y²).
func Cbrt(x any) tensor.Tensor { return op.Eval(cbrtOp, x) }

var cbrtOp = unary(elementwise.Cbrt, op.Op{Statement: keepsZero, Doc: "cube root"})

var _ = gradient(cbrtOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(ct, Mul(Square(y), 3)) })
