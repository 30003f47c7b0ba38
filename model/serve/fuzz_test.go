package serve_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/model/serve"
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

// FuzzMessages sends arbitrary messages over gRPC.
func FuzzMessages(f *testing.F) {
	send := hostile(f, "application/grpc")
	paths := []string{infer, "/tensorflow.serving.PredictionService/Predict", "/inference.GRPCInferenceService/ModelStreamInfer", "/tensorflow.serving.PredictionService/GetModelMetadata"}
	f.Add(0, msg(append(append([]any{1, "sum", 3, "a"}, sumInputs(nil, nil)...), 7, doubles(1, 2, 3), 7, longs(0, 1, 3))...))
	f.Add(0, msg(append([]any{1, "sum"}, sumInputs(doubles(1, 2, 3), []byte{0, 1, 3})...)...))
	f.Add(0, msg(1, "sum", 5, msg(1, "x", 2, "BYTES", 3, 1, 4, msg(1, "content_type", 2, msg(3, "json")), 5, msg(8, "[1]"))))
	f.Add(1, msg(1, msg(1, "sum", 2, msg(1, 1)), 2, msg(1, "x.flat_values", 2, msg(1, 2, 2, msg(2, msg(1, 3)), 6, doubles(4))),
		2, msg(1, "x.row_splits.0", 2, msg(1, 9, 2, msg(2, msg(1, 2)), 10, 0, 10, 3))))
	f.Add(2, msg(1, "count", 5, msg(1, "n", 2, "INT64", 5, msg(3, 2))))
	f.Add(3, msg(1, msg(1, "same", 3, "serving_default")))
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
