package serve_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon/model/serve"
)

// plain is a codec of messages that are bytes already.
type plain struct{}

func (plain) Name() string { return "proto" }

func (plain) Marshal(m any) ([]byte, error) { return *m.(*[]byte), nil }

func (plain) Unmarshal(b []byte, m any) error {
	*m.(*[]byte) = append([]byte{}, b...)
	return nil
}

// h2c returns a client for HTTP/2 without TLS.
func h2c(t testing.TB) *http.Client {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// rpc returns a client of a call.
func rpc(t testing.TB, url, path string) *connect.Client[[]byte, []byte] {
	t.Helper()
	return connect.NewClient[[]byte, []byte](h2c(t), url+path, connect.WithGRPC(), connect.WithCodec(plain{}))
}

func newRPCServer(t testing.TB, o serve.Options) *httptest.Server {
	t.Helper()
	s := serve.New(o)
	for _, f := range functions() {
		if err := s.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	h := httptest.NewUnstartedServer(s)
	h.Config = s.HTTPServer()
	h.Start()
	t.Cleanup(h.Close)
	return h
}

// msg makes a message of field numbers and contents: texts, messages, numbers.
func msg(parts ...any) []byte {
	var b []byte
	for i := 0; i < len(parts); i += 2 {
		num := protowire.Number(parts[i].(int))
		switch x := parts[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(x))
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), x)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), x)
		}
	}
	return b
}

