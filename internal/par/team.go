package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the time for which an idle worker, or a caller waiting for the last chunks, spins
// before it parks: see patience.
const (
	leastSpin = 50 * time.Microsecond
	mostSpin  = 400 * time.Microsecond
)

// yieldEvery is how many pauses (about 40 ns each) a spinning worker makes before
// it offers its processor to other goroutines.
const yieldEvery = 64

// maxLive is the number of loops that can have help at the same time. Further loops run on their
// callers alone, which loses nothing with so many callers.
const maxLive = 32

// team is the set of workers. They take jobs from a few slots; a job leaves its
// slot as soon as its last chunk is claimed.
type team struct {
	live   atomic.Int64 // jobs in slots
	_      [56]byte
	slots  [maxLive]atomic.Pointer[job]
	_      [64]byte
	parked atomic.Int64   // sleeping workers that have not been promised a token
	wake   chan time.Time // one token for each promise, with the time at which it was made
	waking atomic.Int64   // recent time to wake a worker, in nanoseconds

	pushed  atomic.Uint32
	pushers [2]chan struct{}

	mu    sync.Mutex
	grown bool         // the goroutines for push have been started
	count atomic.Int64 // number of workers
}

// maxWorkers bounds the team, and so the number of tokens that wake must hold.
const maxWorkers = 1024

var workers = newTeam()

func newTeam() *team {
	t := &team{wake: make(chan time.Time, maxWorkers)}
	for i := range t.pushers {
		t.pushers[i] = make(chan struct{})
	}
	t.waking.Store(int64(100 * time.Microsecond)) // typical of virtual machines, until it has been measured
	return t
}

// post offers j to the workers and wakes as many as can help. It reports whether
// a slot was free.
func (t *team) post(j *job) bool {
	want := j.helpers.Load()
	if t.count.Load() < want {
		t.grow(want)
	}
	for i := range t.slots {
		if t.slots[i].Load() == nil && t.slots[i].CompareAndSwap(nil, j) {
			j.slot = i
			t.live.Add(1)
			woken := false
			for ; want > 0 && t.promise(); want-- {
				t.wake <- time.Now()
				woken = true
			}
			if woken {
				t.push()
			}
			return true
		}
	}
	return false
}

// push makes the worker that was woken last start sooner. The scheduler reserves a
// goroutine that has been readied for the processor that readied it, which is busy here,
// and lets another processor take it only after a sleep of 50 to 100 µs. Readying one more
// goroutine moves the first one to the run queue, from which it is taken at once. The
// additional goroutine has nothing to do. There are two of them, because one may still be
// waiting for a processor.
func (t *team) push() {
	select {
	case t.pushers[t.pushed.Add(1)%2] <- struct{}{}:
	default:
	}
}

// pushOthers is the goroutine that push readies.
func pushOthers(c <-chan struct{}) {
	for range c {
	}
}

// withdraw removes j from its slot.
func (t *team) withdraw(j *job) {
	t.slots[j.slot].Store(nil)
	t.live.Add(-1)
}

// promise reserves one of the parked workers. If it returns true, the caller must send a token or,
// if it is the parking worker itself, not sleep.
func (t *team) promise() bool {
	for {
		p := t.parked.Load()
		if p == 0 {
			return false
		}
		if t.parked.CompareAndSwap(p, p-1) {
			return true
		}
	}
}

// grow starts workers until there are want of them.
func (t *team) grow(want int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.grown {
		t.grown = true
		for _, c := range t.pushers {
			go pushOthers(c)
		}
	}
	for t.count.Load() < min(want, maxWorkers) {
		t.count.Add(1)
		go t.worker()
	}
}

// join returns a job that has unclaimed chunks and room for a helper, or nil.
func (t *team) join() *job {
	if t.live.Load() == 0 {
		return nil
	}
	for i := range t.slots {
		j := t.slots[i].Load()
		if j == nil || j.helpers.Load() <= 0 || j.next.Load() >= j.chunks {
			continue
		}
		if j.helpers.Add(-1) >= 0 {
			return j
		}
	}
	return nil
}

// worker helps with jobs forever. A function that ends its goroutine (runtime.Goexit) ends the
// worker as well; the next loop starts another one.
func (t *team) worker() {
	defer t.count.Add(-1)
	for {
		if j := t.next(); j != nil {
			j.work()
		}
	}
}

// patience returns how long to spin for work before parking: twice the time that waking a
// worker takes. If loops follow each other with short gaps (an allocation, a collection), a
// worker that parks earlier loses more by waking up than it would have spent spinning. The
// time to wake depends on the machine, so it is measured: a virtual machine may have to
// wait until its host starts a sleeping processor again.
func (t *team) patience() time.Duration {
	return min(max(2*time.Duration(t.waking.Load()), leastSpin), mostSpin)
}

// woke records how long a wake-up took. If several workers record it at the same time, one
// measurement may be lost.
func (t *team) woke(took time.Duration) {
	was := t.waking.Load()
	t.waking.Store(was + (int64(min(took, mostSpin))-was)/4)
}

// next waits for a job: it spins, then parks. It may return nil after a wake-up.
func (t *team) next() *job {
	start, patience := time.Now(), t.patience()
	for n := 1; ; n++ {
		if j := t.join(); j != nil {
			return j
		}
		pause()
		if n%yieldEvery == 0 {
			if time.Since(start) > patience {
				break
			}
			runtime.Gosched()
		}
	}
	t.parked.Add(1)
	// A job posted before the addition did not see this worker, so look again.
	if j := t.join(); j != nil {
		if !t.promise() {
			<-t.wake
		}
		return j
	}
	t.woke(time.Since(<-t.wake))
	return nil
}
