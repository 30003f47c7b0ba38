package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// MatMulOptions says which operands of [MatMul] are transposed and, if they are complex,
// conjugated.
type MatMulOptions struct {
	AdjointA, AdjointB bool
}

// MatMul returns the product of two matrices, at least one of which is sparse. The result is dense
// if one of them is, and otherwise sparse in row-major order.
//
//	a: [n, m], b: [m, p] → [n, p]
func MatMul(a, b tensor.Tensor, o MatMulOptions) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	x, sparseA := a.(*Tensor)
	z, sparseB := b.(*Tensor)
	switch {
	case sparseA && sparseB:
		return x.adjoint(o.AdjointA).timesSparse(z.adjoint(o.AdjointB)), nil
	case sparseA:
		return x.adjoint(o.AdjointA).times(denseAdjoint(b, o.AdjointB)), nil
	case sparseB:
		// A·B = (Bᵀ·Aᵀ)ᵀ
		return ops.Transpose(z.adjoint(o.AdjointB).matrix("MatMul").transposed(nil).times(ops.Transpose(denseAdjoint(a, o.AdjointA)))), nil
	}
	return nil, bad("MatMul", tenon.ErrDType, "", "neither operand is sparse: use ops.MatMul")
}

func (t *Tensor) matrix(fn string) *Tensor {
	if t.rank() != 2 {
		tenon.Throw(bad(fn, tenon.ErrShape, "", "%v is not a matrix", t.spec))
	}
	return t
}

func (t *Tensor) adjoint(yes bool) *Tensor {
	t.matrix("MatMul")
	if !yes {
		return t
	}
	if t.DType().IsComplex() {
		t = t.withValues(ops.Conj(t.values))
	}
	return t.transposed(nil)
}

func denseAdjoint(x tensor.Tensor, yes bool) tensor.Tensor {
	if s := x.Shape(); s.HasRank() && s.Rank() != 2 {
		tenon.Throw(bad("MatMul", tenon.ErrShape, "", "a tensor of shape %v is not a matrix", s))
	}
	if !yes {
		return x
	}
	if x.DType().IsComplex() {
		x = ops.Conj(x)
	}
	return ops.Transpose(x)
}

func checkInner(a, b int, x, y string) {
	if a >= 0 && b >= 0 && a != b {
		tenon.Throw(bad("MatMul", tenon.ErrShape, "", "inner sizes %d and %d of %s and %s differ", a, b, x, y))
	}
}

// times returns the product with a dense matrix: for each row, the sum of the rows of b given by
// the columns, multiplied by the values.
func (t *Tensor) times(b tensor.Tensor) tensor.Tensor {
	checkInner(t.dim(1), b.Shape().Dim(0), t.spec.String(), b.DType().String()+b.Shape().String())
	v, b := promoted(t.values, b)
	s := t.withValues(v).sorted()
	switch s.DType() {
	case dtype.Float32, dtype.Float64:
		return rows.EmbeddingBag(b, s.column(1), s.values, rows.FromRowIDs(s.column(0), s.size(0)))
	}
	return ops.SegmentSum(ops.Mul(ops.ExpandDims(s.values, 1), ops.Gather(b, s.column(1), 0)), s.column(0), s.size(0))
}

// promoted promotes values and a dense operand to a common element type.
func promoted(v, b tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
	d := tenon.Must(dtype.Promote(v.DType(), b.DType()))
	return ops.Cast(v, d), ops.Cast(b, d)
}

// timesSparse returns the product with a sparse matrix: each value is multiplied by those of the
// row of b given by its column (F. G. Gustavson, "Two fast algorithms for sparse matrices", ACM
// TOMS 4, 1978).
func (t *Tensor) timesSparse(b *Tensor) *Tensor {
	checkInner(t.dim(1), b.dim(0), t.spec.String(), b.spec.String())
	splits, index := rows.Match([]any{t.column(1)}, []any{b.column(0)})
	at := rows.RowIDs(splits, shape.Unknown)
	columns := []tensor.Tensor{ops.Gather(t.column(0), at, 0), ops.Gather(b.column(1), index, 0)}
	values := ops.Mul(ops.Gather(t.values, at, 0), ops.Gather(b.values, index, 0))
	return t.build(columns, values, []any{t.size(0), b.size(1)}).coalesced()
}

// timesVector returns the product with a dense vector.
func (t *Tensor) timesVector(x tensor.Tensor) tensor.Tensor {
	checkInner(t.matrix("MatVec").dim(1), x.Shape().Dim(0), t.spec.String(), x.DType().String()+x.Shape().String())
	v, x := promoted(t.values, x)
	return ops.SegmentSum(ops.Mul(v, ops.Gather(x, t.column(1), 0)), t.column(0), t.size(0))
}

// SampledAddMM returns beta·t + alpha·(a·b) at the coordinates of t, without computing the rest of
// the product. Leading dimensions are batch dimensions.
//
//	t: [c, n, m], a: [c, n, k], b: [c, k, m] → [c, n, m]
func (t *Tensor) SampledAddMM(a, b any, alpha, beta any) (r *Tensor, err error) {
	defer tenon.Catch(&err)
	x := tenon.Must(tensor.Convert(a))
	y := tenon.Must(tensor.Convert(b))
	k := t.rank()
	if k < 2 || x.Shape().Rank() != k || y.Shape().Rank() != k {
		return nil, bad("SampledAddMM", tenon.ErrShape, "", "%v, %v and %v are not matrices of equal rank", t.spec, x.Shape(), y.Shape())
	}
	checkInner(x.Shape().Dim(-1), y.Shape().Dim(-2), x.Shape().String(), y.Shape().String())
	left := ops.Index(t.indices, key.All, key.To(k-1)) // batch, row
	right := ops.Concat([]tensor.Tensor{ops.Index(t.indices, key.All, key.To(k-2)), ops.Index(t.indices, key.All, key.From(k-1))}, 1)
	product := ops.Sum(ops.Mul(ops.GatherND(x, left, 0), ops.GatherND(ops.SwapAxes(y, -1, -2), right, 0)), 1)
	return t.withValues(ops.Add(ops.Mul(t.values, beta), ops.Mul(product, alpha))), nil
}
