package function

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/calls"
	"github.com/tenonml/tenon/internal/goroutine"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// Options change how a function is traced. The zero value is the default.
type Options struct {
	// Name is the name of the graph; the default is the name of the Go function.
	Name string

	// Signature has an entry for each argument: nests in which Specs, or Values, describe what is
	// accepted. With it there is only one trace. Arguments of other types are cast to it if a cast
	// is declared; arguments that do not belong to it are an error.
	Signature []any

	// Exact turns relaxation off: each combination of sizes gets its own trace.
	Exact bool

	// Rematerialise recomputes elementwise results when gradients need them instead of keeping
	// them, which takes less memory and more time. See grad.Checkpoint for whole functions.
	Rematerialise bool

	// Backend runs the function's graph; nil means [backend.Default]. A function called inside
	// another one becomes part of the other's graph.
	Backend backend.Backend

	// Check traces the function again in each call and compares the traces, which is slow. A call
	// returns an error if the function would now be traced to other operations than those that run,
	// because Go data that it captures have changed, or if it stores a traced value outside. See
	// [CheckTraces].
	Check bool

	// RelaxAfter is the number of traces that may differ only in sizes before one
	// with unknown sizes replaces them; 0 means 3.
	RelaxAfter int

	// MaxTraces is the number of traces that are kept; 0 means 128. Beyond it, the least recently
	// used trace is dropped, and made again when it is needed. Explain reports how many were
	// dropped.
	MaxTraces int
}

// A Function is a Go function that runs as a graph. It is safe for concurrent use.
type Function[F any] struct {
	// Call calls the function. It has the type of the Go function. If the last
	// result is an error, Call returns errors there; otherwise it throws them.
	Call F

	core *core
}

// core is a Function without its type.
type core struct {
	f      reflect.Value
	typ    reflect.Type
	name   string
	opts   Options
	hasErr bool // the last result is an error
	line   string
	mu     sync.Mutex
	traces atomic.Pointer[[]*Concrete]
	clock  atomic.Uint64 // counts traces
	logMu  sync.Mutex
	log    []string // why the recent traces were made
	made   int
	lost   int      // number of traces dropped because there were too many
	depth  sync.Map // of calls inside the function's own trace or tape, by goroutine
}

// New returns f as a Function. F must be a function type; variadic functions are
// not supported.
func New[F any](f F, opts ...Options) *Function[F] {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() || v.Type().IsVariadic() {
		tenon.Throw(tenon.NewError(tenon.ErrDType, "function.New", fmt.Sprintf("a %T is not a function with a fixed number of arguments", f)))
	}
	c := &core{f: v, typ: v.Type(), line: source.Line()}
	if len(opts) > 0 {
		c.opts = opts[0]
	}
	if c.opts.Backend == nil {
		c.opts.Backend = backend.Default
	}
	tenon.Throw(backend.Check(c.opts.Backend))
	if c.name = c.opts.Name; c.name == "" {
		c.name = funcName(v)
	}
	if n := c.typ.NumOut(); n > 0 && c.typ.Out(n-1) == reflect.TypeFor[error]() {
		c.hasErr = true
	}
	c.traces.Store(new([]*Concrete))
	if c.opts.Signature != nil && len(c.opts.Signature) != c.typ.NumIn() {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "function.New", fmt.Sprintf("the signature has %d entries, the function %d parameters", len(c.opts.Signature), c.typ.NumIn())))
	}
	return &Function[F]{Call: typed[F](c), core: c}
}

func funcName(v reflect.Value) string {
	name := runtime.FuncForPC(v.Pointer()).Name()
	name = name[strings.LastIndexByte(name, '/')+1:]
	return strings.TrimSuffix(name, "-fm")
}

// typed returns a func of type F that calls c. The most common types do not use
// reflection.
func typed[F any](c *core) F {
	type T = tensor.Tensor
	var f any
	switch reflect.TypeFor[F]() {
	case reflect.TypeFor[func(T) T]():
		f = func(x T) T { return c.one([]any{x}) }
	case reflect.TypeFor[func(T, T) T]():
		f = func(x, y T) T { return c.one([]any{x, y}) }
	case reflect.TypeFor[func(T, T, T) T]():
		f = func(x, y, z T) T { return c.one([]any{x, y, z}) }
	default:
		if f = calls.New(c.typ, c.only); f == nil {
			f = reflect.MakeFunc(c.typ, c.reflected).Interface()
		}
	}
	return reflect.ValueOf(f).Interface().(F)
}

func (c *core) one(args []any) tensor.Tensor {
	t, _ := c.only(args).(tensor.Tensor)
	return t
}

// only returns the result of a function that has one.
func (c *core) only(args []any) any {
	out, err := c.call(context.Background(), args)
	tenon.Throw(err)
	return out[0]
}

