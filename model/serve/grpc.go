package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
)

// The services over gRPC, among them the Open Inference Protocol v2.

// A protoMessage is decoded from bytes that are not retained, or encoded.
type protoMessage interface {
	decode(b []byte) error
	encode(b []byte) []byte
}

// A reply is an encoded message.
type reply struct{ b []byte }

func (*reply) decode([]byte) error      { return nil }
func (r *reply) encode(b []byte) []byte { return append(b, r.b...) }

// names is a message with strings in fields 1 and 2.
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

// codec encodes and decodes messages for connect.
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

// rpc returns the handler of all gRPC calls.
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
	// In these messages the name of the model is field 2; field 1 is the name of a repository.
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

// endless removes the time limit for reading a request, because a stream has no defined end.
func endless(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).SetReadDeadline(time.Time{})
		h.ServeHTTP(w, r)
	})
}

// isRPC reports whether a request is a call over gRPC, or over connect's own protocol.
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

// grpc answers a call over gRPC, or over connect's own protocol.
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

// rpcCodes are the codes of errors, by HTTP status.
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

// rpcWatch sends the state whenever it changes, until the client disconnects.
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
