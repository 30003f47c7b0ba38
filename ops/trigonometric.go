package ops

import (
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// The operations in this file accept floating-point and complex tensors, with
// angles in radians, and return float64 for integers.

// Sin returns the sine of x.
//
// Gradient: ct·cos x.
func Sin(x any) tensor.Tensor { return op.Eval(sinOp, x) }

var sinOp = unary(elementwise.Sin, op.Op{Statement: keepsZero, Doc: "sine"})

var _ = gradient(sinOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Cos(conj(x))) })

// Cos returns the cosine of x.
//
// Gradient: -ct·sin x.
func Cos(x any) tensor.Tensor { return op.Eval(cosOp, x) }

var cosOp = unary(elementwise.Cos, op.Op{Statement: mapped, Doc: "cosine"})

var _ = gradient(cosOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Neg(Mul(ct, Sin(conj(x)))) })

// Tan returns the tangent of x.
//
// Gradient: ct·(1 + y²).
func Tan(x any) tensor.Tensor { return op.Eval(tanOp, x) }

var tanOp = unary(elementwise.Tan, op.Op{Statement: keepsZero, Doc: "tangent"})

var _ = gradient(tanOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Add(Square(conj(y)), 1)) })

// Asin returns the angle whose sine is x, between -π/2 and π/2.
//
// Gradient: ct/√(1 - x²).
func Asin(x any) tensor.Tensor { return op.Eval(asinOp, x) }

var asinOp = unary(elementwise.Asin, op.Op{Statement: keepsZero, Doc: "inverse sine"})

var _ = gradient(asinOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Rsqrt(oneMinusSquare(conj(x)))) })

// oneMinusSquare returns 1 - x², computed as (1-x)(1+x) to preserve precision
// near ±1.
func oneMinusSquare(x tensor.Tensor) tensor.Tensor { return Mul(Sub(1, x), Add(1, x)) }

// Acos returns the angle whose cosine is x, between 0 and π.
//
// Gradient: -ct/√(1 - x²).
func Acos(x any) tensor.Tensor { return op.Eval(acosOp, x) }

var acosOp = unary(elementwise.Acos, op.Op{Statement: mapped, Doc: "inverse cosine"})

var _ = gradient(acosOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Neg(Mul(ct, Rsqrt(oneMinusSquare(conj(x))))) })

// Atan returns the angle whose tangent is x, between -π/2 and π/2.
//
// Gradient: ct/(1 + x²).
func Atan(x any) tensor.Tensor { return op.Eval(atanOp, x) }

var atanOp = unary(elementwise.Atan, op.Op{Statement: keepsZero, Doc: "inverse tangent"})

var _ = gradient(atanOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(ct, Add(Square(conj(x)), 1)) })

// Sinh returns the hyperbolic sine of x.
//
// Gradient: ct·cosh x.
func Sinh(x any) tensor.Tensor { return op.Eval(sinhOp, x) }

var sinhOp = unary(elementwise.Sinh, op.Op{Statement: keepsZero, Doc: "hyperbolic sine"})

var _ = gradient(sinhOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Cosh(conj(x))) })

// Cosh returns the hyperbolic cosine of x.
//
// Gradient: ct·sinh x.
func Cosh(x any) tensor.Tensor { return op.Eval(coshOp, x) }

var coshOp = unary(elementwise.Cosh, op.Op{Statement: mapped, Doc: "hyperbolic cosine"})

var _ = gradient(coshOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Sinh(conj(x))) })

// Tanh returns the hyperbolic tangent of x.
//
// Gradient: ct·(1 - y²).
func Tanh(x any) tensor.Tensor { return op.Eval(tanhOp, x) }

var tanhOp = unary(elementwise.Tanh, op.Op{Statement: keepsZero, Doc: "hyperbolic tangent"})

var _ = gradient(tanhOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, oneMinusSquare(conj(y))) })

// Asinh returns the inverse of [Sinh].
//
// Gradient: ct/√(x² + 1).
func Asinh(x any) tensor.Tensor { return op.Eval(asinhOp, x) }

var asinhOp = unary(elementwise.Asinh, op.Op{Statement: keepsZero, Doc: "inverse hyperbolic sine"})

var _ = gradient(asinhOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Rsqrt(Add(Square(conj(x)), 1))) })

// Acosh returns the nonnegative inverse of [Cosh]; NaN below 1.
//
// Gradient: ct/√(x² - 1).
func Acosh(x any) tensor.Tensor { return op.Eval(acoshOp, x) }

var acoshOp = unary(elementwise.Acosh, op.Op{Statement: mapped, Doc: "inverse hyperbolic cosine"})

var _ = gradient(acoshOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	x = conj(x)
	return Mul(ct, Mul(Rsqrt(Sub(x, 1)), Rsqrt(Add(x, 1))))
})

// Atanh returns the inverse of [Tanh]; NaN outside [-1, 1].
//
// Gradient: ct/(1 - x²).
func Atanh(x any) tensor.Tensor { return op.Eval(atanhOp, x) }

var atanhOp = unary(elementwise.Atanh, op.Op{Statement: keepsZero, Doc: "inverse hyperbolic tangent"})

var _ = gradient(atanhOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(ct, oneMinusSquare(conj(x))) })
