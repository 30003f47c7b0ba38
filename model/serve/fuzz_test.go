package serve_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// hostile returns a function that sends bytes to a server: an answer or an error of the
// protocol comes back, never a fault of the server.
func hostile(f *testing.F, media string) func(t *testing.T, path string, body []byte, headers ...string) {
	s := serve.New(serve.Options{MaxElements: 1000, MaxBody: 1 << 20})
	for _, fn := range functions() {
		if fn.Name == "wait" || fn.Name == "fault" {
			continue
		}
		if err := s.Add(fn); err != nil {
			f.Fatal(err)
		}
	}
	flat := dense(dtype.Int64, -1)
	either := tenon.Must(structured.NewSpec(shape.Of(-1), []tenon.Field{
		{Name: "map", Spec: tenon.Must(structured.NewMapSpec(shape.Of(-1), dense(dtype.Float32)))},
		{Name: "pair", Spec: tenon.Must(masked.NewSpec(dense(dtype.Int64, -1, 2), 2))},
		{Name: "union", Spec: relaxed(f, tenon.Must(structured.NewUnion([]int8{0}, []structured.Field{{Name: "number", Value: tensor.Of([]int64{1})}, {Name: "word", Value: tensor.Of([]string{""})}})).Spec())},
	}))
	same := func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return a, nil }
	scores := []serve.Arg{{Name: "scores", Spec: dense(dtype.Float32, -1, 2)}}
	for _, fn := range []serve.Func{
		{Name: "either", Args: []serve.Arg{{Name: "x", Spec: either}}, Results: []serve.Arg{{Name: "x", Spec: either}}, Call: same, Batched: true},
		{Name: "classes", Args: scores, Results: scores, Call: same, Batched: true},
		{Name: "numbers", Args: []serve.Arg{{Name: "outputs", Spec: flat}}, Results: []serve.Arg{{Name: "outputs", Spec: dense(dtype.Float64, -1)}},
			Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) {
				return []tenon.Value{ops.Cast(a[0], dtype.Float64)}, nil
			}},
	} {
		if err := s.Add(fn); err != nil {
			f.Fatal(err)
		}
	}
	return func(t *testing.T, path string, body []byte, headers ...string) {
		r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
		r.ProtoMajor, r.ProtoMinor = 2, 0
		r.Header.Set("Content-Type", media)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if status := w.Result().Trailer.Get("Grpc-Status"); w.Code == http.StatusInternalServerError || status == "13" {
			t.Errorf("%s: %d %s %s: %s", path, w.Code, status, w.Result().Trailer.Get("Grpc-Message"), w.Body.String())
		}
	}
}

// FuzzCalls sends arbitrary JSON in each of its protocols.
func FuzzCalls(f *testing.F) {
	send := hostile(f, "application/json")
	paths := []string{"/call/sum", "/call/same", "/v1/models/same:predict", "/v2/models/sum/infer", "/v2/models/same/infer", "/call/either", "/v1/models/classes:classify", "/v1/models/numbers:regress", "/v1/models/either:predict", "/call/count"}
	for i, body := range []string{`{"x":[[1,2.5],[]]}`, `{"people":[{"name":"a","tags":["b"],"age":null}]}`, `{"instances":[{"name":"a","tags":["b"]}]}`,
		`{"inputs":[{"name":"x.flat_values","datatype":"FP64","shape":[1],"data":[1]},{"name":"x.row_splits.0","datatype":"INT64","shape":[2],"data":[0,1]}]}`,
		`{"inputs":[{"name":"people","datatype":"BYTES","shape":[1],"parameters":{"content_type":"json"},"data":[{"name":"a","tags":[]}]}]}`,
		`{"x":[{"map":{"a":1.5},"pair":[1,null],"union":{"word":"w"}},{"map":{},"pair":[2,3],"union":{"number":4}}]}`,
		`{"examples":[{"scores":[1,2]}],"context":{"scores":[3,4]}}`, `{"examples":[{"outputs":7}]}`,
		`{"inputs":{"x.map.entries.row_splits.0":[0,1],"x.map.entries.key":["k"],"x.map.entries.value":[1],"x.pair.mask":[[true,false]],"x.pair.values":[[1,2]],"x.union.tag":[1],"x.union.number":[0],"x.union.word":["w"]}}`,
		`{"n":3}`} {
		f.Add(i, body)
	}
	f.Fuzz(func(t *testing.T, i int, body string) {
		i = (i%len(paths) + len(paths)) % len(paths)
		if paths[i] == "/call/count" && len(body) > len(`{"n":1000}`) {
			return // as many results as it says
		}
		send(t, paths[i], []byte(body))
	})
}

