package protoio

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/message"
	"github.com/tenonml/tenon/shape"
)

// dtypes maps element types to their numbers in TensorFlow's types.proto.
var dtypes = map[dtype.DType]uint64{
	dtype.Float32: 1, dtype.Float64: 2, dtype.Int32: 3, dtype.Uint8: 4, dtype.Int16: 5, dtype.Int8: 6, dtype.String: 7,
	dtype.Complex64: 8, dtype.Int64: 9, dtype.Bool: 10, dtype.BFloat16: 14, dtype.Uint16: 17, dtype.Complex128: 18,
	dtype.Float16: 19, dtype.Uint32: 22, dtype.Uint64: 23,
}

var dtypeOf = func() map[uint64]dtype.DType {
	m := make(map[uint64]dtype.DType, len(dtypes))
	for d, n := range dtypes {
		m[n] = d
	}
	return m
}()

func dtypeNumber(d dtype.DType) (uint64, error) {
	n, ok := dtypes[d]
	if !ok {
		return 0, fail(tenon.ErrUnsupported, "", "tensorflow has no element type %v", d)
	}
	return n, nil
}

func parseDType(n uint64) (dtype.DType, error) {
	d, ok := dtypeOf[n]
	if !ok {
		return dtype.None, fail(tenon.ErrUnsupported, "dtype", "unknown TensorFlow element type %d", n)
	}
	return d, nil
}

// Fields of TensorShapeProto and its Dim.
const (
	shapeDim     = 2
	shapeUnknown = 3
	dimSize      = 1
)

func appendShape(b []byte, s shape.Shape) []byte {
	if !s.HasRank() {
		return message.AppendVarint(b, shapeUnknown, 1)
	}
	for _, n := range s.Dims() {
		var dim []byte
		if n != 0 { // zero is the default of a field and is not written
			dim = message.AppendVarint(nil, dimSize, uint64(int64(n)))
		}
		b = message.AppendBytes(b, shapeDim, dim)
	}
	return b
}

// maxRank limits the number of dimensions read from a message; package shape has the same limit.
const maxRank = shape.MaxRank

func parseShape(b []byte) (shape.Shape, error) {
	dims := []int{}
	unknown := false
	err := eachField(b, func(t message.Tag, n uint64, data []byte) error {
		switch t {
		case message.Varint(shapeUnknown):
			unknown = n != 0
		case message.Bytes(shapeDim):
			if len(dims) == maxRank {
				return fail(tenon.ErrInvalid, "shape", "there are more than %d dimensions", maxRank)
			}
			size := int64(0)
			err := eachField(data, func(t message.Tag, n uint64, _ []byte) error {
				if t == message.Varint(dimSize) {
					size = int64(n)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if size < shape.Unknown || int64(int(size)) != size {
				return fail(tenon.ErrInvalid, "shape", "invalid size %d", size)
			}
			dims = append(dims, int(size))
		}
		return nil
	})
	if err != nil {
		return shape.UnknownRank, err
	}
	if unknown {
		return shape.UnknownRank, nil
	}
	s, err := shape.From(dims)
	if err != nil {
		return s, fail(tenon.ErrInvalid, "shape", "%v", err)
	}
	return s, nil
}

// appendPacked appends a packed field of varints, or nothing for an empty list.
func appendPacked(b []byte, n protowire.Number, xs []uint64) []byte {
	if len(xs) == 0 {
		return b
	}
	var inner []byte
	for _, x := range xs {
		inner = protowire.AppendVarint(inner, x)
	}
	return message.AppendBytes(b, n, inner)
}
