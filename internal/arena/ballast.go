package arena

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// The collector runs whenever the heap has doubled, and from four megabytes on. A program
// whose heap is small, and that makes one large result after the other, therefore collects
// after every few of them, some hundred times a second and on all processors: half of the
// time of a small matrix product, a fifth of a softmax of 16 MiB. As long as such results are
// made and collections come often, the package holds memory that nobody touches, so that it
// takes none from the system. It counts as part of the heap, and the next collection waits
// until there is more garbage. Where a result takes long to compute, collections are cheap, and
// the pages of more garbage are not.

const (
	// ballastBytes is the size of that memory.
	ballastBytes = 32 << 20
	// ballastAfter is how much has to be allocated before collections are looked at.
	ballastAfter = 4 << 20
	// ballastBelow is the size of a heap that is collected seldom anyway.
	ballastBelow = 2 * ballastBytes
	// ballastFrom is the size of the smallest buffer that counts.
	ballastFrom = 64 << 10

	// Collections come often when they are less than often apart, and do not any more, with
	// the ballast, when they are more than seldom apart. A collection takes some 0.5 ms.
	often  = 100 * time.Millisecond
	seldom = 500 * time.Millisecond
)

var weight = ballast{inUse: heapInUse, now: time.Now}

// A ballast is memory that is held for its size, while there is demand for large buffers
// between collections and these come often.
type ballast struct {
	inUse func() (live, limit uint64)
	now   func() time.Time
	after func(*collection) // in place of the collector, in tests

	fresh   atomic.Int64 // bytes of large buffers allocated while it did not watch
	used    atomic.Bool  // there was demand since the last collection
	watched atomic.Bool  // collections are followed

	last time.Time // of the last collection that it saw
	held []byte    // nobody looks at it
}

// A collection is an object whose finalizer tells of the next collection.
type collection struct{ _ [64]byte }

// allocated takes note of a new buffer of n bytes.
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

// watch calls collected after the next collection.
func (b *ballast) watch(c *collection) {
	if b.after != nil {
		b.after(c)
		return
	}
	runtime.SetFinalizer(c, b.collected)
}

// collected looks at the heap after a collection, and drops the ballast when there was no
// demand since the one before. Nobody else uses its fields meanwhile: the next collection is
// waited for when it is done.
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

// weigh takes a ballast, or drops it where it is of no use: between collections that are
// far apart, in a large heap, and in a process with a limit on its memory, which should collect
// as often as the limit asks for.
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

// heapInUse returns how many bytes the last collection found alive, and the limit on the
// process's memory: math.MaxInt64 where none is set.
func heapInUse() (live, limit uint64) {
	v, _ := readMetrics("/gc/heap/live:bytes", "/gc/gomemlimit:bytes")
	return v[0], v[1]
}

// readMetrics returns metrics of the runtime, which are numbers, and whether it has all of
// them; 0 for one that it does not have.
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
