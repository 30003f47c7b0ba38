package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenonml/tenon"
)

// Options are limits and settings of a server. The zero value has the defaults.
type Options struct {
	Name             string                          // of the server; default "tenon"
	MaxBody          int64                           // bytes of a body, also after decompression; default 64 MiB
	MaxDepth         int                             // nesting of JSON; default 100
	MaxElements      int                             // elements of an argument; default 64 Mi
	MaxConcurrent    int                             // calls that run at once; 0: no limit
	Queue            int                             // calls that may wait; default 1024; negative: none
	ReadTimeout      time.Duration                   // for reading a request; default 10 s
	WriteTimeout     time.Duration                   // for a client to take each MiB of an answer; default 30 s; negative: no limit
	MaxDelay         time.Duration                   // how long the first call of a batch waits for others; default 0
	MaxRows          int                             // rows of a batch; default 64
	Batches          int                             // batches of a function that run at once; default: one for each processor
	MaxBatchElements int                             // elements of a batch, including those of row splits and masks; default 1 Mi
	Priorities       int                             // number of priorities that calls may request, 1 being the highest; default 1
	MaxMemory        int64                           // bytes that the bodies of all current requests may take; 0: no limit
	Garbage          int64                           // bytes of garbage that accumulate at least before the process collects it while Serve runs; 0: as GOGC says
	Tokens           []string                        // clients must present one of these (Authorization: Bearer TOKEN); none: no authorization
	Origins          []string                        // pages of these origins may read answers (CORS); "*": any origin
	TLS              *tls.Config                     // with certificates, and with client CAs for mutual TLS; nil: no TLS
	Around           func(http.Handler) http.Handler // wraps the handler of HTTPServer, for instance for tracing
	Log              *slog.Logger                    // logs requests and errors; default: no logging
}

func (o *Options) defaults() {
	set := func(p *int, n int) {
		if *p == 0 {
			*p = n
		}
	}
	if o.Name == "" {
		o.Name = "tenon"
	}
	if o.MaxBody == 0 {
		o.MaxBody = 64 << 20
	}
	set(&o.MaxDepth, 100)
	set(&o.MaxElements, 64<<20)
	set(&o.Queue, 1024)
	set(&o.MaxRows, 64)
	set(&o.Batches, runtime.GOMAXPROCS(0))
	if o.MaxConcurrent > 0 {
		o.Batches = min(o.Batches, o.MaxConcurrent)
	}
	set(&o.MaxBatchElements, 1<<20)
	set(&o.Priorities, 1)
	if o.ReadTimeout == 0 {
		o.ReadTimeout = 10 * time.Second
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 30 * time.Second
	}
	o.Queue = max(o.Queue, 0)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// A Server serves functions. It is an http.Handler, and safe for concurrent use.
type Server struct {
	opts    Options
	gate    gate
	log     *slog.Logger
	rpcs    *http.ServeMux
	mu      sync.RWMutex
	models  map[string]*model
	kept    map[string]*model // models that were unloaded
	sources map[string]*source
	wait    atomic.Bool   // it does not accept calls yet
	drain   atomic.Bool   // it is about to stop: not ready, but accepting calls
	ending  chan struct{} // closed when it stops
	ended   sync.Once
	tokens  [][]byte
	held    atomic.Int64 // bytes of current requests
}

// New returns a server without functions, which is ready.
func New(o Options) *Server {
	o.defaults()
	s := &Server{opts: o, models: map[string]*model{}, kept: map[string]*model{}, sources: map[string]*source{}, ending: make(chan struct{}), log: o.Log}
	s.rpcs, s.tokens = s.rpc(), digests(o.Tokens)
	s.gate.bound, s.gate.most = o.MaxConcurrent, o.Queue
	return s
}

// Add adds a function. It replaces one of the same name and version, whose running calls are
// completed.
func (s *Server) Add(f Func) error {
	if err := f.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.models[f.Name]; m != nil && m.from != nil {
		return tenon.NewError(tenon.ErrInvalid, "serve.Add", f.Name+" is the name of a model of the folder "+m.from.Path)
	}
	s.models[f.Name] = s.models[f.Name].with(newServed(f))
	delete(s.kept, f.Name)
	return nil
}

// SetReady says whether the server accepts calls. While it does not, it is alive and answers
// them with status 503.
func (s *Server) SetReady(ready bool) { s.wait.Store(!ready) }

// HTTPServer returns a server of package net/http for s, with its limits: HTTP/1.1, and HTTP/2
// with or without TLS.
func (s *Server) HTTPServer() *http.Server {
	h := &http.Server{
		Handler:           s,
		ReadTimeout:       s.opts.ReadTimeout,
		ReadHeaderTimeout: s.opts.ReadTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		Protocols:         new(http.Protocols),
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetHTTP2(s.opts.TLS != nil)
	h.Protocols.SetUnencryptedHTTP2(s.opts.TLS == nil)
	h.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, linkKey{}, new(link))
	}
	h.TLSConfig = s.opts.TLS
	if s.opts.Around != nil {
		h.Handler = s.opts.Around(s)
	}
	return h
}

// ListenAndServe serves at an address until ctx is done. It then reports that it is not ready,
// answers calls for the duration drain, accepts no new connections, and completes the running
// calls.
func (s *Server) ListenAndServe(ctx context.Context, addr string, drain time.Duration) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "serve.ListenAndServe", Where: addr, Err: err}
	}
	return s.Serve(ctx, l, drain)
}

// Serve is [Server.ListenAndServe] on a listener.
func (s *Server) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	h := s.HTTPServer()
	// Memory that is never touched takes no physical memory, but counts as live, so the collector
	// waits for as many bytes of garbage. The heap of a server is small, and small calls would
	// otherwise make it collect all the time.
	floor := make([]byte, s.opts.Garbage)
	defer runtime.KeepAlive(floor)
	failed := make(chan error, 1)
	go func() {
		if s.opts.TLS != nil {
			failed <- h.ServeTLS(l, "", "")
			return
		}
		failed <- h.Serve(l)
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.drain.Store(true)
	s.ended.Do(func() { close(s.ending) })
	t := time.NewTimer(drain)
	defer t.Stop()
	select {
	case err := <-failed:
		return err
	case <-t.C:
	}
	const most = 10 * time.Second
	end, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	err := h.Shutdown(end)
	if errors.Is(err, context.DeadlineExceeded) {
		err = h.Close()
	}
	return err
}
