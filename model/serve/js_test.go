package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/model/serve"
)

var record = flag.Bool("record", false, "write the transcript of the client in JavaScript anew")

// An exchange of the client in JavaScript: what it sent, and what its caller got.
type jsExchange struct{ Path, Body, Result string }

// jsServer is what the transcript was made with.
func jsServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := serve.New(serve.Options{})
	large := serve.Func{Name: "large", Args: []serve.Arg{{Name: "id", Spec: dense(dtype.Int64, -1)}}, Results: []serve.Arg{{Name: "id", Spec: dense(dtype.Int64, -1)}},
		Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return a, nil }}
	for _, f := range append(functions(), large) {
		if err := s.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return h
}

const transcript = "js/testdata/transcript.jsonl"

// The calls that the client in JavaScript was seen to send are answered as they were.
func TestTranscriptOfJavaScript(t *testing.T) {
	h := jsServer(t)
	b, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(b) {
		var x jsExchange
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		if x.Path == "" {
			continue
		}
		n++
		status, got := post(t, h.URL+x.Path, x.Body)
		text, failed := strings.CutPrefix(x.Result, "400 ")
		if failed != (status == 400) || failed && !strings.Contains(got, strings.ReplaceAll(text, `"`, `\"`)) {
			t.Errorf("%s %s: %d %s, the client got %s", x.Path, x.Body, status, got, x.Result)
		}
	}
	if n < 8 {
		t.Errorf("the transcript has %d calls", n)
	}
}

// The client itself, where there is a Node.
func TestClientInJavaScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node is installed; TestTranscriptOfJavaScript answers what it sent when there was")
	}
	h := jsServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "js/transcript.mjs", h.URL)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	if *record {
		if err := os.WriteFile(transcript, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
