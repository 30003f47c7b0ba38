package dataset

import (
	"context"
	"github.com/tenonml/tenon/internal/elements"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tenonml/tenon/internal/memory"
)

// Auto lets [Dataset.Prefetch] find out how many elements to compute ahead.
const Auto = 0

// PrefetchOptions say how elements are computed ahead. The zero value finds everything out.
type PrefetchOptions struct {
	// Ahead is the most elements that are computed, or being computed, ahead of the loop. 0: as
	// many as keep the workers busy.
	Ahead int

	// Workers is the number of goroutines that compute. 0: one for each element ahead where
	// Ahead is given; otherwise one at first, and one more as long as the loop waits and more of
	// them make it faster. There are never more than GOMAXPROCS.
	Workers int

	// Bytes bounds the memory of the elements that are ahead, which is estimated by those
	// before; one element is computed in any case. 0: a quarter of what the process may use.
	Bytes int64
}

// Prefetch returns the same elements, of which up to n are computed ahead of the loop that
// reads them, several at once. They come in their order. When the loop ends, it waits for
// those that are being computed. With [Auto] the number of workers is found.
func (d *Dataset[T]) Prefetch(n int) *Dataset[T] {
	if n < 0 {
		return derived(d.n, d.err, invalid("Prefetch", "%d elements cannot be computed ahead", n))
	}
	return d.PrefetchWith(PrefetchOptions{Ahead: n})
}

// PrefetchWith is [Dataset.Prefetch] with options.
func (d *Dataset[T]) PrefetchWith(o PrefetchOptions) *Dataset[T] {
	up := d.n
	if o.Ahead < 0 || o.Workers < 0 || o.Bytes < 0 {
		return derived(up, d.err, invalid("Prefetch", "the options %+v are negative", o))
	}
	n := &node[T]{name: "Prefetch", below: []stage{up}, size: up.size, get: up.get, place: up.place, from: up.from, specs: up.specs, many: up.many, skips: true}
	if up.get != nil {
		n.get = up.at
	}
	n.open = func(w opening[T]) walk[T] { return prefetched(up, o, w, &n.meter) }
	return derived(n, d.err)
}

// pending is an element that is being computed.
type pending[T any] struct {
	item[T]
	number int64
	ready  bool
	bytes  int64
	x      T
	err    error
}

// compute computes the element. A panic of a function that the caller has given would end
// the process, as nobody on this goroutine knows it: it becomes the element's error.
func (p *pending[T]) compute() {
	defer func() {
		if r := recover(); r != nil {
			p.err = panicked(p.number, r)
		}
	}()
	p.x, p.err = p.value()
	p.err = numberedError(p.number, p.err)
}

// ahead is what the goroutines of a prefetch share.
type ahead[T any] struct {
	o    PrefetchOptions
	most int // workers

	mu       sync.Mutex
	wake     sync.Cond
	queue    []*pending[T] // in their order
	begun    int           // how many of the queue are being computed, or are
	held     int64         // bytes of those that are ready
	bytes    int64         // of the elements that were ready, in all
	elements int64         // that were ready, in all
	over     bool          // the walk below has ended
	stopped  bool
	workers  int
	want     int // workers
	marks    []mark

	tuning tuning
}

// tuning finds the number of workers.
type tuning struct {
	start   time.Time
	seen    int           // elements since start
	waited  time.Duration // of the loop since start, while there was something to compute
	rate    float64       // elements a second before the last change
	trying  bool          // a worker is on trial
	settled int           // rounds for which nothing is tried
}

// roundSize is the number of elements after which the number of workers is thought over.
const roundSize = 16

func prefetched[T any](up *node[T], o PrefetchOptions, w opening[T], m *meter) walk[T] {
	a := &ahead[T]{o: o, most: runtime.GOMAXPROCS(0), want: 1}
	a.wake.L = &a.mu
	if o.Bytes == 0 {
		a.o.Bytes = memory.Budget() / 4
		if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
			a.o.Bytes = min(a.o.Bytes, limit/4)
		}
	}
	switch {
	case o.Workers > 0:
		a.want = min(o.Workers, a.most)
		a.tuning.settled = math.MaxInt
	case o.Ahead > 0:
		a.want = min(o.Ahead, a.most)
		a.tuning.settled = math.MaxInt
	}
	at := to[T](w)
	at.skip, at.guarded = w.skip, true
	first, delivered := int64(0), int64(0) // numbers of elements in this walk
	if w.from != nil {
		first, delivered = w.from.int(), w.from.int()
		at.from = &state{b: []byte(w.from.string())}
	}
	ctx, cancel := context.WithCancel(w.ctx)
	at.ctx = ctx
	below := up.walk(at)
	if at.from != nil && w.from.err == nil {
		if w.from.err = at.from.err; len(at.from.b) > 0 || delivered < first {
			w.from.fail("the state is damaged")
		}
	}
	var group sync.WaitGroup
	var unhook func() bool
	begin := sync.OnceFunc(func() {
		unhook = context.AfterFunc(ctx, func() {
			a.mu.Lock()
			a.stopped = true
			a.wake.Broadcast()
			a.mu.Unlock()
		})
		group.Go(func() { a.read(ctx, below, first, delivered, w.skip, w.saves) })
		a.mu.Lock()
		for range a.want {
			a.workers++
			group.Go(a.work)
		}
		most(&m.workers, int64(a.workers))
		a.mu.Unlock()
		a.tuning.start = time.Now()
	})
	return walk[T]{
		next: func() (item[T], bool) {
			begin()
			p := a.pop(m, delivered)
			if p == nil || w.ctx.Err() != nil {
				return item[T]{}, false
			}
			if a.tune() {
				group.Go(a.work)
			}
			most(&m.workers, int64(a.want))
			delivered++
			return item[T]{get: func() (T, error) { return p.x, p.err }, ref: p.ref, last: p.last}, true
		},
		save: func(s *state) {
			begin()
			at, ok := a.mark(delivered)
			if !ok && s.err == nil {
				if s.err = context.Cause(ctx); s.err == nil {
					s.fail("the elements ended before there was a state")
				}
			}
			s.put(at.n)
			s.put(delivered)
			s.text(string(at.state))
		},
		close: func() {
			cancel()
			if unhook != nil {
				a.mu.Lock()
				a.stopped = true
				a.wake.Broadcast()
				a.mu.Unlock()
				group.Wait()
			}
			below.end()
		},
	}
}

