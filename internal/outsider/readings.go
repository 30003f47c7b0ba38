package outsider

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Readings are the measurements of an instrument, in a unit, some of which are missing. They
// declare that elements may be missing, so formats treat them as nullable.
type Readings struct {
	values, there tensor.Tensor
	unit          string
}

// NewReadings returns readings that are present where a mask is true.
func NewReadings(unit string, values, there tensor.Tensor) (Readings, error) {
	r := Readings{values, there, unit}
	if there.DType() != dtype.Bool || !there.Shape().CompatibleWith(values.Shape()) {
		return r, tenon.NewError(tenon.ErrInvalid, readingsName, fmt.Sprintf("%v does not tell which of %v are there", there.Spec(), values.Spec()))
	}
	return r, nil
}

// Unit returns the unit.
func (r Readings) Unit() string { return r.unit }

// Values returns the measurements, with arbitrary numbers in place of missing ones.
func (r Readings) Values() tensor.Tensor { return r.values }

// Mask tells which readings are present.
func (r Readings) Mask() tensor.Tensor { return r.there }

// Spec returns the Spec of the readings.
func (r Readings) Spec() tenon.Spec { return readingsSpec{r.unit, r.values.Spec(), r.there.Spec()} }

// DType returns the element type of the values.
func (r Readings) DType() dtype.DType { return r.values.DType() }

// Shape returns the shape of the values.
func (r Readings) Shape() shape.Shape { return r.values.Shape() }

const readingsName = "example.com/outsider.Readings"

func init() {
	tenon.Register(readingsName, func(e tenon.Encoding) (tenon.Spec, error) {
		t, err := tenon.Elems(e, 3)
		if err != nil {
			return nil, err
		}
		unit, err := tenon.As[tenon.Str](t[0])
		if err != nil {
			return nil, err
		}
		values, err := tenon.As[tenon.SpecOf](t[1])
		if err != nil {
			return nil, err
		}
		there, err := tenon.As[tenon.SpecOf](t[2])
		if err != nil {
			return nil, err
		}
		if values.Spec == nil || there.Spec == nil {
			return nil, tenon.NewError(tenon.ErrInvalid, readingsName, "readings are values and a mask")
		}
		return readingsSpec{string(unit), values.Spec, there.Spec}, nil
	})
}

type readingsSpec struct {
	unit          string
	values, there tenon.Spec
}

func (s readingsSpec) TypeName() string   { return readingsName }
func (s readingsSpec) Values() tenon.Spec { return s.values }
func (s readingsSpec) Mask() tenon.Spec   { return s.there }
func (s readingsSpec) Shape() shape.Shape { return s.values.(*tensor.Spec).Shape() }
func (s readingsSpec) DType() dtype.DType { return s.values.(*tensor.Spec).DType() }
func (s readingsSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.Str(s.unit), tenon.SpecOf{Spec: s.values}, tenon.SpecOf{Spec: s.there}}
}

func (s readingsSpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "values", Spec: s.values}, {Name: "there", Spec: s.there}}
}

func (s readingsSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	r, ok := v.(Readings)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, readingsName, fmt.Sprintf("a %T is not Readings", v))
	}
	return []tenon.Value{r.values, r.there}, nil
}

func (s readingsSpec) Assemble(parts []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, parts); err != nil {
		return nil, err
	}
	return NewReadings(s.unit, parts[0].(tensor.Tensor), parts[1].(tensor.Tensor))
}

// Batched returns the Spec of n readings.
func (s readingsSpec) Batched(n int) (tenon.Spec, error) {
	return s.each(func(b tenon.Batcher) (tenon.Spec, error) { return b.Batched(n) })
}

// Unbatched returns the Spec of one reading.
func (s readingsSpec) Unbatched() (tenon.Spec, error) { return s.each(tenon.Batcher.Unbatched) }

func (s readingsSpec) each(f func(tenon.Batcher) (tenon.Spec, error)) (tenon.Spec, error) {
	v, ok := s.values.(tenon.Batcher)
	m, ok2 := s.there.(tenon.Batcher)
	if !ok || !ok2 {
		return nil, tenon.NewError(tenon.ErrUnsupported, readingsName, "these have no rows")
	}
	values, err := f(v)
	if err != nil {
		return nil, err
	}
	there, err := f(m)
	if err != nil {
		return nil, err
	}
	return readingsSpec{s.unit, values, there}, nil
}
