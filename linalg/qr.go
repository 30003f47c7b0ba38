package linalg

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// QR returns Q with orthonormal columns and the upper triangular R with nonnegative diagonal such
// that Q·R = x. k is the smaller of m and n.
//
//	x: […, m, n]  →  […, m, k], […, k, n]
//
// Gradient, for m ≥ n: with M = R·ct(R)ᵀ - ct(Q)ᵀ·Q, (ct(Q) + Q·copy(M))·R⁻ᵀ, where copy mirrors
// the lower triangle above the diagonal (Seeger et al., arXiv:1710.08717). For m < n this holds for
// the first m columns, and R is linear in the others. x must have full rank.
func QR(x any) (q, r tensor.Tensor) {
	out := op.EvalN(qrOp, x)
	return out[0], out[1]
}

var qrOp = op.Register(&op.Op{
	Name: "linalg.qr", Statement: op.Statement{Axes: op.Opaque, Core: 2, Missing: op.Refuse, Why: "a decomposition of whole matrices"}, GoName: "linalg.QR", Doc: "QR decompositions", Results: 2, Params: []op.Param{{Name: "x"}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		s, err := wantMatrices(c, 0)
		if err != nil {
			return nil, err
		}
		m, n := sizes(s)
		k := lesser(m, n)
		return specs(c.Tensor(0).DType(), shape.Concat(lead(s), shape.Of(m, k)), shape.Concat(lead(s), shape.Of(k, n))), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := c.Tensor(0).Shape()
		m, n := s.Dim(-2), s.Dim(-1)
		k := min(m, n)
		x := elements(c, 0)
		q, r := make([]float64, outShape(c, 0).Size()), make([]float64, outShape(c, 1).Size())
		if len(x) > 0 {
			each(lead(s).Size(), 4*m*n*k, func(i int) bool {
				qr(q[i*m*k:(i+1)*m*k], r[i*k*n:(i+1)*k*n], x[i*m*n:(i+1)*m*n], m, n)
				return true
			})
		}
		return results(c, q, r)
	},
	Batch: again,
})

// qr decomposes a matrix with m rows and n columns, neither of which is 0.
func qr(q, r, x []float64, m, n int) {
	k := min(m, n)
	a := blas64.General{Rows: m, Cols: n, Stride: n, Data: append([]float64(nil), x...)}
	tau := make([]float64, k)
	work := query(func(w []float64, l int) { lapack64.Geqrf(a, tau, w, l) })
	lapack64.Geqrf(a, tau, work, len(work))
	for i := range k {
		copy(r[i*n+i:(i+1)*n], a.Data[i*n+i:(i+1)*n])
	}
	for i := range m {
		copy(q[i*k:(i+1)*k], a.Data[i*n:i*n+k])
	}
	o := blas64.General{Rows: m, Cols: k, Stride: k, Data: q}
	work = query(func(w []float64, l int) { lapack64.Orgqr(o, tau, w, l) })
	lapack64.Orgqr(o, tau, work, len(work))
	for i := range k { // the decomposition with a positive diagonal is unique
		if r[i*n+i] >= 0 {
			continue
		}
		for j := i; j < n; j++ {
			r[i*n+j] = -r[i*n+j]
		}
		for j := range m {
			q[j*k+i] = -q[j*k+i]
		}
	}
}

// query asks a LAPACK function how much workspace it needs, and returns it.
func query(f func(work []float64, lwork int)) []float64 {
	var size [1]float64
	f(size[:], -1)
	return make([]float64, max(1, int(size[0])))
}

func init() {
	qrOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		q, r := out[0], out[1]
		gq, gr := orZero(ct[0], q), orZero(ct[1], r)
		m, n := sizes(c.Tensor(0).Shape())
		if m < 0 || n < 0 {
			tenon.Throw(c.Errorf(tenon.ErrShape, "the gradient needs known matrix sizes"))
		}
		if m >= n {
			return []tensor.Tensor{qrGradient(q, r, gq, gr)}
		}
		// x = [x1 x2], R = [R1 R2]: R2 = Qᵀ·x2.
		x2 := columns(c.Tensor(0), m, n)
		gq = ops.Add(gq, mulT(x2, columns(gr, m, n)))
		g1 := qrGradient(q, columns(r, 0, m), gq, columns(gr, 0, m))
		return []tensor.Tensor{ops.Concat([]any{g1, mul(q, columns(gr, m, n))}, -1)}
	}
}

func qrGradient(q, r, gq, gr tensor.Tensor) tensor.Tensor {
	m := ops.Sub(mulT(r, gr), tMul(gq, q))
	m = ops.Add(ops.Tril(m, 0), transposed(ops.Tril(m, -1)))
	b := ops.Add(gq, mul(q, m))
	// b·R⁻ᵀ, as the transposed solution of R·y = bᵀ.
	return transposed(TriangularSolve(r, transposed(b), TriangularOptions{}))
}

// columns returns the columns from lo up to, but not including, hi.
func columns(x tensor.Tensor, lo, hi int) tensor.Tensor {
	return ops.Index(x, key.Ellipsis, key.Range(lo, hi, 1))
}
