package par

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/tenonml/tenon/internal/throw"
)

// For calls f(lo, hi) for consecutive intervals that cover [0, n), each of length grain except the
// last, on the caller and on idle workers. A grain below one counts as one; with n <= 0, f is not
// called.
func For(n, grain int, f func(lo, hi int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	if n <= grain {
		f(0, n)
		return
	}
	helpers := runtime.GOMAXPROCS(0) - 1
	if helpers == 0 {
		serial(n, grain, f)
		return
	}
	j := &job{f: f, n: n, grain: grain, chunks: int64((n-1)/grain + 1)}
	j.left.Store(j.chunks)
	j.helpers.Store(int64(min(helpers, int(j.chunks)-1)))
	if !workers.post(j) {
		serial(n, grain, f)
		return
	}
	j.lead()
	if p := j.failure.Load(); p != nil {
		throw.Again(p.value)
	}
}

// serial runs the same chunks in order on the caller.
func serial(n, grain int, f func(lo, hi int)) {
	for lo := 0; lo < n; {
		hi := n
		if n-lo > grain {
			hi = lo + grain
		}
		f(lo, hi)
		lo = hi
	}
}

// A job is one loop in progress. It is never reused, so a worker that still holds one after the
// caller has moved on merely finds that nothing is left to claim.
type job struct {
	f        func(lo, hi int)
	n, grain int
	chunks   int64
	slot     int

	helpers atomic.Int64 // workers that may still join
	failure atomic.Pointer[failure]
	asleep  atomic.Int32 // awake, sleeping or finished: decides who wakes the caller
	wake    chan struct{}

	_    [64]byte // keeps the two counters that all workers write on a separate cache line
	next atomic.Int64
	_    [56]byte
	left atomic.Int64
	_    [56]byte
}

// failure is the panic of the chunk with the lowest index among those that panicked.
type failure struct {
	chunk int64
	value any
}

const (
	awake int32 = iota
	sleeping
	finished
)

// lead takes part in the loop and returns when it has ended. If f ends the caller's goroutine
// (runtime.Goexit), lead still completes the loop: it claims and drops the remaining chunks while
// unwinding.
func (j *job) lead() {
	defer func() {
		j.work()
		workers.withdraw(j)
		j.wait()
	}()
	j.work()
}

// work claims and runs chunks until none is left.
func (j *job) work() {
	for {
		i := j.next.Add(1) - 1
		if i >= j.chunks {
			return
		}
		j.run(i)
	}
}

// run executes chunk i, or drops it if another chunk has panicked.
func (j *job) run(i int64) {
	returned := false
	defer func() {
		if !returned {
			v := recover()
			if v == nil { // not panic(nil), which does not recover as nil
				v = "par: the function of a loop called runtime.Goexit"
			}
			j.fail(i, v)
		}
		j.finish()
	}()
	if j.failure.Load() == nil {
		lo := int(i) * j.grain
		hi := j.n
		if j.n-lo > j.grain {
			hi = lo + j.grain
		}
		j.f(lo, hi)
	}
	returned = true
}

// fail records the panic value v of chunk i.
func (j *job) fail(i int64, v any) {
	for {
		old := j.failure.Load()
		if old != nil && old.chunk < i || j.failure.CompareAndSwap(old, &failure{i, v}) {
			return
		}
	}
}

// finish counts one chunk as done and wakes the caller after the last one.
func (j *job) finish() {
	if j.left.Add(-1) == 0 && j.asleep.Swap(finished) == sleeping {
		close(j.wake)
	}
}

// wait returns when all chunks are done. It spins at first, because the chunks of a loop end within
// microseconds of each other, and then sleeps.
func (j *job) wait() {
	if j.left.Load() == 0 {
		return
	}
	patience := workers.patience()
	for start, n := time.Now(), 0; n&15 != 15 || time.Since(start) < patience; n++ {
		pause()
		if j.left.Load() == 0 {
			return
		}
	}
	j.wake = make(chan struct{})
	if j.asleep.CompareAndSwap(awake, sleeping) {
		<-j.wake
	}
}
