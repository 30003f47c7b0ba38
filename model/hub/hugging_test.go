package hub_test

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/hub"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// hugging answers as Hugging Face does for one repository: names of git for small files, and
// for .safetensors a redirection to another host.
type hugging struct {
	t       *testing.T
	files   map[string]string
	store   *httptest.Server // what large files are redirected to
	spoil   func(text string) string
	asked   atomic.Int64 // requests
	private bool
}

func (h *hugging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.asked.Add(1)
	if h.private && r.Header.Get("Authorization") != "Bearer token" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/api/models/org/name/revision/main" || r.URL.Path == "/api/models/org/name/revision/"+commit {
		var siblings []map[string]string
		for name := range h.files {
			siblings = append(siblings, map[string]string{"rfilename": name})
		}
		json.NewEncoder(w).Encode(map[string]any{"sha": commit, "siblings": siblings, "id": "org/name"})
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/org/name/resolve/"+commit+"/")
	text, has := h.files[name]
	if !ok || !has {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("X-Repo-Commit", commit)
	if strings.HasSuffix(name, ".safetensors") {
		sum := sha256.Sum256([]byte(text))
		w.Header().Set("X-Linked-Etag", `"`+hex.EncodeToString(sum[:])+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(text)))
		http.Redirect(w, r, h.store.URL+"/"+name, http.StatusFound)
		return
	}
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
	w.Header().Set("ETag", `W/"`+hex.EncodeToString(sum[:])+`"`)
	if h.spoil != nil {
		text = h.spoil(text)
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
}

func newHugging(t *testing.T) *hugging {
	t.Helper()
	h := &hugging{t: t, files: map[string]string{"config.json": `{"a": 1}`, "sub/vocab.txt": "a\nb", "model.safetensors": strings.Repeat("weights", 1000), "README.md": "# name"}}
	h.store = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token went to another host")
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(h.files[strings.TrimPrefix(r.URL.Path, "/")]))
	}))
	t.Cleanup(h.store.Close)
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	for key, value := range map[string]string{"HF_ENDPOINT": strings.Replace(web.URL, "127.0.0.1", "localhost", 1), "HF_HOME": t.TempDir(), "HF_HUB_CACHE": "", "HF_TOKEN": "", "HF_HUB_OFFLINE": ""} {
		t.Setenv(key, value)
	}
	return h
}

func TestHuggingFace(t *testing.T) {
	h := newHugging(t)
	c, ctx := client(t), context.Background()
	dir, err := c.Fetch(ctx, "hf:org/name")
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(os.Getenv("HF_HOME"), "hub", "models--org--name")
	if want := filepath.Join(repo, "snapshots", commit); dir != want {
		t.Errorf("the files are in %s, want %s", dir, want)
	}
	if d := cmp.Diff(h.files, tree(t, dir)); d != "" {
		t.Error(d)
	}
	if b, err := os.ReadFile(filepath.Join(repo, "refs", "main")); err != nil || string(b) != commit {
		t.Errorf("main is %q, %v", b, err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "sub", "vocab.txt")); err != nil || !strings.HasPrefix(filepath.ToSlash(to), "../../../blobs/") {
		t.Errorf("the file is a link to %q, %v", to, err)
	}
	for name, text := range tree(t, filepath.Join(repo, "blobs")) {
		sum := sha256.Sum256([]byte(text))
		git := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
		if name != hex.EncodeToString(sum[:]) && name != hex.EncodeToString(git[:]) {
			t.Errorf("a blob is called %s", name)
		}
	}
	h.asked.Store(0)
	c.Offline = true
	for _, ref := range []string{"hf:org/name", "hf:org/name@main", "hf:org/name@" + commit} {
		if got, err := c.Fetch(ctx, ref); err != nil || got != dir || h.asked.Load() > 0 {
			t.Errorf("offline %s: %s, %v, %d requests", ref, got, err, h.asked.Load())
		}
	}
	for _, ref := range []string{"hf:org/other", "hf:org/name@v2", "hf:org/name@" + strings.Repeat("f", 40)} {
		if _, err := c.Fetch(ctx, ref); !errors.Is(err, tenon.ErrNotFound) || h.asked.Load() > 0 {
			t.Errorf("offline %s: %v, %d requests", ref, err, h.asked.Load())
		}
	}
	to := filepath.Join(t.TempDir(), "to")
	if err := c.Pull(ctx, "hf:org/name", to); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(h.files, tree(t, to)); d != "" {
		t.Error(d)
	}
	c.Offline = false
	host, _ := registry(t)
	if _, err := c.Copy(ctx, "hf:org/name", host+"/name:1"); err != nil {
		t.Fatal(err)
	}
	got, err := c.Fetch(ctx, host+"/name:1")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(h.files, tree(t, got)); d != "" {
		t.Error(d)
	}
}

