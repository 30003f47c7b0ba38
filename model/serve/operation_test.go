package serve_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/browser"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/tensor"
)

// certificate returns one for 127.0.0.1, signed by a parent or by itself.
func certificate(t *testing.T, name string, parent *tls.Certificate) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: parent == nil, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	by, signer := c, any(key)
	if parent != nil {
		by, signer = parent.Leaf, parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func pool(c *tls.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(c.Leaf)
	return p
}

func TestMutualTLS(t *testing.T) {
	authority := certificate(t, "authority", nil)
	server, client, stranger := certificate(t, "server", authority), certificate(t, "client", authority), certificate(t, "stranger", nil)
	s := serve.New(serve.Options{TLS: &tls.Config{Certificates: []tls.Certificate{*server}, ClientCAs: pool(authority), ClientAuth: tls.RequireAndVerifyClientCert}})
	if err := s.Add(functions()[0]); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, 0) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct {
		name string
		with []tls.Certificate
		ok   bool
	}{{"a client that is known", []tls.Certificate{*client}, true}, {"none", nil, false}, {"a stranger", []tls.Certificate{*stranger}, false}} {
		transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool(authority), Certificates: c.with}}
		hc := &http.Client{Transport: transport}
		res, err := hc.Get("https://" + l.Addr().String() + "/v2/health/ready")
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			if res.Body.Close(); res.ProtoMajor != 2 || res.StatusCode != 200 {
				t.Errorf("%s: HTTP/%d, %d", c.name, res.ProtoMajor, res.StatusCode)
			}
			in := msg(append([]any{1, "sum"}, sumInputs(doubles(1, 2, 3), []byte{0, 1, 3})...)...)
			call := connect.NewClient[[]byte, []byte](hc, "https://"+l.Addr().String()+infer, connect.WithGRPC(), connect.WithCodec(plain{}))
			if _, err := call.CallUnary(t.Context(), connect.NewRequest(&in)); err != nil {
				t.Error(err)
			}
		}
		transport.CloseIdleConnections()
	}
}

func TestTokens(t *testing.T) {
	h := newRPCServer(t, serve.Options{Tokens: []string{"one", "two"}})
	for _, c := range []struct {
		path, header string
		status       int
	}{
		{"/call/sum", "Bearer one", 200},
		{"/call/sum", "bearer two", 200},
		{"/call/sum", "Bearer three", 401},
		{"/call/sum", "Bearer ", 401},
		{"/call/sum", "Basic one", 401},
		{"/call/sum", "", 401},
	} {
		if status, got := post(t, h.URL+c.path, `{"x":[]}`, "Authorization", c.header); status != c.status {
			t.Errorf("%s %q: %d %s, want %d", c.path, c.header, status, got, c.status)
		}
	}
	for path, want := range map[string]int{"/v2/health/ready": 200, "/healthz": 200, "/": 200, "/status.json": 401, "/metrics": 401, "/v2/models/sum": 401} {
		res, err := http.Get(h.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
	}
	in := msg(1, "sum")
	_, err := rpc(t, h.URL, infer).CallUnary(t.Context(), connect.NewRequest(&in))
	if connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("over gRPC: %v", err)
	}
	q := connect.NewRequest(&in)
	q.Header().Set("Authorization", "Bearer two")
	if _, err := rpc(t, h.URL, infer).CallUnary(t.Context(), q); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("over gRPC with a token: %v", err)
	}
	if _, err := (&serve.Client{URL: h.URL, Token: "one"}).Call(t.Context(), "nothing"); !strings.Contains(err.Error(), "404") {
		t.Errorf("a client with a token: %v", err)
	}
}

func TestOrigins(t *testing.T) {
	h := newServer(t, serve.Options{Origins: []string{"https://page.example"}})
	for _, c := range []struct {
		method, origin, allowed string
		status                  int
	}{
		{http.MethodOptions, "https://page.example", "https://page.example", 204},
		{http.MethodGet, "https://page.example", "https://page.example", 200},
		{http.MethodOptions, "https://other.example", "", 405},
		{http.MethodGet, "", "", 200},
	} {
		r, err := http.NewRequest(c.method, h.URL+"/v2/models/sum", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
			r.Header.Set("Access-Control-Request-Method", "POST")
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != c.allowed || res.StatusCode != c.status {
			t.Errorf("%s from %q: %d, %q", c.method, c.origin, res.StatusCode, got)
		}
	}
}

// A request is one line of the log, with its id and never with what it holds.
func TestRequestsAreLogged(t *testing.T) {
	var log bytes.Buffer
	h := newServer(t, serve.Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	post(t, h.URL+"/call/sum", `{"x":[[41.5],[]]}`, "X-Request-Id", "mine")
	post(t, h.URL+"/call/fault", `{}`, "X-Request-Id", "not\x20one")
	h.Close() // waits for the handlers
	var lines []map[string]any
	for line := range strings.Lines(log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, m)
	}
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), log.String())
	}
	for key, want := range map[string]any{"id": "mine", "model": "sum", "version": "1", "rows": 2.0, "status": 200.0, "path": "/call/sum", "level": "INFO"} {
		if got := lines[0][key]; got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if id, _ := lines[1]["id"].(string); lines[1]["level"] != "ERROR" || lines[1]["status"] != 500.0 || len(id) != 24 {
		t.Errorf("the fault: %v", lines[1])
	}
	if strings.Contains(log.String(), "41.5") {
		t.Errorf("the log holds what was sent: %s", log.String())
	}
}

func TestMemoryOfRequestsIsBounded(t *testing.T) {
	h := newServer(t, serve.Options{MaxMemory: 100})
	long := `{"x":[[` + strings.Repeat("1,", 100) + `1]]}`
	for _, c := range []struct {
		body   string
		status int
	}{{`{"x":[[1]]}`, 200}, {long, 503}, {`{"x":[[1]]}`, 200}} {
		if status, got := post(t, h.URL+"/call/sum", c.body); status != c.status {
			t.Errorf("%d bytes: %d %s", len(c.body), status, got)
		}
	}
}

// A client that does not take its answer loses its connection, and the function stops.
func TestSlowReadersAreLeft(t *testing.T) {
	s := serve.New(serve.Options{WriteTimeout: 50 * time.Millisecond})
	ended := make(chan error, 1)
	f := serve.Func{Name: "endless", Results: []serve.Arg{{Name: "x", Spec: dense(dtype.Int64, 1000)}},
		Stream: func(_ context.Context, _ []tenon.Value, send func([]tenon.Value) error) error {
			for {
				if err := send([]tenon.Value{tensor.Of(make([]int64, 1000), 1000)}); err != nil {
					ended <- err
					return err
				}
			}
		}}
	if err := s.Add(f); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	c, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST /call/endless HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the function goes on")
	}
}

// The page in a real browser: it shows the functions, and calls one.
func TestPageInBrowser(t *testing.T) {
	h := newServer(t, serve.Options{Name: "test"})
	res, err := http.Get(h.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	dom := browser.DOM(t, h.URL+"/?call=sum")
	for _, want := range []string{"test is ready with 5 functions", `data-model="same"`, "tags: ", `{"y":[3.0,3.0]}`, "<svg", "batched"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", dom)
	}
}
