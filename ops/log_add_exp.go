package ops

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// LogAddExp returns log(eˣ + eʸ), the sum of two numbers that are given by their
// logarithms, as max(x, y) + log1p(e^(-|x-y|)): nothing overflows. -∞ stands for 0, so
// that it leaves the other operand as it is. For the elements of one tensor see [LogSumExp].
//
//	x, y: floating[…], broadcast against each other → floating; integers give float64
//
// Gradients: ct·sigmoid(x-y) and ct·sigmoid(y-x).
func LogAddExp(x, y any) tensor.Tensor { return op.Binary(logAddExpOp, x, y) }

var logAddExpOp = op.Register(&op.Op{
	Name: "log_add_exp", Doc: "log(eˣ + eʸ)", Class: op.BinaryElementwise, Params: binaryParams, Results: 1, Strided: true,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		x, y := c.Tensor(0), c.Tensor(1)
		d := computedIn(x.DType(), dtype.DType.IsFloat)
		if d == dtype.None {
			return nil, undefined(c, x.DType())
		}
		s, err := broadcast(c, x.Shape(), y.Shape())
		if err != nil {
			return nil, err
		}
		return specs(d, s)
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		d := c.Out[0].(*tensor.Spec).DType()
		wide := d
		if d.Size() < 4 { // the steps between would each be rounded to half precision
			wide = dtype.Float32
		}
		x, y := castDense(c.Dense(0), wide), castDense(c.Dense(1), wide)
		sum := Add(Maximum(x, y), Log1p(Exp(Neg(Abs(Sub(x, y))))))
		// The difference of equal infinities is none.
		return []tensor.Tensor{Cast(Where(Equal(x, y), Add(x, math.Ln2), sum), d)}, nil
	},
})

func init() {
	logAddExpOp.VJP = vjp2(func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
		share := Where(Equal(x, y), 0.5, Sigmoid(Sub(x, y)))
		return Mul(ct, share), Mul(ct, Sub(1, share))
	})
}
