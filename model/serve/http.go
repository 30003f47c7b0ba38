package serve

import (
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ServeHTTP answers a request in any of the protocols.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	e, r := s.begin(w, r)
	defer s.end(e, r, began)
	if s.cors(e, r) {
		return
	}
	err := s.allowed(r)
	switch {
	case isRPC(r) && err != nil:
		s.rpcFail(e, r, err)
	case isRPC(r):
		s.grpc(e, r)
	case err != nil:
		e.Header().Set("WWW-Authenticate", "Bearer")
		s.fail(e, err)
	default:
		s.plain(e, r)
	}
}

// plain answers a request that is not a gRPC call.
func (s *Server) plain(w http.ResponseWriter, r *http.Request) {
	h, allow := s.route(r)
	switch {
	case h == nil && allow == "":
		s.fail(w, faulty(http.StatusNotFound, "there is no path %s", shortened(r.URL.Path)))
	case h == nil:
		w.Header().Set("Allow", allow)
		s.fail(w, faulty(http.StatusMethodNotAllowed, "the path allows %s, not %s", allow, r.Method))
	default:
		if err := h(w, r); err != nil {
			s.fail(w, err)
		}
	}
}

// A handler answers, or returns an error before it has written anything.
type handler func(w http.ResponseWriter, r *http.Request) error

// route finds the handler of a request or, if there is none, the methods that the path allows.
func (s *Server) route(r *http.Request) (h handler, allow string) {
	by := func(method string, h handler) (handler, string) {
		if r.Method != method && !(method == http.MethodGet && r.Method == http.MethodHead) {
			return nil, method
		}
		return h, method
	}
	if raw := r.URL.RawPath; strings.Contains(strings.ToLower(raw), "%2f") || strings.Contains(r.URL.Path, "\x00") {
		return nil, "" // RawPath is set only if Path can be written in another way
	}
	path := r.URL.Path
	switch path {
	case "/healthz", "/v2/health/live":
		return by(http.MethodGet, s.live)
	case "/v2/health/ready":
		return by(http.MethodGet, s.readiness)
	case "/":
		return by(http.MethodGet, s.page)
	case "/status.json":
		return by(http.MethodGet, s.overview)
	case "/metrics":
		return by(http.MethodGet, s.metrics)
	case "/v2", "/v2/":
		return by(http.MethodGet, s.serverMetadata)
	case "/v2/repository/index":
		return by(http.MethodPost, s.index)
	case "/openapi.json":
		return by(http.MethodGet, s.openAPI)
	}
	if name, ok := strings.CutPrefix(path, "/call/"); ok && name != "" && !strings.Contains(name, "/") {
		return by(http.MethodPost, func(w http.ResponseWriter, r *http.Request) error { return s.natural(w, r, name, false) })
	}
	if rest, ok := strings.CutPrefix(path, "/v2/repository/models/"); ok {
		if name, ok := strings.CutSuffix(rest, "/load"); ok {
			return by(http.MethodPost, func(w http.ResponseWriter, r *http.Request) error { return s.repository(w, name, s.load) })
		}
		if name, ok := strings.CutSuffix(rest, "/unload"); ok {
			return by(http.MethodPost, func(w http.ResponseWriter, r *http.Request) error { return s.repository(w, name, s.unload) })
		}
	}
	if rest, ok := strings.CutPrefix(path, "/v2/models/"); ok {
		return s.routeV2(rest, by)
	}
	if rest, ok := strings.CutPrefix(path, "/v1/models/"); ok {
		return s.routeV1(rest, by)
	}
	return nil, ""
}

// shortened shortens a text for a message.
func shortened(text string) string {
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[:80], "") + "…"
	}
	return strconv.Quote(text)
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, err error) {
	f := faultOf(err)
	if f.retry {
		w.Header().Set("Retry-After", "1")
	}
	b := append([]byte(`{"error":`), appendText(nil, strings.ToValidUTF8(f.text, "\uFFFD"))...)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Del("Content-Encoding")
	w.WriteHeader(f.status)
	w.Write(append(b, '}', '\n'))
}

