package arena

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// scale is a ballast in a heap of some size, and a clock that the test moves.
type scale struct {
	ballast
	live, limit uint64
	clock       time.Time
	next        *collection
}

func newScale() *scale {
	s := &scale{limit: math.MaxInt64, clock: time.Unix(1, 0)}
	s.ballast = ballast{
		inUse: func() (live, limit uint64) { return s.live + uint64(len(s.held)), s.limit },
		now:   func() time.Time { return s.clock },
		after: func(c *collection) { s.next = c },
	}
	return s
}

// collect is a collection so long after the one before.
func (s *scale) collect(after time.Duration) {
	s.clock = s.clock.Add(after)
	c := s.next
	s.next = nil
	s.collected(c)
}

// The ballast comes with demand and collections that follow each other closely, and goes at the
// second collection without demand, or when they have become rare.
func TestBallastFollowsDemand(t *testing.T) {
	const each = 1 << 20
	s := newScale()
	for range 2 {
		s.allocated(ballastFrom - 1) // too small to count
		for range ballastAfter/each - 1 {
			s.allocated(each)
		}
		if s.next != nil {
			t.Fatalf("collections are looked at before there was demand for %d bytes", ballastAfter)
		}
		s.allocated(each)
		for _, step := range []struct {
			after time.Duration
			want  bool
		}{
			{time.Second, false}, // the first one
			{often, false},
			{often - 1, true},
			{seldom - 1, true},
			{seldom, false},
			{seldom - 1, false},
			{0, true},
		} {
			s.allocated(each)
			s.collect(step.after)
			if got := len(s.held) >= ballastBytes; got != step.want {
				t.Fatalf("a collection after %v of demand: held %v, want %v", step.after, got, step.want)
			}
		}
		s.collect(0)
		if s.held != nil || s.next != nil {
			t.Fatalf("%d bytes are held after a cycle without demand", len(s.held))
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
			s := newScale()
			s.live, s.limit = c.live, c.limit
			s.allocated(ballastAfter)
			s.collect(0)
			s.allocated(ballastFrom)
			s.collect(0)
			if got := s.held != nil; got != c.want {
				t.Fatalf("held: %v, want %v", got, c.want)
			}
			s.live, s.limit = 0, math.MaxInt64 // the ballast itself does not count
			s.allocated(ballastFrom)
			s.collect(0)
			if s.held == nil {
				t.Error("not held when the heap had become small")
			}
			s.limit = 1 << 30
			s.allocated(ballastFrom)
			s.collect(0)
			if s.held != nil {
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
	b := &ballast{inUse: heapInUse, now: func() time.Time { return time.Unix(1, 0) }} // however slow the machine is
	var before, after runtime.MemStats
	for i := range warm + results {
		if i == warm {
			runtime.ReadMemStats(&before)
		}
		clear(arbitrary(each))
		b.allocated(each)
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
