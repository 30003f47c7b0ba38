package ops

import (
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// The operations in this file accept floating-point tensors, and return float64 for integers (Relu
// and Relu6 keep them).

// Sigmoid returns 1/(1 + e^-x).
//
// Gradient: ct·y·(1 - y).
func Sigmoid(x any) tensor.Tensor { return op.Eval(sigmoidOp, x) }

var sigmoidOp = unary(elementwise.Sigmoid, op.Op{Statement: mapped, Doc: "1/(1 + e^-x)"})

var _ = gradient(sigmoidOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	y = conj(y)
	return Mul(ct, Mul(y, Sub(1, y)))
})

// LogSigmoid returns log(1/(1 + e^-x)).
//
// Gradient: ct·Sigmoid(-x).
func LogSigmoid(x any) tensor.Tensor { return op.Eval(logSigmoidOp, x) }

var logSigmoidOp = unary(elementwise.LogSigmoid, op.Op{Statement: mapped, Doc: "logarithm of the sigmoid"})

var _ = gradient(logSigmoidOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Sigmoid(Neg(x))) })

// Softplus returns log(1 + e^x).
//
// Gradient: ct·Sigmoid(x).
func Softplus(x any) tensor.Tensor { return op.Eval(softplusOp, x) }

var softplusOp = unary(elementwise.Softplus, op.Op{Statement: mapped, Doc: "log(1 + e^x)"})

var _ = gradient(softplusOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Mul(ct, Sigmoid(x)) })

// Softsign returns x/(1 + |x|).
//
// Gradient: ct/(1 + |x|)².
func Softsign(x any) tensor.Tensor { return op.Eval(softsignOp, x) }

var softsignOp = unary(elementwise.Softsign, op.Op{Statement: keepsZero, Doc: "x/(1 + |x|)"})

var _ = gradient(softsignOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(ct, Square(Add(Abs(x), 1))) })

// Relu returns max(x, 0), and NaN for NaN.
//
// Gradient: ct where x > 0.
func Relu(x any) tensor.Tensor { return op.Eval(reluOp, x) }

var reluOp = unary(elementwise.Relu, op.Op{Statement: keepsZero, Doc: "max(x, 0)"})

var _ = gradient(reluOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Where(Greater(y, 0), ct, zeroOf(ct.DType())) })

// Relu6 returns min(max(x, 0), 6), and NaN for NaN.
//
// Gradient: ct where 0 < x < 6.
func Relu6(x any) tensor.Tensor { return op.Eval(relu6Op, x) }

var relu6Op = unary(elementwise.Relu6, op.Op{Statement: keepsZero, Doc: "min(max(x, 0), 6)"})

var _ = gradient(relu6Op, func(x, y, ct tensor.Tensor) tensor.Tensor { return Where(between(x, 0, 6), ct, zeroOf(ct.DType())) })

func between(x tensor.Tensor, lo, hi float64) tensor.Tensor {
	return LogicalAnd(Greater(x, lo), Less(x, hi))
}

// LeakyRelu returns x where x is positive and alpha·x elsewhere. 0.2 is a common alpha.
//
// Gradient: ct where x > 0, elsewhere ct·alpha.
func LeakyRelu(x any, alpha float64) tensor.Tensor { return op.Eval(leakyReluOp, x, alpha) }

var leakyReluOp = scaledUnary(elementwise.LeakyRelu, op.Op{Statement: keepsZero, Doc: "x, or alpha·x where x is not positive"}, 0.2)

var _ = gradient(leakyReluOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{Where(Greater(c.Tensor(0), 0), ct[0], Mul(ct[0], c.Float(1)))}
})

// Elu returns x where x is positive and alpha·(e^x - 1) elsewhere (Clevert et
// al., arXiv:1511.07289). alpha is usually 1.
//
// Gradient: ct where x > 0, elsewhere ct·(y + alpha).
func Elu(x any, alpha float64) tensor.Tensor { return op.Eval(eluOp, x, alpha) }

var eluOp = scaledUnary(elementwise.Elu, op.Op{Statement: keepsZero, Doc: "x, or alpha·(e^x - 1) where x is not positive"}, 1)

var _ = gradient(eluOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{Where(Greater(c.Tensor(0), 0), ct[0], Mul(ct[0], Add(out[0], c.Float(1))))}
})

// scaledUnary registers an elementwise operation of one tensor with a factor
// alpha, which package elementwise treats as the second operand.
func scaledUnary(k elementwise.Op, o op.Op, alpha float64) *op.Op {
	o.Name, o.Results, o.Strided = k.String(), 1, true
	o.Params = []op.Param{{Name: "x"}, {Name: "alpha", Kind: op.Attr, Type: op.FloatType, Default: alpha}}
	o.Elem = computing(func(d dtype.DType) bool { return elementwise.BinaryOf(k, d, elementwise.VS) != nil })
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		d := c.Out[0].(*tensor.Spec).DType()
		x := castDense(c.Dense(0), d)
		a := castDense(tensor.Scalar(c.Float(1)).(*tensor.Dense), d)
		out, _ := binaryDense(k, x, a, x.Shape(), grainOf(k))
		return c.Result(out)
	}
	return op.Register(&o)
}