// read puts what is to be computed into the queue.
func (a *ahead[T]) read(ctx context.Context, below walk[T], n, delivered, skip int64, saves bool) {
	put := func(p *pending[T]) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		for !a.stopped && !a.room() {
			a.wake.Wait()
		}
		a.queue = append(a.queue, p)
		a.wake.Broadcast()
		return !a.stopped
	}
	end := func() {
		a.mu.Lock()
		a.over = true
		a.wake.Broadcast()
		a.mu.Unlock()
	}
	defer end()
	defer func() { // what the functions of a stream panic with ends the loop that reads it
		if r := recover(); r != nil {
			put(&pending[T]{item: item[T]{last: true}, number: n + skip, ready: true, err: panicked(n+skip, r)})
		}
	}()
	for first := n; ctx.Err() == nil; {
		if saves && (n == first || n%markEvery == 0) { // whatever a state begins at, there is a mark to save
			s := &state{}
			below.save(s)
			a.mu.Lock()
			a.marks = append(a.marks, mark{n, s.b})
			a.wake.Broadcast()
			a.mu.Unlock()
		}
		it, ok := below.next()
		if !ok {
			return
		}
		if n++; n <= delivered {
			continue
		}
		if !put(&pending[T]{item: it, number: n - 1 + skip}) {
			return
		}
	}
}

// room reports whether one more element may be ahead.
func (a *ahead[T]) room() bool {
	n := len(a.queue)
	if n == 0 {
		return true
	}
	most := a.o.Ahead
	if most == 0 {
		most = 2*a.want + 2
	}
	if n >= most {
		return false
	}
	if a.elements == 0 {
		return n < a.most
	}
	ready := int64(0)
	for _, p := range a.queue {
		if p.ready {
			ready++
		}
	}
	mean := a.bytes / a.elements
	return a.held+(int64(n)-ready+1)*mean <= a.o.Bytes
}

// work computes what is in the queue, in its order.
func (a *ahead[T]) work() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		for !a.stopped && a.begun == len(a.queue) && !a.over && a.workers <= a.want {
			a.wake.Wait()
		}
		if a.stopped || a.workers > a.want || a.begun == len(a.queue) {
			a.workers--
			return
		}
		p := a.queue[a.begun]
		a.begun++
		if p.ready {
			continue
		}
		a.mu.Unlock()
		p.compute()
		bytes := elements.SizeOf(p.x)
		a.mu.Lock()
		p.ready, p.bytes = true, bytes
		a.held += bytes
		a.bytes += bytes
		a.elements++
		a.wake.Broadcast()
	}
}

// pop takes the first element out of the queue, nil at the end.
func (a *ahead[T]) pop(m *meter, delivered int64) *pending[T] {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.stopped && (len(a.queue) == 0 && !a.over || len(a.queue) > 0 && !a.queue[0].ready) {
		busy := a.begun < len(a.queue) || len(a.queue) > 0
		start := time.Now()
		a.wake.Wait()
		since := time.Since(start)
		if m.waiting.Add(int64(since)); busy {
			a.tuning.waited += since
		}
	}
	most(&m.bytes, a.held)
	a.forget(delivered)
	if a.stopped || len(a.queue) == 0 {
		return nil
	}
	p := a.queue[0]
	a.queue = a.queue[1:]
	a.begun = max(0, a.begun-1) // one that came ready may not have begun
	a.held -= p.bytes
	a.wake.Broadcast()
	return p
}

// tune thinks over the number of workers, and reports whether there is one more to start.
func (a *ahead[T]) tune() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := &a.tuning
	if t.seen++; t.seen < roundSize || t.settled == math.MaxInt {
		return false
	}
	took := time.Since(t.start)
	rate := float64(t.seen) / max(took.Seconds(), 1e-9)
	waited := t.waited
	t.start, t.seen, t.waited = time.Now(), 0, 0
	if t.trying {
		t.trying = false
		if rate < 1.05*t.rate { // it was of no use
			a.want--
			t.settled = roundSize
			a.wake.Broadcast()
			return false
		}
	}
	if t.settled > 0 {
		t.settled--
		return false
	}
	if waited < took/10 || a.want >= a.most {
		return false
	}
	t.rate, t.trying = rate, true
	a.want++
	a.workers++
	return true
}

// mark returns the last mark before a number of elements, once it is there.
func (a *ahead[T]) mark(delivered int64) (mark, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.marks) == 0 {
		if a.stopped || a.over {
			return mark{}, false
		}
		a.wake.Wait()
	}
	a.forget(delivered)
	return a.marks[0], true
}

// forget lets go of marks before the last one that is needed: the one before the element that was
// delivered last, as that behind it may not be there yet.
func (a *ahead[T]) forget(delivered int64) {
	for len(a.marks) > 1 && a.marks[1].n < delivered {
		a.marks = a.marks[1:]
	}
}
