package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// This file handles what is common to all requests, whatever their protocol: the request's id,
// authorization, logging, and the memory that it holds.

// An exchange is a request and its answer. It is the http.ResponseWriter and the context of the request's
// handler.
type exchange struct {
	http.ResponseWriter
	context.Context
	id       string
	ids      [1]string // the same, as a header
	status   int
	bytes    int64
	called   *served
	rows     int
	priority int
	patience time.Duration // for a client to take its answer
	link     *link         // nil if there is no connection of HTTP/1.1
	held     int64         // bytes of memory that count against the limit
	in       intake
}

type exchangeKey struct{}

// Value returns the exchange itself, or a value of the request's context.
func (e *exchange) Value(key any) any {
	if _, ok := key.(exchangeKey); ok {
		return e
	}
	return e.Context.Value(key)
}

// A link is an HTTP/1.1 connection, which carries one request after another.
type link struct{ until time.Time } // the deadline for its client to take an answer

type linkKey struct{}

// exchangeOf returns the exchange to which a context belongs, or an unused one if there is
// none.
func exchangeOf(ctx context.Context) *exchange {
	if e, ok := ctx.(*exchange); ok {
		return e
	}
	if e, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return e
	}
	return &exchange{}
}

// RequestID returns the id of the request that a function is answering: the header
// X-Request-Id, or an id made by the server. In a batch it is the id of one of the calls.
func RequestID(ctx context.Context) string { return exchangeOf(ctx).id }

// WriteHeader records the status.
func (e *exchange) WriteHeader(status int) {
	if e.status == 0 && status >= 200 {
		e.status = status
	}
	e.ResponseWriter.WriteHeader(status)
}

// Write counts bytes. A client must take each MiB within the time limit.
func (e *exchange) Write(b []byte) (int, error) {
	const most = 1 << 20
	if e.status == 0 {
		e.status = http.StatusOK
	}
	total := 0
	for {
		part := b[total:min(len(b), total+most)]
		if e.patience > 0 {
			e.wait()
		}
		n, err := e.ResponseWriter.Write(part)
		e.bytes += int64(n)
		if total += n; err != nil || total == len(b) {
			return total, err
		}
	}
}

// wait extends the deadline for the client to take what comes next. Setting the deadline of a connection is expensive
// compared with a small answer, so it is set only if it is too early, and then later than necessary by a quarter.
func (e *exchange) wait() {
	now := time.Now()
	if e.link != nil && e.link.until.Sub(now) >= e.patience {
		return
	}
	until := now.Add(e.patience + e.patience/4)
	if http.NewResponseController(e.ResponseWriter).SetWriteDeadline(until) == nil && e.link != nil {
		e.link.until = until
	}
}

// Flush sends what has been written.
func (e *exchange) Flush() { http.NewResponseController(e.ResponseWriter).Flush() }

// Unwrap returns the writer for an http.ResponseController.
func (e *exchange) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// begin wraps a request.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) (*exchange, *http.Request) {
	e := &exchange{ResponseWriter: w, Context: r.Context(), patience: s.opts.WriteTimeout, id: r.Header.Get("X-Request-Id")}
	if !isID(e.id) {
		e.id = newID()
	}
	if r.ProtoMajor == 1 {
		e.link, _ = e.Context.Value(linkKey{}).(*link)
	}
	e.ids[0] = e.id
	w.Header()["X-Request-Id"] = e.ids[:]
	return e, r.WithContext(e)
}

// newID returns an id that is very likely unique. It is not used for security.
func newID() string {
	const digits = "0123456789abcdef"
	var b [24]byte
	for i, word := 0, rand.Uint64(); i < len(b); i++ {
		b[i] = digits[word&15]
		if word >>= 4; i == 15 {
			word = rand.Uint64()
		}
	}
	return string(b[:])
}

// isID reports whether a text can be the id of a request.
func isID(text string) bool {
	if text == "" || len(text) > 128 {
		return false
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// end logs a request and releases its memory.
func (s *Server) end(e *exchange, r *http.Request, began time.Time) {
	s.release(e)
	took := time.Since(began)
	if e.called != nil {
		e.called.counts.took(took)
	}
	level := slog.LevelInfo
	switch {
	case e.status >= 500:
		level = slog.LevelError
	case e.called == nil:
		level = slog.LevelDebug
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	attributes := []slog.Attr{slog.String("id", e.id), slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", e.status),
		slog.Int64("bytes", e.bytes), slog.Duration("took", took), slog.String("from", r.RemoteAddr)}
	if e.called != nil {
		attributes = append(attributes, slog.String("model", e.called.Name), slog.String("version", e.called.version), slog.Int("rows", e.rows))
	}
	if code := e.Header().Get("Grpc-Status"); code != "" {
		attributes = append(attributes, slog.String("grpc", code))
	}
	s.log.LogAttrs(r.Context(), level, "request", attributes...)
}

// hold counts memory of a request against the limit until the request ends.
func (s *Server) hold(ctx context.Context, n int) error {
	return s.holdFor(exchangeOf(ctx), n)
}

func (s *Server) holdFor(e *exchange, n int) error {
	if s.opts.MaxMemory <= 0 {
		return nil
	}
	if total := s.held.Add(int64(n)); total > s.opts.MaxMemory {
		s.held.Add(-int64(n))
		return &fault{status: http.StatusServiceUnavailable, text: fmt.Sprintf("the current requests hold %d bytes, but only %d are allowed", total, s.opts.MaxMemory), retry: true}
	}
	e.held += int64(n)
	return nil
}

// release releases the memory of a request.
func (s *Server) release(e *exchange) {
	s.held.Add(-e.held)
	e.held = 0
}

// digests returns the digests of tokens.
func digests(tokens []string) [][]byte {
	var out [][]byte
	for _, t := range tokens {
		d := sha256.Sum256([]byte(t))
		out = append(out, d[:])
	}
	return out
}

// isOpen reports whether a path is accessible without a token: the probes, and the page, which contains no data.
func isOpen(path string) bool {
	return path == "/" || path == "/healthz" || strings.HasPrefix(path, "/v2/health/") || strings.HasPrefix(path, healthService)
}

// allowed returns an error unless a request has one of the tokens.
func (s *Server) allowed(r *http.Request) error {
	if len(s.tokens) == 0 || isOpen(r.URL.Path) {
		return nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	d := sha256.Sum256([]byte(token))
	found := 0
	for _, t := range s.tokens {
		found |= subtle.ConstantTimeCompare(t, d[:])
	}
	if found == 0 || !strings.EqualFold(scheme, "Bearer") {
		return faulty(http.StatusUnauthorized, "the request needs the header Authorization: Bearer TOKEN with a valid token")
	}
	return nil
}

// cors sets the headers that say who may read an answer. It returns true if the request only
// asked for them.
func (s *Server) cors(w http.ResponseWriter, r *http.Request) (done bool) {
	origin := r.Header.Get("Origin")
	if origin == "" || len(s.opts.Origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	if !slices.Contains(s.opts.Origins, origin) && !slices.Contains(s.opts.Origins, "*") {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", headerLength+", X-Request-Id, Grpc-Status, Grpc-Message")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Content-Encoding, X-Timeout-Ms, X-Request-Id, Grpc-Timeout, X-Grpc-Web, "+headerLength)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
