package arena

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// The garbage collector runs whenever the heap has doubled, starting at four megabytes. A
// program whose heap is small and that makes one large result after another therefore collects
// after every few of them, some hundred times a second and on all processors: this takes half
// of the time of a small matrix product, and a fifth of a softmax of 16 MiB. While such results
// are made and collections are frequent, the package holds memory that is never touched, so
// that the system does not have to provide it. It counts as part of the heap, and the next
// collection waits until there is more garbage. If results take long to compute, collections
// are comparatively cheap, and page faults for more garbage are not.

const (
	// ballastBytes is the size of the ballast.
	ballastBytes = 32 << 20
	// ballastAfter is the number of bytes allocated before collections are watched.
	ballastAfter = 4 << 20
	// ballastBelow is the size from which a heap is collected rarely enough anyway.
	ballastBelow = 2 * ballastBytes
	// ballastFrom is the size of the smallest buffer that counts.
	ballastFrom = 64 << 10

	// Collections are frequent if they are less than often apart. With the ballast, they are
	// considered rare once they are more than seldom apart. A collection takes some 0.5 ms.
	often  = 100 * time.Millisecond
	seldom = 500 * time.Millisecond
)

var weight = ballast{inUse: heapInUse, now: time.Now}

// A ballast is memory that is held only for its size, while large buffers are allocated between
// frequent collections.
type ballast struct {
	inUse func() (live, limit uint64)
	now   func() time.Time
	after func(*collection) // replaces the collector in tests

	fresh   atomic.Int64 // bytes of large buffers allocated while not watching
	used    atomic.Bool  // large buffers were allocated since the last collection
	watched atomic.Bool  // collections are being watched

	last time.Time // time of the last collection seen
	held []byte    // the ballast, never accessed
}

// A collection is an object whose finalizer signals the next collection.
type collection struct{ _ [64]byte }

// allocated records a new buffer of n bytes.
func (b *ballast) allocated(n int) {
	if n < ballastFrom {
		return
	}
	if !b.used.Load() {
		b.used.Store(true)
	}
	if b.watched.Load() || b.fresh.Add(int64(n)) < ballastAfter || !b.watched.CompareAndSwap(false, true) {
		return
	}
	b.watch(new(collection))
}

// watch arranges for collected to be called after the next collection.
func (b *ballast) watch(c *collection) {
	if b.after != nil {
		b.after(c)
		return
	}
	runtime.SetFinalizer(c, b.collected)
}

// collected examines the heap after a collection, and drops the ballast if no large buffers
// were allocated since the one before. It has exclusive access to the fields: it waits for
// the next collection only when it is done.
func (b *ballast) collected(c *collection) {
	if b.used.Swap(false) {
		b.weigh()
		b.watch(c)
		return
	}
	b.held, b.last = nil, time.Time{}
	b.fresh.Store(0)
	b.watched.Store(false)
}

// weigh takes a ballast, or drops it if it is of no use: between collections that are far
// apart, in a large heap, and in a process with a memory limit, which should collect as often
// as the limit requires.
func (b *ballast) weigh() {
	apart := often
	if b.held != nil {
		apart = seldom
	}
	now := b.now()
	comesOften := !b.last.IsZero() && now.Sub(b.last) < apart
	b.last = now
	live, limit := b.inUse()
	switch live -= min(live, uint64(len(b.held))); {
	case !comesOften || live >= ballastBelow || limit != math.MaxInt64:
		b.held = nil
	case b.held == nil:
		b.held = untouched(ballastBytes)
	}
}

// heapInUse returns the number of bytes that the last collection found live, and the memory limit
// of the process, math.MaxInt64 if there is none.
func heapInUse() (live, limit uint64) {
	v, _ := readMetrics("/gc/heap/live:bytes", "/gc/gomemlimit:bytes")
	return v[0], v[1]
}

// readMetrics returns numeric metrics of the runtime, 0 for a metric that does not exist, and
// whether all of them exist.
func readMetrics(names ...string) (values []uint64, all bool) {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	values, all = make([]uint64, len(names)), true
	for i, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			all = false
			continue
		}
		values[i] = s.Value.Uint64()
	}
	return values, all
}
