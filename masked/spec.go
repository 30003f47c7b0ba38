package masked

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// TypeName is the registered name of [*Spec].
const TypeName = "masked.Tensor"

// Spec describes masked tensors: the Specs of the values and of the mask.
type Spec struct {
	values tenon.Spec
	mask   tenon.Spec
}

type typed interface {
	DType() dtype.DType
	Shape() shape.Shape
}

// NewSpec returns the Spec of values with a mask of the given rank; a negative
// rank means that of the values.
func NewSpec(values tenon.Spec, rank int) (*Spec, error) {
	t, ok := values.(typed)
	if !ok && rank >= 0 {
		return &Spec{values, tensor.NewSpec(dtype.Bool, shape.OfRank(rank))}, nil
	}
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "masked.NewSpec", fmt.Sprintf("%s has no shape", tenon.String(values)))
	}
	s := t.Shape()
	if rank >= 0 && s.HasRank() {
		if rank > s.Rank() {
			return nil, tenon.NewError(tenon.ErrShape, "masked.NewSpec", fmt.Sprintf("a mask of rank %d does not fit %s", rank, tenon.String(values)))
		}
		s = s.Slice(0, rank)
	}
	return &Spec{values, tensor.NewSpec(dtype.Bool, s)}, nil
}

// DType returns the element type of the values, or dtype.None if their Spec does not have it.
func (s *Spec) DType() dtype.DType {
	if t, ok := s.values.(typed); ok {
		return t.DType()
	}
	return dtype.None
}

// Shape returns the static shape of the values. It has unknown rank if their Spec does not have it.
func (s *Spec) Shape() shape.Shape {
	if t, ok := s.values.(typed); ok {
		return t.Shape()
	}
	return shape.UnknownRank
}

// Values returns the Spec of the values.
func (s *Spec) Values() tenon.Spec { return s.values }

// Mask returns the Spec of the mask.
func (s *Spec) Mask() tenon.Spec { return s.mask }

// TypeName returns "masked.Tensor".
func (*Spec) TypeName() string { return TypeName }

// Encode returns (values, mask).
func (s *Spec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.SpecOf{Spec: s.values}, tenon.SpecOf{Spec: s.mask}}
}

func decode(e tenon.Encoding) (tenon.Spec, error) {
	var values, mask tenon.SpecOf
	if err := tenon.Unpack(e, &values, &mask); err != nil {
		return nil, err
	}
	if values.Spec == nil || mask.Spec == nil {
		return nil, tenon.NewError(tenon.ErrInvalid, "masked.Spec", "values and mask must be tensors")
	}
	if m, ok := mask.Spec.(typed); !ok || m.DType() != dtype.Bool {
		return nil, tenon.NewError(tenon.ErrDType, "masked.Spec", "the mask is not boolean")
	}
	return &Spec{values.Spec, mask.Spec}, nil
}

func init() { tenon.Register(TypeName, decode) }

// Components returns values and mask.
func (s *Spec) Components() []tenon.Field {
	return []tenon.Field{{Name: "values", Spec: s.values}, {Name: "mask", Spec: s.mask}}
}

// Disassemble returns values and mask.
func (s *Spec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	t, ok := v.(*Tensor)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "masked.Spec.Disassemble", "the value is not masked")
	}
	return []tenon.Value{t.values, t.mask}, nil
}

// Assemble makes a masked tensor.
func (s *Spec) Assemble(components []tenon.Value) (value tenon.Value, err error) {
	defer tenon.Catch(&err)
	tenon.Throw(tenon.CheckComponents(s, components))
	v, ok := components[0].(tensor.Tensor)
	m, ok2 := components[1].(tensor.Tensor)
	if !ok || !ok2 {
		return nil, tenon.NewError(tenon.ErrDType, "masked.Spec.Assemble", "values and mask must be tensors")
	}
	tenon.Throw(check("masked.Spec.Assemble", v, m))
	return wrap(v, m), nil
}

// Batched adds an outermost dimension to values and mask.
func (s *Spec) Batched(n int) (tenon.Spec, error) {
	return s.each(func(b tenon.Batcher) (tenon.Spec, error) { return b.Batched(n) })
}

// Unbatched removes the outermost dimension of values and mask.
func (s *Spec) Unbatched() (tenon.Spec, error) { return s.each(tenon.Batcher.Unbatched) }

func (s *Spec) each(f func(tenon.Batcher) (tenon.Spec, error)) (of tenon.Spec, err error) {
	defer tenon.Catch(&err)
	v, ok := s.values.(tenon.Batcher)
	m, ok2 := s.mask.(tenon.Batcher)
	if !ok || !ok2 {
		return nil, tenon.NewError(tenon.ErrUnsupported, "masked.Spec", fmt.Sprintf("%s cannot be batched", tenon.String(s.values)))
	}
	return &Spec{tenon.Must(f(v)), tenon.Must(f(m))}, nil
}

// CastSpec returns the masked Spec to which values of other can be cast, as
// values with nothing missing.
func (s *Spec) CastSpec(other tenon.Spec) (tenon.Spec, bool) {
	v, ok := tenon.Merge(s.values, other)
	if !ok {
		return nil, false
	}
	mask := s.mask.(typed)
	return &Spec{v, tensor.NewSpec(dtype.Bool, shape.OfRank(mask.Shape().Rank()))}, true
}

// Cast adds a mask to a tensor that is true everywhere.
func (s *Spec) Cast(v tenon.Value) (tenon.Value, error) {
	if t, ok := v.(*Tensor); ok {
		return t, nil
	}
	t, ok := v.(tensor.Tensor)
	if !ok {
		return nil, tenon.NewError(tenon.ErrUnsupported, "masked.Spec.Cast", fmt.Sprintf("%s cannot be cast to a masked tensor", tenon.String(v.Spec())))
	}
	return tenon.Try(func() tenon.Value {
		m := allTrue(t)
		for m.Shape().Rank() > s.mask.(typed).Shape().Rank() {
			m = ops.Any(m, -1) // a row is present unless all of it is missing
		}
		return wrap(t, m)
	})
}

// String returns "masked float32[2, ?]".
func (s *Spec) String() string { return "masked " + tenon.String(s.values) }
