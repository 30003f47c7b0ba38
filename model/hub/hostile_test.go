package hub_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/model/hub"
)

// forged is a registry that gives one manifest, and what it is told to for blobs.
type forged struct {
	manifest []byte
	blob     func(w http.ResponseWriter, r *http.Request)
	header   map[string]string
}

func (f *forged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "/blobs/") {
		f.blob(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	w.Header().Set("Docker-Content-Digest", string(digest.FromBytes(f.manifest)))
	w.Header().Set("Content-Length", strconv.Itoa(len(f.manifest)))
	for k, v := range f.header {
		w.Header().Set(k, v)
	}
	w.Write(f.manifest)
}

// layer is a layer of a manifest with a file.
func layer(name, text string) map[string]any {
	return map[string]any{"mediaType": "application/vnd.cncf.model.weight.v1.raw", "digest": string(digest.FromString(text)), "size": len(text),
		"annotations": map[string]string{"org.cncf.model.filepath": name}}
}

func with(l map[string]any, key string, value any) map[string]any {
	l[key] = value
	return l
}

func manifestOf(layers ...map[string]any) []byte {
	b, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": layers,
		"config": map[string]any{"mediaType": "application/vnd.cncf.model.config.v1+json", "digest": string(digest.FromString("{}")), "size": 2}})
	if err != nil {
		panic(err)
	}
	return b
}

func text(s string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, s) }
}

// TestRegistryThatLies wants an error, and neither a file nor a part of one, from each
// registry that says something wrong.
func TestRegistryThatLies(t *testing.T) {
	good := "some weights"
	long := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush() // so that no length is stated
		for range 1000 {
			io.WriteString(w, good)
		}
	}
	for name, f := range map[string]*forged{
		"other bytes":         {manifest: manifestOf(layer("a", good)), blob: text("SOME WEIGHTS")},
		"fewer bytes":         {manifest: manifestOf(layer("a", good)), blob: text("some")},
		"more bytes":          {manifest: manifestOf(layer("a", good)), blob: text(good + "!")},
		"bytes without end":   {manifest: manifestOf(layer("a", good)), blob: long},
		"a huge length":       {manifest: manifestOf(with(layer("a", good), "size", int64(1)<<62)), blob: text(good)},
		"a negative length":   {manifest: manifestOf(with(layer("a", good), "size", -1)), blob: text(good)},
		"a length too long":   {manifest: manifestOf(with(layer("a", good), "size", 1<<20)), blob: text(good)},
		"no blob":             {manifest: manifestOf(layer("a", good)), blob: http.NotFound},
		"a folder outside":    {manifest: manifestOf(layer("../a", good)), blob: text(good)},
		"the root":            {manifest: manifestOf(layer("/a", good)), blob: text(good)},
		"a folder of Windows": {manifest: manifestOf(layer(`..\a`, good)), blob: text(good)},
		"a drive":             {manifest: manifestOf(layer(`C:a`, good)), blob: text(good)},
		"a device":            {manifest: manifestOf(layer("nul", good)), blob: text(good)},
		"a NUL":               {manifest: manifestOf(layer("a\x00b", good)), blob: text(good)},
		"no name":             {manifest: manifestOf(with(layer("a", good), "annotations", map[string]string{})), blob: text(good)},
		"a file twice":        {manifest: manifestOf(layer("a", good), layer("A", good)), blob: text(good)},
		"a file as a folder":  {manifest: manifestOf(layer("a", good), layer("a/b", good)), blob: text(good)},
		"no digest":           {manifest: manifestOf(with(layer("a", good), "digest", "sha256:../../x")), blob: text(good)},
		"an odd digest":       {manifest: manifestOf(with(layer("a", good), "digest", "md5:00")), blob: text(good)},
		"an archive":          {manifest: manifestOf(with(layer("a", good), "mediaType", "application/vnd.cncf.model.weight.v1.tar+gzip")), blob: text(good)},
		"no layers":           {manifest: manifestOf(), blob: text(good)},
		"no JSON":             {manifest: []byte("{"), blob: text(good)},
		"another kind":        {manifest: []byte(`{"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`), blob: text(good)},
		"a huge manifest":     {manifest: bytes.Repeat([]byte(" "), 5<<20), blob: text(good)},
		"a false digest":      {manifest: manifestOf(layer("a", good)), blob: text(good), header: map[string]string{"Docker-Content-Digest": string(digest.FromString("x"))}},
		"no digest at all":    {manifest: manifestOf(layer("a", good)), blob: text(good), header: map[string]string{"Docker-Content-Digest": "sha256:zz"}},
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(f)
			defer web.Close()
			c := client(t)
			to := filepath.Join(t.TempDir(), "to")
			err := c.Pull(context.Background(), strings.TrimPrefix(web.URL, "http://")+"/m:1", to)
			var e *tenon.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if files := tree(t, filepath.Dir(to)); len(files) > 0 {
				t.Errorf("files: %v", files)
			}
			for name, b := range tree(t, filepath.Join(c.Cache, "blobs")) {
				if d := digest.FromString(b); !strings.HasSuffix(name, d.Encoded()) {
					t.Errorf("the cache has other bytes as %s", name)
				}
			}
		})
	}
	// the same by the digest, which another manifest does not have
	f := &forged{manifest: manifestOf(layer("a", good)), blob: text(good)}
	web := httptest.NewServer(f)
	defer web.Close()
	ref := strings.TrimPrefix(web.URL, "http://") + "/m@" + string(digest.FromBytes(f.manifest))
	f.manifest = manifestOf(layer("b", good))
	if _, err := client(t).Fetch(context.Background(), ref); err == nil {
		t.Error("another manifest than that of the digest was taken")
	}
}

