package serve_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/memtest"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// calls are a call in each protocol of JSON, and its answer.
var calls = []struct{ path, body, answer string }{
	{"/call/sum", `{"x":[[1,2.5],[]]}`, `{"y":[3.5,0.0]}`},
	{"/call/same", `{"people":[{"name":"a","tags":["b"],"age":3}]}`, `{"people":[{"name":"a","tags":["b"],"age":3}]}`},
	{"/call/count", `{"n":2}`, "{\"i\":0}\n{\"i\":1}"},
	{"/v1/models/sum:predict", `{"signature_name":"serving_default","instances":[[1,2.5],[]]}`, `{"predictions":[3.5,0.0]}`},
	{"/v1/models/same:predict", `{"instances":[{"people":{"name":"a","tags":["b"],"age":3}}]}`, `{"predictions":[{"name":"a","tags":["b"],"age":3}]}`},
	{"/v1/models/sum:predict", `{"inputs":{"x.flat_values":[1,2.5],"x.row_splits.0":[0,2,2]}}`, `{"outputs":[3.5,0.0]}`},
	{"/v2/models/sum/infer", `{"id":"1","parameters":{"binary_data_output":false,"timeout":1000000,"priority":1},"inputs":[{"name":"x.flat_values","datatype":"FP64","shape":[2],"parameters":{"content_type":"np"},"data":[1,2.5]},{"name":"x.row_splits.0","datatype":"INT64","shape":[3],"data":[0,2,2]}],"outputs":[{"name":"y","parameters":{"binary_data":false}}]}`,
		`{"model_name":"sum","model_version":"1","id":"1","outputs":[{"name":"y","datatype":"FP64","shape":[2],"data":[3.5,0.0]}]}`},
	{"/v2/models/same/infer", `{"inputs":[{"name":"people","datatype":"BYTES","shape":[1],"parameters":{"content_type":"json"},"data":[{"name":"a","tags":["b"],"age":3}]}],"outputs":[{"name":"people.name"}]}`,
		`{"model_name":"same","model_version":"1","id":"","outputs":[{"name":"people.name","datatype":"BYTES","shape":[1],"data":["a"]}]}`},
	{"/v2/models/count/generate_stream", `{"n":1}`, "data: {\"i\":0}"},
	{"/v1/models/sign:classify", `{"signature_name":"serving_default","context":{"pair":[1,2]},"examples":[{"age":4.5,"tags":["a","b"]},{"age":[1],"tags":"a","pair":[0,0]}]}`,
		`{"result":[[["up",8.5],["down",-8.5]],[["up",2.0],["down",-2.0]]]}`},
	{"/v1/models/price:regress", `{"signature_name":"serving_default","examples":[{"rooms":3,"age":[2.5]},{"rooms":[4]}]}`, `{"result":[5.5,104.0]}`},
}

