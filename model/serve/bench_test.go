package serve_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// silent takes an answer and keeps nothing of it.
type silent struct{ h http.Header }

func (w silent) Header() http.Header         { return w.h }
func (w silent) WriteHeader(int)             {}
func (w silent) Write(b []byte) (int, error) { return len(b), nil }

// BenchmarkRequests is what a request costs the server, without connections: a small network on rows
// of 64 numbers, and sums of ragged rows.
func BenchmarkRequests(b *testing.B) {
	s := serve.New(serve.Options{})
	w, v := tensor.Of(make([]float32, 64*256), 64, 256), tensor.Of(make([]float32, 256*10), 256, 10)
	net := func(x tensor.Tensor) tensor.Tensor { return ops.Softmax(ops.MatMul(ops.Relu(ops.MatMul(x, w)), v), -1) }
	sums := func(x *ragged.Tensor) tensor.Tensor { return ops.Sum(x, 1) }
	if err := s.AddFunction("m", function.New(net), dense(dtype.Float32, -1, 64)); err != nil {
		b.Fatal(err)
	}
	if err := s.AddFunction("sums", function.New(sums), rows(dtype.Int64)); err != nil {
		b.Fatal(err)
	}
	numbers := func(n int) string {
		return "[[" + strings.Repeat(strings.Repeat("0.125,", 63)+"1.5],[", n-1) + strings.Repeat("0.125,", 63) + "1.5]]"
	}
	raw := func(n int) []byte { return bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, 64*n) }
	oip := func(n int) string {
		return fmt.Sprintf(`{"inputs":[{"name":"x0","datatype":"FP32","shape":[%d,64],"parameters":{"binary_data_size":%d}}],"outputs":[{"name":"y0","parameters":{"binary_data":true}}]}`, n, 256*n)
	}
	frame := func(n int) []byte {
		m := msg(1, "m", 5, msg(1, "x0", 2, "FP32", 3, n, 3, 64), 7, raw(n))
		return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
	}
	ragged := `{"x0":[` + strings.Repeat("["+strings.Repeat("7,", 30)+"1],", 15) + `[1]]}`
	for _, c := range []struct {
		name, path, media string
		body              []byte
		header            string
	}{
		{"json/1", "/v1/models/m:predict", "application/json", []byte(`{"instances":` + numbers(1) + `}`), ""},
		{"json/32", "/v1/models/m:predict", "application/json", []byte(`{"instances":` + numbers(32) + `}`), ""},
		{"raw/256", "/v1/models/m:predict", "application/octet-stream", raw(256), ""},
		{"binary/1", "/v2/models/m/infer", "application/octet-stream", append([]byte(oip(1)), raw(1)...), fmt.Sprint(len(oip(1)))},
		{"binary/256", "/v2/models/m/infer", "application/octet-stream", append([]byte(oip(256)), raw(256)...), fmt.Sprint(len(oip(256)))},
		{"grpc/1", infer, "application/grpc", frame(1), ""},
		{"grpc/256", infer, "application/grpc", frame(256), ""},
		{"ragged/16", "/call/sums", "application/json", []byte(ragged), ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			send := func(w http.ResponseWriter) {
				r := httptest.NewRequest(http.MethodPost, c.path, io.NopCloser(bytes.NewReader(c.body)))
				r.ContentLength = int64(len(c.body))
				r.ProtoMajor, r.ProtoMinor = 2, 0
				r.Header.Set("Content-Type", c.media)
				if c.header != "" {
					r.Header.Set("Inference-Header-Content-Length", c.header)
				}
				s.ServeHTTP(w, r)
			}
			first := httptest.NewRecorder()
			if send(first); first.Code != 200 || c.media == "application/grpc" && first.Result().Trailer.Get("Grpc-Status") != "0" {
				b.Fatal(first.Code, first.Body, first.Result().Trailer)
			}
			b.ReportAllocs()
			for b.Loop() {
				send(silent{http.Header{}})
			}
		})
	}
}
