package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// The messages of ModelInfer and ModelStreamInfer.

// rpcFields are the fields of InferTensorContents.
var rpcFields = fieldTable{}

func init() {
	for name, num := range map[string]fieldNumber{"BOOL": 1, "INT8": 2, "INT16": 2, "INT32": 2, "INT64": 3, "UINT8": 4, "UINT16": 4, "UINT32": 4,
		"UINT64": 5, "FP32": 6, "FP64": 7, "BYTES": 8} {
		dt, _ := dtypeOf(name)
		rpcFields[dt] = num
	}
}

// An inferRequest is a ModelInferRequest.
type inferRequest struct {
	inference
	model, version string
	raw            bool  // the inputs are bytes
	parameters     int   // number of parameters, including those of inputs
	wrong          error // the first error in it
	ends           bool  // the client wants to be told when a stream of results ends
}

func (q *inferRequest) encode(b []byte) []byte { return b }

func (q *inferRequest) decode(b []byte) error {
	q.bytes = len(b)
	var raw [][]byte
	options := &object{}
	err := eachField(b, func(f field) error {
		switch f.num {
		case 1:
			q.model = f.text()
		case 2:
			q.version = f.text()
		case 3:
			q.id = f.text()
		case 4:
			return q.parameter(options, f.b)
		case 5:
			in, err := q.input(f.b)
			if err != nil {
				return err
			}
			q.inputs = append(q.inputs, in)
		case 6:
			name, _, err := entry(f.b) // the name is in field 1
			if err != nil {
				return err
			}
			q.asked, q.outputs = true, append(q.outputs, output{name: name})
		case 7:
			raw = append(raw, append([]byte{}, f.b...))
		}
		if len(q.inputs) > maxInputs || len(q.outputs) > maxInputs || len(raw) > maxInputs {
			return badInput("there are more than %d inputs or outputs", maxInputs)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := q.options(parameters{options}); err != nil {
		q.fault(err)
	}
	if q.ends, err = (parameters{options}).bool("triton_enable_empty_final_response"); err != nil {
		q.fault(err)
	}
	if q.raw = len(raw) > 0; !q.raw {
		return nil
	}
	if len(raw) != len(q.inputs) {
		q.fault(badInput("there are raw contents for %d of %d inputs", len(raw), len(q.inputs)))
		return nil
	}
	for i := range q.inputs {
		in := &q.inputs[i]
		if in.typed != nil && in.typed.n > 0 {
			q.fault(badInput("%s has both contents and raw contents", in.name))
		}
		in.raw, in.typed = raw[i], nil
	}
	return nil
}

// fault records the first error.
func (q *inferRequest) fault(err error) {
	if q.wrong == nil {
		q.wrong = err
	}
}

// input reads an InferInputTensor.
func (q *inferRequest) input(b []byte) (input, error) {
	in := input{binary: -1, dims: []int{}}
	var contents []byte
	options := &object{}
	err := eachField(b, func(f field) error {
		switch f.num {
		case 1:
			in.name = f.text()
		case 2:
			in.datatype = f.text()
		case 3:
			return f.numbers(protowire.VarintType, func(n uint64) error { return in.axis(int(n)) })
		case 4:
			return q.parameter(options, f.b)
		case 5:
			contents = append(contents, f.b...)
		}
		return nil
	})
	if err != nil {
		return in, err
	}
	if t, ok := options.get("content_type"); ok && t == "json" {
		in.json = true
	}
	dt, ok := dtypeOf(in.datatype)
	if !ok {
		q.fault(badInput("%s has the unknown datatype %s", in.name, shortened(in.datatype)))
		return in, nil
	}
	in.typed = &elements{dt: dt}
	if err := in.typed.typed(in.name, contents, rpcFields); err != nil {
		q.fault(err)
	}
	return in, nil
}

// axis adds an axis to the shape.
func (in *input) axis(size int) error {
	if len(in.dims) == maxAxes {
		return badInput("%s has more than %d axes", in.name, maxAxes)
	}
	in.dims = append(in.dims, size)
	return nil
}

// parameter adds a parameter of the request or of an input.
func (q *inferRequest) parameter(o *object, b []byte) error {
	const most = 10 * maxInputs
	if q.parameters++; q.parameters > most {
		return badInput("there are more than %d parameters", most)
	}
	return o.decode(b)
}

// decode adds an entry of a map of parameters.
func (o *object) decode(b []byte) error {
	name, value, err := entry(b)
	if err != nil {
		return err
	}
	return eachField(value, func(f field) error {
		var x any
		switch f.num {
		case 1:
			x = f.n != 0
		case 2:
			x = number(strconv.FormatInt(int64(f.n), 10))
		case 3:
			x = f.text()
		case 5:
			x = number(strconv.FormatUint(f.n, 10))
		default:
			return nil
		}
		o.names, o.values = append(o.names, name), append(o.values, x)
		return nil
	})
}

// nested parses the JSON of an input that has one text for each row, or one for all rows.
func (in *input) nested(depth, limit int) error {
	if in.data != nil {
		return nil
	}
	t, err := in.tensor(limit)
	if err != nil {
		return err
	}
	texts, ok := t.(*tensor.Strings)
	if !ok {
		return badInput("%s has the datatype %s, but JSON needs BYTES", in.name, in.datatype)
	}
	list := make([]any, texts.Len())
	for i := range list {
		if list[i], err = parseJSON([]byte(texts.At(i)), depth, false); err != nil {
			return badInput("%s: %v", in.name, err)
		}
	}
	if in.data = listOf(list); len(in.dims) == 0 {
		in.data = list[0]
	}
	return nil
}

func (s *Server) rpcInfer(ctx context.Context, q *inferRequest, h http.Header) ([]byte, error) {
	f, err := s.open(q.model, q.version, q.wrong)
	if err != nil {
		return nil, err
	}
	names, cols, err := s.answerFlat(ctx, h, f, &q.inference)
	if err != nil {
		return nil, err
	}
	return q.response(f, names, cols)
}

// response encodes a ModelInferResponse.
func (q *inferRequest) response(f *served, names []output, cols columns) ([]byte, error) {
	raw := q.raw
	for _, o := range names {
		t := cols[o.name]
		if t == nil {
			return nil, badInput("there is no output %s", shortened(o.name))
		}
		if _, ok := rpcFields[t.DType()]; !ok {
			raw = true
		}
	}
	b := appendString(appendString(appendString(nil, 1, f.Name), 2, f.version), 3, q.id)
	for _, o := range names {
		t := cols[o.name]
		out := appendPacked(appendString(appendString(nil, 1, o.name), 2, datatype(t.DType())), 3, t.Shape().Dims())
		if !raw {
			out = appendMessage(out, 5, appendTyped(nil, t, rpcFields[t.DType()]))
		}
		b = appendMessage(b, 5, out)
	}
	if raw {
		for _, o := range names {
			b = appendMessage(b, 6, rawOf(cols[o.name]))
		}
	}
	return b, nil
}

// rpcStream answers the requests of a stream in order, with any number of results for each.
func (s *Server) rpcStream(ctx context.Context, stream *connect.BidiStream[inferRequest, reply]) error {
	for {
		q, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.rpcResults(ctx, q, stream.RequestHeader(), func(response []byte) error {
			return stream.Send(&reply{appendMessage(nil, 2, response)})
		})
		if err == nil {
			continue
		}
		text := strings.ToValidUTF8(faultOf(err).text, "\uFFFD")
		if err := stream.Send(&reply{appendMessage(appendString(nil, 1, text), 2, appendString(nil, 3, q.id))}); err != nil {
			return err
		}
	}
}

func (s *Server) rpcResults(ctx context.Context, q *inferRequest, h http.Header, send func([]byte) error) error {
	defer s.release(exchangeOf(ctx)) // other requests follow on the same stream
	f, err := s.open(q.model, q.version, q.wrong)
	if err != nil {
		return err
	}
	if f.Stream == nil {
		b, err := s.rpcInfer(ctx, q, h)
		if err != nil {
			return err
		}
		return send(b)
	}
	ctx, cancel, err := q.terms.of(ctx, h)
	if err != nil {
		return err
	}
	defer cancel()
	args, wanted, err := s.prepared(ctx, f, &q.inference)
	if err != nil {
		return err
	}
	err = s.stream(ctx, f, args, func(out []tenon.Value) error {
		cols, err := f.resultColumns(out)
		if err != nil {
			return err
		}
		b, err := q.response(f, wanted, cols)
		if err != nil {
			return err
		}
		return send(b)
	})
	if err == nil && q.ends {
		last := appendEntry(nil, 4, "triton_final_response", appendTrue(nil, 1))
		err = send(append(appendString(appendString(appendString(nil, 1, f.Name), 2, f.version), 3, q.id), last...))
	}
	return err
}
