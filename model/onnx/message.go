package onnx

import (
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/message"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The messages of onnx.proto that are written. The field numbers are those of proto.go.

// A body is a message in parts, so that the elements of weights are written without being
// copied.
type body struct {
	parts [][]byte
	size  int
}

func (m *body) add(b []byte) {
	m.parts = append(m.parts, b)
	m.size += len(b)
}

// field appends a field that holds a message.
func (m *body) field(n protowire.Number, inner *body) {
	m.add(protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.BytesType), uint64(inner.size)))
	m.parts = append(m.parts, inner.parts...)
	m.size += inner.size
}

func (m *body) text(n protowire.Number, s string) { m.add(message.AppendBytes(nil, n, s)) }

func (m *body) number(n protowire.Number, x int) { m.add(message.AppendVarint(nil, n, uint64(x))) }

func (m *body) writeTo(w io.Writer) error {
	for _, b := range m.parts {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// An attr is an attribute of a node, encoded.
type attr []byte

// attribute encodes an attribute. Its type is a number of AttributeProto.AttributeType.
func attribute(name string, typ uint64, value func(b []byte) []byte) attr {
	return message.AppendVarint(value(message.AppendBytes(nil, 1, name)), 20, typ)
}

func withInt(name string, x int) attr {
	return attribute(name, 2, func(b []byte) []byte { return message.AppendVarint(b, 3, uint64(int64(x))) })
}

func withFlag(name string, on bool) attr {
	if on {
		return withInt(name, 1)
	}
	return withInt(name, 0)
}

func withFloat(name string, x float64) attr {
	return attribute(name, 1, func(b []byte) []byte {
		return protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), math.Float32bits(float32(x)))
	})
}

func withText(name, s string) attr {
	return attribute(name, 3, func(b []byte) []byte { return message.AppendBytes(b, 4, s) })
}

func withInts(name string, list []int) attr {
	return attribute(name, 7, func(b []byte) []byte {
		for _, x := range list {
			b = message.AppendVarint(b, 8, uint64(int64(x)))
		}
		return b
	})
}

func withGraph(name string, g *body) attr {
	return attribute(name, 5, func(b []byte) []byte {
		b = protowire.AppendVarint(protowire.AppendTag(b, 6, protowire.BytesType), uint64(g.size))
		for _, p := range g.parts {
			b = append(b, p...)
		}
		return b
	})
}

// nodeMessage encodes a node.
func nodeMessage(name, op string, in, out []string, attrs []attr) []byte {
	var b []byte
	for _, s := range in {
		b = message.AppendBytes(b, 1, s)
	}
	for _, s := range out {
		b = message.AppendBytes(b, 2, s)
	}
	b = message.AppendBytes(message.AppendBytes(b, 3, name), 4, op)
	for _, a := range attrs {
		b = message.AppendBytes(b, 5, a)
	}
	return b
}

// dtypeNumbers are the numbers of element types in TensorProto.DataType.
var dtypeNumbers = func() map[dtype.DType]int {
	m := map[dtype.DType]int{}
	for n, dt := range dtypes {
		m[dt] = n
	}
	return m
}()

// valueMessage encodes a value's name, element type and shape. size returns the name of an
// unknown size, or "".
func valueMessage(name string, dt dtype.DType, s shape.Shape, size func(axis int) string) []byte {
	typ := message.AppendVarint(nil, 1, uint64(dtypeNumbers[dt]))
	if s.HasRank() {
		var dims []byte
		for i, n := range s.Dims() {
			var d []byte
			if n >= 0 {
				d = message.AppendVarint(nil, 1, uint64(n))
			} else if text := size(i); text != "" {
				d = message.AppendBytes(nil, 2, text)
			}
			dims = message.AppendBytes(dims, 1, d)
		}
		typ = message.AppendBytes(typ, 2, dims)
	}
	return message.AppendBytes(message.AppendBytes(nil, 1, name), 2, message.AppendBytes(nil, 1, typ))
}

// A place says where the elements of a tensor are in the file of external data.
type place struct {
	file       string
	at, length int
}

// tensorMessage encodes a tensor whose elements are in the message or at a place.
func tensorMessage(name string, t tensor.Tensor, at *place) *body {
	m := &body{}
	for _, n := range t.Shape().Dims() {
		m.number(1, n)
	}
	m.number(2, dtypeNumbers[t.DType()])
	m.text(8, name)
	if s, ok := t.(*tensor.Strings); ok {
		for _, x := range s.Slice() {
			m.text(6, x)
		}
		return m
	}
	raw := rawBytes(t)
	if at == nil {
		m.add(protowire.AppendVarint(protowire.AppendTag(nil, 9, protowire.BytesType), uint64(len(raw))))
		m.add(raw)
		return m
	}
	for _, e := range [][2]string{{"location", at.file}, {"offset", decimal(at.at)}, {"length", decimal(at.length)}} {
		m.add(message.AppendBytes(nil, 13, message.AppendBytes(message.AppendBytes(nil, 1, e[0]), 2, e[1])))
	}
	m.number(14, 1)
	return m
}

// rawBytes returns the elements of a dense tensor as contiguous bytes.
func rawBytes(t tensor.Tensor) []byte { return tensor.Contiguous(t.(*tensor.Dense)).Bytes() }

// MarshalTensor encodes a dense tensor as a TensorProto message, the format of the data of
// ONNX's test cases.
func MarshalTensor(name string, t tensor.Tensor) []byte {
	m := tensorMessage(name, t, nil)
	out := make([]byte, 0, m.size)
	for _, p := range m.parts {
		out = append(out, p...)
	}
	return out
}

// UnmarshalTensor decodes a TensorProto message.
func UnmarshalTensor(b []byte) (tensor.Tensor, error) {
	t, err := tensorValue(b)
	if err != nil {
		return nil, failed("", err)
	}
	return t.(tensor.Tensor), nil
}
