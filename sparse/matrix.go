package sparse

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Matrix is a sparse matrix in compressed form, by rows (CSR) or by columns (CSC). This is the form
// for products: the values of a row are consecutive, and only one coordinate is stored for each. A
// Matrix is immutable.
//
//	splits   [0 1 3 4]        values of row i are values[splits[i]:splits[i+1]]
//	indices  [1 0 3 2]        their columns
//	values   [1. -2. 3. 4.]
type Matrix struct {
	spec    *MatrixSpec
	splits  tensor.Tensor // int64[rows+1]; in a CSC matrix, for columns
	indices tensor.Tensor // int64[n]
	values  tensor.Tensor // [n]
	width   tensor.Tensor // int64[], the size that splits do not determine
}

var (
	_ tensor.Tensor = (*Matrix)(nil)
	_ op.Handler    = (*Matrix)(nil)
)

// NewCSR returns the matrix whose row i has values[splits[i]:splits[i+1]] in the columns given by
// indices. A column outside the matrix is an error that names its value.
//
//	splits: int64[rows+1], indices: int64[n], values: [n] → [rows, columns]
func NewCSR(splits, indices, values any, columns int) (*Matrix, error) {
	return newMatrix("NewCSR", splits, indices, values, tensor.Scalar(int64(columns)), false)
}

// NewCSC is [NewCSR] with rows and columns exchanged.
//
//	splits: int64[columns+1], indices: int64[n], values: [n] → [rows, columns]
func NewCSC(splits, indices, values any, rows int) (*Matrix, error) {
	return newMatrix("NewCSC", splits, indices, values, tensor.Scalar(int64(rows)), true)
}

func newMatrix(fn string, splits, indices, values any, width tensor.Tensor, byColumns bool) (m *Matrix, err error) {
	defer tenon.Catch(&err)
	m = &Matrix{splits: tenon.Must(tensor.Convert(splits)), indices: tenon.Must(tensor.Convert(indices)), values: tenon.Must(tensor.Convert(values)), width: width}
	tenon.Throw(m.check(fn, byColumns))
	return m, nil
}

func (m *Matrix) check(fn string, byColumns bool) error {
	if m.splits.DType() != dtype.Int64 || m.indices.DType() != dtype.Int64 {
		return bad(fn, tenon.ErrDType, "", "splits and indices are %v and %v, want int64", m.splits.DType(), m.indices.DType())
	}
	ss, is, vs := m.splits.Shape(), m.indices.Shape(), m.values.Shape()
	one := shape.OfRank(1)
	if !ss.CompatibleWith(one) || !is.CompatibleWith(one) || !vs.CompatibleWith(one) || !is.CompatibleWith(vs) || ss.Size() == 0 {
		return bad(fn, tenon.ErrShape, "", "splits, indices and values have the shapes %v, %v and %v, want [rows+1], [n] and [n]", ss, is, vs)
	}
	lines, width := shape.Unknown, shape.Unknown
	if n := ss.Dim(0); n > 0 {
		lines = n - 1
	}
	if w, ok := op.Known(m.width); ok {
		if width = int(tensor.Item[int64](w)); width < 0 {
			return bad(fn, tenon.ErrInvalid, "", "%d is not a size", width)
		}
	}
	m.splits = rows.Validate(m.splits, length(m.values))
	if known, ok := op.Known(m.indices); ok && width >= 0 {
		for i, x := range tensor.Data[int64](known) {
			if x < 0 || x >= int64(width) {
				return bad(fn, tenon.ErrInvalid, fmt.Sprintf("indices[%d]", i), "is %d, the size is %d", x, width)
			}
		}
	}
	dims := shape.Of(lines, width)
	if byColumns {
		dims = shape.Of(width, lines)
	}
	m.spec = &MatrixSpec{m.values.DType(), dims, byColumns}
	return nil
}

// ToCSR converts a sparse matrix to CSR form.
func ToCSR(t tensor.Tensor) (*Matrix, error) { return compress("ToCSR", t, false) }

