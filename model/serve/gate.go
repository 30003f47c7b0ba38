package serve

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A gate bounds how many calls run at once, and how many wait. Waiting calls enter by priority,
// and otherwise in order.
type gate struct {
	bound int // calls that run at once; 0: any number
	most  int // calls that may wait

	mu      sync.Mutex
	running int
	waiting []*waiter
}

// A waiter is a waiting call.
type waiter struct {
	priority int
	need     time.Duration // its minimum running time
	ready    chan struct{} // closed when it may run
}

// enter waits for a place. A call that cannot finish before the deadline of ctx, because of its minimum
// running time and that of the calls ahead of it, is rejected at once. need returns the minimum running
// time; nil: unknown.
func (g *gate) enter(ctx context.Context, priority int, need func() time.Duration) (leave func(), err error) {
	if _, ends := ctx.Deadline(); !ends && g.bound == 0 {
		return func() {}, ctx.Err()
	}
	least := time.Duration(0)
	if need != nil {
		least = need()
	}
	if err := late(ctx, least+g.wait(priority)); err != nil {
		return nil, err
	}
	if g.bound == 0 {
		return func() {}, ctx.Err()
	}
	g.mu.Lock()
	if g.running < g.bound {
		g.running++
		g.mu.Unlock()
		return g.leave, nil
	}
	if len(g.waiting) >= g.most {
		g.mu.Unlock()
		return nil, &fault{status: 503, text: fmt.Sprintf("%d calls are running and %d are waiting, which is the limit", g.bound, g.most), retry: true}
	}
	w := &waiter{priority, least, make(chan struct{})}
	g.waiting = inserted(g.waiting, w, func(x *waiter) int { return x.priority })
	g.mu.Unlock()
	select {
	case <-w.ready:
		return g.leave, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.waiting, w)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	g.mu.Unlock()
	if i < 0 { // its turn came at the same moment
		g.leave()
	}
	return nil, ctx.Err()
}

// wait returns the minimum time that a call waits for its place: the calls ahead of it run on all
// places, and some may still run on other places when it gets its own.
func (g *gate) wait(priority int) time.Duration {
	if g.bound == 0 {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var front line
	for _, w := range g.waiting {
		if w.priority > priority {
			break
		}
		front.add(w.need)
	}
	return front.wait(g.bound)
}

// A line sums up the calls ahead of another: their minimum running time in all, and that of the
// longest one.
type line struct{ all, most time.Duration }

func (l *line) add(d time.Duration) {
	l.all, l.most = l.all+max(d, 0), max(l.most, d)
}

// wait returns the minimum time until one of a number of places is free: all of them are used until then, except for
// calls that may still be running on the others.
func (l *line) wait(places int) time.Duration {
	return max(0, l.all-time.Duration(places-1)*l.most) / time.Duration(places)
}

// leave gives a place to the next call.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.running--
		return
	}
	close(g.waiting[0].ready)
	g.waiting = slices.Delete(g.waiting, 0, 1)
}

// inserted inserts an entry after those of the same or a better priority.
func inserted[T any](list []T, x T, priority func(T) int) []T {
	i := len(list)
	for i > 0 && priority(list[i-1]) > priority(x) {
		i--
	}
	return slices.Insert(list, i, x)
}
