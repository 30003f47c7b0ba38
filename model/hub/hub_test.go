package hub_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/hub"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// model returns a model of one function, with weights of n numbers.
func model(t testing.TB, n int) *saved.Model {
	t.Helper()
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i % 1000)
	}
	w := tenon.Must(state.New(tensor.Of(data, n)))
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, ops.Sum(w)) }, function.Options{Name: "scaled"})
	if err := m.Add("scaled", f, tensor.Scalar(float32(1))); err != nil {
		t.Fatal(err)
	}
	return m
}

// answer calls the function of a model.
func answer(t testing.TB, m *saved.Model) float32 {
	t.Helper()
	out, err := m.Function("scaled").Call(tensor.Scalar(float32(2)))
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Item[float32](out[0].(tensor.Tensor))
}

// A log counts requests by their methods and kinds.
type log struct {
	next http.Handler
	mu   sync.Mutex
	all  []string
}

func (l *log) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.all = append(l.all, r.Method+" "+r.URL.Path)
	l.mu.Unlock()
	l.next.ServeHTTP(w, r)
}

// count tells how many requests have been made that contain all of some texts, and
// forgets them.
func (l *log) count(parts ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		ok := true
		for _, p := range parts {
			ok = ok && strings.Contains(line, p)
		}
		if ok {
			n++
		}
	}
	return n
}

func (l *log) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = nil
}