var tensorType = reflect.TypeFor[tensor.Tensor]()

// reflected is the body of Call for any type.
func (c *core) reflected(in []reflect.Value) []reflect.Value {
	args := make([]any, len(in))
	ctx := context.Background()
	for i, v := range in {
		args[i] = v.Interface()
		if x, ok := args[i].(context.Context); ok {
			ctx = x
		}
	}
	res, err := c.call(ctx, args)
	out := make([]reflect.Value, c.typ.NumOut())
	for i := range out {
		out[i] = reflect.Zero(c.typ.Out(i))
	}
	if err != nil {
		if !c.hasErr {
			tenon.Throw(err)
		}
		failed := err // a copy, so that a successful call allocates nothing for it
		out[len(out)-1] = reflect.ValueOf(&failed).Elem()
		return out
	}
	for i, r := range res {
		if t, ok := r.(tensor.Tensor); ok && c.typ.Out(i) == tensorType {
			out[i] = reflect.ValueOf(&t).Elem() // avoids a conversion
		} else if r != nil {
			out[i] = reflect.ValueOf(r)
		}
	}
	return out
}

// direct calls the Go function itself.
func (c *core) direct(args []any) (out []any, err error) {
	defer tenon.Catch(&err)
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		if in[i] = reflect.ValueOf(a); a == nil {
			in[i] = reflect.Zero(c.typ.In(i))
		}
	}
	res := c.f.Call(in)
	if c.hasErr {
		if e := res[len(res)-1]; !e.IsNil() {
			return nil, e.Interface().(error)
		}
		res = res[:len(res)-1]
	}
	out = make([]any, len(res))
	for i, r := range res {
		out[i] = r.Interface()
	}
	return out, nil
}

const maxTraceDepth = 64

// call runs the function on arguments.
func (c *core) call(ctx context.Context, args []any) ([]any, error) {
	if graph.Current() != nil {
		return c.inline(args)
	}
	if !c.checks() {
		traces := *c.traces.Load()
		for _, t := range traces {
			if leaves := t.fast(args); leaves != nil {
				c.touch(t)
				return t.run(ctx, leaves)
			}
		}
		for _, t := range traces {
			if t.structure == 0 {
				continue
			}
			if in := t.nested(args); in != nil {
				c.touch(t)
				out, err := t.run(ctx, in.tensors)
				t.forget(in)
				return out, err
			}
		}
	}
	s, err := signatureOf(args)
	if err != nil {
		return nil, c.fail(err)
	}
	if c.opts.Signature != nil && c.lookup(s) == nil {
		if cast, ok := c.cast(s, args); ok {
			args = cast
			if s, err = signatureOf(args); err != nil {
				return nil, c.fail(err)
			}
		}
	}
	if s.recorded {
		return c.inline(args)
	}
	t, err := c.find(s, args)
	if err != nil {
		return nil, err
	}
	if t.volatile() {
		return c.direct(args)
	}
	return t.run(ctx, s.tensors)
}

// inline runs the Go function as part of the caller's trace or tape.
func (c *core) inline(args []any) ([]any, error) {
	leave, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return c.direct(args)
}

// enter counts nested calls of the function. The function it returns ends this one.
func (c *core) enter() (leave func(), err error) {
	id := goroutine.ID()
	depth := 0
	if d, ok := c.depth.Load(id); ok {
		depth = d.(int)
	}
	if depth == maxTraceDepth {
		e := tenon.NewError(tenon.ErrUnsupported, c.name, fmt.Sprintf("the function calls itself more than %d deep while it is traced", maxTraceDepth))
		e.Hint = "recursion on data does not terminate while tracing: use control.While"
		return nil, e
	}
	c.depth.Store(id, depth+1)
	return func() {
		if depth == 0 {
			c.depth.Delete(id)
		} else {
			c.depth.Store(id, depth)
		}
	}, nil
}

func (c *core) fail(err error) error {
	e := *tenon.AsError(err)
	if e.Op == "" {
		e.Op = c.name
	}
	return &e
}

