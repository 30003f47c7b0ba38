package serve

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// gate bounds how many calls run at once, and how many wait for it. Those that wait go on
// by their priority, and in their order.
type gate struct {
	bound int // calls that run at once; 0: any number
	most  int // calls that may wait

	mu      sync.Mutex
	running int
	waiting []*waiter
}

// A waiter is a call that waits.
type waiter struct {
	priority int
	need     time.Duration // that it runs at least
	ready    chan struct{} // closed when it may run
}

// enter waits for a place. The deadline of ctx holds: a call that runs for longer at least, after those
// that go in front of it, is refused at once. need tells how long it runs at least; nil: nobody knows.
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
		return nil, &fault{status: 503, text: fmt.Sprintf("%d calls run and %d wait, which is all that is allowed", g.bound, g.most), retry: true}
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

// wait returns how long a call waits for its place at least: as long as those in front of it run on all
// places, less what may still run on the other ones when it gets its own.
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

// A line is what runs before something that waits: how long all of it takes at least, and the longest.
type line struct{ all, most time.Duration }

func (l *line) add(d time.Duration) {
	l.all, l.most = l.all+max(d, 0), max(l.most, d)
}

// wait returns how long it takes at least until one of so many places is free: all of them are used until then, less what
// may still run on the other ones.
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

// inserted puts an entry behind those of its priority, and of those that go first.
func inserted[T any](list []T, x T, priority func(T) int) []T {
	i := len(list)
	for i > 0 && priority(list[i-1]) > priority(x) {
		i--
	}
	return slices.Insert(list, i, x)
}
