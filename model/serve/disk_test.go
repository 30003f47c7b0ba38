package serve_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// keep saves a model whose functions multiply by a number.
func keep(t testing.TB, path string, by float64, names ...string) {
	t.Helper()
	m := saved.NewModel()
	for _, n := range names {
		f := function.New(func(x tensor.Tensor) map[string]tensor.Tensor { return map[string]tensor.Tensor{"y": ops.Mul(x, by)} })
		if err := m.Add(n, f, dense(dtype.Float64, -1)); err != nil {
			t.Fatal(err)
		}
	}
	// Beside its place first: who looks at the folder sees all of it or nothing.
	hidden := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := m.Save(hidden); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(hidden, path); err != nil {
		t.Fatal(err)
	}
}

func TestModelsFromFolders(t *testing.T) {
	dir := t.TempDir()
	for v, name := range map[float64]string{1: "1", 2: "2.zip", 10: "10", 7: "007", 8: "notes"} {
		keep(t, filepath.Join(dir, name), v, "scale")
	}
	both := filepath.Join(t.TempDir(), "both.zip")
	keep(t, both, 5, "first", "predict")
	for _, c := range []struct {
		name   string
		folder serve.Folder
		calls  map[string]string // path → answer, or a part of the error
	}{
		{"the newest by default", serve.Folder{Path: dir, Name: "m"}, map[string]string{
			"/v1/models/m:predict": `{"predictions":[10.0]}`, "/v1/models/m/versions/2:predict": "no version"}},
		{"the two newest", serve.Folder{Path: dir, Name: "m", Policy: serve.Policy{Latest: 2}, Labels: map[string]uint64{"stable": 2}}, map[string]string{
			"/v1/models/m:predict": `{"predictions":[10.0]}`, "/v1/models/m/versions/2:predict": `{"predictions":[2.0]}`, "/v1/models/m/versions/1:predict": "no version",
			"/v1/models/m/labels/stable:predict": `{"predictions":[2.0]}`, "/v1/models/m/labels/canary:predict": "no version"}},
		{"all", serve.Folder{Path: dir, Name: "m", Policy: serve.Policy{All: true}}, map[string]string{
			"/v1/models/m:predict": `{"predictions":[10.0]}`, "/v1/models/m/versions/1:predict": `{"predictions":[1.0]}`, "/v1/models/m/versions/7:predict": "no version"}},
		{"some", serve.Folder{Path: dir, Name: "m", Policy: serve.Policy{Specific: []uint64{1}}}, map[string]string{
			"/v1/models/m:predict": `{"predictions":[1.0]}`, "/v1/models/m/versions/10:predict": "no version"}},
		{"several functions", serve.Folder{Path: both}, map[string]string{
			"/v1/models/both:predict": `{"predictions":[5.0]}`, "/v1/models/both.first:predict": `{"predictions":[5.0]}`, "/v1/models/both.predict/versions/1:predict": `{"predictions":[5.0]}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve.New(serve.Options{})
			if err := s.AddFolder(t.Context(), c.folder); err != nil {
				t.Fatal(err)
			}
			h := httptest.NewServer(s)
			defer h.Close()
			for path, want := range c.calls {
				if _, got := post(t, h.URL+path, `{"instances":[1]}`); !strings.Contains(got, want) {
					t.Errorf("%s: %s, want %s", path, got, want)
				}
			}
		})
	}
	for _, f := range []serve.Folder{{Path: filepath.Join(dir, "nothing")}, {Path: t.TempDir()}, {Path: dir, Policy: serve.Policy{Specific: []uint64{3}}}} {
		if err := serve.New(serve.Options{}).AddFolder(t.Context(), f); err == nil {
			t.Errorf("%v was served", f)
		}
	}
}

// While one version takes the place of the other, every call is answered by one of them.
func TestReloadRefusesNoCall(t *testing.T) {
	dir := t.TempDir()
	keep(t, filepath.Join(dir, "1"), 1, "scale")
	s := serve.New(serve.Options{})
	if err := s.AddFolder(t.Context(), serve.Folder{Path: dir, Name: "m"}); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	var end atomic.Bool
	var calls atomic.Int64
	var g sync.WaitGroup
	began := time.Now()
	for range 4 {
		g.Go(func() {
			for !end.Load() {
				status, got := post(t, h.URL+"/call/m", `{"x0":[1]}`)
				var y int
				if n, _ := fmt.Sscanf(got, `{"y":[%d.0]}`, &y); status != 200 || n != 1 || y < 1 || y > 5 {
					t.Errorf("%d %s", status, got)
					return
				}
				calls.Add(1)
			}
		})
	}
	for v := 2; v <= 5; v++ {
		keep(t, filepath.Join(dir, fmt.Sprint(v)), float64(v), "scale")
		before := calls.Load()
		if status, got := post(t, h.URL+"/v2/repository/models/m/load", `{}`); status != 200 {
			t.Fatalf("%d %s", status, got)
		}
		if _, got := post(t, h.URL+"/call/m", `{"x0":[1]}`); got != fmt.Sprintf(`{"y":[%d.0]}`, v) {
			t.Errorf("after version %d was loaded: %s", v, got)
		}
		for calls.Load() < before+20 && !t.Failed() {
			runtime.Gosched()
		}
	}
	end.Store(true)
	g.Wait()
	t.Logf("4 versions were loaded during %d calls, %.0f a second", calls.Load(), float64(calls.Load())/time.Since(began).Seconds())

	// What cannot be loaded leaves everything as it was.
	if err := os.MkdirAll(filepath.Join(dir, "6"), 0o755); err != nil {
		t.Fatal(err)
	}
	if status, got := post(t, h.URL+"/v2/repository/models/m/load", `{}`); status < 400 {
		t.Errorf("a version that is no model: %d %s", status, got)
	}
	if _, got := post(t, h.URL+"/call/m", `{"x0":[1]}`); got != `{"y":[5.0]}` {
		t.Errorf("after a version that is no model: %s", got)
	}
	for _, c := range []struct{ verb, want string }{{"unload", "there is no model"}, {"load", "there is no model"}} {
		post(t, h.URL+"/v2/repository/models/m/"+c.verb, `{}`)
		if _, got := post(t, h.URL+"/call/m", `{"x0":[1]}`); !strings.Contains(got, c.want) {
			t.Errorf("after %s: %s", c.verb, got)
		}
	}
	if err := os.Remove(filepath.Join(dir, "6")); err != nil {
		t.Fatal(err)
	}
	post(t, h.URL+"/v2/repository/models/m/load", `{}`)
	if _, got := post(t, h.URL+"/call/m", `{"x0":[1]}`); got != `{"y":[5.0]}` {
		t.Errorf("after the folder was mended: %s", got)
	}
}

// Versions that come are found by polling.
func TestFoldersArePolled(t *testing.T) {
	dir := t.TempDir()
	keep(t, filepath.Join(dir, "1"), 1, "scale")
	s := serve.New(serve.Options{})
	if err := s.AddFolder(t.Context(), serve.Folder{Path: dir, Name: "m", Poll: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	keep(t, filepath.Join(dir, "2"), 2, "scale")
	c := &serve.Client{URL: h.URL}
	for begin := time.Now(); ; {
		out, err := c.Call(t.Context(), "m", tensor.Of([]float64{1}, 1))
		if err != nil {
			t.Fatal(err)
		}
		if tensor.Data[float64](out[0].(tensor.Tensor))[0] == 2 {
			return
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatal("version 2 was not found")
		}
	}
}

// Functions whose rows depend on one another are found out.
func TestIndependentRows(t *testing.T) {
	numbers, lists := dense(dtype.Float64, -1), rows(dtype.Float64)
	one := func(f func(x tensor.Tensor) tensor.Tensor) func(context.Context, []tenon.Value) ([]tenon.Value, error) {
		return func(_ context.Context, args []tenon.Value) ([]tenon.Value, error) {
			return []tenon.Value{f(args[0].(tensor.Tensor))}, nil
		}
	}
	for _, c := range []struct {
		name     string
		in, out  tenon.Spec
		f        func(x tensor.Tensor) tensor.Tensor
		separate bool
	}{
		{"twice", numbers, numbers, func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 2.0) }, true},
		{"sums of rows", lists, numbers, func(x tensor.Tensor) tensor.Tensor { return ops.Sum(x, -1) }, true},
		{"softmax of rows", lists, lists, func(x tensor.Tensor) tensor.Tensor { return ops.Softmax(x, -1) }, true},
		{"less the mean", numbers, numbers, func(x tensor.Tensor) tensor.Tensor { return ops.Sub(x, ops.Mean(x)) }, false},
		{"sorted", numbers, numbers, func(x tensor.Tensor) tensor.Tensor { return ops.Sort(x, 0, ops.SortOptions{}) }, false},
		{"running sum", numbers, numbers, func(x tensor.Tensor) tensor.Tensor { return ops.CumSum(x, 0, ops.CumOptions{}) }, false},
		{"sum", numbers, dense(dtype.Float64), func(x tensor.Tensor) tensor.Tensor { return ops.Sum(x) }, false},
		{"one that fails", numbers, numbers, func(x tensor.Tensor) tensor.Tensor { return ops.Reshape(x, 7) }, false},
	} {
		f := serve.Func{Name: c.name, Args: []serve.Arg{{Name: "x", Spec: c.in}}, Results: []serve.Arg{{Name: "y", Spec: c.out}}, Call: one(c.f)}
		if got := f.Independent(t.Context()); got != c.separate {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, f := range functions() {
		if got := f.Independent(t.Context()); got != (f.Name == "same") {
			t.Errorf("%s: %v", f.Name, got) // sum refuses negative numbers
		}
	}
}
