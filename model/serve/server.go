package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenonml/tenon"
)

// Options are limits and behaviour. The zero value has the defaults.
type Options struct {
	Name          string        // of the server; default "tenon"
	MaxBody       int64         // bytes of a body, also after decompression; default 64 MiB
	MaxDepth      int           // nesting of JSON; default 100
	MaxElements   int           // elements of one argument; default 64 Mi
	MaxConcurrent int           // calls that run at once; 0: any number
	Queue         int           // calls that may wait; default 1024; negative: none
	ReadTimeout   time.Duration // for the whole of a request; default 10 s
	MaxDelay      time.Duration // how long the first call of a batch waits for others; default: not at all
	MaxRows       int           // rows of a batch; default 64
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
	if o.ReadTimeout == 0 {
		o.ReadTimeout = 10 * time.Second
	}
	o.Queue = max(o.Queue, 0)
}

// A Server serves functions. It is an http.Handler, and safe for concurrent use.
type Server struct {
	opts  Options
	gate  gate
	mu    sync.RWMutex
	funcs map[string]*served
	kept  map[string]*served // those that were unloaded
	wait  atomic.Bool        // it takes no calls yet
	drain atomic.Bool        // it is about to end: not ready, but takes calls
}

// New returns a server without functions, which is ready.
func New(o Options) *Server {
	o.defaults()
	s := &Server{opts: o, funcs: map[string]*served{}, kept: map[string]*served{}}
	s.gate.most = o.Queue
	if o.MaxConcurrent > 0 {
		s.gate.slots = make(chan struct{}, o.MaxConcurrent)
	}
	return s
}

// Add adds a function. One of the same name is replaced; calls of it that run are
// finished.
func (s *Server) Add(f Func) error {
	if err := f.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.funcs[f.Name] = &served{Func: f}
	delete(s.kept, f.Name)
	return nil
}

// SetReady says whether the server takes calls. While it does not, it is alive and
// answers them with 503.
func (s *Server) SetReady(ready bool) { s.wait.Store(!ready) }

// find returns the function of a name.
func (s *Server) find(name string) (*served, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, ok := s.funcs[name]
	return f, ok
}

// list returns all functions by name.
func (s *Server) list() []*served {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*served, 0, len(s.funcs))
	for _, f := range s.funcs {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *served) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// unload takes a function away; load brings it back, or makes it anew.
func (s *Server) unload(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.funcs[name]
	if ok {
		delete(s.funcs, name)
		s.kept[name] = f
	}
	return ok
}

func (s *Server) load(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.kept[name]; ok {
		s.funcs[name] = f
		delete(s.kept, name)
		return true
	}
	_, ok := s.funcs[name]
	return ok
}

// HTTPServer returns a server of package net/http for s, with its limits: HTTP/1.1, and
// HTTP/2 without TLS.
func (s *Server) HTTPServer() *http.Server {
	h := &http.Server{
		Handler:           s,
		ReadTimeout:       s.opts.ReadTimeout,
		ReadHeaderTimeout: s.opts.ReadTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
		Protocols:         new(http.Protocols),
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true)
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
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.drain.Store(true)
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
