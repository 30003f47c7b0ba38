package serve

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// TensorFlow Serving's calls over gRPC. Ragged arguments, and others that are made of several
// tensors, have derived names.

// tfEnum are TensorFlow's numbers of element types.
var tfEnum = map[dtype.DType]uint64{
	dtype.Float32: 1, dtype.Float64: 2, dtype.Int32: 3, dtype.Uint8: 4, dtype.Int16: 5, dtype.Int8: 6, dtype.String: 7, dtype.Int64: 9,
	dtype.Bool: 10, dtype.BFloat16: 14, dtype.Uint16: 17, dtype.Float16: 19, dtype.Uint32: 22, dtype.Uint64: 23,
}

// tfFields are the fields of TensorProto that hold elements.
var tfFields = fieldTable{
	dtype.Float32: 5, dtype.Float64: 6, dtype.Int32: 7, dtype.Int16: 7, dtype.Int8: 7, dtype.Uint8: 7, dtype.Uint16: 7, dtype.String: 8,
	dtype.Int64: 10, dtype.Bool: 11, dtype.Float16: 13, dtype.BFloat16: 13, dtype.Uint32: 16, dtype.Uint64: 17,
}

func tfType(n uint64) (dtype.DType, bool) {
	for dt, k := range tfEnum {
		if k == n {
			return dt, true
		}
	}
	return dtype.None, false
}

// A modelSpec names a model.
type modelSpec struct{ name, version, signature string }

func (m *modelSpec) decode(b []byte) error {
	return eachField(b, func(f field) error {
		switch f.num {
		case 1:
			m.name = f.text()
		case 2:
			return eachField(f.b, func(f field) error {
				m.version = strconv.FormatInt(int64(f.n), 10)
				return nil
			})
		case 3:
			m.signature = f.text()
		case 4:
			m.version = labelVersion(f.text())
		}
		return nil
	})
}

func (m *modelSpec) encode(b []byte) []byte { return b }

// check returns an error unless the signature is one that models have here.
func (m *modelSpec) check() error {
	if m.signature != "" && m.signature != defaultSignature {
		return badInput("the model %s has no signature %s; it has %s", m.name, shortened(m.signature), defaultSignature)
	}
	return nil
}

// appendSpec appends the name and version of the function that answered.
func (f *served) appendSpec(b []byte, num fieldNumber) []byte {
	m := appendString(nil, 1, f.Name)
	if v, err := strconv.ParseUint(f.version, 10, 64); err == nil {
		m = appendMessage(m, 2, appendNumber(nil, 1, v))
	}
	return appendMessage(b, num, appendString(m, 3, defaultSignature))
}

// A predictRequest is a PredictRequest.
type predictRequest struct {
	inference
	spec  modelSpec
	wrong error
}

func (q *predictRequest) encode(b []byte) []byte { return b }

func (q *predictRequest) decode(b []byte) error {
	q.bytes = len(b)
	return eachField(b, func(f field) error {
		switch f.num {
		case 1:
			return q.spec.decode(f.b)
		case 2:
			name, value, err := entry(f.b)
			if err != nil {
				return err
			}
			in, err := tensorProto(name, value)
			if err != nil && q.wrong == nil {
				q.wrong = err
			}
			q.inputs = append(q.inputs, in)
		case 3:
			q.asked, q.outputs = true, append(q.outputs, output{name: f.text()})
		}
		if len(q.inputs) > maxInputs || len(q.outputs) > maxInputs {
			return badInput("there are more than %d inputs or outputs", maxInputs)
		}
		return nil
	})
}

