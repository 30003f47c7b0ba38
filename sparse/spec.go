package sparse

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// TypeName is the registered name of [*Spec].
const TypeName = "sparse.Tensor"

// Spec describes sparse tensors: the element type and the dense shape. The number
// of values is data.
type Spec struct {
	dtype dtype.DType
	shape shape.Shape
}

var (
	_ tenon.Batcher = (*Spec)(nil)
	_ tenon.Equaler = (*Spec)(nil)
)

// NewSpec returns the Spec of tensors with an element type and a dense shape.
func NewSpec(d dtype.DType, s shape.Shape) *Spec { return &Spec{d, s} }

// DType returns the element type.
func (s *Spec) DType() dtype.DType { return s.dtype }

// Shape returns the dense shape, as far as it is known.
func (s *Spec) Shape() shape.Shape { return s.shape }

// TypeName returns "sparse.Tensor".
func (*Spec) TypeName() string { return TypeName }

// Encode returns (dtype, shape).
func (s *Spec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.DType{DType: s.dtype}, tenon.Shape{Shape: s.shape}}
}

func decode(e tenon.Encoding) (tenon.Spec, error) {
	var d tenon.DType
	var s tenon.Shape
	if err := tenon.Unpack(e, &d, &s); err != nil {
		return nil, err
	}
	if d.DType == dtype.None {
		return nil, tenon.NewError(tenon.ErrDType, "sparse.Spec", "a sparse tensor has an element type")
	}
	return NewSpec(d.DType, s.Shape), nil
}

func init() { tenon.Register(TypeName, decode) }

// EqualSpec compares the fields without encoding the Specs.
func (s *Spec) EqualSpec(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && s.dtype == o.dtype && s.shape.Equal(o.shape)
}

// Components returns indices int64[n, rank], values [n] and dense_shape int64[rank].
func (s *Spec) Components() []tenon.Field {
	r := s.shape.Rank()
	if r < 0 {
		r = shape.Unknown
	}
	return []tenon.Field{
		{Name: "indices", Spec: tensor.NewSpec(dtype.Int64, shape.Of(shape.Unknown, r))},
		{Name: "values", Spec: tensor.NewSpec(s.dtype, shape.Of(shape.Unknown))},
		{Name: "dense_shape", Spec: tensor.NewSpec(dtype.Int64, shape.Of(r))},
	}
}

// Disassemble returns indices, values and dense shape.
func (s *Spec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	t, ok := v.(*Tensor)
	if !ok || !tenon.Compatible(s, t.spec) {
		return nil, tenon.NewError(tenon.ErrDType, "sparse.Spec.Disassemble", fmt.Sprintf("the value does not belong to %v", s))
	}
	return []tenon.Value{t.indices, t.values, t.denseShape}, nil
}

// Assemble makes a tensor and checks its coordinates, if they exist.
func (s *Spec) Assemble(components []tenon.Value) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	tenon.Throw(tenon.CheckComponents(s, components))
	t := tenon.Must(New(components[0], components[1], components[2]))
	merged, err := shape.Merge(t.spec.shape, s.shape)
	if err != nil {
		return nil, tenon.NewError(tenon.ErrShape, "sparse.Spec.Assemble", err.Error())
	}
	t.spec = NewSpec(s.dtype, merged)
	return t, nil
}

// Batched adds an outermost dimension.
func (s *Spec) Batched(n int) (tenon.Spec, error) { return NewSpec(s.dtype, s.shape.Insert(0, n)), nil }

// Unbatched removes the outermost dimension.
func (s *Spec) Unbatched() (tenon.Spec, error) {
	if s.shape.IsScalar() {
		return nil, tenon.NewError(tenon.ErrShape, "sparse.Spec.Unbatched", fmt.Sprintf("%v has no outer dimension", s))
	}
	if !s.shape.HasRank() {
		return s, nil
	}
	return NewSpec(s.dtype, s.shape.Remove(0)), nil
}

// String returns "sparse float32[2, ?]".
func (s *Spec) String() string { return "sparse " + s.dtype.String() + s.shape.String() }
