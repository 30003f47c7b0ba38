package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/gosearch/internal/store"
	"github.com/tenonml/tenon/model/serve"
)

// source makes Go source with n documented functions that differ in what they do.
func source(t *testing.T, n int) string {
	t.Helper()
	verbs := []string{"Reads", "Writes", "Sorts", "Parses", "Closes", "Hashes", "Copies", "Splits", "Joins", "Counts"}
	things := []string{"file", "slice", "duration", "socket", "string", "buffer", "header", "tree", "token", "image", "matrix", "packet"}
	ways := []string{"quickly", "safely", "lazily", "backwards", "twice", "once", "later", "together"}
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("package a\n")
	for i := range n {
		v, o, w := verbs[i%len(verbs)], things[i/len(verbs)%len(things)], ways[i/len(verbs)/len(things)%len(ways)]
		fmt.Fprintf(&b, "\n// %s%s%s %s the given %s %s and then stops. Number %d.\nfunc %[1]s%[8]s%[9]s%[7]d(%[5]s int) error { return nil }\n",
			v, title(o), title(w), strings.ToLower(v), o, w, i, title(o), title(w))
	}
	text := strings.ReplaceAll(b.String(), "%!", "")
	write(t, filepath.Join(dir, "a.go"), text)
	return dir
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// trained is a folder with an index and a model, made once.
var trained = sync.OnceValues(func() (string, error) {
	return os.MkdirTemp("", "gosearch")
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := trained(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// model returns the folder of a small trained model.
func trainedFolder(t *testing.T) string {
	t.Helper()
	dir, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, modelFolder)); err == nil {
		return dir
	}
	if code, _, stderr := gosearch(t, t.Context(), dir, "index", "-src", source(t, 300)); code != 0 {
		t.Fatal(stderr)
	}
	code, out, stderr := gosearch(t, t.Context(), dir, "train", "-epochs", "30", "-ask", "sort a slice")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{"trained on 210 declarations in ", "60 held out by seed 0, looked for among 300", "\nmodel ", "\nboth ", "with report.html", "\nsort a slice\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("train printed no %q:\n%s", want, out)
		}
	}
	if !strings.Contains(stderr, "epoch 7: loss ") {
		t.Errorf("no progress where there is no terminal: %q", stderr)
	}
	return dir
}

func TestTrain(t *testing.T) {
	dir := trainedFolder(t)
	if _, err := os.Stat(filepath.Join(dir, checkpointFile)); err == nil {
		t.Error("a run that ended leaves its checkpoint")
	}
	report, err := os.ReadFile(filepath.Join(dir, modelFolder, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", ">recall@10<", "ragged.embedding_bag", "Nearest neighbours"} {
		if !bytes.Contains(report, []byte(want)) {
			t.Errorf("the report has no %q", want)
		}
	}
	code, out, stderr := gosearch(t, t.Context(), dir, "eval")
	if code != 0 || !strings.Contains(out, "60 held out by seed 0") || strings.Count(out, "\n") < 6 {
		t.Errorf("eval: exit status %d, %q, %q", code, out, stderr)
	}
}

// Training is a function of the seed, and a run that was interrupted or killed ends with
// the weights of one that was not.
func TestTrainIsReproducible(t *testing.T) {
	from := trainedFolder(t)
	want := read(t, filepath.Join(from, modelFolder, "weights.safetensors"))
	fresh := func() string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, declarationsFile), string(read(t, filepath.Join(from, declarationsFile))))
		return dir
	}
	arguments := []string{"train", "-epochs", "30"}
	again := fresh()
	if code, _, stderr := gosearch(t, t.Context(), again, arguments...); code != 0 {
		t.Fatal(stderr)
	}
	if !bytes.Equal(read(t, filepath.Join(again, modelFolder, "weights.safetensors")), want) {
		t.Error("the same seed gives other weights")
	}

	var interrupted string
	inTime(t, func() error {
		interrupted = fresh()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		code, out, stderr := gosearchLines(t, ctx, interrupted, func(line string) {
			if strings.HasPrefix(line, "epoch 1:") {
				cancel()
			}
		}, arguments...)
		if code == 0 || strings.Contains(out, "trained on") {
			return errLate
		}
		if code != 130 || out != "" || !strings.HasSuffix(stderr, "gosearch: interrupted\n") {
			return fmt.Errorf("interrupted: exit status %d, stdout %q, stderr %q", code, out, stderr)
		}
		return nil
	})
	entries, _ := os.ReadDir(interrupted)
	if len(entries) != 2 {
		t.Errorf("left behind: %v, want declarations and a checkpoint", entries)
	}
	code, out, stderr := gosearch(t, t.Context(), interrupted, arguments...)
	if code != 0 || !strings.Contains(out, "resumed from step ") {
		t.Fatalf("resumed: exit status %d, %q, %q", code, out, stderr)
	}
	if !bytes.Equal(read(t, filepath.Join(interrupted, modelFolder, "weights.safetensors")), want) {
		t.Error("a run that was interrupted has other weights")
	}
	// A checkpoint of other data is not taken for this run's.
	other := fresh()
	write(t, filepath.Join(other, checkpointFile), "garbage")
	if code, _, stderr := gosearch(t, t.Context(), other, arguments...); code != 1 || !strings.Contains(stderr, checkpointFile) {
		t.Errorf("a damaged checkpoint: exit status %d, %q", code, stderr)
	}
	if code, _, stderr := gosearch(t, t.Context(), other, append(arguments, "-fresh")...); code != 0 {
		t.Errorf("-fresh: exit status %d, %q", code, stderr)
	}
}

