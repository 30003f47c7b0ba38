package serve_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func dense(d dtype.DType, dims ...int) tenon.Spec { return tensor.NewSpec(d, shape.Of(dims...)) }

func rows(d dtype.DType) tenon.Spec {
	return tenon.Must(ragged.NewSpec(d, shape.Of(-1, -1), 1, dtype.Int64))
}

// functions are a batched one over rows, one over records, one that fails, and a stream.
func functions() []serve.Func {
	people := tenon.Must(structured.NewSpec(shape.Of(-1), []tenon.Field{
		{Name: "name", Spec: dense(dtype.String, -1)},
		{Name: "tags", Spec: rows(dtype.String)},
		{Name: "age", Spec: tenon.Must(masked.NewSpec(dense(dtype.Int32, -1), 1))},
	}))
	return []serve.Func{
		{Name: "sum", Batched: true, Args: []serve.Arg{{Name: "x", Spec: rows(dtype.Float64)}}, Results: []serve.Arg{{Name: "y", Spec: dense(dtype.Float64, -1)}},
			Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) {
				if tensor.Item[bool](ops.Any(ops.Less(a[0], 0.0), -1, -2)) {
					return nil, tenon.NewError(tenon.ErrInvalid, "sum", "a number is negative")
				}
				return []tenon.Value{ops.Sum(a[0], -1)}, nil
			}},
		{Name: "same", Batched: true, Args: []serve.Arg{{Name: "people", Spec: people}}, Results: []serve.Arg{{Name: "people", Spec: people}},
			Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return a, nil }},
		{Name: "fault", Results: []serve.Arg{{Name: "y", Spec: dense(dtype.Bool)}},
			Call: func(context.Context, []tenon.Value) ([]tenon.Value, error) { return make([]tenon.Value, 0)[:1:1], nil }},
		{Name: "wait", Args: []serve.Arg{{Name: "x", Spec: dense(dtype.Bool)}}, Results: []serve.Arg{{Name: "y", Spec: dense(dtype.Bool)}},
			Call: func(ctx context.Context, a []tenon.Value) ([]tenon.Value, error) { <-ctx.Done(); return nil, ctx.Err() }},
		{Name: "count", Args: []serve.Arg{{Name: "n", Spec: dense(dtype.Int64)}}, Results: []serve.Arg{{Name: "i", Spec: dense(dtype.Int64)}},
			Stream: func(_ context.Context, a []tenon.Value, send func([]tenon.Value) error) error {
				for i := range tensor.Item[int64](a[0]) {
					if err := send([]tenon.Value{tensor.Scalar(i)}); err != nil {
						return err
					}
				}
				return nil
			}},
	}
}