func TestHuggingFaceThatLies(t *testing.T) {
	ctx := context.Background()
	for name, change := range map[string]func(h *hugging){
		"other bytes":  func(h *hugging) { h.spoil = strings.ToUpper },
		"fewer bytes":  func(h *hugging) { h.spoil = func(s string) string { return s[:len(s)-1] } },
		"more bytes":   func(h *hugging) { h.spoil = func(s string) string { return s + s } },
		"outside":      func(h *hugging) { h.files["../../x"] = "x" },
		"no token":     func(h *hugging) { h.private = true },
		"no such file": func(h *hugging) { h.files["a?b"] = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHugging(t)
			change(h)
			to := filepath.Join(t.TempDir(), "to")
			err := client(t).Pull(ctx, "hf:org/name", to)
			var e *tenon.Error
			if !errors.As(err, &e) || len(tree(t, filepath.Dir(to))) > 0 {
				t.Errorf("got %v and %v", err, tree(t, filepath.Dir(to)))
			}
		})
	}
	h := newHugging(t)
	h.private = true
	t.Setenv("HF_TOKEN", "token")
	c := &hub.Client{Files: []string{"*.safetensors", "config.json"}}
	dir, err := c.Fetch(ctx, "hf:org/name@"+commit)
	if err != nil || len(tree(t, dir)) != 2 {
		t.Errorf("with a token: %v, %v", tree(t, dir), err)
	}
}

// TestHuggingFaceGoesOn takes up what a download of another program left.
func TestHuggingFaceGoesOn(t *testing.T) {
	h := newHugging(t)
	sum := sha256.Sum256([]byte(h.files["model.safetensors"]))
	blobs := filepath.Join(os.Getenv("HF_HOME"), "hub", "models--org--name", "blobs")
	if err := os.MkdirAll(blobs, 0o777); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(blobs, hex.EncodeToString(sum[:])+".incomplete")
	if err := os.WriteFile(part, []byte(h.files["model.safetensors"][:5000]), 0o666); err != nil {
		t.Fatal(err)
	}
	var sent int64
	c := client(t)
	c.Transport = counting{http.DefaultTransport, &sent}
	c.Files = []string{"*.safetensors"}
	dir, err := c.Fetch(context.Background(), "hf:org/name")
	if err != nil || tree(t, dir)["model.safetensors"] != h.files["model.safetensors"] {
		t.Errorf("got %v", err)
	}
	if sent > 4000 {
		t.Errorf("%d bytes were sent, 2000 were missing", sent)
	}
}

// counting counts the bytes of answers.
type counting struct {
	http.RoundTripper
	n *int64
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = countingBody{resp.Body, c.n}
	}
	return resp, err
}

type countingBody struct {
	io.ReadCloser
	n *int64
}

func (b countingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	*b.n += int64(n)
	return n, err
}

// TestModelInASnapshot opens a model where a fetch from Hugging Face leaves it: its files are
// links to blobs.
func TestModelInASnapshot(t *testing.T) {
	h := newHugging(t)
	w := tenon.Must(state.New([]float32{1, 2, 3}))
	m := saved.NewModel()
	folder, part := filepath.Join(t.TempDir(), "m"), filepath.Join(t.TempDir(), "part.safetensors")
	err := errors.Join(m.Name(map[string]any{"w": w}), m.Add("scale", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, w) }), []float32{0, 0, 0}),
		m.Save(folder), saved.Write(part, map[string]any{"w": w}))
	b, e := os.ReadFile(part)
	if err = errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
	h.files = tree(t, folder)
	h.files["part.safetensors"], h.files["all.safetensors.index.json"] = string(b), `{"weight_map":{"w":"part.safetensors"}}`
	dir, err := client(t).Fetch(context.Background(), "hf:org/name")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []saved.ModelOptions{{}, {Map: true}} {
		m, err := saved.OpenModel(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := m.Function("scale").Call([]float32{1, 1, 2}); err != nil || !tensor.Equal(out[0].(tensor.Tensor), tensor.Of([]float32{1, 2, 6})) {
			t.Errorf("got %v, %v", out, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, load := range map[string]func(string) (map[string]tensor.Tensor, error){
		"weights": weights.Load,
		"saved": func(name string) (map[string]tensor.Tensor, error) {
			return saved.Read(name, map[string]tensor.Tensor{"w": tensor.Of([]float32{0, 0, 0})})
		},
	} {
		if got, err := load(filepath.Join(dir, "all.safetensors.index.json")); err != nil || !tensor.Equal(got["w"], tensor.Of([]float32{1, 2, 3})) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
