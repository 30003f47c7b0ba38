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

// Options are limits and behaviour. The zero value has the defaults.
type Options struct {
	Name             string                          // of the server; default "tenon"
	MaxBody          int64                           // bytes of a body, also after decompression; default 64 MiB
	MaxDepth         int                             // nesting of JSON; default 100
	MaxElements      int                             // elements of one argument; default 64 Mi
	MaxConcurrent    int                             // calls that run at once; 0: any number
	Queue            int                             // calls that may wait; default 1024; negative: none
	ReadTimeout      time.Duration                   // for the whole of a request; default 10 s
	WriteTimeout     time.Duration                   // for a client to take a MiB of an answer; default 30 s; negative: any time
	MaxDelay         time.Duration                   // how long the first call of a batch waits for others; default: not at all
	MaxRows          int                             // rows of a batch; default 64
	Batches          int                             // batches of a function that run at once; default: one for each processor
	MaxBatchElements int                             // elements of a batch, with those of row splits and masks; default 1 Mi
	Priorities       int                             // priorities that calls may ask for, 1 going first; default 1: all are alike
	MaxMemory        int64                           // bytes that the bodies of all requests that run may take; 0: any number
	Garbage          int64                           // bytes of garbage, at least, that the collector of the process waits for while Serve runs; 0: as GOGC says
	Tokens           []string                        // clients have to show one of these (Authorization: Bearer TOKEN); none: nobody is asked
	Origins          []string                        // pages of these origins may read answers (CORS); "*": of any
	TLS              *tls.Config                     // with certificates, and with client authorities for mutual TLS; nil: no TLS
	Around           func(http.Handler) http.Handler // wraps the handler of HTTPServer, as for traces
	Log              *slog.Logger                    // of each request, and of what goes wrong; default: nothing is logged
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
	kept    map[string]*model // those that were unloaded
	sources map[string]*source
	wait    atomic.Bool   // it takes no calls yet
	drain   atomic.Bool   // it is about to end: not ready, but takes calls
	ending  chan struct{} // closed when it ends
	ended   sync.Once
	tokens  [][]byte
	held    atomic.Int64 // bytes of requests that run
}

// New returns a server without functions, which is ready.
func New(o Options) *Server {
	o.defaults()
	s := &Server{opts: o, models: map[string]*model{}, kept: map[string]*model{}, sources: map[string]*source{}, ending: make(chan struct{}), log: o.Log}
	s.rpcs, s.tokens = s.rpc(), digests(o.Tokens)
	s.gate.bound, s.gate.most = o.MaxConcurrent, o.Queue
	return s
}

// Add adds a function. One of the same name and version is replaced; calls of it that run are
// finished.
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

// SetReady says whether the server takes calls. While it does not, it is alive and
// answers them with 503.
func (s *Server) SetReady(ready bool) { s.wait.Store(!ready) }

// HTTPServer returns a server of package net/http for s, with its limits: HTTP/1.1, and
// HTTP/2 with or without TLS.
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

// ListenAndServe serves at an address until ctx ends. Then it is no longer ready, answers
// calls for the time of drain, takes no new connections, and finishes the calls that run.
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
	// What is never touched takes no memory, but counts as live: the collector waits for as many bytes
	// of garbage. The heap of a server is small, and small calls would have it run at every turn.
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