func newServer(t testing.TB, o serve.Options) *httptest.Server {
	t.Helper()
	s := serve.New(o)
	for _, f := range functions() {
		if err := s.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return h
}

// post returns the status and body of a call.
func post(t testing.TB, url, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSpace(string(b))
}

func TestCalls(t *testing.T) {
	h := newServer(t, serve.Options{})
	person := `{"name":"ann","tags":["a","b"],"age":7}`
	nobody := `{"name":"","tags":[],"age":null}`
	for _, c := range []struct{ path, body, want string }{
		{"/call/sum", `{"x":[[1,2.5],[],[4]]}`, `{"y":[3.5,0.0,4.0]}`},
		{"/call/sum", `{"x":[]}`, `{"y":[]}`},
		{"/call/same", `{"people":[` + person + `,` + nobody + `]}`, `{"people":[` + person + `,` + nobody + `]}`},
		{"/call/same", `{"people":[{"name":"x","tags":[]}]}`, `{"people":[{"name":"x","tags":[],"age":null}]}`},
		{"/call/same", `{"people":[]}`, `{"people":[]}`},
		{"/call/count", `{"n":2}`, "{\"i\":0}\n{\"i\":1}"},
		{"/v1/models/sum:predict", `{"instances":[[1,2],[]]}`, `{"predictions":[3.0,0.0]}`},
		{"/v1/models/sum:predict", `{"inputs":{"x.flat_values":[1,2,3],"x.row_splits.0":[0,1,3]}}`, `{"outputs":[1.0,5.0]}`},
		{"/v1/models/sum/versions/0:predict", `{"instances":[[1,2]]}`, `{"predictions":[3.0]}`},
		{"/v1/models/same:predict", `{"inputs":[` + person + `]}`, `{"outputs":[` + person + `]}`},
		{"/v2/models/sum/infer", `{"id":"7","inputs":[{"name":"x.flat_values","datatype":"FP64","shape":[3],"data":[1,2,3]},{"name":"x.row_splits.0","datatype":"INT64","shape":[3],"data":[0,1,3]}]}`,
			`{"model_name":"sum","model_version":"1","id":"7","outputs":[{"name":"y","datatype":"FP64","shape":[2],"data":[1.0,5.0]}]}`},
	} {
		if status, got := post(t, h.URL+c.path, c.body); status != 200 || got != c.want {
			t.Errorf("%s %s: %d %s, want %s", c.path, c.body, status, got, c.want)
		}
	}
}

func TestFaultsNameWhatIsWrong(t *testing.T) {
	h := newServer(t, serve.Options{MaxBody: 1000, MaxDepth: 10, MaxElements: 5})
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/call/sum", `{"x":[[1,"2"]]}`, 400, "x[0][1] is the text"},
		{"/v1/models/count:predict", `{"inputs":1}`, 501, "a stream of results"},
		{"/v2/models/count/infer", `{"inputs":[{"name":"n","datatype":"INT64","shape":[],"data":[1]}]}`, 501, "generate_stream"},
		{"/call/sum", `{"x":[[1],2]}`, 400, "x[1] is 2, want a list"},
		{"/call/sum", `{"y":1}`, 400, "the argument x is missing"},
		{"/call/sum", `{"x":[],"z":1}`, 400, `no argument \"z\"`},
		{"/call/sum", `{"x":[[-1]]}`, 400, "a number is negative"},
		{"/call/sum", `{"x":[[1,2,3],[4,5,6]]}`, 413, "more than 5 elements"},
		{"/call/sum", `{"x":[[1]]} ` + strings.Repeat(" ", 1000), 413, "more than 1000 bytes"},
		{"/call/sum", strings.Repeat("[", 20), 400, "nested too deep"},
		{"/call/sum", `{"x":[],"x":[]}`, 400, "occurs twice"},
		{"/call/sum", `{"x":"\ud800"}`, 400, "surrogate"},
		{"/call/same", `{"people":[{"name":"a","tags":[]},{"name":5,"tags":[]}]}`, 400, "people[1].name is 5"},
		{"/call/same", `{"people":[{"name":"a","tags":[],"age":1,"size":2}]}`, 400, "people[0] has the unknown field size"},
		{"/call/same", `{"people":[{"name":"a","tags":[],"age":3000000000}]}`, 400, "people[0].age: 3000000000"},
		{"/call/nothing", `{}`, 404, "nothing"},
		{"/call/fault", `{}`, 500, "fault failed"},
		{"/v2/models/sum/infer", `{"inputs":[{"name":"x.flat_values","datatype":"FP64","shape":[1],"data":[1]},{"name":"x.row_splits.0","datatype":"INT64","shape":[3],"data":[0,2,1]}]}`, 400, "x.row_splits.0 decreases"},
		{"/v2/models/sum/infer", `{"inputs":[{"name":"x.flat_values","datatype":"FP64","shape":[4611686018427387904,4],"data":[]}]}`, 400, "x.flat_values"},
		{"/v2/models/sum/versions/2/infer", `{"inputs":[]}`, 404, "version"},
		{"/v1/models/sum:predict", `{"instances":[[1]],"inputs":[[1]]}`, 400, "instances or inputs"},
	} {
		status, got := post(t, h.URL+c.path, c.body)
		if status != c.status || !strings.Contains(got, c.says) || strings.Contains(got, ".go:") {
			t.Errorf("%s %.60s: %d %s, want %d with %q", c.path, c.body, status, got, c.status, c.says)
		}
	}
	r, err := http.Get(h.URL + "/call/sum")
	if err != nil || r.StatusCode != 405 || r.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %v, %v", r.Status, err)
	}
}