// ofJSON is the value of a header. It must not be changed.
var ofJSON = []string{"application/json"}

// answer writes JSON.
func answer(w http.ResponseWriter, b []byte) error {
	w.Header()["Content-Type"] = ofJSON
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
	return nil
}

func (s *Server) live(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, []byte(`{"live":true}`))
}

// ready returns an error unless calls are accepted.
func (s *Server) ready() error {
	if s.wait.Load() {
		return &fault{status: http.StatusServiceUnavailable, text: "the server is not ready yet", retry: true}
	}
	return nil
}

// isReady reports whether clients should send calls.
func (s *Server) isReady() bool { return !s.wait.Load() && !s.drain.Load() }

func (s *Server) readiness(w http.ResponseWriter, _ *http.Request) error {
	if !s.isReady() {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"ready":false}`))
		return nil
	}
	return answer(w, []byte(`{"ready":true}`))
}

// mediaType returns the media type of a request; an empty one is JSON.
func mediaType(r *http.Request) (string, error) {
	const usual = "application/json"
	text := r.Header.Get("Content-Type")
	if text == "" || text == usual {
		return usual, nil
	}
	t, _, err := mime.ParseMediaType(text)
	if err != nil {
		return "", faulty(http.StatusUnsupportedMediaType, "the Content-Type %s is invalid", shortened(text))
	}
	return t, nil
}

// body reads the body of a request, decompressed.
func (s *Server) body(r *http.Request) ([]byte, error) {
	if r.ContentLength > s.opts.MaxBody {
		return nil, s.tooLarge()
	}
	e := exchangeOf(r.Context())
	e.in = intake{limited: limited{r: r.Body, left: s.opts.MaxBody}, server: s, exchange: e}
	length := r.ContentLength
	var unpacked func(io.Reader) (io.Reader, error)
	switch coding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
	case "gzip":
		unpacked = func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		unpacked = func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }
	default:
		return nil, faulty(http.StatusUnsupportedMediaType, "the Content-Encoding %s is not supported; gzip and deflate are", shortened(coding))
	}
	if unpacked != nil {
		z, err := unpacked(&limited{r: r.Body, left: s.opts.MaxBody})
		if err != nil {
			return nil, s.unread(err)
		}
		e.in.r, length = z, -1
	}
	b, err := readAll(&e.in, length)
	if err != nil {
		return nil, s.unread(err)
	}
	return b, nil
}

func (s *Server) tooLarge() error {
	return faulty(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", s.opts.MaxBody)
}

// unread returns the error for a body that could not be read.
func (s *Server) unread(err error) error {
	var f *fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, errTooLarge):
		return s.tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return faulty(http.StatusRequestTimeout, "the body did not arrive in time")
	}
	return badInput("cannot read the body: %v", err)
}

// readAll reads everything. length is the announced length, negative if there is none. Memory is allocated as
// bytes arrive, and they are not copied, so that a body that turns out to be too large has taken no more memory
// than is allowed.
func readAll(r io.Reader, length int64) ([]byte, error) {
	const first, most = 64 << 10, 1 << 20
	fill := func(b []byte) (n int, err error) {
		for n < len(b) && err == nil {
			var k int
			k, err = r.Read(b[n:])
			n += k
		}
		return n, err
	}
	if length >= 0 {
		b := make([]byte, min(length, first))
		for at := 0; ; {
			n, err := fill(b[at:])
			if at += n; int64(at) == length {
				return b, nil
			}
			if err != nil {
				return nil, err
			}
			size := min(length, 8*int64(at))
			b = append(make([]byte, 0, size), b...)[:size]
		}
	}
	var parts [][]byte
	for size := first; ; size = min(2*size, most) {
		part := make([]byte, size)
		n, err := fill(part)
		parts = append(parts, part[:n])
		switch {
		case err == io.EOF && len(parts) == 1:
			return part[:n], nil
		case err == io.EOF:
			return slices.Concat(parts...), nil
		case err != nil:
			return nil, err
		}
	}
}

// An intake reads at most a number of bytes, which count as the request's memory as they arrive.
type intake struct {
	limited
	server   *Server
	exchange *exchange
}

// Read reads, or returns the error of counting memory.
func (i *intake) Read(b []byte) (int, error) {
	n, err := i.limited.Read(b)
	if wrong := i.server.holdFor(i.exchange, n); wrong != nil {
		return 0, wrong
	}
	return n, err
}

// A limited reads at most a number of bytes.
type limited struct {
	r    io.Reader
	left int64
}

var errTooLarge = errors.New("serve: too large")

// Read reads, or returns errTooLarge if there is more.
func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		var one [1]byte
		n, err := io.ReadFull(l.r, one[:])
		if n > 0 {
			return 0, errTooLarge
		}
		return 0, err
	}
	if int64(len(b)) > l.left {
		b = b[:l.left]
	}
	n, err := l.r.Read(b)
	l.left -= int64(n)
	return n, err
}

// terms are what a request says about how it is to be answered.
type terms struct {
	timeout  time.Duration // 0: no limit
	priority int           // 1 is the highest; 0: none
}

// of returns a context with a deadline: the earlier one of those of the header X-Timeout-Ms and
// of the request itself. It records the priority: that of the request, or of the header
// X-Priority.
func (t terms) of(ctx context.Context, h http.Header) (context.Context, context.CancelFunc, error) {
	const digits = 10
	least := t.timeout
	if text := h.Get("X-Timeout-Ms"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || len(text) > digits {
			return nil, nil, badInput("the header X-Timeout-Ms is %s, want an integer", shortened(text))
		}
		if d := time.Duration(n) * time.Millisecond; t.timeout == 0 || d < t.timeout {
			least = d
		}
		if n == 0 {
			least = -1
		}
	}
	if text := h.Get("X-Priority"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return nil, nil, badInput("the header X-Priority is %s, want an integer", shortened(text))
		}
		if t.priority == 0 {
			t.priority = int(n)
		}
	}
	exchangeOf(ctx).priority = t.priority
	if least == 0 {
		return ctx, func() {}, nil // the request's own deadline ends with it
	}
	ctx, cancel := context.WithTimeout(ctx, least)
	return ctx, cancel, nil
}

// object reads the body as a JSON object.
func (s *Server) object(r *http.Request, tokens bool) (*object, error) {
	b, err := s.body(r)
	if err != nil {
		return nil, err
	}
	x, err := parseJSON(b, s.opts.MaxDepth, tokens)
	if err != nil {
		return nil, err
	}
	o, ok := x.(*object)
	if !ok {
		return nil, badInput("the body is %s, want an object", shown(x))
	}
	return o, nil
}

// isJSON returns an error unless a request's content is JSON.
func isJSON(r *http.Request) error {
	t, err := mediaType(r)
	if err != nil {
		return err
	}
	if t != "application/json" {
		return faulty(http.StatusUnsupportedMediaType, "the Content-Type %s is not supported; application/json is", shortened(t))
	}
	return nil
}

func (s *Server) repository(w http.ResponseWriter, name string, do func(string) (bool, error)) error {
	if err := s.change(name, do); err != nil {
		return err
	}
	return answer(w, []byte(`{}`))
}

func (s *Server) index(w http.ResponseWriter, _ *http.Request) error {
	b := []byte{'['}
	for i, f := range s.list() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(appendText(append(b, `{"name":`...), f.Name), `,"version":`...), f.version)
		b = append(b, `,"state":"READY","reason":""}`...)
	}
	return answer(w, append(b, ']'))
}

// extensions are the supported extensions of the Open Inference Protocol.
var extensions = []string{"binary_tensor_data", "model_repository"}

func (s *Server) serverMetadata(w http.ResponseWriter, _ *http.Request) error {
	b := append(appendText([]byte(`{"name":`), s.opts.Name), `,"version":"1","extensions":`...)
	return answer(w, append(appendTexts(b, extensions), '}'))
}
