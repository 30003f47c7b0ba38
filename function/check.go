package function

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
)

var checkAll atomic.Bool

// CheckTraces turns the check of [Options].Check on or off for all functions, along with
// op.CheckKernels, and returns the previous setting. It is meant for tests and for debugging.
func CheckTraces(on bool) (before bool) {
	op.CheckKernels(on)
	return checkAll.Swap(on)
}

func (c *core) checks() bool { return c.opts.Check || checkAll.Load() }

// verify traces the function again for the signature of a trace. It returns an error if the graph
// has changed, or if a value of the second trace is still referenced after that trace has been
// discarded. The caller holds c.mu.
func (c *core) verify(t *Concrete, args []any) error {
	var e *tenon.Error
	var leaks *graph.Leaks
	done := make(chan struct{})
	go func() { // a separate goroutine, so that its stack keeps nothing alive afterwards
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				e = &tenon.Error{Kind: tenon.ErrInvalid, Op: c.name, Msg: fmt.Sprintf("the function panics when it is traced a second time: %v", r)}
			}
		}()
		e, leaks = c.compare(t, args)
	}()
	<-done
	if e != nil {
		return e
	}
	if leaks == nil { // the goroutine has exited
		return nil
	}
	what, line, ok := leaks.First()
	if !ok {
		return nil
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: c.name, Line: line,
		Msg:  "a value of the trace is still referenced after the trace has ended: " + what,
		Hint: "return it from the function instead of storing it in a captured variable, a field or a map, or keep it in a state.Variable"}
}

// compare traces again, and returns an error if the result differs, and what the trace has left
// behind.
func (c *core) compare(t *Concrete, args []any) (*tenon.Error, *graph.Leaks) {
	if t.first == nil {
		first, err := c.record(t.sig, args)
		if err != nil {
			return tenon.AsError(err), nil
		}
		t.first = first
	}
	again, err := c.record(t.sig, args)
	if err != nil {
		return tenon.AsError(err), nil
	}
	what, line := graph.Difference(t.first.graph, again.graph)
	if what == "" {
		what = t.first.otherPlain(again)
	}
	if what == "" {
		return nil, again.graph.TakeApart()
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: c.name, Line: line,
		Msg:  "the function depends on Go data that changes: " + what,
		Hint: "a function runs only when it is traced, not in each call: pass changing data as an argument, or hold it in a state.Variable"}, nil
}

// otherPlain returns where two traces return different plain data.
func (t *Concrete) otherPlain(u *Concrete) string {
	if len(t.leaves) != len(u.leaves) {
		return fmt.Sprintf("the results had %d leaves, now they have %d", len(t.leaves), len(u.leaves))
	}
	paths, _, err := nest.FlattenWithPaths(u.like, nest.Options{Expand: true})
	if err != nil || len(paths) != len(u.leaves) {
		return ""
	}
	for i, l := range t.leaves {
		m := u.leaves[i]
		if reflect.TypeOf(l) == reflect.TypeOf(m) && (samePlain(l, m) || l != nil && reflect.TypeOf(l).Kind() == reflect.Func) {
			continue
		}
		return fmt.Sprintf("result %s was %v, now it is %v", paths[i], l, m)
	}
	return ""
}
