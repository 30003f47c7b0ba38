package elementwise

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A collection has to stop all goroutines, and one that is in assembly cannot be
// stopped: loops over long arrays must come back to Go often. Without that a
// collection takes as long as the loop.
func TestLongLoopsLetTheCollectorIn(t *testing.T) {
	const size = 1 << 24
	x := make([]float32, size)
	add, exp := Binary[float32](Add), Unary[float32](Exp)
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			for range 16 { // 1 GiB
				add(x, x, x)
			}
			exp(x, x)
		}
	}()
	// An idle machine takes 1 to 2 ms; a loop that does not let go, hundreds. Other tests
	// may be running beside this one, so the best of several counts.
	const limit = 10 * time.Millisecond
	best := time.Hour
	for i := 0; i < 30 && best > limit; i++ {
		start := time.Now()
		runtime.GC()
		best = min(best, time.Since(start))
	}
	stop.Store(true)
	<-done
	if best > limit {
		t.Errorf("the quickest of thirty collections took %v", best)
	}
}
