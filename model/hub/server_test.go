package hub_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/tenonml/tenon/model/hub"
)

// ask sends a request to a registry and returns the answer. Headers are given as "Name: value".
func ask(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://x/", strings.NewReader(body))
	path, query, _ := strings.Cut(target, "?")
	r.URL.Path, r.URL.RawQuery = path, query
	for _, line := range headers {
		k, v, _ := strings.Cut(line, ": ")
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const imageManifest = "application/vnd.oci.image.manifest.v1+json"

// TestServer goes through what the distribution API asks for.
func TestServer(t *testing.T) {
	s, err := hub.NewServer(t.TempDir(), hub.ServerOptions{MaxBlob: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var upload string
	want := func(status int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
		t.Helper()
		w := ask(s, method, target, body, headers...)
		if w.Code != status {
			t.Fatalf("%s %s: status %d, want %d: %s", method, target, w.Code, status, w.Body)
		}
		if l := w.Header().Get("Location"); strings.Contains(l, "/uploads/") {
			upload = l
		}
		return w
	}
	blob, other := "some weights", digest.FromString("other")
	d := digest.FromString(blob)
	at := "/v2/team/x/blobs/" + d.String()

	want(200, "GET", "/v2/", "")
	want(404, "GET", "/v1/", "")
	want(404, "HEAD", at, "")
	// in pieces, of which one comes out of order
	want(202, "POST", "/v2/team/x/blobs/uploads/", "")
	want(416, "PATCH", upload, "weights", "Content-Range: 5-11")
	want(202, "PATCH", upload, "some ", "Content-Range: 0-4")
	want(416, "PATCH", upload, "some ", "Content-Range: 0-4")
	want(416, "PATCH", upload, "weights", "Content-Range: 5-99")
	if r := want(204, "GET", upload, "").Header().Get("Range"); r != "0-4" {
		t.Errorf("the upload has %s", r)
	}
	want(202, "PATCH", upload, "weight", "Content-Range: 5-10")
	want(201, "PUT", upload+"?digest="+d.String(), "s")
	want(404, "PATCH", upload, "more")
	if w := want(200, "GET", at, ""); w.Body.String() != blob || w.Header().Get("Docker-Content-Digest") != d.String() {
		t.Errorf("got %q, %v", w.Body, w.Header())
	}
	if w := want(206, "GET", at, "", "Range: bytes=5-"); w.Body.String() != "weights" {
		t.Errorf("got %q", w.Body)
	}
	want(416, "GET", at, "", "Range: bytes=99-")
	// in one piece, wrong, too large, given up
	want(201, "POST", "/v2/y/blobs/uploads/?digest="+digest.FromString("config").String(), "config")
	want(400, "POST", "/v2/y/blobs/uploads/?digest="+other.String(), "not other")
	want(413, "POST", "/v2/y/blobs/uploads/?digest="+other.String(), strings.Repeat("x", 101))
	want(202, "POST", "/v2/y/blobs/uploads/", "")
	want(413, "PATCH", upload, strings.Repeat("x", 101))
	want(400, "PUT", upload+"?digest=sha256:12", "")
	want(204, "DELETE", upload, "")
	want(404, "GET", upload, "")
	// of another repository
	want(404, "GET", "/v2/y/blobs/"+d.String(), "")
	want(201, "POST", "/v2/y/blobs/uploads/?mount="+d.String()+"&from=team/x", "")
	want(202, "POST", "/v2/y/blobs/uploads/?mount="+other.String()+"&from=team/x", "")
	want(200, "GET", "/v2/y/blobs/"+d.String(), "")
	// manifests
	config := digest.FromString("config")
	manifest := func(layers, more string) string {
		return fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":"a/b","digest":%q,"size":6},"layers":[%s]%s}`, imageManifest, config, layers, more)
	}
	layer := func(d digest.Digest) string {
		return fmt.Sprintf(`{"mediaType":"c/d","digest":%q,"size":12}`, d)
	}
	good := manifest(layer(d), "")
	md := digest.FromString(good)
	want(404, "PUT", "/v2/y/manifests/v1", manifest(layer(other), ""), "Content-Type: "+imageManifest)
	want(400, "PUT", "/v2/y/manifests/v1", "{", "Content-Type: "+imageManifest)
	want(400, "PUT", "/v2/y/manifests/v1", good, "Content-Type: a/b")
	want(400, "PUT", "/v2/y/manifests/.v1", good, "Content-Type: "+imageManifest)
	want(400, "PUT", "/v2/y/manifests/"+other.String(), good, "Content-Type: "+imageManifest)
	want(413, "PUT", "/v2/y/manifests/v1", strings.Repeat(" ", 5<<20), "Content-Type: "+imageManifest)
	for _, tag := range []string{"v1", "v2", "v3", md.String()} {
		want(201, "PUT", "/v2/y/manifests/"+tag, good, "Content-Type: "+imageManifest)
	}
	if w := want(200, "GET", "/v2/y/manifests/v1", ""); w.Body.String() != good || w.Header().Get("Content-Type") != imageManifest || w.Header().Get("Docker-Content-Digest") != md.String() {
		t.Errorf("got %q, %v", w.Body, w.Header())
	}
	if w := want(200, "GET", "/v2/y/tags/list?n=1&last=v1", ""); strings.TrimSpace(w.Body.String()) != `{"name":"y","tags":["v2"]}` || !strings.Contains(w.Header().Get("Link"), "last=v2") {
		t.Errorf("got %q, %v", w.Body, w.Header())
	}
	want(400, "GET", "/v2/y/tags/list?n=x", "")
	want(404, "GET", "/v2/none/tags/list", "")
	// what is about it
	about := manifest(layer(d), fmt.Sprintf(`,"artifactType":"sign/ature","subject":{"mediaType":%q,"digest":%q,"size":%d}`, imageManifest, md, len(good)))
	if w := want(201, "PUT", "/v2/y/manifests/about", about, "Content-Type: "+imageManifest); w.Header().Get("OCI-Subject") != md.String() {
		t.Errorf("got %v", w.Header())
	}
	if w := want(200, "GET", "/v2/y/referrers/"+md.String()+"?artifactType=sign/ature", ""); !strings.Contains(w.Body.String(), digest.FromString(about).String()) {
		t.Errorf("got %s", w.Body)
	}
	if w := want(200, "GET", "/v2/y/referrers/"+md.String()+"?artifactType=x/y", ""); strings.Contains(w.Body.String(), "sha256") {
		t.Errorf("got %s", w.Body)
	}
	if w := want(200, "GET", "/v2/_catalog", ""); strings.TrimSpace(w.Body.String()) != `{"repositories":["y"]}` {
		t.Errorf("got %s", w.Body)
	}
	// deletion
	want(202, "DELETE", "/v2/y/manifests/v1", "")
	want(404, "GET", "/v2/y/manifests/v1", "")
	want(200, "GET", "/v2/y/manifests/v2", "")
	want(202, "DELETE", "/v2/y/manifests/"+digest.FromString(about).String(), "")
	if w := want(200, "GET", "/v2/y/referrers/"+md.String(), ""); strings.Contains(w.Body.String(), "sha256") {
		t.Errorf("got %s", w.Body)
	}
	want(202, "DELETE", "/v2/y/manifests/"+md.String(), "")
	want(404, "GET", "/v2/y/manifests/v2", "")
	want(404, "DELETE", "/v2/y/manifests/v2", "")
	want(202, "DELETE", "/v2/y/blobs/"+d.String(), "")
	want(404, "GET", "/v2/y/blobs/"+d.String(), "")
	want(200, "GET", at, "") // of the other repository
	for _, bad := range []string{"/v2/../x/tags/list", "/v2/A/tags/list", "/v2/a//b/tags/list", "/v2/_x/tags/list", "/v2/x/_blobs/tags/list"} {
		want(400, "GET", bad, "")
	}
	want(404, "GET", "/v2/y/manifests/../../x", "")
	want(405, "POST", "/v2/y/tags/list", "")
}

func TestServerThatIsReadOnly(t *testing.T) {
	s, err := hub.NewServer(t.TempDir(), hub.ServerOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if w := ask(s, "POST", "/v2/x/blobs/uploads/", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("status %d", w.Code)
	}
	if w := ask(s, "GET", "/v2/", ""); w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}

// FuzzServer asks a registry for anything: it answers, and what is outside of its folder
// stays as it is.
func FuzzServer(f *testing.F) {
	dir := f.TempDir()
	s, err := hub.NewServer(filepath.Join(dir, "in", "side"), hub.ServerOptions{MaxBlob: 1 << 16})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	d := digest.FromString("x").String()
	f.Add("PUT", "/v2/a/manifests/v1", "{}")
	f.Add("POST", "/v2/a/blobs/uploads/?digest="+d, "x")
	f.Add("GET", "/v2/../../blobs/"+d, "")
	f.Add("PATCH", "/v2/a/blobs/uploads/../x", "x")
	f.Add("DELETE", "/v2/a/manifests/..%2f..", "")
	f.Add("PUT", "/v2/a/manifests/v1", `{"mediaType":"a/b","subject":{"digest":"sha256:../x"}}`)
	f.Fuzz(func(t *testing.T, method, target, body string) {
		w := ask(s, "GET", "/v2/", "")
		io.Copy(io.Discard, w.Body)
		if strings.ContainsFunc(method, func(r rune) bool { return r < 'A' || r > 'Z' }) || method == "" {
			return
		}
		if w := ask(s, method, target, body, "Content-Type: a/b"); w.Code >= 500 {
			t.Errorf("%s %s: status %d: %s", method, target, w.Code, w.Body)
		}
		for name := range tree(t, dir) {
			if !strings.HasPrefix(name, "in/side/") {
				t.Errorf("%s %s: there is %s", method, target, name)
			}
		}
	})
}
