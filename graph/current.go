package graph

import (
	"sync"
	"sync/atomic"

	"github.com/tenonml/tenon/internal/goroutine"
)

// Operations whose operands are all variables have no value of a trace among them, and
// still belong to the trace that they are called in: their results change from call to
// call. So the traces at work are known by goroutine. Whoever asks while none is at work
// pays for one load.
var current struct {
	n      atomic.Int64
	mu     sync.Mutex
	traces map[uint64][]*Graph
}

// Current returns the graph that the calling goroutine traces into, the innermost one,
// and nil where it traces none.
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

// enter notes that the goroutine traces into g; what it returns ends that.
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
