package sparse

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// MatrixTypeName is the registered name of [*MatrixSpec].
const MatrixTypeName = "sparse.Matrix"

// MatrixSpec describes compressed matrices: the element type, the numbers of rows and columns, and
// whether they are stored by columns.
type MatrixSpec struct {
	dtype     dtype.DType
	shape     shape.Shape // of rank 2
	byColumns bool
}

var _ tenon.Equaler = (*MatrixSpec)(nil)

// NewMatrixSpec returns the Spec of compressed matrices. It returns an error if the rank of the
// shape is not 2.
func NewMatrixSpec(d dtype.DType, s shape.Shape, byColumns bool) (*MatrixSpec, error) {
	if s.Rank() != 2 || d == dtype.None {
		return nil, tenon.NewError(tenon.ErrShape, "sparse.MatrixSpec", fmt.Sprintf("%v%v is not a matrix", d, s))
	}
	return &MatrixSpec{d, s, byColumns}, nil
}

// DType returns the element type.
func (s *MatrixSpec) DType() dtype.DType { return s.dtype }

// Shape returns the numbers of rows and columns, as far as they are known.
func (s *MatrixSpec) Shape() shape.Shape { return s.shape }

// IsCSC reports whether matrices are stored by columns.
func (s *MatrixSpec) IsCSC() bool { return s.byColumns }

// TypeName returns "sparse.Matrix".
func (*MatrixSpec) TypeName() string { return MatrixTypeName }

// Encode returns (dtype, shape, whether by columns).
func (s *MatrixSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.DType{DType: s.dtype}, tenon.Shape{Shape: s.shape}, tenon.Bool(s.byColumns)}
}

func decodeMatrix(e tenon.Encoding) (tenon.Spec, error) {
	var d tenon.DType
	var s tenon.Shape
	var c tenon.Bool
	if err := tenon.Unpack(e, &d, &s, &c); err != nil {
		return nil, err
	}
	return NewMatrixSpec(d.DType, s.Shape, bool(c))
}

func init() { tenon.Register(MatrixTypeName, decodeMatrix) }

// EqualSpec compares the fields without encoding the Specs.
func (s *MatrixSpec) EqualSpec(other tenon.Spec) bool {
	o, ok := other.(*MatrixSpec)
	return ok && s.dtype == o.dtype && s.byColumns == o.byColumns && s.shape.Equal(o.shape)
}

// lines returns the number of rows of a CSR matrix or of columns of a CSC one, or shape.Unknown.
func (s *MatrixSpec) lines() int {
	if s.byColumns {
		return s.shape.Dim(1)
	}
	return s.shape.Dim(0)
}

// Components returns splits int64[rows+1], indices int64[n], values [n] and width int64[]: the
// number of columns. Rows and columns are exchanged if the matrix is stored by columns.
func (s *MatrixSpec) Components() []tenon.Field {
	lines := s.lines()
	if lines >= 0 {
		lines++
	}
	return []tenon.Field{
		{Name: "splits", Spec: tensor.NewSpec(dtype.Int64, shape.Of(lines))},
		{Name: "indices", Spec: tensor.NewSpec(dtype.Int64, shape.Of(shape.Unknown))},
		{Name: "values", Spec: tensor.NewSpec(s.dtype, shape.Of(shape.Unknown))},
		{Name: "width", Spec: tensor.NewSpec(dtype.Int64, shape.Of())},
	}
}

// Disassemble returns splits, indices, values and width.
func (s *MatrixSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	m, ok := v.(*Matrix)
	if !ok || !tenon.Compatible(s, m.spec) {
		return nil, tenon.NewError(tenon.ErrDType, "sparse.MatrixSpec.Disassemble", fmt.Sprintf("the value does not belong to %v", s))
	}
	return []tenon.Value{m.splits, m.indices, m.values, m.width}, nil
}

// Assemble makes a matrix and checks its splits and indices, if they exist.
func (s *MatrixSpec) Assemble(components []tenon.Value) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	tenon.Throw(tenon.CheckComponents(s, components))
	width, ok := components[3].(tensor.Tensor)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "sparse.MatrixSpec.Assemble", "the width is not a tensor")
	}
	m := tenon.Must(newMatrix("MatrixSpec.Assemble", components[0], components[1], components[2], width, s.byColumns))
	merged, err := shape.Merge(m.spec.shape, s.shape)
	if err != nil {
		return nil, tenon.NewError(tenon.ErrShape, "sparse.MatrixSpec.Assemble", err.Error())
	}
	m.spec = &MatrixSpec{s.dtype, merged, s.byColumns}
	return m, nil
}

// String returns "csr float32[2, ?]".
func (s *MatrixSpec) String() string {
	form := "csr "
	if s.byColumns {
		form = "csc "
	}
	return form + s.dtype.String() + s.shape.String()
}
