package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// HandleOp answers products with dense matrices and vectors, the transpose, and elementwise
// operations that keep zero in compressed form. Everything else is done in coordinate form, and the
// result stays in that form.
func (m *Matrix) HandleOp(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	switch {
	case c.Op.Axes == op.Permute:
		if perm, _ := c.Attr("perm").([]int); len(perm) == 0 || len(perm) == 2 && (perm[0]+2)%2 == 1 && (perm[1]+2)%2 == 0 {
			return op.One(m.transposed())
		}
	case c.Op.IsUnaryElementwise() && c.Op.Zero.LinearIn(op.First):
		return op.One(m.withValues(op.Apply(c, m.values)))
	case products[c.Op.Name] != nil:
		if y, ok := products[c.Op.Name](m, c, values); ok {
			return op.One(y)
		}
	}
	switch {
	case c.Op.IsUnaryElementwise() && m.DType() != dtype.String && isZero(op.Apply(c, zeroOf(m.DType()))):
		return op.One(m.withValues(op.Apply(c, m.values)))
	case c.Op.IsBinaryElementwise() && values[0] == tenon.Value(m):
		if k, ok := single(values[1]); ok && (zeroWhere(c.Op).Has(0) || isZero(op.Apply(c, zeroOf(m.DType()), k))) {
			return op.One(m.withValues(op.Apply(c, m.values, k)))
		}
	}
	for i, v := range values {
		if x, ok := v.(*Matrix); ok {
			values[i] = x.coo()
		}
	}
	return c.WithValues(values).Do()
}

// products has the operations that have a kernel for the compressed form.
var products = map[string]func(m *Matrix, c *op.Call, values []tenon.Value) (tensor.Tensor, bool){
	"matmul": (*Matrix).matmul,
	"matvec": (*Matrix).matvec,
}

// Overrides reports whether the operation has a kernel, either for the compressed form or for the
// coordinate form.
func (*Matrix) Overrides(o *op.Op) bool { return products[o.Name] != nil || overrides[o.Name] != nil }

func plain(x tensor.Tensor) bool { return x.Spec().TypeName() == tensor.TypeName }

// matmul multiplies by a dense matrix in the form that the matrix has.
func (m *Matrix) matmul(c *op.Call, values []tenon.Value) (tensor.Tensor, bool) {
	ta, _ := c.Attr("transpose_a").(bool)
	tb, _ := c.Attr("transpose_b").(bool)
	if b, ok := values[1].(tensor.Tensor); ok && plain(b) && values[0] == tenon.Value(m) && b.Shape().Rank() == 2 {
		a := m
		if ta {
			a = m.transposed()
		}
		return a.times(flipped(b, tb), false), true
	}
	if a, ok := values[0].(tensor.Tensor); ok && plain(a) && a.Shape().Rank() == 2 {
		b := m // A·B = (Bᵀ·Aᵀ)ᵀ
		if !tb {
			b = m.transposed()
		}
		return ops.Transpose(b.times(flipped(a, !ta), false)), true
	}
	return nil, false
}

// matvec multiplies by a dense vector.
func (m *Matrix) matvec(_ *op.Call, values []tenon.Value) (tensor.Tensor, bool) {
	x, ok := values[1].(tensor.Tensor)
	if !ok || values[0] != tenon.Value(m) || !plain(x) {
		return nil, false
	}
	return m.times(ops.ExpandDims(x, 1), true), true
}

// times returns the product with a dense matrix; if column is set, it returns the only column.
func (m *Matrix) times(b tensor.Tensor, column bool) tensor.Tensor {
	checkInner(m.spec.shape.Dim(1), b.Shape().Dim(0), m.spec.String(), b.DType().String()+b.Shape().String())
	v, b := promoted(m.values, b)
	var y tensor.Tensor
	if d := v.DType(); m.spec.byColumns || d != dtype.Float32 && d != dtype.Float64 {
		t := m.coo()
		y = ops.SegmentSum(ops.Mul(ops.ExpandDims(v, 1), ops.Gather(b, t.column(1), 0)), t.column(0), t.size(0))
	} else {
		y = rows.EmbeddingBag(b, m.indices, v, m.splits)
	}
	if column {
		return ops.Squeeze(y, 1)
	}
	return y
}