// The constants of Selu, chosen so that activations keep mean 0 and variance 1
// (Klambauer et al., arXiv:1706.02515).
const (
	seluAlpha = 1.6732632423543772848170429916717
	seluScale = 1.0507009873554804934193349852946
)

// Selu returns λ·x where x is positive and λ·α·(e^x - 1) elsewhere, with
// α ≈ 1.6733 and λ ≈ 1.0507 (Klambauer et al., arXiv:1706.02515).
//
// Gradient: ct·λ where x > 0, elsewhere ct·(y + λα).
func Selu(x any) tensor.Tensor { return op.Eval(seluOp, x) }

var seluOp = unary(elementwise.Selu, op.Op{Statement: keepsZero, Doc: "scaled exponential linear unit"})

var _ = gradient(seluOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	return Mul(ct, Where(Greater(x, 0), seluScale, Add(y, seluScale*seluAlpha)))
})

// Gelu returns x·Φ(x), with Φ the distribution function of the standard normal
// distribution (Hendrycks and Gimpel, arXiv:1606.08415).
//
// Gradient: ct·(Φ(x) + x·φ(x)), with φ the density.
func Gelu(x any) tensor.Tensor { return op.Eval(geluOp, x) }

var geluOp = unary(elementwise.Gelu, op.Op{Statement: keepsZero, Doc: "x times the normal distribution function"})

var _ = gradient(geluOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	below := Mul(Erfc(Mul(x, -math.Sqrt2/2)), 0.5)
	density := Mul(Exp(Mul(Square(x), -0.5)), 1/math.Sqrt(2*math.Pi))
	return Mul(ct, Add(below, Mul(x, density)))
})

// The constants of the approximation in GeluTanh.
const (
	geluScale = 0.797884560802865355879892119868763737 // √(2/π)
	geluCubic = 0.044715
)

// GeluTanh returns x/2·(1 + tanh u) with u = √(2/π)·(x + 0.044715·x³), an
// approximation of [Gelu].
//
// Gradient: ct·(s + 2·x·s·(1 - s)·u'), with s = Sigmoid(2u).
func GeluTanh(x any) tensor.Tensor { return op.Eval(geluTanhOp, x) }

var geluTanhOp = unary(elementwise.GeluTanh, op.Op{Statement: keepsZero, Doc: "an approximation of gelu"})

var _ = gradient(geluTanhOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	q := Square(x)
	s := Sigmoid(Mul(Mul(x, Add(Mul(q, geluCubic), 1)), 2*geluScale))
	slope := Mul(Add(Mul(q, 3*geluCubic), 1), 2*geluScale)
	return Mul(ct, Mul(s, Add(Mul(Mul(x, slope), Sub(1, s)), 1)))
})

// Silu returns x·Sigmoid(x), also called swish.
//
// Gradient: ct·s·(1 + x·(1 - s)), with s = Sigmoid(x).
func Silu(x any) tensor.Tensor { return op.Eval(siluOp, x) }

var siluOp = unary(elementwise.Silu, op.Op{Statement: keepsZero, Doc: "x times its sigmoid"})

var _ = gradient(siluOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	s := Sigmoid(x)
	return Mul(ct, Mul(s, Add(Mul(x, Sub(1, s)), 1)))
})

// Mish returns x·tanh(Softplus(x)) (Misra, arXiv:1908.08681).
//
// Gradient: ct·(t + x·(1 - t²)·Sigmoid(x)), with t = tanh(Softplus(x)).
func Mish(x any) tensor.Tensor { return op.Eval(mishOp, x) }

var mishOp = unary(elementwise.Mish, op.Op{Statement: keepsZero, Doc: "x times the tanh of its softplus"})

var _ = gradient(mishOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	t := Tanh(Softplus(x))
	return Mul(ct, Add(t, Mul(Mul(x, oneMinusSquare(t)), Sigmoid(x))))
})

// HardSigmoid returns min(max(x+3, 0), 6)/6, a piecewise linear stand-in for
// [Sigmoid] (Howard et al., arXiv:1905.02244).
//
// Gradient: ct/6 where -3 < x < 3.
func HardSigmoid(x any) tensor.Tensor { return op.Eval(hardSigmoidOp, x) }

var hardSigmoidOp = unary(elementwise.HardSigmoid, op.Op{Statement: mapped, Doc: "min(max(x+3, 0), 6)/6"})

var _ = gradient(hardSigmoidOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	return Where(between(x, -3, 3), Mul(ct, 1.0/6), zeroOf(ct.DType()))
})

// HardSilu returns x·HardSigmoid(x).
//
// Gradient: ct·(2x+3)/6 where -3 < x < 3, ct above, 0 below.
func HardSilu(x any) tensor.Tensor { return op.Eval(hardSiluOp, x) }

var hardSiluOp = unary(elementwise.HardSilu, op.Op{Statement: keepsZero, Doc: "x times its hard sigmoid"})

var _ = gradient(hardSiluOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	inner := Mul(ct, Add(Mul(x, 1.0/3), 0.5))
	return Where(Greater(x, -3), Where(Less(x, 3), inner, ct), zeroOf(ct.DType()))
})
