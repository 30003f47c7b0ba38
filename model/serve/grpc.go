package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// The Open Inference Protocol v2 over gRPC.

// A protoMessage is decoded from bytes that are not kept, or encoded.
type protoMessage interface {
	decode(b []byte) error
	encode(b []byte) []byte
}

// A reply is an encoded message.
type reply struct{ b []byte }

func (*reply) decode([]byte) error      { return nil }
func (r *reply) encode(b []byte) []byte { return append(b, r.b...) }

// Names is a message of texts in fields 1 and 2.
type names struct{ first, second string }

func (m *names) decode(b []byte) error {
	return eachField(b, func(f field) error {
		switch f.num {
		case 1:
			m.first = f.text()
		case 2:
			m.second = f.text()
		}
		return nil
	})
}

func (m *names) encode(b []byte) []byte {
	return appendString(appendString(b, 1, m.first), 2, m.second)
}

// codec is how connect encodes and decodes messages.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(m any) ([]byte, error) { return m.(protoMessage).encode(nil), nil }

func (codec) MarshalAppend(b []byte, m any) ([]byte, error) { return m.(protoMessage).encode(b), nil }

func (codec) Unmarshal(b []byte, m any) error { return m.(protoMessage).decode(b) }

// The services.
const (
	oipService    = "/inference.GRPCInferenceService/"
	tfService     = "/tensorflow.serving.PredictionService/"
	tfModels      = "/tensorflow.serving.ModelService/"
	healthService = "/grpc.health.v1.Health/"
)

var services = []string{oipService, tfService, tfModels, healthService}

// rpc returns the handler of all calls over gRPC.
func (s *Server) rpc() *http.ServeMux {
	mux := http.NewServeMux()
	limits := []connect.HandlerOption{connect.WithReadMaxBytes(int(s.opts.MaxBody)), connect.WithCompressMinBytes(1 << 10)}
	reflection(mux, limits)
	options := append(limits, connect.WithCodec(codec{}))
	unaryTo(mux, oipService+"ServerLive", options, func(context.Context, *names, http.Header) ([]byte, error) { return appendTrue(nil, 1), nil })
	unaryTo(mux, oipService+"ServerReady", options, func(context.Context, *names, http.Header) ([]byte, error) {
		if !s.isReady() {
			return nil, nil
		}
		return appendTrue(nil, 1), nil
	})
	unaryTo(mux, oipService+"ModelReady", options, func(_ context.Context, q *names, _ http.Header) ([]byte, error) {
		if _, err := s.model(q.first, q.second); err != nil {
			return nil, err
		}
		if s.ready() != nil {
			return nil, nil
		}
		return appendTrue(nil, 1), nil
	})
	unaryTo(mux, oipService+"ServerMetadata", options, func(context.Context, *names, http.Header) ([]byte, error) {
		b := appendString(appendString(nil, 1, s.opts.Name), 2, "1")
		for _, x := range extensions {
			b = appendString(b, 3, x)
		}
		return b, nil
	})
	unaryTo(mux, oipService+"ModelMetadata", options, s.rpcModelMetadata)
	unaryTo(mux, oipService+"ModelInfer", options, s.rpcInfer)
	mux.Handle(oipService+"ModelStreamInfer", endless(connect.NewBidiStreamHandler(oipService+"ModelStreamInfer", s.rpcStream, options...)))
	unaryTo(mux, oipService+"RepositoryIndex", options, func(context.Context, *names, http.Header) ([]byte, error) {
		var b []byte
		for _, f := range s.list() {
			b = appendMessage(b, 1, appendString(appendString(appendString(nil, 1, f.Name), 2, f.version), 3, "READY"))
		}
		return b, nil
	})
	// In these the name of the model is the second field; the first one is that of a repository.
	unaryTo(mux, oipService+"RepositoryModelLoad", options, func(_ context.Context, q *names, _ http.Header) ([]byte, error) {
		return nil, s.change(q.second, s.load)
	})
	unaryTo(mux, oipService+"RepositoryModelUnload", options, func(_ context.Context, q *names, _ http.Header) ([]byte, error) {
		return nil, s.change(q.second, s.unload)
	})
	unaryTo(mux, healthService+"Check", options, func(_ context.Context, q *names, _ http.Header) ([]byte, error) { return s.rpcHealth(q.first) })
	mux.Handle(healthService+"Watch", endless(connect.NewServerStreamHandler(healthService+"Watch", s.rpcWatch, options...)))
	unaryTo(mux, tfService+"Predict", options, s.rpcPredict)
	unaryTo(mux, tfService+"Classify", options, s.rpcClassify)
	unaryTo(mux, tfService+"Regress", options, s.rpcRegress)
	unaryTo(mux, tfService+"GetModelMetadata", options, s.rpcSignature)
	unaryTo(mux, tfModels+"GetModelStatus", options, s.rpcStatus)
	return mux
}