// find returns a trace for a signature, making it if there is none.
func (c *core) find(s *signature, args []any) (*Concrete, error) {
	if t := c.lookup(s); t != nil && !c.checks() {
		return t, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.lookup(s); t != nil {
		if c.checks() {
			return t, c.verify(t, args)
		}
		return t, nil
	}
	want, why, err := c.generalise(s)
	if err != nil {
		return nil, err
	}
	t, err := c.trace(want, args)
	if err != nil {
		return nil, err
	}
	c.logMu.Lock()
	c.made++
	if c.log = append(c.log, why); len(c.log) > c.most() {
		c.log = slices.Clone(c.log[1:])
	}
	c.logMu.Unlock()
	if c.checks() {
		if err := c.verify(t, args); err != nil {
			return nil, err
		}
	}
	if t.volatile() {
		return t, nil // belongs to an enclosing trace or tape and must not be reused
	}
	t.used.Store(c.clock.Add(1))
	traces := append([]*Concrete{t}, *c.traces.Load()...)
	if len(traces) > c.most() {
		traces = c.without(traces)
	}
	c.traces.Store(&traces)
	return t, nil
}

// most returns the number of traces that are kept.
func (c *core) most() int {
	if c.opts.MaxTraces > 0 {
		return c.opts.MaxTraces
	}
	return 128
}

// touch records that a trace is used.
func (c *core) touch(t *Concrete) {
	if now := c.clock.Load(); t.used.Load() != now {
		t.used.Store(now)
	}
}

// without drops the least recently used trace.
func (c *core) without(traces []*Concrete) []*Concrete {
	oldest := len(traces) - 1
	for i := len(traces) - 1; i > 0; i-- {
		if traces[i].used.Load() < traces[oldest].used.Load() {
			oldest = i
		}
	}
	c.logMu.Lock()
	c.lost++
	c.logMu.Unlock()
	return slices.Delete(traces, oldest, oldest+1)
}

func (c *core) lookup(s *signature) *Concrete {
	for _, t := range *c.traces.Load() {
		if t.sig.accepts(s) {
			c.touch(t)
			return t
		}
	}
	return nil
}

// generalise decides what to trace for a call that no trace accepts, and why.
func (c *core) generalise(s *signature) (*signature, string, error) {
	if c.opts.Signature != nil {
		return c.declared(s)
	}
	traces := *c.traces.Load()
	if len(traces) == 0 {
		return s, "first call: " + s.String(), nil
	}
	after := c.opts.RelaxAfter
	if after == 0 {
		after = 3
	}
	var alike []*signature
	for _, t := range traces {
		if t.sig.sameStructure(s) {
			alike = append(alike, t.sig)
		}
	}
	if len(alike) == 0 {
		return s, "the structure or plain data of the arguments is new: " + s.String(), nil
	}
	why := alike[0].difference(s)
	if c.opts.Exact || len(alike)+1 < after {
		return s, why, nil
	}
	merged := s
	for _, a := range alike {
		if m := merged.merge(a); m != nil {
			merged = m
		}
	}
	return merged, why + "; traced with sizes unknown that have varied: " + merged.String(), nil
}

func (c *core) declared(s *signature) (*signature, string, error) {
	d, err := signatureOf(c.opts.Signature)
	if err != nil {
		return nil, "", c.fail(err)
	}
	d.declared = true
	if !d.accepts(s) {
		return nil, "", &tenon.Error{Kind: tenon.ErrDType, Op: c.name, Msg: "the arguments do not belong to the function's signature: " + d.difference(s), Line: source.Line()}
	}
	return d, "the declared signature: " + d.String(), nil
}

// Concrete returns the trace that a call with args runs, tracing now if
// necessary. Specs may stand for Values.
func (f *Function[F]) Concrete(args ...any) (*Concrete, error) {
	args, err := f.core.taken(args)
	if err != nil {
		return nil, err
	}
	s, err := signatureOf(args)
	if err != nil {
		return nil, f.core.fail(err)
	}
	if _, inside := f.core.depth.Load(goroutine.ID()); inside {
		return nil, tenon.NewError(tenon.ErrUnsupported, f.core.name, "the function asks for its own trace while it is traced")
	}
	return f.core.find(s, args)
}

// Trace returns the graph that a call with args runs.
func (f *Function[F]) Trace(args ...any) (*graph.Graph, error) {
	t, err := f.Concrete(args...)
	if err != nil {
		return nil, err
	}
	return t.graph, nil
}

// CallContext is Call with a context that can cancel the run.
func (f *Function[F]) CallContext(ctx context.Context, args ...any) ([]any, error) {
	args, err := f.core.taken(args)
	if err != nil {
		return nil, err
	}
	return f.core.call(ctx, args)
}

// Explain says why each trace was made, in order. If there are many, it covers the latest ones. It
// also says how many were dropped.
func (f *Function[F]) Explain() string {
	c := f.core
	c.logMu.Lock()
	defer c.logMu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %d traces", c.name, c.line, c.made)
	if c.lost > 0 {
		fmt.Fprintf(&b, ", of which %d were dropped, as more than %d are not kept", c.lost, c.most())
	}
	b.WriteByte('\n')
	for i, why := range c.log {
		fmt.Fprintf(&b, "  %d. %s\n", c.made-len(c.log)+i+1, why)
	}
	return b.String()
}
