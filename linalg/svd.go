package linalg

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// SVD returns U with orthonormal columns, the singular values s in descending order, and Vᵀ with
// orthonormal rows such that U·diag(s)·Vᵀ = x. k is the smaller of m and n. In each column of U,
// the element with the largest absolute value is positive.
//
//	x: […, m, n]  →  […, m, k], […, k], […, k, n]
//
// Gradient (Townsend): for the values it is U·diag(ct)·Vᵀ; for the vectors it exists if the values
// are distinct and, unless the matrix is square, not 0.
func SVD(x any) (u, s, vt tensor.Tensor) {
	out := op.EvalN(svdOp, x)
	return out[0], out[1], out[2]
}

// SingularValues returns the singular values in descending order; see [SVD].
//
//	x: […, m, n]  →  […, min(m, n)]
func SingularValues(x any) tensor.Tensor {
	_, s, _ := SVD(x)
	return s
}

var svdOp = op.Register(&op.Op{
	Name: "linalg.svd", Statement: op.Statement{Axes: op.Opaque, Core: 2, Missing: op.Refuse, Why: "a decomposition of whole matrices"}, GoName: "linalg.SVD", Doc: "singular value decompositions", Results: 3, Params: []op.Param{{Name: "x"}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		s, err := wantMatrices(c, 0)
		if err != nil {
			return nil, err
		}
		m, n := sizes(s)
		k := lesser(m, n)
		l := lead(s)
		return specs(c.Tensor(0).DType(), shape.Concat(l, shape.Of(m, k)), shape.Concat(l, shape.Of(k)), shape.Concat(l, shape.Of(k, n))), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		shape := c.Tensor(0).Shape()
		m, n := shape.Dim(-2), shape.Dim(-1)
		k := min(m, n)
		x := elements(c, 0)
		u, s, vt := make([]float64, outShape(c, 0).Size()), make([]float64, outShape(c, 1).Size()), make([]float64, outShape(c, 2).Size())
		if len(x) == 0 {
			return results(c, u, s, vt)
		}
		bad := each(lead(shape).Size(), 12*m*n*k, func(i int) bool {
			ui, si, vi, ok := svd(x[i*m*n:(i+1)*m*n], m, n)
			copy(u[i*m*k:], ui)
			copy(s[i*k:], si)
			copy(vt[i*k*n:], vi)
			return ok
		})
		if bad >= 0 {
			return nil, refused(c, 0, bad, "the singular value decomposition does not converge")
		}
		return results(c, u, s, vt)
	},
	Batch: again,
})

// svd decomposes a matrix with m rows and n columns, neither of which is 0.
func svd(x []float64, m, n int) (u, s, vt []float64, ok bool) {
	k := min(m, n)
	u, s, vt = make([]float64, m*k), make([]float64, k), make([]float64, k*n)
	a := blas64.General{Rows: m, Cols: n, Stride: n, Data: append([]float64(nil), x...)}
	um, vm := blas64.General{Rows: m, Cols: k, Stride: k, Data: u}, blas64.General{Rows: k, Cols: n, Stride: n, Data: vt}
	work := query(func(w []float64, l int) { lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, a, um, vm, s, w, l) })
	ok = lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, a, um, vm, s, work, len(work))
	for j := range k {
		most := 0.0
		for i := range m {
			if v := u[i*k+j]; v*v > most*most {
				most = v
			}
		}
		if most < 0 {
			for i := range m {
				u[i*k+j] = -u[i*k+j]
			}
			for i := range n {
				vt[j*n+i] = -vt[j*n+i]
			}
		}
	}
	return u, s, vt, ok
}

func init() {
	svdOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		u, s, vt := out[0], out[1], out[2]
		if ct[0] == nil && ct[2] == nil {
			return []tensor.Tensor{mul(scaleColumns(u, ct[1]), vt)}
		}
		gu, gs, gv := orZero(ct[0], u), orZero(ct[1], s), transposed(orZero(ct[2], vt))
		v := transposed(vt)
		f := gaps(ops.Square(s), s.DType())
		skew := func(a tensor.Tensor) tensor.Tensor { return ops.Sub(a, transposed(a)) }
		inner := ops.Add(scaleColumns(ops.Mul(f, skew(tMul(u, gu))), s), scaleRows(s, ops.Mul(f, skew(tMul(v, gv)))))
		g := mul(ops.Add(mul(u, inner), scaleColumns(u, gs)), vt)
		m, n := sizes(c.Tensor(0).Shape())
		inv := ops.Reciprocal(s)
		if m != n || m < 0 {
			outside := func(p, a tensor.Tensor) tensor.Tensor { return ops.Sub(a, mul(p, tMul(p, a))) }
			if ct[0] != nil && (m > n || m < 0 || n < 0) {
				g = ops.Add(g, mul(scaleColumns(outside(u, gu), inv), vt))
			}
			if ct[2] != nil && (m < n || m < 0 || n < 0) {
				g = ops.Add(g, mul(u, scaleRows(inv, transposed(outside(v, gv)))))
			}
		}
		return []tensor.Tensor{g}
	}
}

// gaps returns matrices with 1/(vⱼ - vᵢ) at [i, j], and 0 if i = j or the values are equal.
func gaps(v tensor.Tensor, d dtype.DType) tensor.Tensor {
	diff := ops.Sub(ops.ExpandDims(v, -2), ops.ExpandDims(v, -1))
	equal := ops.Equal(diff, 0)
	one, zero := ops.Cast(1.0, d), ops.Cast(0.0, d)
	return ops.Where(equal, zero, ops.Div(one, ops.Where(equal, one, diff)))
}
