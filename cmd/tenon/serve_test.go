package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// keep saves a model that multiplies by a number.
func keep(t *testing.T, path string, by float64) {
	t.Helper()
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) map[string]tensor.Tensor { return map[string]tensor.Tensor{"y": ops.Mul(x, by)} })
	if err := m.Add("scale", f, tensor.NewSpec(dtype.Float64, shape.Of(-1))); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d %s, %v", url, res.StatusCode, b, err)
	}
	return string(b)
}

func TestServeModels(t *testing.T) {
	dir := t.TempDir()
	keep(t, filepath.Join(dir, "m", "1.zip"), 2)
	keep(t, filepath.Join(dir, "m", "2"), 3)
	keep(t, filepath.Join(dir, "other.zip"), 5)
	traces := filepath.Join(dir, "traces")
	sent := make(chan otlpBatch, 100)
	var asked atomic.Int64
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=y")
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 { // it is asked again
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var b otlpBatch
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Api-Key") != "a b" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s with %v: %v", r.URL, r.Header, err)
		}
		sent <- b
	}))
	defer collector.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in, out := io.Pipe()
	var log bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"tenon", "serve", "--addr", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--versions", "all", "--label", "stable=1", "--drain", "0s",
			"--log", "json", "--token", "secret", "--traces", traces, "--otlp", collector.URL, filepath.Join(dir, "m"), "five=" + filepath.Join(dir, "other.zip")}, &program{stdout: out, stderr: &log})
		out.Close()
	}()
	lines := bufio.NewScanner(in)
	var admin, addr string
	for lines.Scan() && addr == "" {
		if a, ok := strings.CutPrefix(lines.Text(), "admin "); ok {
			admin = a
			continue
		}
		addr = lines.Text()
		break
	}
	if addr == "" {
		t.Fatalf("the server ended with %d: %s", <-ended, log.String())
	}
	for path, want := range map[string]string{
		"v1/models/m:predict":               `{"predictions":[6.0]}`,
		"v1/models/m/labels/stable:predict": `{"predictions":[4.0]}`,
		"v1/models/m/versions/1:predict":    `{"predictions":[4.0]}`,
		"v1/models/five:predict":            `{"predictions":[10.0]}`,
	} {
		r, err := http.NewRequest(http.MethodPost, addr+path, strings.NewReader(`{"instances":[2]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if res.Body.Close(); err != nil || string(b) != want {
			t.Errorf("%s: %s, %v, want %s", path, b, err, want)
		}
	}
	metrics := get(t, admin+"metrics")
	for _, want := range []string{`nv_inference_request_success{model="m",version="1"} 2`, `tenon_request_duration_seconds_count{model="five",version="1"} 1`, "go_goroutines", "process_open_fds"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if !strings.Contains(get(t, admin+"debug/pprof/"), "goroutine") {
		t.Error("there are no profiles")
	}
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("the exit status is %d: %s", code, log.String())
	}
	if n := strings.Count(log.String(), `"msg":"request"`); n != 4 {
		t.Errorf("%d requests were logged: %s", n, log.String())
	}
	close(sent)
	var ofCollector, ofFile []otlpSpan
	for b := range sent {
		ofCollector = append(ofCollector, b.ResourceSpans[0].ScopeSpans[0].Spans...)
	}
	text, err := os.ReadFile(traces)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var b otlpBatch
		if err := json.Unmarshal([]byte(line), &b); err != nil {
			t.Fatal(err)
		}
		ofFile = append(ofFile, b.ResourceSpans[0].ScopeSpans[0].Spans...)
	}
	for _, spans := range [][]otlpSpan{ofCollector, ofFile} {
		names := map[string]int{}
		for _, s := range spans {
			names[s.Name]++
			const server = 2
			if s.TraceID != "0123456789abcdef0123456789abcdef" || s.Parent != "0123456789abcdef" || s.Kind != server || s.Start <= 0 || s.End < s.Start {
				t.Errorf("a span is %+v", s)
			}
		}
		if names["POST /v1/models/{name}/labels/{name}:predict"] != 1 || names["POST /v1/models/{name}:predict"] != 2 {
			t.Errorf("the spans are %v", names)
		}
	}
}

func TestWrongCommandLines(t *testing.T) {
	dir := t.TempDir()
	keep(t, filepath.Join(dir, "m.zip"), 2)
	model := filepath.Join(dir, "m.zip")
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"fly"}, 2, `no command "fly"`},
		{[]string{"serve"}, 2, "serve needs a MODEL"},
		{[]string{"serve", "--versions", "few", model}, 2, "-versions"},
		{[]string{"serve", "--label", "stable", model}, 2, "-label"},
		{[]string{"serve", "--log", "loud", model}, 2, "-log"},
		{[]string{"serve", "--tls-cert", "x", model}, 2, "-tls-key"},
		{[]string{"serve", "--client-ca", "x", model}, 2, "-tls-cert"},
		{[]string{"serve", "--fast", model}, 2, "fast"},
		{[]string{"serve", "--token-file", empty, model}, 1, "no token"},
		{[]string{"serve", "--addr", "127.0.0.1:0", filepath.Join(dir, "nothing")}, 1, "nothing"},
		{[]string{"serve", "--addr", "127.0.0.1:0", "--versions", "3,", model}, 1, "no version 3"},
		{[]string{"serve", "--addr", "nowhere", model}, 1, "nowhere"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"tenon"}, c.args...), &program{stdout: &out, stderr: &errs})
		if code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%q: %d %s, want %d %s", c.args, code, errs.String(), c.code, c.says)
		}
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"tenon", "serve", "-h"}, &program{stdout: &out, stderr: &errs}); code != 0 || !strings.Contains(out.String(), "--max-delay") {
		t.Errorf("the help: %d %s %s", code, out.String(), errs.String())
	}
}
