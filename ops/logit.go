package ops

import (
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Logit returns log(x/(1-x)), the inverse of [Sigmoid]: -∞ at 0, +∞ at 1, and NaN
// outside of [0, 1]. It is computed as log x - log1p(-x), which keeps its digits near 0.
//
//	x: floating[…] → the same; integers give float64
//
// Gradient: ct/(x(1-x)).
func Logit(x any) tensor.Tensor { return op.Eval(logitOp, x) }

var logitOp = op.Register(&op.Op{
	Name: "logit", Statement: mapped, Doc: "inverse of the logistic function", Params: unaryParams, Results: 1, Strided: true,
	Elem: floating,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := castDense(c.Dense(0), c.Out[0].(*tensor.Spec).DType())
		return []tensor.Tensor{Sub(Log(x), Log1p(Neg(x)))}, nil
	},
})

var _ = gradient(logitOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Div(ct, Mul(x, Sub(1, x))) })