func TestBinaryTensors(t *testing.T) {
	h := newServer(t, serve.Options{})
	head := `{"inputs":[{"name":"x.flat_values","datatype":"FP64","shape":[2],"parameters":{"binary_data_size":16}},{"name":"x.row_splits.0","datatype":"INT64","shape":[2],"data":[0,2]}],"parameters":{"binary_data_output":true}}`
	var tail bytes.Buffer
	binary.Write(&tail, binary.LittleEndian, []float64{1.5, 2})
	status, got := post(t, h.URL+"/v2/models/sum/infer", head+tail.String(), "Content-Type", "application/octet-stream", "Inference-Header-Content-Length", fmt.Sprint(len(head)))
	var want bytes.Buffer
	binary.Write(&want, binary.LittleEndian, 3.5)
	if status != 200 || !strings.HasSuffix(got, want.String()) || !strings.Contains(got, `"binary_data_size":8`) {
		t.Errorf("%d %q", status, got)
	}
}

// TestBatchesAnswerEachCall joins calls, one of which fails.
func TestBatchesAnswerEachCall(t *testing.T) {
	h := newServer(t, serve.Options{MaxDelay: 20 * time.Millisecond, MaxRows: 1000})
	var g sync.WaitGroup
	for i := range 32 {
		g.Go(func() {
			if i == 7 {
				if status, got := post(t, h.URL+"/call/sum", `{"x":[[-1]]}`); status != 400 {
					t.Errorf("call 7: %d %s", status, got)
				}
				return
			}
			want := fmt.Sprintf(`{"y":[%d.0,0.0]}`, 2*i)
			if status, got := post(t, h.URL+"/call/sum", fmt.Sprintf(`{"x":[[%d,%d],[]]}`, i, i)); status != 200 || got != want {
				t.Errorf("call %d: %d %s, want %s", i, status, got, want)
			}
		})
	}
	g.Wait()
	r, err := http.Get(h.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	if !strings.Contains(string(b), `nv_inference_request_success{model="sum",version="1"} 31`) {
		t.Errorf("%s", b)
	}
}

func TestDeadlines(t *testing.T) {
	h := newServer(t, serve.Options{MaxConcurrent: 1, Queue: -1})
	if status, got := post(t, h.URL+"/call/wait", `{"x":true}`, "X-Timeout-Ms", "20"); status != 504 {
		t.Errorf("%d %s", status, got)
	}
	if status, got := post(t, h.URL+"/call/wait", `{"x":true}`, "X-Timeout-Ms", "soon"); status != 400 || !strings.Contains(got, "X-Timeout-Ms") {
		t.Errorf("%d %s", status, got)
	}
	var g sync.WaitGroup
	refused := make(chan bool, 8)
	for range 8 {
		g.Go(func() {
			status, _ := post(t, h.URL+"/call/wait", `{"x":true}`, "X-Timeout-Ms", "200")
			refused <- status == 503
		})
	}
	g.Wait()
	n := 0
	for range 8 {
		if <-refused {
			n++
		}
	}
	if n == 0 {
		t.Error("no call was refused though one at a time is allowed and none may wait")
	}
}

func TestServesSavedModels(t *testing.T) {
	m := saved.NewModel()
	double := function.New(func(x tensor.Tensor) map[string]tensor.Tensor {
		return map[string]tensor.Tensor{"twice": ops.Mul(x, 2.0)}
	})
	if err := m.Add("double", double, dense(dtype.Float64, -1)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.zip")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	m, err := saved.OpenModel(path)
	if err != nil {
		t.Fatal(err)
	}
	s := serve.New(serve.Options{})
	if err := s.AddModel(m); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	if status, got := post(t, h.URL+"/call/double", `{"x0":[1,2]}`); status != 200 || got != `{"twice":[2.0,4.0]}` {
		t.Errorf("%d %s", status, got)
	}
}

func TestFunctionsAreChecked(t *testing.T) {
	s := serve.New(serve.Options{})
	for _, f := range []serve.Func{
		{},
		{Name: "a/b", Call: functions()[0].Call},
		{Name: "none"},
		{Name: "twice", Args: []serve.Arg{{Name: "x"}, {Name: "x"}}, Call: functions()[0].Call},
		{Name: "batched", Batched: true, Args: []serve.Arg{{Name: "x", Spec: dense(dtype.Bool)}}, Call: functions()[0].Call},
	} {
		if err := s.Add(f); err == nil {
			t.Errorf("%q was added", f.Name)
		}
	}
}

func TestColumnsOfArrow(t *testing.T) {
	h := newServer(t, serve.Options{MaxElements: 20})
	lists := tenon.Must(ragged.FromRowSplits(tensor.Of([]float64{1, 2.5, 4}, 3), []int64{0, 2, 2, 3}))
	columns := func(fields ...structured.Field) tenon.Value {
		return tenon.Must(structured.FromFields(fields, unknownRows(fields), structured.Options{}))
	}
	people := tenon.Must(structured.FromFields([]structured.Field{
		{Name: "tags", Value: tenon.Must(ragged.FromRowSplits(tensor.Of([]string{"a", "b"}, 2), []int64{0, 2, 2}))},
		{Name: "age", Value: tenon.Must(masked.New(tensor.Of([]int32{7, 0}, 2), tensor.Of([]bool{true, false}, 2)))},
		{Name: "name", Value: tensor.Of([]string{"ann", "bob"}, 2)},
	}, shape.Of(2), structured.Options{}))
	for _, c := range []struct {
		model  string
		in     tenon.Value
		status int
		want   string
	}{
		{"sum", columns(structured.Field{Name: "x", Value: lists}), 200, `y: [3.5 0.  4. ] float64[3]`},
		{"same", people, 200, `age: masked([7 0] int32[2], [ true false] bool[2])`},
		{"same", columns(structured.Field{Name: "people", Value: people}), 200, `age: masked([7 0] int32[2], [ true false] bool[2])`},
		{"sum", columns(structured.Field{Name: "z", Value: lists}), 400, "column \\\"z\\\""},
		{"sum", columns(structured.Field{Name: "x", Value: tensor.Of([]float64{1}, 1)}), 400, "x"},
		{"sum", columns(structured.Field{Name: "x", Value: tenon.Must(ragged.FromRowSplits(tensor.Of(make([]float64, 30), 30), []int64{0, 30}))}), 413, "more than 20 elements"},
	} {
		var b bytes.Buffer
		if err := arrowio.Encode(&b, c.in, arrowio.WriteOptions{Stream: true, Plain: true}); err != nil {
			t.Fatal(err)
		}
		status, got := post(t, h.URL+"/v2/models/"+c.model+"/infer", b.String(), "Content-Type", "application/vnd.apache.arrow.stream")
		if status != c.status {
			t.Errorf("%s: %d %s, want %d", c.model, status, got, c.status)
			continue
		}
		if status == 200 {
			v, err := arrowio.Decode([]byte(got), arrowio.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got = ""
			for _, f := range v.(*structured.Tensor).Unzip() {
				got += fmt.Sprintf("%s: %v; ", f.Name, f.Value)
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.model, got, c.want)
		}
	}
}

func unknownRows(fields []structured.Field) shape.Shape {
	return shape.Of(fields[0].Value.Shape().Dim(0))
}
