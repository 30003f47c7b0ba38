package linalg

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// TriangularOptions describes the matrices of [TriangularSolve].
type TriangularOptions struct {
	Lower     bool // the lower triangle is used, otherwise the upper one
	Transpose bool // solves aᵀ·x = b
}

// TriangularSolve solves a·x = b for triangular matrices a; the other triangle is ignored. Leading
// axes broadcast. A zero on the diagonal is an error.
//
//	a: […, n, n], b: […, n, k]  →  […, n, k]
//
// Gradient: with g the solution of aᵀ·g = ct, g for b and the triangle of -g·xᵀ for a.
func TriangularSolve(a, b any, o TriangularOptions) tensor.Tensor {
	return op.Eval(triangularSolveOp, a, b, o.Lower, o.Transpose)
}

var triangularSolveOp = op.Register(&op.Op{
	Name: "linalg.triangular_solve", Statement: op.Statement{Axes: op.Opaque, Core: 2, Missing: op.Refuse, Why: "solutions of whole systems of equations"}, Doc: "solutions of triangular systems", Results: 1,
	Params: []op.Param{
		{Name: "a", Group: 1}, {Name: "b", Group: 1},
		{Name: "lower", Kind: op.Attr, Type: op.BoolType, Default: true}, {Name: "transpose", Kind: op.Attr, Type: op.BoolType, Default: false},
	},
	Infer: inferSolve,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		p := newSystems(c)
		uplo, trans := blas.Upper, blas.NoTrans
		if c.Bool(2) {
			uplo = blas.Lower
		}
		if c.Bool(3) {
			trans = blas.Trans
		}
		return p.solve(c, func(a []float64, x blas64.General) bool {
			for i := range p.n {
				if a[i*p.n+i] == 0 {
					return false
				}
			}
			blas64.Trsm(blas.Left, trans, 1, blas64.Triangular{Uplo: uplo, Diag: blas.NonUnit, N: p.n, Stride: p.n, Data: a}, x)
			return true
		})
	},
	Batch: againAligned,
})

func init() {
	triangularSolveOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		a, b, x := c.Tensor(0), c.Tensor(1), out[0]
		lower, trans := c.Bool(2), c.Bool(3)
		gb := TriangularSolve(a, ct[0], TriangularOptions{lower, !trans})
		ga := mulT(gb, x)
		if trans {
			ga = mulT(x, gb)
		}
		if lower {
			ga = ops.Tril(ga, 0)
		} else {
			ga = ops.Triu(ga, 0)
		}
		return []tensor.Tensor{sumTo(ops.Neg(ga), a), sumTo(gb, b)}
	}
}

// inferSolve checks that a is square and that b has as many rows.
func inferSolve(c *op.Call) ([]tenon.Spec, error) {
	s, err := wantSquare(c, 0)
	if err != nil {
		return nil, err
	}
	t, err := wantMatrices(c, 1)
	if err != nil {
		return nil, err
	}
	n, _ := sizes(s)
	rows, cols := sizes(t)
	if n >= 0 && rows >= 0 && n != rows {
		return nil, c.Errorf(tenon.ErrShape, "b has %d rows, a has %d", rows, n)
	}
	b, err := broadcastLead(c, s, t)
	if err != nil {
		return nil, err
	}
	return specs(c.Tensor(0).DType(), shape.Concat(b, shape.Of(max(n, rows), cols))), nil
}

// systems are the linear systems of a call with broadcast leading axes.
type systems struct {
	n, k   int
	a, b   []float64
	ai, bi []int // the number of each operand's matrix for each system
}

func newSystems(c *op.Call) *systems {
	s := outShape(c, 0)
	batch := lead(s)
	return &systems{
		n: s.Dim(-2), k: s.Dim(-1), a: elements(c, 0), b: elements(c, 1),
		ai: stretch(lead(c.Tensor(0).Shape()), batch), bi: stretch(lead(c.Tensor(1).Shape()), batch),
	}
}

