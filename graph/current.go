package graph

import (
	"sync"
	"sync/atomic"

	"github.com/tenonml/tenon/internal/goroutine"
)

// An operation whose operands are all variables has no value of the trace among them, and yet
// belongs to the trace in which it is called, since its results change from call to call. Therefore
// active traces are registered by goroutine. If there are none, looking one up costs a single load.
var current struct {
	n      atomic.Int64
	mu     sync.Mutex
	traces map[uint64][]*Graph
}

// Current returns the innermost graph that the calling goroutine is tracing into, or nil if there
// is none.
func Current() *Graph {
	if current.n.Load() == 0 {
		return nil
	}
	id := goroutine.ID()
	current.mu.Lock()
	defer current.mu.Unlock()
	if gs := current.traces[id]; len(gs) > 0 {
		return gs[len(gs)-1]
	}
	return nil
}

// enter records that the goroutine traces into g. The function it returns ends
// that.
func enter(g *Graph) (leave func()) {
	id := goroutine.ID()
	current.mu.Lock()
	defer current.mu.Unlock()
	if current.traces == nil {
		current.traces = map[uint64][]*Graph{}
	}
	current.traces[id] = append(current.traces[id], g)
	current.n.Add(1)
	return func() {
		current.mu.Lock()
		defer current.mu.Unlock()
		gs := current.traces[id]
		if gs = gs[:len(gs)-1]; len(gs) == 0 {
			delete(current.traces, id)
		} else {
			current.traces[id] = gs
		}
		current.n.Add(-1)
	}
}