// breaking lets so many bytes of each blob through in one request, and then breaks the
// connection off.
type breaking struct {
	next http.Handler
	most int
}

type shortWriter struct {
	http.ResponseWriter
	left int
}

func (w *shortWriter) Write(b []byte) (int, error) {
	if len(b) > w.left {
		w.ResponseWriter.Write(b[:w.left])
		w.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	w.left -= len(b)
	return w.ResponseWriter.Write(b)
}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.most > 0 && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
		w = &shortWriter{w, b.most}
	}
	b.next.ServeHTTP(w, r)
}

// TestTransfersThatBreakOff goes on where a transfer stopped, however often it does.
func TestTransfersThatBreakOff(t *testing.T) {
	b := &breaking{}
	host, requests := registry(t, func(h http.Handler) http.Handler {
		b.next = h
		return b
	})
	c, ctx := client(t), context.Background()
	dir := t.TempDir()
	weights := strings.Repeat("0123456789", 1000)
	if err := os.WriteFile(filepath.Join(dir, "w.bin"), []byte(weights), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Push(ctx, dir, host+"/x:1"); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{9_999, 3_000, 700} {
		b.most = most
		requests.forget()
		c.Cache = t.TempDir()
		got, err := c.Fetch(ctx, host+"/x:1")
		if err != nil || tree(t, got)["w.bin"] != weights {
			t.Errorf("%d bytes a time: %v", most, err)
		}
		// each time but the first one request begins at the beginning and one goes on
		if n, want := requests.count("GET", "/blobs/"), 2*((len(weights)-1)/most)+1; n > want {
			t.Errorf("%d bytes a time: %d requests, want %d", most, n, want)
		}
	}
	b.most = 100 // too little: an error, and a part
	c.Cache = t.TempDir()
	to := filepath.Join(t.TempDir(), "to")
	if err := c.Pull(ctx, host+"/x:1", to); err == nil || len(tree(t, to)) > 0 || len(tree(t, filepath.Join(c.Cache, "models"))) > 0 {
		t.Errorf("got %v", err)
	}
	part := tree(t, filepath.Join(c.Cache, "partial"))
	for _, text := range part {
		if len(text) < 2000 || !strings.HasPrefix(weights, text) {
			t.Errorf("the part has %d bytes", len(text))
		}
	}
	b.most = 0
	for name, text := range part { // with wrong bytes: they are fetched anew, after one error
		for i, bad := range []string{strings.ToUpper(text) + "x", text, "", strings.Repeat("x", 20_000), weights} {
			if err := os.WriteFile(filepath.Join(c.Cache, "partial", name), []byte(bad), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Fetch(ctx, host+"/x:1"); err != nil && strings.HasPrefix(weights, bad) {
				t.Errorf("part %d: %v", i, err)
			}
			got, err := c.Fetch(ctx, host+"/x:1")
			if err != nil || tree(t, got)["w.bin"] != weights {
				t.Errorf("part %d: %v", i, err)
			}
			if err := errors.Join(os.RemoveAll(filepath.Join(c.Cache, "models")), os.RemoveAll(filepath.Join(c.Cache, "blobs"))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestMain is the program that TestKilled starts.
func TestMain(m *testing.M) {
	if ref := os.Getenv("HUB_TEST_PULL"); ref != "" {
		c := hub.Client{Cache: os.Getenv("TENON_HUB_CACHE")}
		if err := c.Pull(context.Background(), ref, os.Getenv("HUB_TEST_TO")); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// stalling lets so many bytes of all blobs through and then says so, and waits.
type stalling struct {
	next http.Handler
	mu   sync.Mutex // of left
	left int        // -1: all
	full chan struct{}
	stop chan struct{}
}

func (s *stalling) let(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = n
}

// take returns how many of n bytes go through.
func (s *stalling) take(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left < 0 {
		return n
	}
	n = min(n, s.left)
	s.left -= n
	return n
}

type stalledWriter struct {
	http.ResponseWriter
	s *stalling
}

func (w *stalledWriter) Write(b []byte) (int, error) {
	n := w.s.take(len(b))
	if n == len(b) {
		return w.ResponseWriter.Write(b)
	}
	w.ResponseWriter.Write(b[:n])
	w.ResponseWriter.(http.Flusher).Flush()
	w.s.full <- struct{}{}
	<-w.s.stop
	panic(http.ErrAbortHandler)
}

func (s *stalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
		w = &stalledWriter{w, s}
	}
	s.next.ServeHTTP(w, r)
}

// TestKilled kills a program that pulls a model after some bytes: what was there stays, and
// the next program gets all.
func TestKilled(t *testing.T) {
	s := &stalling{left: -1, full: make(chan struct{}, 9), stop: make(chan struct{})}
	host, _ := registry(t, func(h http.Handler) http.Handler {
		s.next = h
		return s
	})
	defer close(s.stop)
	c, ctx := client(t), context.Background()
	dir := t.TempDir()
	weights := strings.Repeat("0123456789", 10_000)
	for name, text := range map[string]string{"model.json": "{}", "w.bin": weights} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Push(ctx, dir, host+"/x:1"); err != nil {
		t.Fatal(err)
	}
	cache, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pull := func() *exec.Cmd {
		p := exec.Command(self)
		p.Env = append(os.Environ(), "HUB_TEST_PULL="+host+"/x:1", "HUB_TEST_TO="+to, "TENON_HUB_CACHE="+cache)
		return p
	}
	for _, left := range []int{0, 1, 2, 40_000, 99_999} {
		s.let(left)
		p := pull()
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		<-s.full
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.Wait()
		if files := tree(t, filepath.Dir(to)); len(files) > 0 {
			t.Fatalf("after %d bytes there is %v", left, files)
		}
		for name, b := range tree(t, filepath.Join(cache, "blobs")) {
			if !strings.HasSuffix(name, digest.FromString(b).Encoded()) {
				t.Fatalf("after %d bytes the cache has other bytes as %s", left, name)
			}
		}
	}
	s.let(-1)
	if text, err := pull().CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got := tree(t, to); got["w.bin"] != weights || len(got) != 2 {
		t.Errorf("%d files were pulled", len(got))
	}
}

// FuzzManifests gives manifests to a client: whatever they say, nothing gets outside of the
// folder that is pulled.
func FuzzManifests(f *testing.F) {
	f.Add(manifestOf(layer("a", "x")))
	f.Add(manifestOf(layer("../a", "x"), layer("b/c", "x")))
	f.Add(manifestOf(with(layer("a", "x"), "size", int64(1)<<62)))
	f.Add([]byte(`{"layers":[{"digest":"sha256:00","annotations":{"org.opencontainers.image.title":"a"}}]}`))
	h := &forged{blob: text("x")}
	web := httptest.NewServer(h)
	f.Cleanup(web.Close)
	host := strings.TrimPrefix(web.URL, "http://")
	f.Fuzz(func(t *testing.T, manifest []byte) {
		h.manifest = manifest
		dir := t.TempDir()
		c := &hub.Client{Cache: filepath.Join(dir, "cache"), Credential: func(context.Context, string) (string, string, error) { return "", "", nil }}
		err := c.Pull(context.Background(), host+"/m:1", filepath.Join(dir, "to"))
		for name := range tree(t, dir) {
			if !strings.HasPrefix(name, "cache/") && (err != nil || !strings.HasPrefix(name, "to/")) {
				t.Errorf("%v: there is %s", err, name)
			}
		}
	})
}

// TestWhatIsNotPushed pushes archives and folders that are not what they seem: an error that
// names them, and a registry that has nothing new.
func TestWhatIsNotPushed(t *testing.T) {
	host, _ := registry(t)
	zipped := func(headers ...*zip.FileHeader) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, h := range headers {
			text := strings.Repeat("x", int(h.UncompressedSize64))
			if h.CompressedSize64 > 0 {
				text = text[:h.CompressedSize64]
			}
			h.CompressedSize64, h.CRC32 = uint64(len(text)), crc32.ChecksumIEEE([]byte(text))
			w, err := z.CreateRaw(h)
			if err == nil {
				_, err = io.WriteString(w, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	link := &zip.FileHeader{Name: "b", UncompressedSize64: 3}
	link.SetMode(fs.ModeSymlink | 0o777)
	good := zipped(&zip.FileHeader{Name: "a", UncompressedSize64: 3})
	dir := t.TempDir()
	write := func(name string, b []byte) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777), os.WriteFile(filepath.Join(dir, name), b, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write("before.zip", append([]byte("#!/bin/sh\n"), good...))
	write("behind.zip", append(bytes.Clone(good), "x"...))
	write("cut.zip", good[:len(good)-3])
	write("twice.zip", zipped(&zip.FileHeader{Name: "a", UncompressedSize64: 3}, &zip.FileHeader{Name: "a", UncompressedSize64: 3}))
	write("long.zip", zipped(&zip.FileHeader{Name: "a", UncompressedSize64: 30, CompressedSize64: 3}))
	write("bomb.zip", zipped(&zip.FileHeader{Name: "a", Method: zip.Deflate, UncompressedSize64: 1 << 20, CompressedSize64: 3}))
	write("link.zip", zipped(link))
	write("stream.zip", zipped(&zip.FileHeader{Name: "a:b", UncompressedSize64: 3}))
	write("secret", []byte("secret"))
	for name, to := range map[string]string{"outside": "../secret", "root": filepath.Join(dir, "secret"), "itself": "x", "folder": ".."} {
		write(name+"/good", []byte("good"))
		if err := os.Symlink(to, filepath.Join(dir, name, "x")); err != nil {
			t.Skip(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range entries {
		if d.Name() == "secret" {
			continue
		}
		from := filepath.Join(dir, d.Name())
		c := client(t)
		_, err := c.Push(context.Background(), from, host+"/m:1")
		var e *tenon.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), d.Name()) {
			t.Errorf("%s: got %v", d.Name(), err)
		}
		if got, err := c.Resolve(context.Background(), host+"/m:1"); err == nil {
			t.Errorf("%s: the registry has %s", d.Name(), got)
		}
	}
}
