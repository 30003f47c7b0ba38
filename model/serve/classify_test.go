package serve_test

import (
	"context"
	"encoding/binary"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// judges are functions from features to classes and numbers.
func judges() []serve.Func {
	scores := func(n int, of func(i int) float32) tenon.Value {
		out := make([]float32, 0, 2*n)
		for i := range n {
			out = append(out, of(i), -of(i))
		}
		return tensor.Of(out, n, 2)
	}
	return []serve.Func{
		{Name: "sign", Args: []serve.Arg{{Name: "age", Spec: dense(dtype.Float32, -1)}, {Name: "tags", Spec: rows(dtype.String)}, {Name: "pair", Spec: dense(dtype.Int64, -1, 2)}},
			Results: []serve.Arg{{Name: "classes", Spec: dense(dtype.String, -1, 2)}, {Name: "scores", Spec: dense(dtype.Float32, -1, 2)}},
			Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) {
				age, tags, pair := tensor.Data[float32](a[0]), a[1].(*ragged.Tensor), tensor.Data[int64](a[2])
				splits := tensor.Data[int64](tags.RowSplits())
				labels := slices.Repeat([]string{"up", "down"}, len(age))
				return []tenon.Value{tensor.Of(labels, len(age), 2),
					scores(len(age), func(i int) float32 { return age[i] + float32(splits[i+1]-splits[i]) + float32(pair[2*i+1]) })}, nil
			}},
		{Name: "plain", Args: []serve.Arg{{Name: "x", Spec: dense(dtype.Float64, -1, 2)}}, Results: []serve.Arg{{Name: "y", Spec: dense(dtype.Float64, -1, 2)}},
			Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return a, nil }},
		{Name: "price", Args: []serve.Arg{{Name: "houses", Spec: tenon.Must(structured.NewSpec(shape.Of(-1), []tenon.Field{
			{Name: "rooms", Spec: dense(dtype.Int64, -1)}, {Name: "age", Spec: tenon.Must(masked.NewSpec(dense(dtype.Float64, -1), 1))}}))}},
			Results: []serve.Arg{{Name: "outputs", Spec: dense(dtype.Float64, -1)}},
			Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) {
				rec := a[0].(*structured.Tensor)
				age := tenon.Must(rec.Field("age")).(*masked.Tensor)
				return []tenon.Value{ops.Add(ops.Cast(tenon.Must(rec.Field("rooms")), dtype.Float64), ops.Where(age.Mask(), age.Values(), 100.0))}, nil
			}},
	}
}

// judging serves the judges.
func judging(t *testing.T) *httptest.Server {
	t.Helper()
	s := serve.New(serve.Options{})
	for _, f := range judges() {
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

func TestExamplesAreJudged(t *testing.T) {
	h := judging(t)
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"sign:classify", `{"examples":[{"age":4.5,"tags":["a","b"],"pair":[1,2]},{"age":[1],"tags":"a","pair":[0,0],"more":5}]}`, 200, `{"result":[[["up",8.5],["down",-8.5]],[["up",2.0],["down",-2.0]]]}`},
		{"sign:classify", `{"context":{"tags":[],"pair":[1,2]},"examples":[{"age":4},{"age":5,"tags":["x"]}]}`, 200, `{"result":[[["up",6.0],["down",-6.0]],[["up",8.0],["down",-8.0]]]}`},
		{"plain:classify", `{"examples":[{"x":[0.1,2]}]}`, 200, `{"result":[[["",0.1],["",2.0]]]}`},
		{"price:regress", `{"signature_name":"serving_default","examples":[{"rooms":3,"age":[2.5]},{"rooms":[4]},{"rooms":4,"age":[]}]}`, 200, `{"result":[5.5,104.0,104.0]}`},
		{"price:regress", `{"examples":[{"age":1}]}`, 400, "examples[0] lacks the feature rooms"},
		{"price:regress", `{"examples":[{"rooms":[1,2]}]}`, 400, "houses[0].rooms is a list"},
		{"price:regress", `{"examples":[{"rooms":1.5}]}`, 400, "houses[0].rooms: 1.5"},
		{"price:regress", `{"examples":[]}`, 400, "examples is a list"},
		{"price:regress", `{"examples":[3]}`, 400, "examples[0] is 3"},
		{"price:regress", `{"examples":[{"rooms":3}],"context":3}`, 400, "context is 3"},
		{"price:regress", `{"examples":[{"rooms":3}],"signature_name":"other"}`, 400, "other"},
		{"price:classify", `{"examples":[{"rooms":3}]}`, 501, "price has no results for classify"},
		{"plain:regress", `{"examples":[{"x":[0.1,2]}]}`, 400, "y has the shape [1 2]"},
		{"nothing:classify", `{"examples":[{}]}`, 404, "nothing"},
	} {
		if status, got := post(t, h.URL+"/v1/models/"+c.path, c.body); status != c.status || !strings.Contains(got, c.says) {
			t.Errorf("%s %s: %d %s, want %d %s", c.path, c.body, status, got, c.status, c.says)
		}
	}
}

