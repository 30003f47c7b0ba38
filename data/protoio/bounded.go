package protoio

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/message"
	"github.com/tenonml/tenon/tensor"
)

// BoundedTypeName is the type name of the Specs that [Bounded] returns.
const BoundedTypeName = "tensorflow.BoundedTensorSpec"

// Bounded returns the Spec of tensors with bounds on their elements, which TensorFlow uses for
// observations and actions. Here it is opaque: its values have the tensor as their single
// component, and the bounds are not checked.
func Bounded(s *tensor.Spec, minimum, maximum tenon.Array) *tenon.Opaque {
	return tenon.NewOpaque(BoundedTypeName, tenon.Tuple{tenon.SpecOf{Spec: s}, minimum, maximum}, []tenon.Field{{Name: "values", Spec: s}})
}

func appendBounded(b []byte, s *tenon.Opaque) ([]byte, error) {
	es, err := tenon.Elems(s.Encode(), 3)
	if err != nil {
		return b, err
	}
	spec, err := tenon.As[tenon.SpecOf](es[0])
	if err != nil {
		return b, err
	}
	t, ok := spec.Spec.(*tensor.Spec)
	if !ok {
		return b, fail(tenon.ErrInvalid, "<"+BoundedTypeName+">", "bounds apply only to dense tensors")
	}
	if b, err = appendTensorSpec(b, t); err != nil {
		return b, err
	}
	for i, e := range es[1:] {
		a, err := tenon.As[tenon.Array](e)
		if err != nil {
			return b, err
		}
		if b, err = message.Append(b, [...]protowire.Number{boundedMin, boundedMax}[i], func(m []byte) ([]byte, error) { return appendTensor(m, a) }); err != nil {
			return b, err
		}
	}
	return b, nil
}

func parseBounded(b []byte) (tenon.Spec, error) {
	s, err := parseTensorSpec(b)
	if err != nil {
		return nil, err
	}
	var bounds [2]tenon.Array
	err = eachField(b, func(t message.Tag, _ uint64, data []byte) (err error) {
		switch t {
		case message.Bytes(boundedMin):
			bounds[0], err = parseTensor(data)
		case message.Bytes(boundedMax):
			bounds[1], err = parseTensor(data)
		}
		return err
	})
	if err != nil {
		return nil, within(err, "<"+BoundedTypeName+">")
	}
	for _, a := range bounds {
		if a.DType != s.DType() {
			return nil, fail(tenon.ErrInvalid, "<"+BoundedTypeName+">", "bounds have type %v, but elements have type %v", a.DType, s.DType())
		}
	}
	return Bounded(s, bounds[0], bounds[1]), nil
}