// tensorProto reads a TensorProto.
func tensorProto(name string, b []byte) (input, error) {
	in := input{name: name, binary: -1, dims: []int{}}
	var dt dtype.DType
	var content []byte
	known := false
	err := eachField(b, func(f field) error {
		switch f.num {
		case 1:
			if dt, known = tfType(f.n); !known {
				return badInput("%s has the unknown element type %d", name, f.n)
			}
		case 2:
			return eachField(f.b, func(f field) error {
				if f.num == 3 && f.n != 0 {
					return badInput("%s has a shape of unknown rank", name)
				}
				if f.num != 2 {
					return nil
				}
				size := 0
				err := eachField(f.b, func(f field) error {
					if f.num == 1 {
						size = int(f.n)
					}
					return nil
				})
				if err != nil {
					return err
				}
				return in.axis(size)
			})
		case 4:
			content = append([]byte{}, f.b...)
		}
		return nil
	})
	if err != nil {
		return in, err
	}
	if !known {
		return in, badInput("%s has no element type", name)
	}
	in.datatype = datatype(dt)
	if len(content) > 0 && dt != dtype.String {
		in.raw = content
		return in, nil
	}
	in.typed = &elements{dt: dt}
	in.repeat = true
	return in, in.typed.typed(name, b, tfFields)
}

func (s *Server) rpcPredict(ctx context.Context, q *predictRequest, h http.Header) ([]byte, error) {
	f, err := s.open(q.spec.name, q.spec.version, cmp.Or(q.spec.check(), q.wrong))
	if err != nil {
		return nil, err
	}
	names, cols, err := s.answerFlat(ctx, h, f, &q.inference)
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, o := range names {
		t := cols[o.name]
		num, ok := tfFields[t.DType()]
		if !ok {
			return nil, faulty(http.StatusNotImplemented, "%s has elements of type %v, which this protocol lacks", o.name, t.DType())
		}
		b = appendEntry(b, 1, o.name, appendTensorProto(nil, t, num))
	}
	return f.appendSpec(b, 2), nil
}

func appendTensorProto(b []byte, t tensor.Tensor, num fieldNumber) []byte {
	b = appendNumber(b, 1, tfEnum[t.DType()])
	b = appendMessage(b, 2, appendShape(nil, t.Shape().Dims()))
	return appendTyped(b, t, num)
}

// appendShape appends the fields of a TensorShapeProto.
func appendShape(b []byte, dims []int) []byte {
	for _, d := range dims {
		b = appendMessage(b, 2, appendNumber(nil, 1, uint64(int64(d))))
	}
	return b
}

// A specRequest has a model's name in field 1.
type specRequest struct{ spec modelSpec }

func (q *specRequest) encode(b []byte) []byte { return b }

func (q *specRequest) decode(b []byte) error {
	return eachField(b, func(f field) error {
		if f.num == 1 && f.kind == protowire.BytesType {
			return q.spec.decode(f.b)
		}
		return nil
	})
}

// rpcSignature answers with the types of arguments and results.
func (s *Server) rpcSignature(_ context.Context, q *specRequest, _ http.Header) ([]byte, error) {
	f, err := s.model(q.spec.name, q.spec.version)
	if err != nil {
		return nil, err
	}
	var signature []byte
	for i, list := range [][]flat{f.inputs, f.outputs} {
		for _, t := range list {
			dt, _ := dtypeOf(t.datatype)
			info := appendNumber(appendString(nil, 1, t.name), 2, tfEnum[dt])
			signature = appendEntry(signature, fieldNumber(i+1), t.name, appendMessage(info, 3, appendShape(nil, t.shape)))
		}
	}
	signature = appendString(signature, 3, "tensorflow/serving/predict")
	all := appendEntry(nil, 1, defaultSignature, signature)
	holder := appendMessage(appendString(nil, 1, "type.googleapis.com/tensorflow.serving.SignatureDefMap"), 2, all)
	return appendEntry(f.appendSpec(nil, 1), 2, "signature_def", holder), nil
}

// rpcStatus answers with the versions of a model. 30 is AVAILABLE.
func (s *Server) rpcStatus(_ context.Context, q *specRequest, _ http.Header) ([]byte, error) {
	f, err := s.model(q.spec.name, q.spec.version)
	if err != nil {
		return nil, err
	}
	versions := []string{f.version}
	if q.spec.version == "" {
		versions = s.versions(f.Name)
	}
	var b []byte
	for _, v := range versions {
		n, _ := strconv.ParseUint(v, 10, 64)
		b = appendMessage(b, 1, appendMessage(appendNumber(appendNumber(nil, 1, n), 2, 30), 3, nil))
	}
	return b, nil
}