// solve calls f with the matrix of each system, which it must not change, and the
// right-hand sides, which it overwrites with the solution.
func (p *systems) solve(c *op.Call, f func(a []float64, x blas64.General) bool) ([]tensor.Tensor, error) {
	size := p.n * p.k
	out := make([]float64, len(p.ai)*size)
	if len(out) == 0 {
		return results(c, out)
	}
	bad := each(len(p.ai), p.n*p.n*(p.n+p.k), func(i int) bool {
		x := out[i*size : (i+1)*size]
		copy(x, p.b[p.bi[i]*size:])
		return f(p.a[p.ai[i]*p.n*p.n:][:p.n*p.n], blas64.General{Rows: p.n, Cols: p.k, Stride: p.k, Data: x})
	})
	if bad >= 0 {
		return nil, refused(c, 0, p.ai[bad], "the matrix is singular")
	}
	return results(c, out)
}

// Solve solves a·x = b by LU decomposition with partial pivoting. Leading axes
// broadcast. A singular matrix is an error.
//
//	a: […, n, n], b: […, n, k]  →  […, n, k]
//
// Gradient: with g the solution of aᵀ·g = ct, g for b and -g·xᵀ for a.
func Solve(a, b any) tensor.Tensor { return op.Eval(solveOp, a, b) }

var solveOp = op.Register(&op.Op{
	Name: "linalg.solve", Statement: op.Statement{Axes: op.Opaque, Core: 2, Missing: op.Refuse, Why: "solutions of whole systems of equations"}, Doc: "solutions of linear systems", Results: 1,
	Params: []op.Param{{Name: "a", Group: 1}, {Name: "b", Group: 1}},
	Infer:  inferSolve,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		p := newSystems(c)
		return p.solve(c, func(a []float64, x blas64.General) bool {
			lu, pivots, ok := decompose(a, p.n)
			if ok {
				lapack64.Getrs(blas.NoTrans, lu, x, pivots)
			}
			return ok
		})
	},
	Batch: againAligned,
})

func init() {
	solveOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		a, b := c.Tensor(0), c.Tensor(1)
		g := Solve(transposed(a), ct[0])
		return []tensor.Tensor{sumTo(ops.Neg(mulT(g, out[0])), a), sumTo(g, b)}
	}
}

// decompose returns the LU decomposition of a matrix; ok is false if a pivot is 0.
func decompose(a []float64, n int) (lu blas64.General, pivots []int, ok bool) {
	lu = blas64.General{Rows: n, Cols: n, Stride: n, Data: append([]float64(nil), a...)}
	pivots = make([]int, n)
	ok = lapack64.Getrf(lu, pivots)
	return lu, pivots, ok
}

// Inverse returns the inverses of square matrices. A singular matrix is an error.
// [Solve] is faster and more accurate if the inverse is only used in a product.
//
//	x: […, n, n]  →  […, n, n]
//
// Gradient: -yᵀ·ct·yᵀ.
func Inverse(x any) tensor.Tensor { return op.Eval(inverseOp, x) }

var inverseOp = op.Register(&op.Op{
	Name: "linalg.inverse", Statement: op.Statement{Axes: op.Along, Core: 2, Missing: op.Refuse}, Doc: "inverses of square matrices", Results: 1, Params: []op.Param{{Name: "x"}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		s, err := wantSquare(c, 0)
		if err != nil {
			return nil, err
		}
		return specs(c.Tensor(0).DType(), s), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := elements(c, 0)
		n := outShape(c, 0).Dim(-1)
		out := make([]float64, len(x))
		if len(x) == 0 {
			return results(c, out)
		}
		bad := each(len(x)/(n*n), 2*n*n*n, func(i int) bool {
			return inverse(out[i*n*n:(i+1)*n*n], x[i*n*n:(i+1)*n*n], n)
		})
		if bad >= 0 {
			return nil, refused(c, 0, bad, "the matrix is singular")
		}
		return results(c, out)
	},
})

func init() {
	inverseOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{ops.Neg(tMul(out[0], mulT(ct[0], out[0])))}
	}
}

// inverse sets dst to the inverse of a matrix, and reports whether there is one.
func inverse(dst, a []float64, n int) bool {
	lu, pivots, ok := decompose(a, n)
	if !ok {
		return false
	}
	clear(dst)
	for i := range n {
		dst[i*n+i] = 1
	}
	lapack64.Getrs(blas.NoTrans, lu, blas64.General{Rows: n, Cols: n, Stride: n, Data: dst}, pivots)
	return true
}