// FuzzMessages sends arbitrary messages over gRPC.
func FuzzMessages(f *testing.F) {
	send := hostile(f, "application/grpc")
	paths := []string{infer, "/tensorflow.serving.PredictionService/Predict", "/inference.GRPCInferenceService/ModelStreamInfer", "/tensorflow.serving.PredictionService/GetModelMetadata",
		"/tensorflow.serving.PredictionService/Classify", "/tensorflow.serving.PredictionService/Regress", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"}
	f.Add(0, msg(append(append([]any{1, "sum", 3, "a"}, sumInputs(nil, nil)...), 7, doubles(1, 2, 3), 7, longs(0, 1, 3))...))
	f.Add(0, msg(append([]any{1, "sum"}, sumInputs(doubles(1, 2, 3), []byte{0, 1, 3})...)...))
	f.Add(0, msg(1, "sum", 5, msg(1, "x", 2, "BYTES", 3, 1, 4, msg(1, "content_type", 2, msg(3, "json")), 5, msg(8, "[1]"))))
	f.Add(1, msg(1, msg(1, "sum", 2, msg(1, 1)), 2, msg(1, "x.flat_values", 2, msg(1, 2, 2, msg(2, msg(1, 3)), 6, doubles(4))),
		2, msg(1, "x.row_splits.0", 2, msg(1, 9, 2, msg(2, msg(1, 2)), 10, 0, 10, 3))))
	f.Add(2, msg(1, "count", 5, msg(1, "n", 2, "INT64", 5, msg(3, 2))))
	f.Add(3, msg(1, msg(1, "same", 3, "serving_default")))
	f.Add(4, msg(1, msg(1, "classes"), 2, msg(1, msg(1, example("scores", msg(2, msg(1, floats(1, 2))))))))
	f.Add(4, msg(1, msg(1, "same"), 2, msg(2, msg(2, example("tags", msg(1, msg(1, "a"))), 1, example("name", msg(1, msg(1, "b")))))))
	f.Add(5, msg(1, msg(1, "numbers"), 2, msg(1, msg(1, example("outputs", msg(3, msg(1, 7)))))))
	f.Add(6, msg(7, ""))
	f.Add(0, msg(1, "either", 5, msg(1, "x.union.tag", 2, "INT8", 3, 1, 5, msg(2, 1)), 5, msg(1, "x.map.entries.key", 2, "BYTES", 3, 1, 5, msg(8, "k"))))
	f.Fuzz(func(t *testing.T, path int, body []byte) {
		frame := append([]byte{0, byte(len(body) >> 24), byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}, body...)
		send(t, paths[(path%len(paths)+len(paths))%len(paths)], frame)
	})
}

// FuzzBytes sends arbitrary tensors in bytes behind a description.
func FuzzBytes(f *testing.F) {
	send := hostile(f, "application/octet-stream")
	head := `{"inputs":[{"name":"x.flat_values","datatype":"FP64","shape":[1],"parameters":{"binary_data_size":8}},{"name":"x.row_splits.0","datatype":"INT64","shape":[2],"parameters":{"binary_data_size":16}}]}`
	f.Add(head, "204", append(doubles(1), longs(0, 1)...))
	f.Add(`{"inputs":[{"name":"people.name","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":5}}]}`, "101", []byte{1, 0, 0, 0, 'a'})
	f.Add("", "0", doubles(1))
	f.Fuzz(func(t *testing.T, head, length string, tail []byte) {
		for _, model := range []string{"sum", "same"} {
			send(t, "/v2/models/"+model+"/infer", append([]byte(head), tail...), "Inference-Header-Content-Length", length)
		}
	})
}

// FuzzRows sends arbitrary bodies of elements alone, and bodies that are compressed.
func FuzzRows(f *testing.F) {
	send := hostile(f, "application/octet-stream")
	f.Add("", floats(1, 2, 3, 4))
	f.Add("", []byte{1})
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(`{"x":[[1]]}`)); err != nil || w.Close() != nil {
		f.Fatal(err)
	}
	f.Add("gzip", zipped.Bytes())
	f.Add("deflate", []byte{0x78, 0x9c, 0x03, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		send(t, "/v1/models/classes:predict", body, "Content-Encoding", encoding)
		send(t, "/call/sum", body, "Content-Encoding", encoding, "Content-Type", "application/json")
	})
}

// FuzzArrow sends arbitrary streams of columns.
func FuzzArrow(f *testing.F) {
	send := hostile(f, "application/vnd.apache.arrow.stream")
	lists := tenon.Must(ragged.FromRowSplits(tensor.Of([]float64{1, 2.5}, 2), []int64{0, 2}))
	var b bytes.Buffer
	v := tenon.Must(structured.FromFields([]structured.Field{{Name: "x", Value: lists}}, shape.Of(1), structured.Options{}))
	if err := arrowio.Encode(&b, v, arrowio.WriteOptions{Stream: true, Plain: true}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("ARROW1\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		send(t, "/v2/models/sum/infer", body)
		send(t, "/v2/models/same/infer", body)
		send(t, "/v2/models/sum/infer", body, "Content-Type", "application/vnd.apache.arrow.file")
	})
}