// ToCSC converts a sparse matrix to CSC form.
func ToCSC(t tensor.Tensor) (*Matrix, error) { return compress("ToCSC", t, true) }

// compress converts a matrix in coordinate form, a compressed one or a dense one.
func compress(fn string, x tensor.Tensor, byColumns bool) (m *Matrix, err error) {
	defer tenon.Catch(&err)
	var t *Tensor
	switch x := x.(type) {
	case *Matrix:
		if x.spec.byColumns == byColumns {
			return x, nil
		}
		t = x.coo()
	case *Tensor:
		t = x
	default:
		t = tenon.Must(FromDense(x))
	}
	t.matrix(fn)
	s, lines, width := t.coalesced(), t.size(0), t.size(1)
	if byColumns {
		s, lines, width = s.transposed(nil), width, lines
	}
	return &Matrix{spec: &MatrixSpec{s.DType(), shape.Of(t.dim(0), t.dim(1)), byColumns},
		splits: rows.FromRowIDs(s.column(0), lines), indices: s.column(1), values: s.values, width: scalarOf(width)}, nil
}

// Spec returns the *MatrixSpec.
func (m *Matrix) Spec() tenon.Spec { return m.spec }

// DType returns the type of the values.
func (m *Matrix) DType() dtype.DType { return m.spec.dtype }

// Shape returns the numbers of rows and columns.
func (m *Matrix) Shape() shape.Shape { return m.spec.shape }

// Splits returns the offsets at which the values of each row (CSC: column) begin
// and end.
func (m *Matrix) Splits() tensor.Tensor { return m.splits }

// Indices returns the column (CSC: row) of each value.
func (m *Matrix) Indices() tensor.Tensor { return m.indices }

// Values returns the values.
func (m *Matrix) Values() tensor.Tensor { return m.values }

// IsCSC reports whether the matrix is stored by columns.
func (m *Matrix) IsCSC() bool { return m.spec.byColumns }

// ToCOO returns the matrix in coordinate form.
func (m *Matrix) ToCOO() (t *Tensor, err error) {
	defer tenon.Catch(&err)
	return m.coo(), nil
}

func (m *Matrix) coo() *Tensor {
	lines := rows.RowIDs(m.splits, m.values.Shape().Dim(0))
	count := any(m.spec.lines())
	if m.spec.lines() < 0 {
		count = ops.Sub(ops.Index(ops.Shape(m.splits), 0), int64(1))
	}
	width := any(m.spec.shape.Dim(1))
	columns, ns := []tensor.Tensor{lines, m.indices}, []any{count, width}
	if m.spec.byColumns {
		width = m.spec.shape.Dim(0)
		columns, ns = []tensor.Tensor{m.indices, lines}, []any{width, count}
	}
	for i, w := range ns {
		if w == any(shape.Unknown) {
			ns[i] = m.width
		}
	}
	return (&Tensor{}).build(columns, m.values, ns)
}

// ToDense returns the dense matrix.
func (m *Matrix) ToDense() (d tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return m.coo().dense(nil), nil
}

// transposed returns the transpose, which consists of the same parts in the other
// form.
func (m *Matrix) transposed() *Matrix {
	t := *m
	t.spec = &MatrixSpec{m.spec.dtype, shape.Of(m.spec.shape.Dim(1), m.spec.shape.Dim(0)), !m.spec.byColumns}
	return &t
}

func (m *Matrix) withValues(v tensor.Tensor) *Matrix {
	t := *m
	t.values, t.spec = v, &MatrixSpec{v.DType(), m.spec.shape, m.spec.byColumns}
	return &t
}

// String prints the parts.
func (m *Matrix) String() string { return m.text("%v") }

// Format prints the matrix for the verbs v and s as String does. A plus flag prints all elements.
func (m *Matrix) Format(s fmt.State, verb rune) { tensor.Format(s, verb, m, m.text) }

func (m *Matrix) text(verb string) string {
	return fmt.Sprintf("%v(splits="+verb+", indices="+verb+", values="+verb+")", m.spec, m.splits, m.indices, m.values)
}
