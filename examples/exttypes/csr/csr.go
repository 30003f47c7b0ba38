package csr

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Matrix is a sparse matrix. Row i has the values and columns from RowSplits[i] up to
// RowSplits[i+1].
type Matrix struct {
	Values     tensor.Tensor `tenon:"shape=[stored]"`
	Columns    tensor.Tensor `tenon:"dtype=integer,shape=[stored]"`
	RowSplits  tensor.Tensor `tenon:"dtype=integer,shape=[rows+1]"`
	NumColumns int
}

func init() { ext.Register[Matrix]("tenonml.com/examples/exttypes.CSRMatrix") }

// Spec returns the Spec of the parts.
func (m Matrix) Spec() tenon.Spec { return ext.SpecOf(m) }

// String prints the parts.
func (m Matrix) String() string { return ext.String(m) }

// DType returns the type of the values.
func (m Matrix) DType() dtype.DType { return m.Values.DType() }

// Shape returns [rows, columns].
func (m Matrix) Shape() shape.Shape {
	rows := shape.Unknown
	if n := m.RowSplits.Shape().Dim(0); n > 0 {
		rows = n - 1
	}
	return shape.Of(rows, m.NumColumns)
}

// Validate checks that the row splits increase and that columns exist, if the data is known.
func (m Matrix) Validate() error {
	if m.NumColumns < 0 {
		return &tenon.Error{Kind: tenon.ErrInvalid, Where: "NumColumns", Msg: "is negative"}
	}
	if _, err := ragged.FromRowSplits(m.Values, m.RowSplits); err != nil {
		return err
	}
	c, ok := op.Known(ops.Cast(m.Columns, dtype.Int64))
	if !ok {
		return nil
	}
	for i, x := range tensor.Data[int64](c) {
		if x < 0 || x >= int64(m.NumColumns) {
			return &tenon.Error{Kind: tenon.ErrInvalid, Where: fmt.Sprintf("Columns[%d]", i), Msg: fmt.Sprintf("is %d, but there are %d columns", x, m.NumColumns)}
		}
	}
	return nil
}

// FromDense returns the elements of a matrix that are not zero.
func FromDense(x any) (m Matrix, err error) {
	defer tenon.Catch(&err)
	d, err := tensor.Convert(x)
	if err != nil {
		return m, err
	}
	if d.Shape().Rank() != 2 || d.Shape().Dim(1) < 0 {
		return m, tenon.NewError(tenon.ErrShape, "csr.FromDense", fmt.Sprintf("%s is not a matrix with a known number of columns", tenon.String(d.Spec())))
	}
	at := ops.Nonzero(d)
	rows := ops.Index(ops.Shape(d), 0)
	splits := ops.SearchSorted(ops.Index(at, key.All, 0), ops.Range(0, ops.Add(rows, 1), 1), false)
	return ext.New(Matrix{ops.GatherND(d, at, 0), ops.Index(at, key.All, 1), splits, d.Shape().Dim(1)})
}

// ToDense returns the dense matrix: [rows, columns].
func (m Matrix) ToDense() (d tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	p := m.rows(m.Columns).Partition()
	columns := ops.Cast(m.Columns, dtype.Int64)
	at := ops.Stack([]tensor.Tensor{ops.Cast(p.ValueRowIDs(), dtype.Int64), columns}, 1)
	size := ops.Stack([]tensor.Tensor{ops.Cast(p.NRows(), dtype.Int64), tensor.Scalar(int64(m.NumColumns))}, 0)
	return ops.ScatterND(at, m.Values, size), nil
}

// rows divides items, one for each stored value, into the rows.
func (m Matrix) rows(items tensor.Tensor) *ragged.Tensor {
	return tenon.Must(ragged.FromRowSplits(items, m.RowSplits))
}

// HandleOp handles products with dense matrices and vectors on the right, the shape, and
// operations that map zero to zero.
func (m Matrix) HandleOp(c *op.Call) ([]tenon.Value, error) {
	switch c.Op.Name {
	case "matvec", "matmul":
		return multiply(c)
	case "shape":
		n := ops.Cast(m.rows(m.Columns).NRows(), dtype.Int64)
		return op.One(ops.Stack([]tensor.Tensor{n, tensor.Scalar(int64(m.NumColumns))}, 0))
	case "neg", "abs", "square", "sqrt", "sign", "relu", "identity":
		x := c.Value(0).(Matrix)
		x.Values = op.Apply(c, x.Values)
		return op.One(x)
	case "mul":
		x, ok := c.Value(0).(Matrix)
		y, scalar := c.Value(1).(tensor.Tensor)
		if ok && scalar && tenon.IsLeaf(y.Spec()) && y.Shape().IsScalar() {
			x.Values = op.Apply(c, x.Values, y)
			return op.One(x)
		}
	}
	return nil, op.NotHandled
}

// multiply returns the product with a vector or a matrix: for each row, the sum of its values
// times the rows of the right operand that correspond to their columns.
func multiply(c *op.Call) ([]tenon.Value, error) {
	a, ok := c.Value(0).(Matrix)
	b, ok2 := c.Value(1).(tensor.Tensor)
	if !ok || !ok2 || !tenon.IsLeaf(b.Spec()) || c.Op.Name == "matmul" && (c.Attr("transpose_a") == true || c.Attr("transpose_b") == true) {
		return nil, op.NotHandled
	}
	rank := 2
	if c.Op.Name == "matvec" {
		rank = 1
	}
	s := b.Shape()
	if s.HasRank() && (s.Rank() != rank || s.Dim(0) >= 0 && s.Dim(0) != a.NumColumns) {
		return nil, c.Errorf(tenon.ErrShape, "the right operand has shape %v, want %d axes, the first of size %d", s, rank, a.NumColumns)
	}
	values := a.Values
	if rank == 2 {
		values = ops.ExpandDims(values, 1)
	}
	return op.One(ops.Sum(a.rows(ops.Mul(values, ops.Gather(b, a.Columns, 0))), 1))
}

// PowerIteration returns the largest eigenvalue of a square matrix by magnitude, and
// its eigenvector of length 1, after a number of steps from the vector start. It
// throws errors.
func PowerIteration(m Matrix, start tensor.Tensor, steps int) (value, vector tensor.Tensor) {
	type state struct {
		M Matrix
		V tensor.Tensor
		N tensor.Tensor
	}
	unit := func(v tensor.Tensor) tensor.Tensor { return ops.Div(v, ops.Norm(v, 2)) }
	last := control.While(
		func(s state) tensor.Tensor { return ops.Less(s.N, int64(steps)) },
		func(s state) state { return state{s.M, unit(ops.MatVec(s.M, s.V)), ops.Add(s.N, int64(1))} },
		state{m, unit(start), tensor.Scalar(int64(0))})
	return ops.Sum(ops.Mul(last.V, ops.MatVec(m, last.V))), last.V
}
