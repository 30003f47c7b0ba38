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

// Auto lets [Dataset.Prefetch] choose how many elements to compute ahead.
const Auto = 0

// PrefetchOptions control how elements are computed ahead. The zero value chooses everything
// automatically.
type PrefetchOptions struct {
	// Ahead is the largest number of elements that are computed, or being computed, ahead of the
	// loop. 0 means as many as it takes to keep the workers busy.
	Ahead int

	// Workers is the number of goroutines that compute. 0 means one for each element ahead if
	// Ahead is given; otherwise it starts with one, and adds another as long as the loop waits
	// and another worker makes it faster. There are never more than GOMAXPROCS.
	Workers int

	// Bytes limits the memory of the elements that are ahead, estimated from earlier elements; one
	// element is always computed. 0 means a quarter of what the process may use.
	Bytes int64
}

// Prefetch returns the same elements, up to n of which are computed concurrently, ahead of the loop
// that reads them. They are delivered in order. When the loop ends, it waits for those that are
// being computed. With [Auto] the number of workers is chosen automatically.
func (d *Dataset[T]) Prefetch(n int) *Dataset[T] {
	if n < 0 {
		return derived(d.n, d.err, invalid("Prefetch", "cannot compute %d elements ahead", n))
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

// compute computes the element. A panic in a function of the caller becomes the error of the
// element, because on this goroutine nobody could recover it and it would end the process.
func (p *pending[T]) compute() {
	defer func() {
		if r := recover(); r != nil {
			p.err = panicked(p.number, r)
		}
	}()
	p.x, p.err = p.value()
	p.err = numberedError(p.number, p.err)
}

// ahead is the state that the goroutines of a prefetch share.
type ahead[T any] struct {
	o    PrefetchOptions
	most int // largest number of workers

	mu       sync.Mutex
	wake     sync.Cond
	queue    []*pending[T] // in order
	begun    int           // number of elements of the queue whose computation has begun
	held     int64         // size of the elements that are ready
	bytes    int64         // total size of all elements computed
	elements int64         // total number of elements computed
	over     bool          // the upstream walk has ended
	stopped  bool
	workers  int
	want     int // wanted number of workers
	marks    []mark

	tuning tuning
}

// tuning determines the number of workers.
type tuning struct {
	start   time.Time
	seen    int           // number of elements since start
	waited  time.Duration // time that the loop has waited since start while there was something to compute
	rate    float64       // elements per second before the last change
	trying  bool          // a worker is on trial
	settled int           // rounds until another trial
}

// roundSize is the number of elements after which the number of workers is reconsidered.
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
	first, delivered := int64(0), int64(0) // numbers within this walk
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

// read adds the elements to compute to the queue.
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
	defer func() { // a panic in the function of a stream ends the loop that reads it
		if r := recover(); r != nil {
			put(&pending[T]{item: item[T]{last: true}, number: n + skip, ready: true, err: panicked(n+skip, r)})
		}
	}()
	for first := n; ctx.Err() == nil; {
		if saves && (n == first || n%markEvery == 0) { // there is always a mark to save a state from
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

// room reports whether one more element may be computed ahead.
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

// work computes the elements of the queue in order.
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

// pop removes the first element from the queue, or returns nil at the end.
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
	a.begun = max(0, a.begun-1) // an element that was ready already may never have begun
	a.held -= p.bytes
	a.wake.Broadcast()
	return p
}

// tune reconsiders the number of workers, and reports whether to start one more.
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
		if rate < 1.05*t.rate { // the additional worker did not help
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

// mark returns the last mark before the given number of elements, once it exists.
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

// forget drops marks that are no longer needed. It keeps the one before the element delivered last,
// because the next one may not exist yet.
func (a *ahead[T]) forget(delivered int64) {
	for len(a.marks) > 1 && a.marks[1].n < delivered {
		a.marks = a.marks[1:]
	}
}
