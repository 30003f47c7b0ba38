package ops

import (
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// LogAddExp returns log(eˣ + eʸ), the logarithm of the sum of two numbers given by their
// logarithms. It is computed as max(x, y) + log1p(e^(-|x-y|)), which does not overflow. -∞ is the
// logarithm of 0, so it leaves the other operand unchanged. To sum over the elements of one tensor,
// see [LogSumExp].
//
//	x, y: floating[…], broadcast against each other → floating; integers give float64
//
// Gradients: ct·sigmoid(x-y) and ct·sigmoid(y-x).
func LogAddExp(x, y any) tensor.Tensor { return op.Eval(logAddExpOp, x, y) }

var logAddExpOp = binary(elementwise.LogAddExp, op.Op{Statement: mapped, Doc: "log(eˣ + eʸ)"})

var _ = gradient(logAddExpOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	share := Where(Equal(x, y), 0.5, Sigmoid(Sub(x, y)))
	return Mul(ct, share), Mul(ct, Sub(1, share))
})
