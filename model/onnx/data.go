package onnx

import (
	"fmt"

	"github.com/tenonml/tenon/internal/message"
)

// readValueOf reads a message that is a value of a type: a TensorProto, a SequenceProto or an
// OptionalProto.
func readValueOf(b []byte, t *protoType) (any, error) {
	if t == nil {
		return nil, fmt.Errorf("the type is unknown")
	}
	switch t.kind {
	case kindTensor:
		return tensorValue(b)
	case kindSequence:
		return readSequence(b, 0)
	case kindOptional:
		return readOptional(b, 0)
	}
	return nil, fmt.Errorf("values of this kind are not supported")
}

func readSequence(b []byte, depth int) (any, error) {
	// name 1, elem_type 2, tensor_values 3, sparse 4, sequence_values 5, map_values 6, optional_values 7
	if depth > maxDepth {
		return nil, fmt.Errorf("values are nested more than %d deep", maxDepth)
	}
	out := []any{}
	add := func(x any, err error) error { out = append(out, x); return err }
	return out, fields(b, map[message.Tag]fieldFunc{
		message.Bytes(3): func(_ uint64, data []byte) error { return add(tensorValue(data)) },
		message.Bytes(5): func(_ uint64, data []byte) error { return add(readSequence(data, depth+1)) },
		message.Bytes(7): func(_ uint64, data []byte) error { return add(readOptional(data, depth+1)) },
	})
}

func tensorValue(b []byte) (any, error) {
	p, err := readTensor(b)
	if err != nil {
		return nil, err
	}
	return p.value(nil)
}

func readOptional(b []byte, depth int) (out any, err error) {
	// name 1, elem_type 2, tensor_value 3, sparse 4, sequence_value 5, map_value 6, optional_value 7
	if depth > maxDepth {
		return nil, fmt.Errorf("values are nested more than %d deep", maxDepth)
	}
	put := func(x any, err error) error { out = x; return err }
	err = fields(b, map[message.Tag]fieldFunc{
		message.Bytes(3): func(_ uint64, data []byte) error { return put(tensorValue(data)) },
		message.Bytes(5): func(_ uint64, data []byte) error { return put(readSequence(data, depth+1)) },
		message.Bytes(7): func(_ uint64, data []byte) error { return put(readOptional(data, depth+1)) },
	})
	return out, err
}
