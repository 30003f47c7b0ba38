package linalg

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Det returns the determinants of square matrices.
//
//	x: […, n, n]  →  […]
//
// Gradient: ct·C, with C the matrix of cofactors, which exists for singular matrices too.
func Det(x any) tensor.Tensor { return op.Eval(detOp, x) }

var detOp = op.Register(&op.Op{
	Name: "linalg.det", Statement: op.Statement{Axes: op.Reduce, Core: 2, Missing: op.Refuse}, Doc: "determinants", Results: 1, Params: []op.Param{{Name: "x"}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		s, err := wantSquare(c, 0)
		if err != nil {
			return nil, err
		}
		return specs(c.Tensor(0).DType(), lead(s)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, n := elements(c, 0), c.Tensor(0).Shape().Dim(-1)
		out := make([]float64, outShape(c, 0).Size())
		each(len(out), n*n*n, func(i int) bool {
			out[i] = det(x[i*n*n:(i+1)*n*n], n)
			return true
		})
		return results(c, out)
	},
})

func init() {
	detOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{ops.Mul(ops.ExpandDims(ct[0], -1, -2), op.Eval(cofactorsOp, c.Tensor(0)))}
	}
}

// diagonal returns the diagonal of the upper factor of a matrix's LU decomposition,
// and the sign of the permutation.
func diagonal(a []float64, n int) (u []float64, sign float64) {
	if n == 0 {
		return nil, 1
	}
	lu, pivots, _ := decompose(a, n)
	u, sign = make([]float64, n), 1
	for i := range n {
		u[i] = lu.Data[i*n+i]
		if pivots[i] != i {
			sign = -sign
		}
	}
	return u, sign
}

func det(a []float64, n int) float64 {
	u, d := diagonal(a, n)
	for _, v := range u {
		d *= v
	}
	return d
}

func slogdet(a []float64, n int) (sign, log float64) {
	u, sign := diagonal(a, n)
	for _, v := range u {
		switch {
		case v == 0:
			return 0, math.Inf(-1)
		case v < 0:
			sign = -sign
		}
		log += math.Log(math.Abs(v))
	}
	return sign, log
}

// SlogDet returns the sign of the determinant of square matrices, -1, 0 or 1, and the logarithm of
// its absolute value, -Inf for 0. It does not overflow even if the determinant itself would.
//
//	x: […, n, n]  →  […], […]
//
// Gradients: ct·x⁻ᵀ for the logarithm; zero for the sign.
func SlogDet(x any) (sign, logAbs tensor.Tensor) {
	out := op.EvalN(slogDetOp, x)
	return out[0], out[1]
}

var slogDetOp = op.Register(&op.Op{
	Name: "linalg.slog_det", Statement: op.Statement{Axes: op.Reduce, Core: 2, Missing: op.Refuse}, Doc: "signs and logarithms of determinants", Results: 2, Params: []op.Param{{Name: "x"}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		s, err := wantSquare(c, 0)
		if err != nil {
			return nil, err
		}
		return specs(c.Tensor(0).DType(), lead(s), lead(s)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, n := elements(c, 0), c.Tensor(0).Shape().Dim(-1)
		signs := make([]float64, outShape(c, 0).Size())
		logs := make([]float64, len(signs))
		each(len(signs), n*n*n, func(i int) bool {
			signs[i], logs[i] = slogdet(x[i*n*n:(i+1)*n*n], n)
			return true
		})
		return results(c, signs, logs)
	},
})

func init() {
	slogDetOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		if ct[1] == nil {
			return []tensor.Tensor{nil}
		}
		return []tensor.Tensor{ops.Mul(ops.ExpandDims(ct[1], -1, -2), transposed(Inverse(c.Tensor(0))))}
	}
}

// The cofactors of a matrix x, the derivative of its determinant. They are det(x)·x⁻ᵀ if x is not
// singular and, in any case, det(U)·det(V)·U·S'·Vᵀ, where U·S·Vᵀ is the singular value
// decomposition and S' holds the products of the other singular values.
//
// Gradient, with the cotangent u and if x is not singular: Σ(u·y)·x⁻ᵀ - x⁻ᵀ·uᵀ·y.
var cofactorsOp = op.Register(&op.Op{
	Name: "linalg.cofactors", Statement: op.Statement{Axes: op.Along, Core: 2, Missing: op.Refuse}, Doc: "matrices of cofactors", Results: 1, Params: []op.Param{{Name: "x"}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		s, err := wantSquare(c, 0)
		if err != nil {
			return nil, err
		}
		return specs(c.Tensor(0).DType(), s), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, n := elements(c, 0), c.Tensor(0).Shape().Dim(-1)
		out := make([]float64, len(x))
		if len(x) == 0 {
			return results(c, out)
		}
		bad := each(len(x)/(n*n), 8*n*n*n, func(i int) bool {
			return cofactors(out[i*n*n:(i+1)*n*n], x[i*n*n:(i+1)*n*n], n)
		})
		if bad >= 0 {
			return nil, refused(c, 0, bad, "the singular value decomposition does not converge")
		}
		return results(c, out)
	},
})

func init() {
	cofactorsOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		y, u := out[0], ct[0]
		inv := transposed(Inverse(c.Tensor(0)))
		along := ops.SumKeep(ops.Mul(u, y), -1, -2)
		return []tensor.Tensor{ops.Sub(ops.Mul(along, inv), mul(inv, tMul(u, y)))}
	}
}

func cofactors(dst, a []float64, n int) bool {
	u, s, vt, ok := svd(a, n, n)
	if !ok {
		return false
	}
	sign := math.Copysign(1, det(u, n)*det(vt, n)) // both matrices are orthogonal
	for k := range n {
		others := sign
		for j, v := range s {
			if j != k {
				others *= v
			}
		}
		for i := range n {
			for j := range n {
				dst[i*n+j] += others * u[i*n+k] * vt[k*n+j]
			}
		}
	}
	return true
}