func doubles(list ...float64) (b []byte) {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func longs(list ...int64) (b []byte) {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

const infer = "/inference.GRPCInferenceService/ModelInfer"

// sumInputs are rows [[1], [2, 3]], with contents of the numbers of fields, or none.
func sumInputs(flat, splits []byte) []any {
	x := msg(1, "x.flat_values", 2, "FP64", 3, 3)
	s := msg(1, "x.row_splits.0", 2, "INT64", 3, 3)
	if flat != nil {
		x, s = append(x, msg(5, msg(7, flat))...), append(s, msg(5, msg(3, splits))...)
	}
	return []any{5, x, 5, s}
}

func TestCallsOverRPC(t *testing.T) {
	h := newRPCServer(t, serve.Options{})
	raw := []any{7, doubles(1, 2, 3), 7, longs(0, 1, 3)}
	tensorShape := func(n int) []byte { return msg(2, msg(1, n)) }
	for _, c := range []struct {
		name, path string
		in, want   []byte
	}{
		{"raw contents are answered with raw ones", infer, msg(append(append([]any{1, "sum", 3, "a"}, sumInputs(nil, nil)...), raw...)...),
			msg(1, "sum", 2, "1", 3, "a", 5, msg(1, "y", 2, "FP64", 3, []byte{2}), 6, doubles(1, 5))},
		{"typed contents are answered with typed ones", infer, msg(append([]any{1, "sum"}, sumInputs(doubles(1, 2, 3), []byte{0, 1, 3})...)...),
			msg(1, "sum", 2, "1", 5, msg(1, "y", 2, "FP64", 3, []byte{2}, 5, msg(7, doubles(1, 5))))},
		{"a whole argument is JSON", infer, msg(1, "sum", 5, msg(1, "x", 2, "BYTES", 3, 2, 4, msg(1, "content_type", 2, msg(3, "json")), 5, msg(8, "[1]", 8, "[2,3]"))),
			msg(1, "sum", 2, "1", 5, msg(1, "y", 2, "FP64", 3, []byte{2}, 5, msg(7, doubles(1, 5))))},
		{"TensorFlow's tensors", "/tensorflow.serving.PredictionService/Predict", msg(1, msg(1, "sum", 2, msg(1, 1)),
			2, msg(1, "x.flat_values", 2, msg(1, 2, 2, tensorShape(3), 6, doubles(1, 2, 3))),
			2, msg(1, "x.row_splits.0", 2, msg(1, 9, 2, tensorShape(3), 4, longs(0, 1, 3)))),
			msg(1, msg(1, "y", 2, msg(1, 2, 2, tensorShape(2), 6, doubles(1, 5))), 2, msg(1, "sum", 2, msg(1, 1), 3, "serving_default"))},
		{"TensorFlow's last element stands for the rest", "/tensorflow.serving.PredictionService/Predict", msg(1, msg(1, "sum"),
			2, msg(1, "x.flat_values", 2, msg(1, 2, 2, tensorShape(3), 6, doubles(4))),
			2, msg(1, "x.row_splits.0", 2, msg(1, 9, 2, tensorShape(2), 10, 0, 10, 3))),
			msg(1, msg(1, "y", 2, msg(1, 2, 2, tensorShape(1), 6, doubles(12))), 2, msg(1, "sum", 2, msg(1, 1), 3, "serving_default"))},
		{"status", "/tensorflow.serving.ModelService/GetModelStatus", msg(1, msg(1, "sum")), msg(1, msg(1, 1, 2, 30, 3, ""))},
		{"health", "/grpc.health.v1.Health/Check", nil, msg(1, 1)},
		{"live", "/inference.GRPCInferenceService/ServerLive", nil, msg(1, 1)},
		{"metadata", "/inference.GRPCInferenceService/ModelMetadata", msg(1, "wait"),
			msg(1, "wait", 2, "1", 3, "tenon", 4, msg(1, "x", 2, "BOOL"), 5, msg(1, "y", 2, "BOOL"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := rpc(t, h.URL, c.path).CallUnary(t.Context(), connect.NewRequest(&c.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(*r.Msg) != string(c.want) {
				t.Errorf("got  %q\nwant %q", *r.Msg, c.want)
			}
		})
	}
}

func TestFaultsOverRPC(t *testing.T) {
	h := newRPCServer(t, serve.Options{MaxBody: 1000})
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for _, c := range []struct {
		name, path string
		ctx        context.Context
		in         []byte
		code       connect.Code
		says       string
	}{
		{"no model", infer, nil, msg(1, "nothing"), connect.CodeNotFound, "nothing"},
		{"no version", infer, nil, msg(1, "sum", 2, "7"), connect.CodeNotFound, "version"},
		{"no call", "/inference.GRPCInferenceService/Other", nil, nil, connect.CodeUnimplemented, "Other"},
		{"no service", "/other.Service/Call", nil, nil, connect.CodeUnimplemented, "other.Service"},
		{"no message", infer, nil, []byte{0xff}, connect.CodeInvalidArgument, "not a valid protocol buffer"},
		{"contents of another type", infer, nil, msg(1, "sum", 5, msg(1, "x.flat_values", 2, "FP64", 3, 1, 5, msg(3, 5))), connect.CodeInvalidArgument, "x.flat_values has elements in a field"},
		{"too few", infer, nil, msg(1, "sum", 5, msg(1, "x.flat_values", 2, "FP64", 3, 2, 5, msg(7, doubles(1)))), connect.CodeInvalidArgument, "x.flat_values has 1 elements"},
		{"too few raw contents", infer, nil, msg(append(append([]any{1, "sum"}, sumInputs(nil, nil)...), 7, doubles(1, 2, 3))...), connect.CodeInvalidArgument, "raw contents for 1 of 2 inputs"},
		{"broken JSON", infer, nil, msg(1, "sum", 5, msg(1, "x", 2, "BYTES", 3, 1, 4, msg(1, "content_type", 2, msg(3, "json")), 5, msg(8, "[1"))), connect.CodeInvalidArgument, "x: the body is not valid JSON"},
		{"too large", infer, nil, make([]byte, 2000), connect.CodeResourceExhausted, "1000"},
		{"panic", infer, nil, msg(1, "fault"), connect.CodeInternal, "fault failed"},
		{"late", infer, short, msg(1, "wait", 5, msg(1, "x", 2, "BOOL", 5, msg(1, 1))), connect.CodeDeadlineExceeded, ""},
		{"a tensor that stands for too many elements", "/tensorflow.serving.PredictionService/Predict", nil,
			msg(1, msg(1, "sum"), 2, msg(1, "x.flat_values", 2, msg(1, 2, 2, msg(2, msg(1, 1<<24)), 6, doubles(4)))), connect.CodeInvalidArgument, "x.flat_values has 1 elements"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			_, err := rpc(t, h.URL, c.path).CallUnary(ctx, connect.NewRequest(&c.in))
			if connect.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v: %v, want %v: %s", connect.CodeOf(err), err, c.code, c.says)
			}
		})
	}
}

// Memory counts in each protocol; requests on one stream follow one another.
func TestMemoryOfMessagesIsBounded(t *testing.T) {
	h := newRPCServer(t, serve.Options{MaxMemory: 200})
	predict := func(n int) []byte {
		return msg(1, msg(1, "sum"), 2, msg(1, "x.flat_values", 2, msg(1, 2, 2, msg(2, msg(1, n)), 4, make([]byte, 8*n))),
			2, msg(1, "x.row_splits.0", 2, msg(1, 9, 2, msg(2, msg(1, 2)), 10, 0, 10, n)))
	}
	for _, c := range []struct {
		path string
		in   []byte
		code connect.Code
	}{
		{"/tensorflow.serving.PredictionService/Predict", predict(3), 0},
		{"/tensorflow.serving.PredictionService/Predict", predict(30), connect.CodeUnavailable},
		{infer, msg(append(append([]any{1, "sum"}, sumInputs(nil, nil)...), 7, make([]byte, 300), 7, longs(0, 1, 3))...), connect.CodeUnavailable},
		{"/tensorflow.serving.PredictionService/Predict", predict(3), 0},
	} {
		if _, err := rpc(t, h.URL, c.path).CallUnary(t.Context(), connect.NewRequest(&c.in)); (err != nil || c.code != 0) && connect.CodeOf(err) != c.code {
			t.Errorf("%s, %d bytes: %v", c.path, len(c.in), err)
		}
	}
	stream := rpc(t, h.URL, "/inference.GRPCInferenceService/ModelStreamInfer").CallBidiStream(t.Context())
	q := msg(append([]any{1, "sum"}, sumInputs(doubles(1, 2, 3), []byte{0, 1, 3})...)...)
	for i := range 10 {
		if err := stream.Send(&q); err != nil {
			t.Fatal(err)
		}
		if got, err := stream.Receive(); err != nil || !strings.Contains(string(*got), "sum") || strings.Contains(string(*got), "hold") {
			t.Fatalf("request %d: %q %v", i, *got, err)
		}
	}
	if err := errors.Join(stream.CloseRequest(), stream.CloseResponse()); err != nil {
		t.Error(err)
	}
}

func TestStreamOverRPC(t *testing.T) {
	h := newRPCServer(t, serve.Options{})
	stream := rpc(t, h.URL, "/inference.GRPCInferenceService/ModelStreamInfer").CallBidiStream(t.Context())
	number := func(n int) []byte { return msg(1, "n", 2, "INT64", 5, msg(3, n)) }
	for _, q := range [][]byte{
		msg(1, "count", 3, "a", 4, msg(1, "triton_enable_empty_final_response", 2, msg(1, 1)), 5, number(2)),
		msg(1, "nothing", 3, "b"),
		msg(append([]any{1, "sum", 3, "c"}, sumInputs(doubles(1, 2, 3), []byte{0, 1, 3})...)...),
	} {
		if err := stream.Send(&q); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.CloseRequest(); err != nil {
		t.Fatal(err)
	}
	step := func(contents []byte) []byte {
		return msg(2, msg(1, "count", 2, "1", 3, "a", 5, msg(1, "i", 2, "INT64", 5, contents)))
	}
	for i, want := range [][]byte{
		step(msg(3, []byte{0})),
		step(msg(3, []byte{1})),
		msg(2, msg(1, "count", 2, "1", 3, "a", 4, msg(1, "triton_final_response", 2, msg(1, 1)))),
		msg(1, `there is no model "nothing"`, 2, msg(3, "b")),
		msg(2, msg(1, "sum", 2, "1", 3, "c", 5, msg(1, "y", 2, "FP64", 3, []byte{2}, 5, msg(7, doubles(1, 5))))),
	} {
		got, err := stream.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if string(*got) != string(want) {
			t.Errorf("message %d: got %q, want %q", i, *got, want)
		}
	}
	if m, err := stream.Receive(); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("behind the last result: %v, %v", m, err)
	}
}