// unaryTo adds a call with one message each way.
func unaryTo[M any, P interface {
	*M
	protoMessage
}](mux *http.ServeMux, path string, options []connect.HandlerOption, do func(ctx context.Context, q P, h http.Header) ([]byte, error)) {
	mux.Handle(path, connect.NewUnaryHandler(path, func(ctx context.Context, r *connect.Request[M]) (*connect.Response[reply], error) {
		b, err := do(ctx, P(r.Msg), r.Header())
		if err != nil {
			return nil, rpcError(err)
		}
		return connect.NewResponse(&reply{b}), nil
	}, options...))
}

// endless lifts the time limit for reading a request, as a stream has no end of its own.
func endless(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).SetReadDeadline(time.Time{})
		h.ServeHTTP(w, r)
	})
}

// isRPC reports whether a request is a call over gRPC, or of connect's own protocol.
func isRPC(r *http.Request) bool {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		return true
	}
	for _, service := range services {
		if strings.HasPrefix(r.URL.Path, service) {
			return true
		}
	}
	return false
}

// grpc answers a call over gRPC, or of connect's own protocol.
func (s *Server) grpc(w http.ResponseWriter, r *http.Request) {
	if _, pattern := s.rpcs.Handler(r); pattern != "" {
		s.rpcs.ServeHTTP(w, r)
		return
	}
	s.rpcFail(w, r, faulty(http.StatusNotImplemented, "there is no call %s", shortened(r.URL.Path)))
}

// rpcFail answers a call with an error.
func (s *Server) rpcFail(w http.ResponseWriter, r *http.Request, err error) {
	connect.NewErrorWriter().Write(w, r, rpcError(err))
}

// rpcCodes are the codes of errors by their status of HTTP.
var rpcCodes = map[int]connect.Code{
	http.StatusUnauthorized:          connect.CodeUnauthenticated,
	http.StatusForbidden:             connect.CodePermissionDenied,
	http.StatusNotFound:              connect.CodeNotFound,
	http.StatusRequestEntityTooLarge: connect.CodeResourceExhausted,
	http.StatusTooManyRequests:       connect.CodeResourceExhausted,
	http.StatusInternalServerError:   connect.CodeInternal,
	http.StatusNotImplemented:        connect.CodeUnimplemented,
	http.StatusServiceUnavailable:    connect.CodeUnavailable,
	http.StatusGatewayTimeout:        connect.CodeDeadlineExceeded,
	statusGone:                       connect.CodeCanceled,
}

func rpcError(err error) error {
	f := faultOf(err)
	code, ok := rpcCodes[f.status]
	if !ok {
		code = connect.CodeInvalidArgument
	}
	return connect.NewError(code, errors.New(strings.ToValidUTF8(f.text, "\uFFFD")))
}

func (s *Server) rpcModelMetadata(_ context.Context, q *names, _ http.Header) ([]byte, error) {
	f, err := s.model(q.first, q.second)
	if err != nil {
		return nil, err
	}
	b := appendString(nil, 1, f.Name)
	for _, v := range s.versions(f.Name) {
		b = appendString(b, 2, v)
	}
	b = appendString(b, 3, "tenon")
	for i, list := range [][]flat{f.inputs, f.outputs} {
		for _, t := range list {
			b = appendMessage(b, fieldNumber(4+i), appendPacked(appendString(appendString(nil, 1, t.name), 2, t.datatype), 3, t.shape))
		}
	}
	return b, nil
}

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
	parameters     int   // with those of inputs
	wrong          error // of what it holds
	ends           bool  // the end of a stream of results is to be told
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
			q.fault(badInput("%s has contents, and raw contents as well", in.name))
		}
		in.raw, in.typed = raw[i], nil
	}
	return nil
}

// fault notes the first error.
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
		q.fault(badInput("%s has the datatype %s, which is not known", in.name, shortened(in.datatype)))
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

// nested parses the JSON that an input of one text for each row, or one for all, holds, where it came as
// texts.
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
		return badInput("%s has the datatype %s; JSON is of type BYTES", in.name, in.datatype)
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

// rpcStream answers the requests of a stream in their order, with any number of results
// for each.
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
	defer s.release(exchangeOf(ctx)) // others follow on the same stream
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

// rpcHealth answers with 1, which is SERVING, or 2.
func (s *Server) rpcHealth(service string) ([]byte, error) {
	if service != "" && !slices.Contains(services, "/"+service+"/") {
		if _, err := s.model(service, ""); err != nil {
			return nil, err
		}
	}
	if s.isReady() {
		return appendNumber(nil, 1, 1), nil
	}
	return appendNumber(nil, 1, 2), nil
}

// rpcWatch sends the state when it changes, until the client goes.
func (s *Server) rpcWatch(ctx context.Context, q *connect.Request[names], stream *connect.ServerStream[reply]) error {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	last := ""
	for {
		b, err := s.rpcHealth(q.Msg.first)
		if err != nil {
			b = appendNumber(nil, 1, 3) // SERVICE_UNKNOWN
		}
		if string(b) != last {
			if err := stream.Send(&reply{b}); err != nil {
				return err
			}
		}
		last = string(b)
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		case <-s.ending:
			return nil
		}
	}
}