func floats(list ...float32) (b []byte) {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// example is a tf.Example of names of features and their lists.
func example(features ...any) []byte {
	var all []any
	for i := 0; i < len(features); i += 2 {
		all = append(all, 1, msg(1, features[i], 2, features[i+1]))
	}
	return msg(1, msg(all...))
}

func TestExamplesAreJudgedOverRPC(t *testing.T) {
	h := judging(t)
	const service = "/tensorflow.serving.PredictionService/"
	answered := func(name string) []byte { return msg(1, name, 2, msg(1, 1), 3, "serving_default") }
	class := func(label string, score float32) []byte {
		b := append(msg(1, label), 0x15) // the score is field 2, of 32 bits
		return append(b, floats(score)...)
	}
	age, pair := msg(2, msg(1, floats(4.5))), msg(3, msg(1, []byte{1, 2}))
	regression := func(x float32) []byte { return append([]byte{0x0d}, floats(x)...) }
	for _, c := range []struct {
		name     string
		in, want []byte
		code     connect.Code
	}{
		{"Classify", msg(1, msg(1, "sign"), 2, msg(1, msg(1, example("age", age, "tags", msg(1, msg(1, "a", 1, "b")), "pair", pair)))),
			msg(1, msg(1, msg(1, class("up", 8.5), 1, class("down", -8.5))), 2, answered("sign")), 0},
		{"Classify", msg(1, msg(1, "sign"), 2, msg(2, msg(2, example("tags", msg(1, []byte{}), "pair", msg(3, msg(1, 1, 1, 2))), 1, example("age", age)))),
			msg(1, msg(1, msg(1, class("up", 6.5), 1, class("down", -6.5))), 2, answered("sign")), 0},
		{"Regress", msg(1, msg(1, "price"), 2, msg(1, msg(1, example("rooms", msg(3, msg(1, 3)), "age", age), 1, example("rooms", msg(3, msg(1, 4)))))),
			msg(1, msg(1, regression(7.5), 1, regression(104)), 2, answered("price")), 0},
		{"Regress", msg(1, msg(1, "price"), 2, msg(1, msg(1, example("rooms", msg(1, msg(1, "three")))))), nil, connect.CodeInvalidArgument},
		{"Regress", msg(1, msg(1, "price")), nil, connect.CodeInvalidArgument},
		{"Regress", msg(1, msg(1, "plain"), 2, msg(1, msg(1, example("x", msg(2, msg(1, floats(1, 2))))))), nil, connect.CodeInvalidArgument},
		{"Classify", msg(1, msg(1, "price"), 2, msg(1, msg(1, example()))), nil, connect.CodeUnimplemented},
		{"Classify", msg(1, msg(1, "sign"), 2, []byte{0xff}), nil, connect.CodeInvalidArgument},
	} {
		r, err := rpc(t, h.URL, service+c.name).CallUnary(t.Context(), connect.NewRequest(&c.in))
		if c.code != 0 {
			if connect.CodeOf(err) != c.code {
				t.Errorf("%s: %v, want %v", c.name, err, c.code)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if string(*r.Msg) != string(c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, *r.Msg, c.want)
		}
	}
}

// Clients may ask for the definitions of the services.
func TestDefinitionsAreTold(t *testing.T) {
	h := newRPCServer(t, serve.Options{})
	stream := grpcreflect.NewClient(h2c(t), h.URL, connect.WithGRPC()).NewStream(t.Context())
	defer stream.Close()
	list, err := stream.ListServices()
	if err != nil || len(list) != 4 {
		t.Fatalf("%v, %v", list, err)
	}
	calls := map[string][]string{}
	for _, name := range list {
		files, err := stream.FileContainingSymbol(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			calls[string(name)] = append(calls[string(name)], callsOf(f)...)
		}
	}
	for service, n := range map[string]int{"inference.GRPCInferenceService": 9, "tensorflow.serving.PredictionService": 5, "tensorflow.serving.ModelService": 5, "grpc.health.v1.Health": 1} {
		if len(calls[service]) != n {
			t.Errorf("%s has the calls %v", service, calls[service])
		}
		for _, call := range calls[service] { // each is there
			if _, err := rpc(t, h.URL, call).CallUnary(t.Context(), connect.NewRequest(new([]byte))); connect.CodeOf(err) == connect.CodeUnimplemented {
				t.Errorf("%s: %v", call, err)
			}
		}
	}
}

// callsOf returns the calls of a file with one answer each.
func callsOf(f *descriptorpb.FileDescriptorProto) (out []string) {
	for _, s := range f.GetService() {
		for _, m := range s.GetMethod() {
			if !m.GetServerStreaming() {
				out = append(out, "/"+f.GetPackage()+"."+s.GetName()+"/"+m.GetName())
			}
		}
	}
	return out
}
