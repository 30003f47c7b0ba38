package par

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestForCoversEachIndexOnce(t *testing.T) {
	for _, procs := range []int{1, 2, 5} {
		for _, n := range []int{-1, 0, 1, 2, 15, 16, 17, 1000} {
			for _, grain := range []int{-3, 0, 1, 7, 16, 999, 1000, 1 << 62} {
				t.Run(fmt.Sprint(procs, n, grain), func(t *testing.T) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					seen := make([]atomic.Int32, max(n, 0))
					For(n, grain, func(lo, hi int) {
						if g := max(grain, 1); lo%g != 0 || hi != n && hi-lo != g || lo >= hi {
							t.Errorf("interval [%d, %d)", lo, hi)
						}
						for i := lo; i < hi; i++ {
							seen[i].Add(1)
						}
					})
					for i := range seen {
						if got := seen[i].Load(); got != 1 {
							t.Fatalf("index %d was visited %d times", i, got)
						}
					}
				})
			}
		}
	}
}

// The boundaries, and so the partial results of a reduction, are the same with
// any number of workers.
func TestBoundariesDoNotDependOnWorkers(t *testing.T) {
	boundaries := func(procs int) []int {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		var mu sync.Mutex
		var b []int
		For(1003, 10, func(lo, hi int) {
			mu.Lock()
			defer mu.Unlock()
			b = append(b, lo, hi)
		})
		slices.Sort(b)
		return b
	}
	if one, four := boundaries(1), boundaries(4); !slices.Equal(one, four) {
		t.Errorf("one worker: %v\nfour: %v", one, four)
	}
}

func TestNestedLoopsFromManyGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var total atomic.Int64
	var wg sync.WaitGroup
	const callers, outer, inner = 50, 20, 30 // more callers than slots
	for range callers {
		wg.Go(func() {
			For(outer, 1, func(lo, hi int) {
				For(inner, 4, func(lo, hi int) { total.Add(int64(hi - lo)) })
			})
		})
	}
	wg.Wait()
	if got := total.Load(); got != callers*outer*inner {
		t.Errorf("%d inner steps, want %d", got, callers*outer*inner)
	}
	if got := workers.live.Load(); got != 0 {
		t.Errorf("%d loops still in their slots", got)
	}
}

func TestPanicReachesCaller(t *testing.T) {
	for _, procs := range []int{1, 3} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			type carrier struct{ chunk int }
			func() {
				defer func() {
					if c, ok := recover().(carrier); !ok || c.chunk != 7 {
						t.Errorf("recovered %v", c)
					}
				}()
				For(1000, 10, func(lo, hi int) {
					if lo == 70 {
						panic(carrier{lo / 10})
					}
				})
			}()
			// The team still works.
			var n atomic.Int64
			For(100, 1, func(lo, hi int) { n.Add(1) })
			if n.Load() != 100 {
				t.Errorf("after a panic only %d of 100 chunks ran", n.Load())
			}
		})
	}
}

// All chunks panic: the one with the lowest index among those that started wins.
// Chunk 0 is always claimed first, but a later one may panic before it starts.
func TestEveryChunkPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for range 100 {
		func() {
			defer func() {
				if i, ok := recover().(int); !ok || i < 0 || i > 3 {
					t.Errorf("recovered %v", i)
				}
			}()
			For(100, 1, func(lo, hi int) { panic(lo) })
		}()
	}
}

// Goexit on a worker is reported as a panic and does not hang or lose the team;
// on the caller it ends the caller, as it does without a loop.
func TestGoexit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }()
		For(64, 1, func(lo, hi int) { runtime.Goexit() })
	}()
	<-done
	var n atomic.Int64
	For(100, 1, func(lo, hi int) { n.Add(1) })
	if n.Load() != 100 {
		t.Errorf("after Goexit only %d of 100 chunks ran", n.Load())
	}
}

// Two chunks that each wait for the other to start can only end if two
// goroutines work on the loop.
func TestLoopsReallyRunConcurrently(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var meet sync.WaitGroup
	meet.Add(2)
	For(2, 1, func(lo, hi int) {
		meet.Done()
		meet.Wait()
	})
}

// Workers with nothing to do park, and take part again afterwards.
func TestIdleWorkersPark(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for range 3 {
		var meet sync.WaitGroup
		meet.Add(3)
		For(3, 1, func(lo, hi int) {
			meet.Done()
			meet.Wait()
		})
		for workers.parked.Load() < workers.count.Load() {
			runtime.Gosched()
		}
	}
}

func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name  string
		took  time.Duration
		times int
		want  time.Duration
	}{
		{"at first", 0, 0, 200 * time.Microsecond},
		{"fast wake-ups", 5 * time.Microsecond, 50, leastSpin},
		{"steady wake-ups", 100 * time.Microsecond, 50, 200 * time.Microsecond},
		{"one that was late", time.Second, 1, 350 * time.Microsecond},
		{"all late", time.Second, 50, mostSpin},
	} {
		t.Run(c.name, func(t *testing.T) {
			team := newTeam()
			for range c.times {
				team.woke(c.took)
			}
			if got := team.patience(); got != c.want {
				t.Errorf("patience %v, want %v", got, c.want)
			}
		})
	}
}

func BenchmarkForEmpty(b *testing.B) {
	for b.Loop() {
		For(2, 1, func(lo, hi int) {})
	}
}
