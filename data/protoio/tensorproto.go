package protoio

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/message"
)

// Fields of TensorProto. Small tensors have their elements in a list of their type, and others as
// bytes in tensor_content.
const (
	tensorDType   = 1
	tensorShape   = 2
	tensorContent = 4
	floatVal      = 5
	doubleVal     = 6
	intVal        = 7
	stringVal     = 8
	scomplexVal   = 9
	int64Val      = 10
	boolVal       = 11
	dcomplexVal   = 12
	halfVal       = 13
	uint32Val     = 16
	uint64Val     = 17
)

// valField returns the field that lists elements of a type.
func valField(d dtype.DType) protowire.Number {
	switch d {
	case dtype.Float32:
		return floatVal
	case dtype.Float64:
		return doubleVal
	case dtype.Int64:
		return int64Val
	case dtype.Bool:
		return boolVal
	case dtype.Float16, dtype.BFloat16:
		return halfVal
	case dtype.Uint32:
		return uint32Val
	case dtype.Uint64:
		return uint64Val
	case dtype.Complex64:
		return scomplexVal
	case dtype.Complex128:
		return dcomplexVal
	}
	return intVal
}

// appendTensor writes a TensorProto as TensorFlow does: two or more elements as bytes, and fewer in
// the list of their type.
func appendTensor(b []byte, a tenon.Array) ([]byte, error) {
	n, err := dtypeNumber(a.DType)
	if err != nil {
		return b, err
	}
	b = message.AppendVarint(b, tensorDType, n)
	b = message.AppendBytes(b, tensorShape, appendShape(nil, a.Shape))
	size := a.DType.Size()
	switch count := a.Shape.Size(); {
	case a.DType == dtype.String || size == 0 || count < 0 || len(a.Data)/size != count || len(a.Data)%size != 0:
		return b, fail(tenon.ErrInvalid, "", "an array of %v%v has %d bytes of data", a.DType, a.Shape, len(a.Data))
	case count == 0:
		return b, nil
	case count > 1:
		return message.AppendBytes(b, tensorContent, a.Data), nil
	}
	field := valField(a.DType)
	switch field {
	case floatVal, doubleVal, scomplexVal, dcomplexVal:
		return message.AppendBytes(b, field, a.Data), nil
	}
	return appendPacked(b, field, []uint64{element(a.DType, a.Data)}), nil
}

// element returns the varint that represents an integer.
func element(d dtype.DType, data string) uint64 {
	var x uint64
	for i := range len(data) {
		x |= uint64(data[i]) << (8 * i)
	}
	switch d {
	case dtype.Int8:
		return uint64(int64(int8(x)))
	case dtype.Int16:
		return uint64(int64(int16(x)))
	case dtype.Int32:
		return uint64(int64(int32(x)))
	}
	return x
}

// maxSplat limits the size of a tensor that a single element fills, because its sizes come from the
// message without data of that size.
const maxSplat = 1 << 20

func parseTensor(b []byte) (tenon.Array, error) {
	a := tenon.Array{}
	var content []byte
	lists := map[protowire.Number][]byte{} // elements as little-endian bytes
	err := eachField(b, func(t message.Tag, n uint64, data []byte) (err error) {
		switch t {
		case message.Varint(tensorDType):
			a.DType, err = parseDType(n)
		case message.Bytes(tensorShape):
			a.Shape, err = parseShape(data)
		case message.Bytes(tensorContent):
			content = data
		default:
			err = collect(lists, t, n, data)
		}
		return err
	})
	if err != nil {
		return a, err
	}
	if a.DType == dtype.None || a.DType == dtype.String {
		return a, fail(tenon.ErrUnsupported, "tensor", "static data must be numbers or booleans, not %v", a.DType)
	}
	size := a.DType.Size()
	count, err := a.Shape.CheckedSize(size)
	if err != nil || count < 0 {
		return a, fail(tenon.ErrInvalid, "tensor", "%v is not the shape of a tensor", a.Shape)
	}
	if content == nil {
		content = narrow(lists[valField(a.DType)], a.DType)
		if got := len(content) / size; got < count {
			if content, err = splat(content, got, count, size); err != nil {
				return a, err
			}
		}
	}
	if len(content) != count*size {
		return a, fail(tenon.ErrInvalid, "tensor", "%d bytes do not fill %v%v", len(content), a.DType, a.Shape)
	}
	if a.DType == dtype.Bool {
		for i, c := range content {
			if c > 1 {
				return a, fail(tenon.ErrInvalid, "tensor", "element %d of a boolean tensor is %d", i, c)
			}
		}
	}
	a.Data = string(content)
	return a, nil
}

// collect adds the elements of a list field, packed or not; varints take 8 bytes each.
func collect(lists map[protowire.Number][]byte, t message.Tag, n uint64, data []byte) error {
	num, typ := protowire.Number(t>>3), protowire.Type(t&7)
	switch num {
	case floatVal, scomplexVal, doubleVal, dcomplexVal:
		switch typ {
		case protowire.BytesType:
			lists[num] = append(lists[num], data...)
		case protowire.Fixed32Type:
			lists[num] = binary.LittleEndian.AppendUint32(lists[num], uint32(n))
		case protowire.Fixed64Type:
			lists[num] = binary.LittleEndian.AppendUint64(lists[num], n)
		}
	case intVal, int64Val, boolVal, halfVal, uint32Val, uint64Val:
		switch typ {
		case protowire.VarintType:
			lists[num] = binary.LittleEndian.AppendUint64(lists[num], n)
		case protowire.BytesType:
			for len(data) > 0 {
				x, size := protowire.ConsumeVarint(data)
				if size < 0 {
					return fail(tenon.ErrInvalid, "tensor", "an element is malformed: %v", protowire.ParseError(size))
				}
				lists[num] = binary.LittleEndian.AppendUint64(lists[num], x)
				data = data[size:]
			}
		}
	}
	return nil
}

// narrow truncates the 8 bytes of each varint to the size of the type.
func narrow(data []byte, d dtype.DType) []byte {
	switch valField(d) {
	case floatVal, doubleVal, scomplexVal, dcomplexVal:
		return data
	}
	size := d.Size()
	out := make([]byte, 0, len(data)/8*size)
	for ; len(data) >= 8; data = data[8:] {
		x := binary.LittleEndian.Uint64(data)
		if d == dtype.Bool && x != 0 {
			x = 1
		}
		out = append(out, binary.LittleEndian.AppendUint64(nil, x)[:size]...)
	}
	return out
}

// splat repeats the last element to fill a shape, as TensorFlow does; without any element it fills
// with zeros.
func splat(data []byte, got, count, size int) ([]byte, error) {
	if count > maxSplat/size {
		return nil, fail(tenon.ErrInvalid, "tensor", "%d elements cannot fill a shape of %d", got, count)
	}
	out := make([]byte, count*size)
	copy(out, data[:got*size])
	if got > 0 {
		for i := got; i < count; i++ {
			copy(out[i*size:], data[(got-1)*size:got*size])
		}
	}
	return out, nil
}
