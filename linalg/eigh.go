package linalg

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Eigh returns the eigenvalues w of symmetric matrices in ascending order, and the matrices V whose
// columns are the eigenvectors: V·diag(w)·Vᵀ = x. Only the symmetric part of x, (x + xᵀ)/2, is
// used. In each column of V, the element with the largest absolute value is positive.
//
//	x: […, n, n]  →  […, n], […, n, n]
//
// Gradient (Giles): the symmetric part of V·(diag(ct w) + F∘(Vᵀ·ct V))·Vᵀ, with F = 1/(wⱼ - wᵢ).
// That of the vectors exists if the eigenvalues are distinct.
func Eigh(x any) (w, v tensor.Tensor) {
	out := op.EvalN(eighOp, x)
	return out[0], out[1]
}

var eighOp = op.Register(&op.Op{
	Name: "linalg.eigh", Statement: op.Statement{Axes: op.Opaque, Core: 2, Missing: op.Refuse, Why: "a decomposition of whole matrices"}, Doc: "eigenvalues and eigenvectors of symmetric matrices", Results: 2, Params: []op.Param{{Name: "x"}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		s, err := wantSquare(c, 0)
		if err != nil {
			return nil, err
		}
		n, _ := sizes(s)
		return specs(c.Tensor(0).DType(), shape.Concat(lead(s), shape.Of(n)), s), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		n := c.Tensor(0).Shape().Dim(-1)
		x := elements(c, 0)
		w, v := make([]float64, outShape(c, 0).Size()), make([]float64, len(x))
		if len(x) == 0 {
			return results(c, w, v)
		}
		bad := each(len(x)/(n*n), 9*n*n*n, func(i int) bool {
			return eigh(w[i*n:(i+1)*n], v[i*n*n:(i+1)*n*n], x[i*n*n:(i+1)*n*n], n)
		})
		if bad >= 0 {
			return nil, refused(c, 0, bad, "the eigenvalues do not converge")
		}
		return results(c, w, v)
	},
	Batch: again,
})

func eigh(w, v, x []float64, n int) bool {
	for i := range n {
		for j := range n {
			v[i*n+j] = (x[i*n+j] + x[j*n+i]) / 2
		}
	}
	a := blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: v}
	work := query(func(wk []float64, l int) { lapack64.Syev(lapack.EVCompute, a, w, wk, l) })
	ok := lapack64.Syev(lapack.EVCompute, a, w, work, len(work))
	for j := range n {
		most := 0.0
		for i := range n {
			if e := v[i*n+j]; e*e > most*most {
				most = e
			}
		}
		if most < 0 {
			for i := range n {
				v[i*n+j] = -v[i*n+j]
			}
		}
	}
	return ok
}

func init() {
	eighOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		w, v := out[0], out[1]
		var inner tensor.Tensor
		if ct[1] != nil {
			inner = ops.Mul(gaps(w, w.DType()), tMul(v, ct[1]))
		}
		g := mulT(scaleColumns(v, orZero(ct[0], w)), v)
		if inner != nil {
			g = ops.Add(g, mul(v, mulT(inner, v)))
		}
		return []tensor.Tensor{symmetric(g)}
	}
}