func TestQuery(t *testing.T) {
	dir := trainedFolder(t)
	code, out, stderr := gosearch(t, t.Context(), dir, "-n", "2", "parses the given duration", "safely")
	if code != 0 || stderr != "" || strings.Count(out, "func ") != 2 || !strings.Contains(out, "a.go:") {
		t.Errorf("exit status %d, %q, %q", code, out, stderr)
	}
	code, out, _ = gosearch(t, t.Context(), dir, "-json", "-n", "3", "closes the socket zzyzx")
	var got struct {
		Answers []answer `json:"answers"`
		Unknown []string `json:"unknown_words"`
	}
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.Answers) != 3 || len(got.Unknown) != 1 || got.Unknown[0] != "zzyzx" {
		t.Fatalf("exit status %d, %v, %q", code, err, out)
	}
	for i, a := range got.Answers {
		if a.Signature == "" || a.Line < 1 || a.Score != a.Score || i > 0 && a.Score > got.Answers[i-1].Score {
			t.Errorf("answer %d: %+v", i, a)
		}
	}
	code, out, stderr = gosearch(t, t.Context(), dir, "zzyzx qwertyuiop")
	if code != 1 || out != "" || stderr != "gosearch: none of the words is known: zzyzx, qwertyuiop\n" {
		t.Errorf("unknown words: exit status %d, %q, %q", code, out, stderr)
	}
}

// Whatever is wrong with a model's folder, there is one line and nothing else.
func TestDamagedModel(t *testing.T) {
	good := filepath.Join(trainedFolder(t), modelFolder)
	names := []string{"config.json", "vocabulary.json", "weights.safetensors", "index.safetensors", "declarations.jsonl"}
	for _, name := range names {
		for damage, f := range map[string]func(b []byte) []byte{
			"missing": nil, "empty": func([]byte) []byte { return nil }, "cut": func(b []byte) []byte { return b[:len(b)/2] },
			"foreign": func([]byte) []byte { return []byte("\x7fELF\x00\x00\x00\x00\x00\x00\x00\x00") },
		} {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, modelFolder), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				b := read(t, filepath.Join(good, n))
				if n == name {
					if f == nil {
						continue
					}
					b = f(b)
				}
				write(t, filepath.Join(dir, modelFolder, n), string(b))
			}
			code, out, stderr := gosearch(t, t.Context(), dir, "sort", "a", "slice")
			if code != 1 || out != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "gosearch: ") {
				t.Errorf("%s %s: exit status %d, stdout %q, stderr %q", name, damage, code, out, stderr)
			}
		}
	}
	// Training does not replace what is no model, and says so at once; a model of another format it does.
	dir := t.TempDir()
	foreign := filepath.Join(dir, modelFolder)
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(foreign, "thesis.tex"), "x")
	code, _, stderr := gosearch(t, t.Context(), dir, "train")
	if code != 1 || !strings.Contains(stderr, "something other than a model") || strings.Contains(stderr, "epoch") {
		t.Errorf("a foreign folder: exit status %d, %s", code, stderr)
	}
	write(t, filepath.Join(foreign, "config.json"), `{"gosearch_format": 1}`)
	if err := store.Replaceable(foreign); err != nil {
		t.Errorf("a model of another format: %v", err)
	}
}