// server serves all functions of these tests.
func server(t testing.TB, o serve.Options) *serve.Server {
	t.Helper()
	s := serve.New(o)
	for _, f := range append(functions(), judges()...) {
		if err := s.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// faults are what stands in place of a field once.
var faults = []string{`null`, `true`, `-1`, `1.5`, `1e999`, `99999999999999999999`, `NaN`, `"NaN"`, `"text"`, `""`, `"\u0000"`, `[]`, `[null]`, `[[[[1]]]]`, `{}`, `{"a":1}`, `{"b64":"!"}`,
	strings.Repeat("[", 300), strings.Repeat(`{"a":`, 300)}

// mutations returns texts in which each value of a text of JSON is another one once, and each member is missing, has
// another name or stands twice once.
func mutations(t testing.TB, text string) []string {
	var out []string
	var x any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	const hole = `"\u0001hole"`
	var visit func(v any, put func(v any))
	whole := func() string {
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	visit = func(v any, put func(v any)) {
		put("\x01hole")
		holed := whole()
		for _, f := range faults {
			out = append(out, strings.Replace(holed, hole, f, 1))
		}
		put(v)
		switch v := v.(type) {
		case []any:
			for i := range v {
				visit(v[i], func(x any) { v[i] = x })
			}
		case map[string]any:
			for name, member := range v {
				visit(member, func(x any) { v[name] = x })
				delete(v, name)
				out = append(out, whole())
				v["\x01hole"] = member
				holed, b := whole(), string(bytes.TrimSpace([]byte(name)))
				out = append(out, strings.Replace(holed, hole, `"other"`, 1), strings.Replace(holed, hole, `"`+b+`":1,"`+b+`"`, 1))
				delete(v, "\x01hole")
				v[name] = member
			}
		}
	}
	visit(x, func(v any) { x = v })
	return out
}

// Every field of every protocol of JSON is wrong once: the answer is an error of the protocol, or that of a
// request that may say so, and the next call is answered.
func TestEachFieldIsWrongOnce(t *testing.T) {
	s := server(t, serve.Options{MaxElements: 1000})
	send := func(path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		s.ServeHTTP(w, r)
		return w
	}
	for _, c := range calls {
		refused := 0
		for _, body := range mutations(t, c.body) {
			if strings.HasSuffix(c.path, "count") && len(body) > len(`{"n":1000}`) && json.Valid([]byte(body)) {
				continue // as many results as it says
			}
			w := send(c.path, body)
			if w.Code == 200 {
				continue
			}
			refused++
			var e struct{ Error string }
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code < 400 || w.Code >= 500 || e.Error == "" || strings.Contains(e.Error, ".go:") || len(e.Error) > 2000 {
				t.Errorf("%s %.200s: %d %s", c.path, body, w.Code, w.Body)
			}
		}
		if w := send(c.path, c.body); w.Code != 200 || strings.TrimSpace(w.Body.String()) != c.answer {
			t.Errorf("%s %s: %d %s, want %s", c.path, c.body, w.Code, w.Body, c.answer)
		}
		if refused < len(faults) {
			t.Errorf("%s: only %d requests were refused", c.path, refused)
		}
	}
}

// Services of TensorFlow's.
const predictions = "/tensorflow.serving.PredictionService/"

// framed is a message as gRPC sends it, compressed or not.
func framed(message []byte, compressed byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{compressed}, uint32(len(message))), message...)
}

// overRPC sends a message, compressed in an encoding where there is one, and returns the status and the text of the answer.
func overRPC(s *serve.Server, path string, message []byte, encoding string) (status, text string) {
	flag := byte(min(len(encoding), 1))
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(framed(message, flag)))
	r.ProtoMajor, r.ProtoMinor = 2, 0
	r.Header.Set("Content-Type", "application/grpc")
	if encoding != "" {
		r.Header.Set("Grpc-Encoding", encoding)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	end := w.Result().Trailer
	return end.Get("Grpc-Status"), end.Get("Grpc-Message")
}

// overArrow sends a stream of columns.
func overArrow(s *serve.Server, path string, body []byte) (status, text string) {
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/vnd.apache.arrow.stream")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return strconv.Itoa(w.Code), w.Body.String()
}

// columns is a stream of Arrow.
func columns(t testing.TB, n int, fields ...structured.Field) []byte {
	t.Helper()
	var b bytes.Buffer
	v := tenon.Must(structured.FromFields(fields, shape.Of(n), structured.Options{}))
	if err := arrowio.Encode(&b, v, arrowio.WriteOptions{Stream: true}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// column is a field of records.
func column(name string, v tensor.Tensor) structured.Field {
	return structured.Field{Name: name, Value: v}
}

// Every field of a message over gRPC, or of a stream of Arrow, is wrong once: missing, of another kind, cut short,
// and each byte another one.
func TestEachFieldOfAMessageIsWrongOnce(t *testing.T) {
	s := server(t, serve.Options{MaxElements: 1000})
	step := 1
	if testing.Short() {
		step = 7 // under the race detector each call takes ten times as long
	}
	lists := tenon.Must(ragged.FromRowSplits(tensor.Of([]float64{1, 2.5}, 2), []int64{0, 2, 2}))
	words := tenon.Must(ragged.FromRowSplits(tensor.Of([]string{"a", "b"}, 2), []int64{0, 2, 2}))
	ages := tenon.Must(masked.New(tensor.Of([]int32{3, 0}, 2), tensor.Of([]bool{true, false}, 2)))
	for _, c := range []struct {
		path string
		good []byte
	}{
		{infer, msg(append(append([]any{1, "sum", 3, "a"}, sumInputs(nil, nil)...), 7, doubles(1, 2, 3), 7, longs(0, 1, 3))...)},
		{infer, msg(append([]any{1, "sum"}, sumInputs(doubles(1, 2, 3), []byte{0, 1, 3})...)...)},
		{predictions + "Predict", msg(1, msg(1, "sum", 2, msg(1, 1)), 2, msg(1, "x.flat_values", 2, msg(1, 2, 2, msg(2, msg(1, 3)), 6, doubles(4, 5, 6))),
			2, msg(1, "x.row_splits.0", 2, msg(1, 9, 2, msg(2, msg(1, 2)), 10, 0, 10, 3)))},
		{predictions + "Classify", msg(1, msg(1, "sign", 2, msg(1, 1), 3, "serving_default"), 2, msg(1, msg(1, example("age", msg(2, msg(1, floats(4.5))),
			"tags", msg(1, msg(1, "a", 1, "b")), "pair", msg(3, msg(1, []byte{1, 2}))))))},
		{predictions + "Regress", msg(1, msg(1, "price"), 2, msg(2, msg(2, example("rooms", msg(3, msg(1, 3))), 1, example("age", msg(2, msg(1, floats(2)))), 1, example())))},
		{"/v2/models/sum/infer", columns(t, 2, column("x", lists))},
		{"/v2/models/same/infer", columns(t, 2, column("name", tensor.Of([]string{"x", "y"}, 2)), column("tags", words), column("age", ages))},
	} {
		send := func(body []byte) string {
			if strings.HasPrefix(c.path, "/v2") {
				status, text := overArrow(s, c.path, body)
				if status != "200" && !strings.HasPrefix(text, `{"error":"`) || strings.Contains(text, ".go:") {
					t.Errorf("%s: %x: %s", c.path, body, text)
				}
				return status
			}
			status, text := overRPC(s, c.path, body, "")
			if status != "0" && text == "" || strings.Contains(text, ".go:") {
				t.Errorf("%s: %x: %s %s", c.path, body, status, text)
			}
			return status
		}
		good := send(c.good)
		if good != "0" && good != "200" {
			t.Errorf("%s: status %s", c.path, good)
		}
		refused := 0
		for i := 0; i < len(c.good); i += step {
			bad := [][]byte{c.good[:i], slices.Delete(slices.Clone(c.good), i, i+1)}
			for _, x := range []byte{0, 0x7f, 0xff, c.good[i] ^ 1, c.good[i] ^ 8} {
				b := slices.Clone(c.good)
				b[i] = x
				bad = append(bad, b)
			}
			for _, b := range bad {
				switch status := send(b); status {
				case good:
				case "3", "5", "8", "12", "400", "413":
					refused++
				default:
					t.Errorf("%s: byte %d of %x: status %s", c.path, i, b, status)
				}
			}
		}
		if status := send(c.good); status != good || refused < len(c.good)/step {
			t.Errorf("%s: status %s, %d refused", c.path, status, refused)
		}
	}
}

// Every header that says how a request is to be read or answered is wrong once.
func TestEachHeaderIsWrongOnce(t *testing.T) {
	s := server(t, serve.Options{Tokens: []string{"secret"}})
	send := func(path, body string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		header string
		values []string
		status int
		says   string
	}{
		{"X-Timeout-Ms", []string{"soon", "-1", "1.5", "1e3", "0x10", "99999999999", "+1", " ", "١"}, 400, "X-Timeout-Ms"},
		{"X-Priority", []string{"first", "-1", "1.0", "99999999999999999999", " "}, 400, "X-Priority"},
		{"Content-Type", []string{"application/xml", "text/plain", ";", "application/json; charset", "/"}, 415, "Content-Type"},
		{"Content-Encoding", []string{"br", "gzip, gzip", "x"}, 415, "Content-Encoding"},
		{"Content-Encoding", []string{"gzip", "deflate"}, 400, "cannot read the body"},
		{"Inference-Header-Content-Length", []string{"x", "-1", "1e3", "99999999999999999999", "1000000"}, 400, "Inference-Header-Content-Length"},
		{"Authorization", []string{"", "Bearer", "Bearer other", "Basic secret", "secret", "Bearer secret "}, 401, "Authorization"},
	} {
		for _, call := range calls {
			infer := strings.HasSuffix(call.path, "infer")
			switch {
			case strings.HasPrefix(c.header, "Inference") && !infer: // which the protocol alone has
				continue
			case c.header == "Content-Type" && strings.HasPrefix(call.path, "/v1/"): // curl -d, as TensorFlow Serving has it, says what is not so
				continue
			}
			for _, v := range c.values {
				if w := send(call.path, call.body, c.header, v); w.Code != c.status || !strings.Contains(w.Body.String(), `{"error":"`) || !strings.Contains(w.Body.String(), c.says) {
					t.Errorf("%s with %s: %q: %d %s", call.path, c.header, v, w.Code, w.Body)
				}
			}
		}
	}
	for _, id := range []string{"", "\x00", "a b", "é", strings.Repeat("a", 129)} {
		if w := send("/call/sum", `{"x":[[1]]}`, "X-Request-Id", id); w.Code != 200 || w.Header().Get("X-Request-Id") == id || len(w.Header().Get("X-Request-Id")) != 24 {
			t.Errorf("the id %q: %d, answered with %q", id, w.Code, w.Header().Get("X-Request-Id"))
		}
	}
}

// What is wrong with a column, or with a feature, is told with its path and its Spec.
func TestWhatIsWrongIsNamed(t *testing.T) {
	s := server(t, serve.Options{MaxElements: 1000})
	lists := func(list tensor.Tensor) tensor.Tensor {
		return tenon.Must(ragged.FromRowSplits(list, []int64{0, 2, 2}))
	}
	missing := func(v tensor.Tensor) tensor.Tensor {
		return tenon.Must(masked.New(v, tensor.Of([]bool{true, false}, 2)))
	}
	texts, numbers, halves := tensor.Of([]string{"a", "b"}, 2), tensor.Of([]int32{1, 2}, 2), tensor.Of([]float64{0.5, 1.5}, 2)
	records := tenon.Must(structured.FromFields([]structured.Field{column("n", numbers)}, shape.Of(2), structured.Options{}))
	good := []structured.Field{column("name", texts), column("tags", lists(texts)), column("age", missing(numbers))}
	other := func(name string, v tensor.Tensor) []structured.Field {
		return append(slices.Clone(good), column(name, v))
	}
	for i, wrong := range [][]structured.Field{
		{column("name", numbers), column("name", halves), column("name", lists(texts)), column("name", missing(texts)), column("name", records)},
		{column("tags", texts), column("tags", lists(numbers)), column("tags", lists(tensor.Of([]string{"a", "b"}, 2, 1))), column("tags", records)},
		{column("age", texts), column("age", missing(halves)), column("age", lists(numbers)), column("age", records)},
	} {
		for _, f := range wrong {
			fields := slices.Clone(good)
			fields[i] = f
			want := f.Name + " is " + []string{"string[?]", "string[?, ~]", "masked int32[?]"}[i]
			if status, text := overArrow(s, "/v2/models/same/infer", columns(t, 2, fields...)); status != "400" || !strings.Contains(text, want) {
				t.Errorf("%s is %s: %s %s, want %s", f.Name, tenon.String(f.Value.Spec()), status, text, want)
			}
		}
	}
	for _, c := range []struct {
		fields []structured.Field
		says   string
	}{
		{good[1:], "the column name is missing"},
		{good[:2], "the column age is missing"},
		{other("more", numbers), "no argument for the column \\\"more\\\""},
		{other("", numbers), "no argument for the column"},
	} {
		if status, text := overArrow(s, "/v2/models/same/infer", columns(t, 2, c.fields...)); status != "400" || !strings.Contains(text, c.says) {
			t.Errorf("%s %s, want %s", status, text, c.says)
		}
	}
	whole := columns(t, 2, good...)
	if status, text := overArrow(s, "/v2/models/same/infer", whole); status != "200" {
		t.Errorf("%s %s", status, text)
	}
	text, ints, more := msg(1, msg(1, "three")), msg(3, msg(1, 3)), msg(2, msg(1, floats(1, 2)))
	list := func(b []byte) string { return string(b) }
	for _, c := range []struct {
		call    string
		model   string
		example []byte
		body    string // the same over REST
		says    []string
	}{
		{"Regress", "price", example("rooms", text), `{"rooms":"three"}`, []string{"houses[0].rooms", "rooms: int64[?]"}},
		{"Regress", "price", example("rooms", more), `{"rooms":[1,2]}`, []string{"houses[0].rooms", "rooms: int64[?]"}},
		{"Regress", "price", example("rooms", ints, "age", text), `{"rooms":3,"age":"three"}`, []string{"houses[0].age", "age: masked float64[?]"}},
		{"Regress", "price", example("room", ints), `{"room":3}`, []string{"examples[0] lacks the feature rooms", "rooms: int64[?]"}},
		{"Classify", "sign", example("age", text, "tags", text, "pair", msg(3, msg(1, []byte{1, 2}))), `{"age":"three","tags":["a"],"pair":[1,2]}`, []string{"age[0]", "age is float32[?]"}},
		{"Classify", "sign", example("age", ints, "tags", ints, "pair", msg(3, msg(1, []byte{1, 2}))), `{"age":3,"tags":[3],"pair":[1,2]}`, []string{"tags[0][0]", "tags is string[?, ~]"}},
		{"Classify", "sign", example("age", ints, "tags", text, "pair", ints), `{"age":3,"tags":["a"],"pair":[3]}`, []string{"pair[0]", "pair is int64[?, 2]"}},
		{"Classify", "sign", example("age", ints, "tags", text), `{"age":3,"tags":["a"]}`, []string{"examples[0] lacks the feature pair", "pair is int64[?, 2]"}},
	} {
		rpcStatus, rpcText := overRPC(s, predictions+c.call, msg(1, msg(1, c.model), 2, msg(1, msg(1, list(c.example)))), "")
		r := httptest.NewRequest(http.MethodPost, "/v1/models/"+c.model+":"+strings.ToLower(c.call), strings.NewReader(`{"examples":[`+c.body+`]}`))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		for _, says := range c.says {
			if rpcStatus != "3" || !strings.Contains(rpcText, says) || w.Code != 400 || !strings.Contains(w.Body.String(), says) {
				t.Errorf("%s: %s %s; %d %s; want %s", c.body, rpcStatus, rpcText, w.Code, w.Body, says)
			}
		}
	}
}

// What is sent on a connection itself is wrong: the answer says so, and the server serves on.
func TestConnectionsThatAreWrong(t *testing.T) {
	s := server(t, serve.Options{MaxBody: 1 << 16, ReadTimeout: 300 * time.Millisecond})
	h := httptest.NewUnstartedServer(nil)
	h.Config = s.HTTPServer()
	h.Start()
	t.Cleanup(h.Close) // behind the calls, which run together
	const body = `{"x":[[1]]}`
	call := func(headers, body string) string {
		return "POST /call/sum HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
	}
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(body), body)
	length := "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	gz := "Content-Encoding: gzip\r\n"
	for _, c := range []struct {
		name, sent string
		endless    string // what comes on and on
		status     []string
	}{
		{"as it should be", call(length, body), "", []string{"200"}},
		{"in a chunk", call("Transfer-Encoding: chunked\r\n", chunk+"0\r\n\r\n"), "", []string{"200"}},
		{"a length and chunks", call("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", chunk+"0\r\n\r\nGET /v2 HTTP/1.1\r\nHost: a\r\n\r\n"), "", []string{"200", "400"}},
		{"two lengths", call(length+"Content-Length: 5\r\n", body), "", []string{"400"}},
		{"a list of lengths", call("Content-Length: 5, 11\r\n", body), "", []string{"400"}},
		{"a negative length", call("Content-Length: -1\r\n", body), "", []string{"400"}},
		{"a length with a sign", call("Content-Length: +11\r\n", body), "", []string{"400"}},
		{"a length in hexadecimal", call("Content-Length: 0xb\r\n", body), "", []string{"400"}},
		{"a length of too many digits", call("Content-Length: 99999999999999999999999\r\n", body), "", []string{"400"}},
		{"a length that is too large", call("Content-Length: 100000\r\n", body), "", []string{"413"}},
		{"a length of more than is sent", call("Content-Length: 30\r\n", body), "", []string{"408", "400"}},
		{"an encoding that nobody knows", call("Transfer-Encoding: gzip, chunked\r\n", chunk), "", []string{"400", "501"}},
		{"an encoding with a space", call("Transfer-Encoding : chunked\r\n", chunk), "", []string{"400"}},
		{"an encoding twice", call("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunk), "", []string{"400", "501"}},
		{"a line that goes on", call("X-A: b\r\n c: d\r\n"+length, body), "", []string{"200", "400"}},
		{"a header without a name", call(": b\r\n"+length, body), "", []string{"400"}},
		{"a zero byte in a header", call("X-A: \x00\r\n"+length, body), "", []string{"400"}},
		{"no host", "POST /call/sum HTTP/1.1\r\n" + length + "\r\n" + body, "", []string{"400"}},
		{"a chunk without a size", call("Transfer-Encoding: chunked\r\n", "x\r\n"+body+"\r\n0\r\n\r\n"), "", []string{"400"}},
		{"a chunk of a negative size", call("Transfer-Encoding: chunked\r\n", "-5\r\n"+body), "", []string{"400"}},
		{"a chunk that is too large", call("Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n"+body), "", []string{"400", "408", "413"}},
		{"a chunk that ends elsewhere", call("Transfer-Encoding: chunked\r\n", "3\r\n"+body+"\r\n0\r\n\r\n"), "", []string{"400"}},
		{"chunks that never end", call("Transfer-Encoding: chunked\r\n", ""), "400\r\n" + strings.Repeat(" ", 0x400) + "\r\n", []string{"413", "400", "408"}},
		{"chunks of one byte", call("Transfer-Encoding: chunked\r\n", ""), strings.Repeat("1\r\n \r\n", 100), []string{"413", "400", "408"}},
		{"headers that never end", "POST /call/sum HTTP/1.1\r\nHost: a\r\n", "X-A: " + strings.Repeat("a", 1000) + "\r\n", []string{"431"}},
		{"a header that never ends", "POST /call/sum HTTP/1.1\r\nHost: a\r\nX-A: ", strings.Repeat("a", 1000), []string{"431"}},
		{"a first line that never ends", "POST /call/", strings.Repeat("a", 1000), []string{"431", "414", "400"}},
		{"a head that does not come", "POST /call/sum HT", "", []string{"400", "408", ""}},
		{"a body that does not come", call(length, `{"x"`), "", []string{"408"}},
		{"gzip that is none", call(gz+length, body), "", []string{"400"}},
		{"gzip that ends early", call(gz+"Content-Length: 20\r\n", compressed(strings.Repeat(" ", 1000))[:20]), "", []string{"400"}},
		{"gzip of too much", call(gz+"Content-Length: "+strconv.Itoa(len(compressed(strings.Repeat(" ", 1<<17))))+"\r\n", compressed(strings.Repeat(" ", 1<<17))), "", []string{"413"}},
		{"an encoding of the content that nobody knows", call("Content-Encoding: br\r\n"+length, body), "", []string{"415"}},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00", "", []string{"400", ""}},
		{"HTTP/0.9", "GET /\r\n", "", []string{"400", "505"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", h.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			go func() {
				_, err := io.WriteString(conn, c.sent)
				for i := 0; c.endless != "" && err == nil && i < 1<<16; i++ {
					_, err = io.WriteString(conn, c.endless)
				}
			}()
			head := make([]byte, len("HTTP/1.1 200"))
			n, _ := io.ReadFull(conn, head)
			got := strings.TrimPrefix(string(head[:n]), "HTTP/1.1 ")
			if !slices.Contains(c.status, got) {
				t.Errorf("the answer begins with %q, want one of %v", head[:n], c.status)
			}
			if status, text := post(t, h.URL+"/call/sum", body); status != 200 || text != `{"y":[1.0]}` {
				t.Errorf("the next call: %d %s", status, text)
			}
		})
	}
}

func compressed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// A body that is far more when it is decompressed, or when it is read, takes about as much memory as a body may have.
func TestBombsTakeWhatIsAllowed(t *testing.T) {
	memtest.Skip(t)
	const allowed = 1 << 20
	s := server(t, serve.Options{MaxBody: allowed})
	fill := func(head, unit, tail string, size int) string {
		return head + strings.Repeat(unit, size/len(unit)) + tail
	}
	deflated := func(text string) string {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		io.WriteString(w, text)
		w.Close()
		return b.String()
	}
	const most = allowed - 1000
	oip := func(rest string) string {
		return `{"inputs":[{"name":"x.flat_values","datatype":"FP64","shape":[1],` + rest
	}
	took := func(send func()) int {
		least := math.MaxInt // of some: others may run
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			send()
			runtime.ReadMemStats(&after)
			least = min(least, int(after.TotalAlloc-before.TotalAlloc))
		}
		return least
	}
	const besides = 1 << 20
	for _, c := range []struct {
		name, path, encoding, body string
		status, times              int // of what is allowed
	}{
		{"zeros", "/call/sum", "gzip", compressed(strings.Repeat("\x00", 8*allowed)), 413, 1},
		{"deflated zeros", "/call/sum", "deflate", deflated(strings.Repeat("\x00", 8*allowed)), 413, 1},
		{"lists", "/call/sum", "gzip", compressed(fill(`{"x":[`, "[],", "[]]}", 8*allowed)), 413, 1},
		{"lists of lists", "/call/sum", "gzip", compressed(fill(`{"x":[[`, "[],", "[]]]}", most)), 400, 2},
		{"objects", "/call/same", "gzip", compressed(fill(`{"people":[`, "{},", "{}]}", most)), 400, 2},
		{"lists that nobody asked for", "/call/sum", "gzip", compressed(fill(`{"z":[`, "[],", "[]]}", most)), 400, 2},
		{"texts", "/call/sum", "gzip", compressed(fill(`{"x":[[`, `"",`, `""]]}`, most)), 400, 5},                          // room for the elements
		{"instances", "/v1/models/same:predict", "gzip", compressed(fill(`{"instances":[`, "{},", "{}]}", most)), 400, 20}, // an object of each, one after the other
		{"examples", "/v1/models/sum:classify", "gzip", compressed(fill(`{"examples":[`, "{},", "{}]}", most)), 501, 40},   // an object of each, up to the number that is allowed
		{"inputs", "/v2/models/sum/infer", "gzip", compressed(fill(`{"inputs":[`, "{},", "{}]}", most)), 400, 2},
		{"sizes", "/v2/models/sum/infer", "gzip", compressed(fill(oip(`"shape2":[`), "1,", "1]}]}", most)), 400, 2},
		{"data", "/v2/models/sum/infer", "gzip", compressed(fill(oip(`"data":[`), "1,", "1]}]}", most)), 400, 2},
		{"data in lists", "/v2/models/sum/infer", "gzip", compressed(fill(oip(`"data":[`), "[],", "[]]}]}", most)), 400, 4},
	} {
		var w *httptest.ResponseRecorder
		n := took(func() {
			r := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Content-Encoding", c.encoding)
			w = httptest.NewRecorder()
			s.ServeHTTP(w, r)
		})
		if w.Code != c.status || n > c.times*allowed+besides {
			t.Errorf("%s: %d bytes are %d %s, and took %d bytes of memory; %d are allowed", c.name, len(c.body), w.Code, w.Body, n, allowed)
		}
	}

	many := func(unit []byte) []byte { return bytes.Repeat(unit, most/len(unit)) }
	empty := msg(1, "")
	judged := func(examples []byte) []byte { return msg(1, msg(1, "price"), 2, msg(1, examples)) }
	rooms := func(kind int, values []byte) []byte { return judged(msg(1, example("rooms", msg(kind, values)))) }
	for _, c := range []struct {
		name, path string
		message    []byte
		status     string
		times      int
	}{
		// A compressed message is read into a bytes.Buffer of Connect's pool, up to one byte more than is allowed. One that
		// is new has 512 bytes and doubles until this and bytes.MinRead fit, so that the last one is twice what is
		// allowed and all of them four times: 512 + 1024 + … + 2*allowed. There is no option for its size. Later rounds
		// may find a large one, but need not: a collection empties the pool, other processors have their own, and the
		// bytes as they came may get the large one.
		{"zeros", infer, make([]byte, 8*allowed), "8", 4},
		{"zeros for another protocol", predictions + "Regress", make([]byte, 8*allowed), "8", 4},
		{"unknown fields", infer, append(msg(1, "sum"), many(msg(99, ""))...), "3", 5},
		{"inputs", infer, append(msg(1, "sum"), many(msg(5, ""))...), "3", 8},
		{"outputs", infer, append(msg(1, "sum"), many(msg(6, ""))...), "3", 8},
		{"raw contents", infer, append(msg(1, "sum"), many(msg(7, ""))...), "3", 8},
		{"parameters", infer, append(msg(1, "sum"), many(msg(4, ""))...), "3", 15},
		{"parameters of an input", infer, msg(1, "sum", 5, append(msg(1, "x", 2, "FP64"), many(msg(4, ""))...)), "3", 15},
		{"sizes", infer, msg(1, "sum", 5, msg(1, "x.flat_values", 2, "FP64", 3, make([]byte, most))), "3", 8},
		{"numbers", infer, msg(1, "sum", 5, msg(1, "x.flat_values", 2, "INT64", 3, most, 5, msg(3, make([]byte, most)))), "3", 20},
		{"numbers one by one", infer, msg(1, "sum", 5, msg(1, "x.flat_values", 2, "INT64", 3, most, 5, many(msg(3, 0)))), "3", 20},
		{"texts", infer, msg(1, "same", 5, msg(1, "people.name", 2, "BYTES", 3, most, 5, many(msg(8, "")))), "3", 25},
		{"lying sizes", infer, msg(1, "sum", 5, msg(1, "x.flat_values", 2, "FP64", 3, 1<<40), 7, ""), "3", 1},
		{"an element for many", predictions + "Predict", msg(1, msg(1, "sum"), 2, msg(1, "x.flat_values", 2, msg(1, 2, 2, msg(2, msg(1, 1<<40)), 6, doubles(1)))), "3", 1},
		{"axes", predictions + "Predict", msg(1, msg(1, "sum"), 2, msg(1, "x.flat_values", 2, msg(1, 2, 2, many(msg(2, ""))))), "3", 8},
		{"examples", predictions + "Regress", judged(many(empty)), "3", 40},
		{"features", predictions + "Regress", judged(msg(1, msg(1, many(empty)))), "3", 25},
		{"integers", predictions + "Regress", rooms(3, msg(1, make([]byte, most))), "3", 25},
		{"integers one by one", predictions + "Regress", rooms(3, many(msg(1, 0))), "3", 25},
		{"floats", predictions + "Regress", rooms(2, msg(1, make([]byte, most/4*4))), "3", 25},
		{"bytes", predictions + "Regress", rooms(1, many(empty)), "3", 25},
		{"kinds", predictions + "Regress", judged(msg(1, example("rooms", many(msg(3, ""))))), "3", 25},
	} {
		small := []byte(compressed(string(c.message)))
		var status, text string
		n := took(func() { status, text = overRPC(s, c.path, small, "gzip") })
		if status != c.status || n > c.times*allowed+besides {
			t.Errorf("%s: %d bytes are %s %.200s, and took %d bytes of memory; %d are allowed", c.name, len(small), status, text, n, allowed)
		}
	}

	zipped := func(o arrowio.WriteOptions, n int, fields ...structured.Field) []byte {
		var b bytes.Buffer
		o.Stream, o.Plain = true, true
		if err := arrowio.Encode(&b, tenon.Must(structured.FromFields(fields, shape.Of(n), structured.Options{})), o); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	zstd, lz4 := arrowio.WriteOptions{Compression: arrowio.Zstd}, arrowio.WriteOptions{Compression: arrowio.LZ4}
	one := func(n int) structured.Field { // list of zeros
		return column("x", tenon.Must(ragged.FromRowSplits(ops.Zeros(dtype.Float64, []int{n}), []int64{0, int64(n)})))
	}
	lists := func(n int) structured.Field { // without entries
		return column("x", tenon.Must(ragged.FromRowSplits(tensor.Of([]float64{}, 0), ops.Zeros(dtype.Int64, []int{n + 1}))))
	}
	lying := func(b []byte, n, lie uint64) []byte {
		length := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
		out := bytes.ReplaceAll(b, length(n), length(lie))
		if bytes.Equal(out, b) {
			t.Fatal("there is no such length")
		}
		return out
	}
	windowed := func(b []byte) []byte { // 512 MiB of a frame of zstd
		at := bytes.Index(b, []byte{0x28, 0xb5, 0x2f, 0xfd})
		copy(b[at+4:], []byte{0, 19 << 3, 1 | 1<<3, 0, 0})
		return b
	}
	batches := zipped(arrowio.WriteOptions{}, 1, one(0))
	schema := 8 + int(binary.LittleEndian.Uint32(batches[4:]))
	batch := batches[schema : len(batches)-8]
	words := func(n, long int) []structured.Field { // the same long one many times
		w := tenon.Must(structured.NewDictionary(ops.Zeros(dtype.Int64, []int{n}), tensor.Of([]string{strings.Repeat("a", long)}, 1)))
		empty := tenon.Must(ragged.FromRowSplits(tensor.Of([]string{}, 0), ops.Zeros(dtype.Int64, []int{n + 1})))
		return []structured.Field{column("name", w), column("tags", empty), column("age", ops.Zeros(dtype.Int32, []int{n}))}
	}
	for _, c := range []struct {
		name, path string
		body       []byte
		status     string
		times      int
	}{
		{"zeros", "/v2/models/sum/infer", zipped(zstd, 1, one(allowed)), "413", 2},
		{"zeros in LZ4", "/v2/models/sum/infer", zipped(lz4, 1, one(allowed)), "413", 2},
		{"lists", "/v2/models/sum/infer", zipped(zstd, allowed, lists(allowed)), "413", 2},
		{"a buffer that is said to be large", "/v2/models/sum/infer", lying(zipped(zstd, 1, one(1<<12)), 1<<15, 1<<40), "413", 1},
		{"a buffer of a negative size", "/v2/models/sum/infer", lying(zipped(zstd, 1, one(1<<12)), 1<<15, 1<<63), "400", 1},
		{"a buffer of more than is said", "/v2/models/sum/infer", lying(zipped(zstd, 1, one(1<<16)), 1<<19, 1<<10), "400", 10},
		{"a window that is said to be large", "/v2/models/sum/infer", windowed(zipped(zstd, 1, one(1<<12))), "400", 1},
		{"batches", "/v2/models/sum/infer", slices.Concat(batches[:schema], many(batch)), "200", 20},
		{"words of a dictionary", "/v2/models/same/infer", zipped(zstd, 200, words(200, allowed/2)...), "413", 10},
	} {
		var status, text string
		n := took(func() { status, text = overArrow(s, c.path, c.body) })
		if status != c.status || n > c.times*allowed+besides {
			t.Errorf("%s: %d bytes are %s %.200s, and took %d bytes of memory; %d are allowed", c.name, len(c.body), status, text, n, allowed)
		}
	}
}
