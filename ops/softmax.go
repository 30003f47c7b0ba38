package ops

import (
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Softmax returns e^x / Σ e^x along an axis, without intermediate overflow. A line that consists
// only of -Inf becomes NaN. Floating-point tensors; integers give float64.
//
// Gradient: y·(ct - Σ y·ct).
func Softmax(x any, axis int) tensor.Tensor {
	return op.Eval(softmaxOp, x, axis)
}

var softmaxRows = rowKernel{
	f32: func(dst []float32, x [][]float32, n int) { reduce.Softmax(dst, x[0], n) },
	f64: func(dst []float64, x [][]float64, n int) { reduce.Softmax(dst, x[0], n) },
}

var softmaxOp = alongOp("softmax", "e^x / Σ e^x along an axis", softmaxRows)

var _ = gradient(softmaxOp, gradAlong(softmaxGradOp))

// softmax_grad is linear and symmetric in ct, so its gradient for ct is
// softmax_grad itself. For y it is u·(ct - Σ y·ct) - ct·Σ y·u, where u is the
// cotangent.
var softmaxGradOp = gradAlongOp("softmax_grad", "gradient of the softmax along an axis", rowKernel{
	f32: func(dst []float32, x [][]float32, n int) { reduce.SoftmaxGrad(dst, x[0], x[1], n) },
	f64: func(dst []float64, x [][]float64, n int) { reduce.SoftmaxGrad(dst, x[0], x[1], n) },
})

var _ = gradient(softmaxGradOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	y, g, axis, u := c.Tensor(0), c.Tensor(1), c.Int(2), ct[0]
	gy := Sub(Mul(u, Sub(g, SumKeep(Mul(y, g), axis))), Mul(g, SumKeep(Mul(y, u), axis)))
	return []tensor.Tensor{gy, op.Eval(softmaxGradOp, y, u, axis)}
})

// LogSoftmax returns x - log Σ e^x along an axis, without intermediate overflow.
// Floating-point tensors; integers give float64.
//
// Gradient: ct - e^y·Σ ct.
func LogSoftmax(x any, axis int) tensor.Tensor { return op.Eval(logSoftmaxOp, x, axis) }

var logSoftmaxOp = alongOp("log_softmax", "x - log Σ e^x along an axis", rowKernel{
	f32: func(dst []float32, x [][]float32, n int) { reduce.LogSoftmax(dst, x[0], n) },
	f64: func(dst []float64, x [][]float64, n int) { reduce.LogSoftmax(dst, x[0], n) },
})

var _ = gradient(logSoftmaxOp, gradAlong(logSoftmaxGradOp))

var logSoftmaxGradOp = gradAlongOp("log_softmax_grad", "gradient of the log softmax along an axis", rowKernel{
	f32: func(dst []float32, x [][]float32, n int) { reduce.LogSoftmaxGrad(dst, x[0], x[1], n) },
	f64: func(dst []float64, x [][]float64, n int) { reduce.LogSoftmaxGrad(dst, x[0], x[1], n) },
})

var _ = gradient(logSoftmaxGradOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	y, g, axis, u := c.Tensor(0), c.Tensor(1), c.Int(2), ct[0]
	p := Exp(y)
	return []tensor.Tensor{
		Neg(Mul(Mul(u, p), SumKeep(g, axis))),
		Sub(u, SumKeep(Mul(p, u), axis)),
	}
})

// alongOp registers an operation on the lines of a tensor along an axis.
func alongOp(name, doc string, k rowKernel) *op.Op {
	return op.Register(&op.Op{
		Name: name, Statement: normalises, Doc: doc, Results: 1,
		Params: []op.Param{{Name: "x"}, {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: -1}},
		Elem:   floating,
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			out, err := k.along(c, c.Int(1), castDense(c.Dense(0), c.Out[0].(*tensor.Spec).DType()))
			if err != nil {
				return nil, err
			}
			return c.Result(out)
		},
	})
}

// gradAlongOp registers the gradient of an operation of alongOp, given its result
// and the cotangent.
func gradAlongOp(name, doc string, k rowKernel) *op.Op {
	return op.Register(&op.Op{
		Name: name, Statement: op.Statement{Axes: op.Along, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{two}}}, Doc: doc, Results: 1,
		Params: []op.Param{{Name: "y", Group: 1}, {Name: "ct", Group: 1}, {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: -1}},
		Elem:   floating,
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			d := c.Out[0].(*tensor.Spec).DType()
			out, err := k.along(c, c.Int(2), castDense(c.Dense(0), d), castDense(c.Dense(1), d))
			if err != nil {
				return nil, err
			}
			return c.Result(out)
		},
	})
}

// gradAlong returns the gradient of an operation of alongOp that another
// operation computes.
func gradAlong(o *op.Op) gradientN {
	return func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{op.Eval(o, out[0], ct[0], c.Int(1))}
	}
}
