package arena

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// The ballast comes with demand and goes at the second collection without any.
func TestBallastFollowsDemand(t *testing.T) {
	var next *collection
	b := ballast{
		inUse: func() (live, limit uint64) { return 0, math.MaxInt64 },
		after: func(c *collection) { next = c },
	}
	const each = 1 << 20
	for range 2 {
		b.allocated(ballastFrom - 1) // too small to count
		for range ballastAfter/each - 1 {
			b.allocated(each)
		}
		if b.held != nil || next != nil {
			t.Fatalf("%d bytes are held before there was demand for %d", len(b.held), ballastAfter)
		}
		b.allocated(each)
		b.collected(next)
		if len(b.held) < ballastBytes {
			t.Fatalf("%d bytes are held with demand, want %d", len(b.held), ballastBytes)
		}
		b.allocated(each)
		b.collected(next)
		if len(b.held) < ballastBytes {
			t.Fatalf("%d bytes are held with demand in each cycle, want %d", len(b.held), ballastBytes)
		}
		next = nil
		b.collected(new(collection))
		if b.held != nil || next != nil {
			t.Fatalf("%d bytes are held after a cycle without demand", len(b.held))
		}
	}
}

// There is none in large heaps and in processes with a limit on their memory, also where
// they become such.
func TestBallastOnlyWhereItHelps(t *testing.T) {
	for _, c := range []struct {
		name        string
		live, limit uint64
		want        bool
	}{
		{"small heap", 1 << 20, math.MaxInt64, true},
		{"heap just below the bound", ballastBelow - 1, math.MaxInt64, true},
		{"large heap", ballastBelow, math.MaxInt64, false},
		{"limit", 1 << 20, 1 << 40, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			live, limit := c.live, c.limit
			b := ballast{inUse: func() (uint64, uint64) { return live, limit }, after: func(*collection) {}}
			b.allocated(ballastAfter)
			if got := b.held != nil; got != c.want {
				t.Fatalf("held: %v, want %v", got, c.want)
			}
			live, limit = uint64(len(b.held)), math.MaxInt64 // the ballast itself does not count
			b.allocated(ballastFrom)
			b.collected(new(collection))
			if b.held == nil {
				t.Error("not held when the heap had become small")
			}
			limit = 1 << 30
			b.allocated(ballastFrom)
			b.collected(new(collection))
			if b.held != nil {
				t.Error("still held under a limit")
			}
		})
	}
}

// A thousand results of a megabyte are not a thousand megabytes of a four-megabyte heap.
func TestGarbageOfLargeResultsIsCollectedSeldom(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	const each, warm, results = 1 << 20, 256, 1024
	var before, after runtime.MemStats
	for i := range warm + results {
		if i == warm {
			runtime.ReadMemStats(&before)
		}
		Alloc(each)
	}
	runtime.ReadMemStats(&after)
	const most = results*each/ballastBytes + 16
	if got := after.NumGC - before.NumGC; got > most {
		t.Errorf("%d collections for %d results, want at most %d", got, results, most)
	}
	if after.HeapSys > 1<<30 {
		t.Errorf("the heap takes %d bytes", after.HeapSys)
	}
}