// Where writing fails, as on a full disk, the old model stays whole and nothing is left
// beside it.
func TestFailedWrite(t *testing.T) {
	from := filepath.Join(trainedFolder(t), modelFolder)
	m, err := store.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	decls, err := m.Declarations()
	if err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	dir := filepath.Join(parent, modelFolder)
	full := errors.New("no space left on device")
	for _, had := range []bool{false, true} {
		if err := store.Write(dir, m, decls, func(string) error { return full }); !errors.Is(err, full) {
			t.Errorf("error %v, want %v", err, full)
		}
		entries, _ := os.ReadDir(parent)
		if had && (len(entries) != 1 || entries[0].Name() != modelFolder) || !had && len(entries) != 0 {
			t.Errorf("with a model there before: %v; left: %v", had, entries)
		}
		if !had {
			if err := store.Write(dir, m, decls, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	again, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"weights.safetensors", "index.safetensors", "vocabulary.json", "declarations.jsonl"} {
		if !bytes.Equal(read(t, filepath.Join(dir, name)), read(t, filepath.Join(from, name))) {
			t.Errorf("%s is not what was read", name)
		}
	}
	if d, err := again.Declaration(3); err != nil || d[0].Name != decls[3].Name {
		t.Errorf("declaration 3: %v %v", d, err)
	}
}

// served returns the handler of the server's requests.
func served(t *testing.T, s *searcher) http.Handler {
	t.Helper()
	h, err := newServer(s)
	if err != nil {
		t.Fatal(err)
	}
	return h.HTTPServer().Handler
}

func TestServe(t *testing.T) {
	dir := trainedFolder(t)
	m, err := store.Open(filepath.Join(dir, modelFolder))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(served(t, newSearcher(m)))
	defer server.Close()
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{"/", 200, "<title>gosearch</title>"},
		{"/?q=" + url.QueryEscape("sort the <b>slice"), 200, "sort the &lt;b&gt;slice"},
		{"/search?q=" + url.QueryEscape("sort a slice") + "&n=2", 200, `"signature": "func `},
		{"/search?q=", 400, "the question is empty"},
		{"/search", 400, "the question is empty"},
		{"/search?q=zzyzx", 404, "none of the words is known: zzyzx"},
		{"/search?q=sort&all=perhaps", 400, "want true or false"},
		{"/search?q=sort&all=true&n=1", 200, `"signature": "func `},
		{"/search?q=sort&n=0", 400, "want a number from 1 to 100"},
		{"/search?q=sort&n=1e9", 400, "want a number from 1 to 100"},
		{"/etc/passwd", 404, "there is no path"},
		{"/healthz", 200, "live"},
		{"/v2/models/search", 200, `"name":"q"`},
	} {
		r, err := http.Get(server.URL + c.path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != c.status || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %d %q, want %d with %q", c.path, r.StatusCode, body, c.status, c.want)
		}
	}

	// The function, called with structs.
	type question struct {
		Q string `json:"q"`
		N int64  `json:"n"`
	}
	type found struct {
		Answers []answer `json:"answers"`
		Unknown []string `json:"unknown_words"`
	}
	client := &serve.Client{URL: server.URL}
	got, err := serve.CallRows[question, found](t.Context(), client, "search", []question{{"sort a slice", 2}, {"parse zzyzx", 1}})
	if err != nil || len(got) != 2 || len(got[0].Answers) != 2 || len(got[1].Answers) != 1 || fmt.Sprint(got[1].Unknown) != "[zzyzx]" {
		t.Errorf("search: %v, %v", got, err)
	}
	if _, err := serve.CallRows[question, found](t.Context(), client, "search", []question{{"sort", 0}}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("no answer is asked for: %v", err)
	}

	// The command: a port that is taken, and an end.
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	code, out, stderr := gosearch(t, t.Context(), dir, "serve", "-addr", l.Addr().String())
	if code != 1 || out != "" || !strings.Contains(stderr, "address already in use") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("a port in use: exit status %d, %q, %q", code, out, stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	code, out, stderr = gosearchOut(t, ctx, dir, func(string) { cancel() }, "serve", "-addr", "localhost:0")
	if code != 0 || !strings.HasPrefix(out, "http://127.0.0.1:") || stderr != "" {
		t.Errorf("served until the end: exit status %d, %q, %q", code, out, stderr)
	}
}

func TestTop(t *testing.T) {
	nan := float32(0)
	nan /= nan
	for _, c := range []struct {
		scores []float32
		n      int
		want   string
	}{
		{[]float32{1, 3, 2}, 2, "[1 2]"}, {[]float32{1, 3, 2}, 9, "[1 2 0]"}, {[]float32{2, nan, 2, 2}, 2, "[0 2]"},
		{nil, 3, "[]"}, {[]float32{1, 2, 3, 4, 5}, 1, "[4]"},
	} {
		if got := fmt.Sprint(top(c.scores, c.n)); got != c.want {
			t.Errorf("top(%v, %d) = %v, want %v", c.scores, c.n, got, c.want)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// gosearchLines is gosearch with a function that sees each line of stderr when it is
// written.
func gosearchLines(t *testing.T, ctx context.Context, dir string, see func(string), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("GOSEARCH_DIR", dir)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var text strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		var line []byte
		one := make([]byte, 1)
		for {
			if _, err := r.Read(one); err != nil {
				return
			}
			text.WriteByte(one[0])
			if line = append(line, one[0]); one[0] == '\n' {
				see(string(line))
				line = line[:0]
			}
		}
	}()
	var out bytes.Buffer
	code = run(ctx, append([]string{"gosearch"}, args...), &out, w)
	w.Close()
	<-read
	return code, out.String(), text.String()
}
