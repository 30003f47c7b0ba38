package linalg

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Cholesky returns the lower triangular L with positive diagonal such that L·Lᵀ = x, for symmetric
// positive definite matrices. Only the lower triangle of x is used.
//
//	x: […, n, n]  →  […, n, n]
//
// Gradient (Murray): with P the lower triangle of Lᵀ·ct with its diagonal halved, the symmetric
// part of L⁻ᵀ·P·L⁻¹.
func Cholesky(x any) tensor.Tensor { return op.Eval(choleskyOp, x) }

var choleskyOp = op.Register(&op.Op{
	Name: "linalg.cholesky", Statement: op.Statement{Axes: op.Along, Core: 2, Missing: op.Refuse}, Doc: "Cholesky factor of positive definite matrices", Params: []op.Param{{Name: "x"}}, Results: 1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		s, err := wantSquare(c, 0)
		if err != nil {
			return nil, err
		}
		return specs(c.Tensor(0).DType(), s), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		n := s.Dim(-1)
		x := elements(c, 0)
		out := make([]float64, len(x))
		if len(x) == 0 {
			return results(c, out)
		}
		bad := each(len(x)/(n*n), n*n*n/3, func(i int) bool {
			l := out[i*n*n : (i+1)*n*n]
			for r := range n {
				copy(l[r*n:r*n+r+1], x[(i*n+r)*n:])
			}
			_, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: l})
			return ok
		})
		if bad >= 0 {
			return nil, refused(c, 0, bad, "the matrix is not positive definite")
		}
		return results(c, out)
	},
})

func init() {
	choleskyOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		l := out[0]
		p := tMul(l, ct[0])
		p = ops.Mul(ops.Add(ops.Tril(p, 0), ops.Tril(p, -1)), 0.5)
		// L⁻ᵀ·P·L⁻¹, by solving two triangular systems.
		left := TriangularSolve(l, p, TriangularOptions{Lower: true, Transpose: true})
		s := transposed(TriangularSolve(l, transposed(left), TriangularOptions{Lower: true, Transpose: true}))
		return []tensor.Tensor{symmetric(s)}
	}
}
