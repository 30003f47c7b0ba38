package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// LstSq returns the x of minimum norm among those that minimize the norm of a·x - b. It uses the
// singular value decomposition; singular values below max(m, n)·ε times the largest one count as 0,
// where ε is the precision of float64. Leading axes broadcast.
//
//	a: […, m, n], b: […, m, k]  →  […, n, k]
//
// Gradient, if a has full rank: for m ≥ n, with G = (aᵀa)⁻¹·ct and the residual r = b - a·x: a·G
// for b, r·Gᵀ - a·G·xᵀ for a. For m < n, with H = (aaᵀ)⁻¹·a·ct and z = (aaᵀ)⁻¹·b: H for b, z·(ct -
// aᵀH)ᵀ - H·xᵀ for a.
func LstSq(a, b any) tensor.Tensor { return op.Eval(lstSqOp, a, b) }

var lstSqOp = op.Register(&op.Op{
	Name: "linalg.lst_sq", Statement: op.Statement{Axes: op.Opaque, Core: 2, Missing: op.Refuse, Why: "solutions of whole systems of equations"}, Doc: "solutions of least squares", Results: 1,
	Params: []op.Param{{Name: "a", Group: 1}, {Name: "b", Group: 1}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		s, err := wantMatrices(c, 0)
		if err != nil {
			return nil, err
		}
		t, err := wantMatrices(c, 1)
		if err != nil {
			return nil, err
		}
		m, n := sizes(s)
		rows, k := sizes(t)
		if m >= 0 && rows >= 0 && m != rows {
			return nil, c.Errorf(tenon.ErrShape, "b has %d rows, a has %d", rows, m)
		}
		l, err := broadcastLead(c, s, t)
		if err != nil {
			return nil, err
		}
		return specs(c.Tensor(0).DType(), shape.Concat(l, shape.Of(n, k))), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		as, bs, batch := c.Tensor(0).Shape(), c.Tensor(1).Shape(), lead(outShape(c, 0))
		m, n, k := as.Dim(-2), as.Dim(-1), bs.Dim(-1)
		a, b := elements(c, 0), elements(c, 1)
		ai, bi := stretch(lead(as), batch), stretch(lead(bs), batch)
		out := make([]float64, len(ai)*n*k)
		if m == 0 || len(out) == 0 {
			return results(c, out)
		}
		bad := each(len(ai), 12*m*n*min(m, n), func(i int) bool {
			return lstsq(out[i*n*k:(i+1)*n*k], a[ai[i]*m*n:][:m*n], b[bi[i]*m*k:][:m*k], m, n, k)
		})
		if bad >= 0 {
			return nil, refused(c, 0, ai[bad], "the singular value decomposition does not converge")
		}
		return results(c, out)
	},
	Batch: againAligned,
})

// lstsq sets dst to V·S⁺·Uᵀ·b.
func lstsq(dst, a, b []float64, m, n, k int) bool {
	u, s, vt, ok := svd(a, m, n)
	if !ok {
		return false
	}
	r := len(s)
	c := blas64.General{Rows: r, Cols: k, Stride: k, Data: make([]float64, r*k)}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, blas64.General{Rows: m, Cols: r, Stride: r, Data: u}, blas64.General{Rows: m, Cols: k, Stride: k, Data: b}, 0, c)
	limit := s[0] * float64(max(m, n)) * 0x1p-52
	for i, v := range s {
		f := 0.0
		if v > limit && !math.IsNaN(v) {
			f = 1 / v
		}
		for j := range k {
			c.Data[i*k+j] *= f
		}
	}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, blas64.General{Rows: r, Cols: n, Stride: n, Data: vt}, c, 0, blas64.General{Rows: n, Cols: k, Stride: k, Data: dst})
	return true
}

func init() {
	lstSqOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		a, b, x, g := c.Tensor(0), c.Tensor(1), out[0], ct[0]
		m, n := sizes(a.Shape())
		if m < 0 || n < 0 {
			tenon.Throw(c.Errorf(tenon.ErrShape, "the gradient needs known matrix sizes"))
		}
		var ga, gb tensor.Tensor
		if m >= n {
			s := Solve(tMul(a, a), g)
			gb = mul(a, s)
			ga = ops.Sub(mulT(ops.Sub(b, mul(a, x)), s), mulT(gb, x))
		} else {
			outer := mulT(a, a)
			gb = Solve(outer, mul(a, g))
			z := Solve(outer, b)
			ga = ops.Sub(mulT(z, ops.Sub(g, tMul(a, gb))), mulT(gb, x))
		}
		return []tensor.Tensor{sumTo(ga, a), sumTo(gb, b)}
	}
}
