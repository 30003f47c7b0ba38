package ops

import (
	"math"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/special"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// The operations in this file accept floating-point tensors, and return float64 for integers.

// Erf returns the error function 2/√π ∫₀ˣ e^(-t²) dt.
//
// Gradient: ct·2/√π·e^(-x²).
func Erf(x any) tensor.Tensor { return op.Eval(erfOp, x) }

var erfOp = unary(elementwise.Erf, op.Op{Statement: keepsZero, Doc: "error function"})

var _ = gradient(erfOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	return Mul(ct, Mul(Exp(Neg(Square(x))), 2/math.SqrtPi))
})

// Erfc returns 1 - Erf(x) without losing digits for large x.
//
// Gradient: -ct·2/√π·e^(-x²).
func Erfc(x any) tensor.Tensor { return op.Eval(erfcOp, x) }

var erfcOp = unary(elementwise.Erfc, op.Op{Statement: mapped, Doc: "complementary error function"})

var _ = gradient(erfcOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	return Mul(ct, Mul(Exp(Neg(Square(x))), -2/math.SqrtPi))
})

// Erfinv returns the inverse of [Erf], for x between -1 and 1.
//
// Gradient: ct·√π/2·e^(y²).
func Erfinv(x any) tensor.Tensor { return op.Eval(erfinvOp, x) }

var erfinvOp = unary(elementwise.Erfinv, op.Op{Statement: keepsZero, Doc: "inverse error function"})

var _ = gradient(erfinvOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	return Mul(ct, Mul(Exp(Square(y)), math.SqrtPi/2))
})

// Ndtri returns the quantile function of the standard normal distribution, for x
// between 0 and 1.
//
// Gradient: ct·√(2π)·e^(y²/2).
func Ndtri(x any) tensor.Tensor { return op.Eval(ndtriOp, x) }

var ndtriOp = unary(elementwise.Ndtri, op.Op{Statement: mapped, Doc: "quantiles of the standard normal distribution"})

var _ = gradient(ndtriOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	return Mul(ct, Mul(Exp(Mul(Square(y), 0.5)), math.Sqrt(2*math.Pi)))
})

// Lgamma returns log |Γ(x)|, +Inf at 0 and the negative integers.
//
// Gradient: ct·Digamma(x).
func Lgamma(x any) tensor.Tensor { return op.Eval(lgammaOp, x) }

var lgammaOp = unary(elementwise.Lgamma, op.Op{Statement: mapped, Doc: "logarithm of the absolute value of the gamma function"})

var _ = gradient(lgammaOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Digamma(x)) })

// Digamma returns the derivative of log Γ(x).
//
// Gradient: ct·ψ'(x) (see [Polygamma]).
func Digamma(x any) tensor.Tensor { return op.Eval(digammaOp, x) }

var digammaOp = unary(elementwise.Digamma, op.Op{Statement: mapped, Doc: "derivative of the logarithm of the gamma function"})

var _ = gradient(digammaOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Polygamma(x, 1)) })

// Polygamma returns derivative n of [Digamma], for n ≥ 1.
//
// Gradient: ct·Polygamma(x, n+1).
func Polygamma(x any, n int) tensor.Tensor { return op.Eval(polygammaOp, x, n) }

var polygammaOp = op.Register(&op.Op{
	Name: "polygamma", Statement: mapped, Doc: "derivatives of the digamma function",
	Params:  []op.Param{{Name: "x"}, {Name: "n", Kind: op.Attr, Type: op.IntType}},
	Results: 1, Strided: true,
	Elem: floating,
	Check: func(c *op.Call) error {
		if n := c.Int(1); n < 1 || n > special.MaxPolygamma {
			return c.Errorf(tenon.ErrInvalid, "n is %d, want 1 to %d", n, special.MaxPolygamma)
		}
		return nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		d := c.Out[0].(*tensor.Spec).DType()
		switch n := c.Int(1); d {
		case dtype.Float32:
			return c.Result(unaryDense(polygammas[float32](n), x, d, grainPolygamma))
		case dtype.Float64:
			return c.Result(unaryDense(polygammas[float64](n), castDense(x, d), d, grainPolygamma))
		default:
			return c.Result(castDense(unaryDense(polygammas[float64](n), castDense(x, dtype.Float64), dtype.Float64, grainPolygamma), d))
		}
	},
})

// grainPolygamma is the number of elements that take a worker about 100 µs.
const grainPolygamma = 1 << 10

// polygammas returns the kernel for derivative n, which computes in float64.
func polygammas[T float32 | float64](n int) elementwise.UnaryFunc {
	f := special.PolygammaOf(n)
	return func(dst, x unsafe.Pointer, size int) {
		out := unsafe.Slice((*T)(dst), size)
		for i, v := range unsafe.Slice((*T)(x), size) {
			out[i] = T(f.At(float64(v)))
		}
	}
}

var _ = gradient(polygammaOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{Mul(ct[0], Polygamma(c.Tensor(0), c.Int(1)+1))}
})