// registry serves a registry over a new folder, and returns its address.
func registry(t testing.TB, wrap ...func(http.Handler) http.Handler) (host string, requests *log) {
	t.Helper()
	s, err := hub.NewServer(t.TempDir(), hub.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	requests = &log{next: s}
	var h http.Handler = requests
	for _, w := range wrap {
		h = w(h)
	}
	web := httptest.NewServer(h)
	t.Cleanup(func() { web.Close(); s.Close() })
	return strings.TrimPrefix(web.URL, "http://"), requests
}

// client returns a client with a cache of its own, which finds no credentials.
func client(t testing.TB) *hub.Client {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	return &hub.Client{Cache: t.TempDir(), Transport: &http.Transport{DisableKeepAlives: true}}
}

// tree returns the files below a folder with what they hold.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

func TestPushAndPull(t *testing.T) {
	host, requests := registry(t)
	c, ctx := client(t), context.Background()
	m := model(t, 1000)
	folder, file := filepath.Join(t.TempDir(), "model"), filepath.Join(t.TempDir(), "model.zip")
	if err := errors.Join(m.Save(folder), m.Save(file)); err != nil {
		t.Fatal(err)
	}
	digest, err := c.Push(ctx, folder, host+"/team/search:v1")
	if err != nil {
		t.Fatal(err)
	}
	requests.forget()
	for _, again := range []func() (string, error){
		func() (string, error) { return c.Push(ctx, file, host+"/team/search:v2") },
		func() (string, error) { return c.PushModel(ctx, m, host+"/team/search") },
	} {
		if d, err := again(); err != nil || d != digest {
			t.Errorf("the same model has the digests %s and %s, %v", digest, d, err)
		}
	}
	if n := requests.count("POST"); n > 0 {
		t.Errorf("%d blobs were sent again", n)
	}
	if err := c.Tag(ctx, host+"/team/search@"+digest, "stable", "v1.0"); err != nil {
		t.Fatal(err)
	}
	if got, err := c.List(ctx, host+"/team/search"); err != nil || !cmp.Equal(got, []string{"latest", "stable", "v1", "v1.0", "v2"}) {
		t.Errorf("tags %v, %v", got, err)
	}
	if got, err := c.List(ctx, host); err != nil || !cmp.Equal(got, []string{"team/search"}) {
		t.Errorf("repositories %v, %v", got, err)
	}
	if got, err := c.Resolve(ctx, host+"/team/search:stable"); err != nil || got != digest {
		t.Errorf("stable is %s, %v; want %s", got, err, digest)
	}
	for _, ref := range []string{":v1", ":stable", "", "@" + digest} {
		got, err := c.Open(ctx, host+"/team/search"+ref)
		if err != nil {
			t.Fatal(err)
		}
		if x, want := answer(t, got), answer(t, m); x != want {
			t.Errorf("%s: got %v, want %v", ref, x, want)
		}
	}
	to := filepath.Join(t.TempDir(), "pulled")
	for range 2 { // the second time in place of the first
		if err := c.Pull(ctx, host+"/team/search:v2", to); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(tree(t, folder), tree(t, to)); d != "" {
		t.Error(d)
	}
	requests.forget()
	if _, err := c.Fetch(ctx, host+"/team/search@"+digest); err != nil || requests.count("") > 0 {
		t.Errorf("a digest that is in the cache was asked for %d times, %v", requests.count(""), err)
	}
	c.Offline = true
	if _, err := c.Open(ctx, host+"/team/search:v1"); err != nil || requests.count("") > 0 {
		t.Errorf("offline: %v, %d requests", err, requests.count(""))
	}
	if _, err := c.Open(ctx, host+"/team/search:v1.0"); !errors.Is(err, tenon.ErrNotFound) || !strings.Contains(err.Error(), "offline") {
		t.Errorf("offline, a tag that was never fetched: %v", err)
	}
}

func TestCopy(t *testing.T) {
	a, _ := registry(t)
	b, requests := registry(t)
	c, ctx := client(t), context.Background()
	m := model(t, 100)
	digest, err := c.PushModel(ctx, m, a+"/x:1")
	if err != nil {
		t.Fatal(err)
	}
	layout := "oci:" + filepath.Join(t.TempDir(), "layout")
	for _, step := range [][2]string{{a + "/x:1", b + "/y/z:2"}, {b + "/y/z:2", b + "/other"}, {b + "/other", layout + ":air"}, {layout + ":air", a + "/back:1"}} {
		if d, err := c.Copy(ctx, step[0], step[1]); err != nil || d != digest {
			t.Fatalf("%v: %s, %v; want %s", step, d, err, digest)
		}
	}
	if requests.count("POST /v2/other/blobs/uploads") == 0 || requests.count("PUT /v2/other/blobs") > 0 {
		t.Error("blobs of one registry were sent to it again")
	}
	for _, ref := range []string{b + "/other", layout + ":air", layout + "@" + digest, a + "/back:1"} {
		got, err := c.Open(ctx, ref)
		if err != nil || answer(t, got) != answer(t, m) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if got, err := c.List(ctx, layout); err != nil || !cmp.Equal(got, []string{"air"}) {
		t.Errorf("tags %v, %v", got, err)
	}
}

func TestPartsOfModels(t *testing.T) {
	host, requests := registry(t)
	c, ctx := client(t), context.Background()
	dir := t.TempDir()
	for name, text := range map[string]string{"model.safetensors": "weights", "pytorch_model.bin": "others", "sub/config.json": "{}", "README.md": "hello"} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Push(ctx, dir, host+"/m:1"); err != nil {
		t.Fatal(err)
	}
	c.Files = []string{"*.safetensors", "sub/*"}
	to := filepath.Join(t.TempDir(), "to")
	if err := c.Pull(ctx, host+"/m:1", to); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"model.safetensors": "weights", "sub/config.json": "{}"}
	if d := cmp.Diff(want, tree(t, to)); d != "" {
		t.Error(d)
	}
	if n := requests.count("GET", "/blobs/"); n != 2 {
		t.Errorf("%d blobs were fetched, want 2", n)
	}
	c.Files = []string{"*.gguf"}
	if _, err := c.Fetch(ctx, host+"/m:1"); !errors.Is(err, tenon.ErrNotFound) {
		t.Error(err)
	}
	c.Files = nil
	if err := c.Pull(ctx, host+"/m:1", to); err == nil || !strings.Contains(err.Error(), "does not hold a model") {
		t.Errorf("a folder of something else was replaced: %v", err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err == nil {
		if _, err := c.Push(ctx, dir, host+"/m:2"); err == nil {
			t.Error("a link that leads out of the folder was pushed")
		}
	}
}

func TestReferences(t *testing.T) {
	c, ctx := client(t), context.Background()
	dir := t.TempDir()
	if err := model(t, 1).Save(filepath.Join(dir, "m")); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"", "name", "host/", "host/UPPER:1", "host/../x:1", "host/a b", "host/x:..", "host/x@sha256:12", "oci:", "hf:", "hf:a/b/c", "hf:../x", "hf:a/b@../c"} {
		if _, err := c.Fetch(ctx, ref); !errors.Is(err, tenon.ErrInvalid) && !errors.Is(err, tenon.ErrNotFound) || !strings.Contains(err.Error(), "hub.Fetch") {
			t.Errorf("%q: %v", ref, err)
		}
	}
	host, _ := registry(t)
	for _, ref := range []string{host + "/x@sha256:" + strings.Repeat("0", 64), "hf:org/name", host + "/x:bad/tag"} {
		if _, err := c.Push(ctx, filepath.Join(dir, "m"), ref); err == nil {
			t.Errorf("%q was pushed to", ref)
		}
	}
	if _, err := c.Push(ctx, filepath.Join(dir, "none"), host+"/x:1"); !errors.Is(err, tenon.ErrNotFound) {
		t.Error(err)
	}
	if _, err := c.Fetch(ctx, host+"/none:1"); !errors.Is(err, tenon.ErrNotFound) {
		t.Error(err)
	}
	if err := c.Tag(ctx, host+"/none:1", "a b"); !errors.Is(err, tenon.ErrInvalid) {
		t.Error(err)
	}
}

// TestCredentials finds what docker login keeps, and uses it for its registry only.
func TestCredentials(t *testing.T) {
	guard := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="models"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	host, _ := registry(t, guard)
	other, _ := registry(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				t.Error("another registry got the password")
			}
			h.ServeHTTP(w, r)
		})
	})
	c, ctx := client(t), context.Background()
	m := model(t, 10)
	if _, err := c.PushModel(ctx, m, host+"/x:1"); err == nil {
		t.Error("no password was wanted")
	}
	config := `{"auths":{"` + host + `":{"auth":"bWU6c2VjcmV0"}}}`
	if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{host, other} {
		if _, err := c.PushModel(ctx, m, h+"/x:1"); err != nil {
			t.Error(err)
		}
	}
	c.Credential = func(_ context.Context, h string) (string, string, error) { return "me", "wrong", nil }
	if _, err := c.Fetch(ctx, host+"/x:1"); err == nil {
		t.Error("a wrong password was taken")
	}
	c.Credential = func(_ context.Context, h string) (string, string, error) {
		if h != host {
			t.Errorf("credentials for %s", h)
		}
		return "me", "secret", nil
	}
	if _, err := c.Fetch(ctx, host+"/x:1"); err != nil {
		t.Error(err)
	}
}

// TestOneCache fetches a model by many clients at once, of which one asks for each blob.
func TestOneCache(t *testing.T) {
	host, requests := registry(t)
	c, ctx := client(t), context.Background()
	if _, err := c.PushModel(ctx, model(t, 200_000), host+"/x:1"); err != nil {
		t.Fatal(err)
	}
	requests.forget()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d := &hub.Client{Cache: c.Cache}
			if _, err := d.Fetch(ctx, host+"/x:1"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := requests.count("GET", "/blobs/"); n != 4 {
		t.Errorf("%d requests for 4 blobs", n)
	}
	if left := tree(t, filepath.Join(c.Cache, "partial")); len(left) > 0 {
		t.Errorf("%d parts are left", len(left))
	}
}
