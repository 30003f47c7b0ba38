package ops

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/reducing"
	"github.com/tenonml/tenon/tensor"
)

// Norm returns the vector norm (Σ |x|^p)^(1/p) over the given axes, or over all if none is given.
// It is the Euclidean or Frobenius norm for p = 2, the sum of absolute values for 1, and the
// largest absolute value for math.Inf(1). p must be positive. Floating-point tensors; integers give
// float64.
//
// Gradient: ct·sign x·(|x|/y)^(p-1), and 0 where y is 0; for an infinite p, ct shared equally among
// the largest elements.
func Norm(x any, p float64, axes ...int) tensor.Tensor {
	return op.Eval(normOp, x, axesAttr(axes), false, p)
}

// NormKeep is [Norm] with the reduced axes kept with size 1.
func NormKeep(x any, p float64, axes ...int) tensor.Tensor {
	return op.Eval(normOp, x, axesAttr(axes), true, p)
}

var normOp = op.Register(&op.Op{
	Name: "norm", Statement: reduces(op.Norms), Doc: "vector norm over axes", Results: 1,
	Params: append(reduceParams[:len(reduceParams):len(reduceParams)],
		op.Param{Name: "ord", Kind: op.Attr, Type: op.FloatType, Default: 2.0}),
	Elem: floating,
	Check: func(c *op.Call) error {
		if p := c.Float(3); !(p > 0) {
			return c.Errorf(tenon.ErrInvalid, "ord is %v, want a number above 0", p)
		}
		return nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		spec := c.Out[0].(*tensor.Spec)
		d, p := spec.DType(), c.Float(3)
		x := castDense(c.Dense(0), d)
		axes, _, err := c.SortedAxes(x.Shape())
		if err != nil {
			return nil, err
		}
		over := func(k reduce.Op, x *tensor.Dense) *tensor.Dense {
			return reduceDense(reduce.Of(k, d), x, axes, spec.Shape(), d)
		}
		apply := func(k elementwise.Op, x *tensor.Dense) *tensor.Dense {
			return unaryDense(elementwise.UnaryOf(k, d), x, d, grainCheap)
		}
		power := func(x *tensor.Dense, p float64) *tensor.Dense {
			out, _ := binaryDense(elementwise.Pow, x, castDense(tensor.Scalar(p).(*tensor.Dense), d), x.Shape(), grainDear)
			return out
		}
		switch {
		case p == 2:
			return c.Result(apply(elementwise.Sqrt, over(reduce.SumSquares, x)))
		case p == 1:
			return c.Result(over(reduce.Sum, apply(elementwise.Abs, x)))
		case math.IsInf(p, 1):
			// The norm of no elements is 0, while the maximum is -Inf.
			out, _ := binaryDense(elementwise.Maximum, over(reduce.Max, apply(elementwise.Abs, x)), zeroOf(d).(*tensor.Dense), spec.Shape(), grainCheap)
			return c.Result(out)
		}
		return c.Result(power(over(reduce.Sum, power(apply(elementwise.Abs, x), p)), 1/p))
	},
})

func init() { normOp.VJP = vjpReduction(gradOfNorm) }

func gradOfNorm(c *op.Call, g reducing.Groups, x, y, ct tensor.Tensor) tensor.Tensor {
	switch p := c.Float(3); {
	case p == 2:
		return Mul(g.Spread(divNonzero(ct, y)), x)
	case p == 1:
		return Mul(g.Spread(ct), Sign(x))
	case math.IsInf(p, 1):
		return Mul(gradOfExtreme(c, g, Abs(x), y, ct), Sign(x))
	default:
		far := divNonzero(Abs(x), g.Spread(y))
		return Mul(g.Spread(ct), Mul(Sign(x), Pow(far, p-1)))
	}
}
