package gctest

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// StopsDuring checks that all goroutines can be stopped repeatedly while call runs, not just at its
// beginning or end; call is one kernel call over hundreds of mebibytes. A collection waits for such
// stops. Unlike the duration of a collection, their number does not depend on how busy the machine
// is. The duration is only logged: the fastest collection takes well under 10 ms on an idle
// machine.
func StopsDuring(t *testing.T, call func()) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	const tries, enough = 100, 5
	most := 0
	for n := 0; n < tries && most < enough; n++ { // this goroutine may be scheduled late
		stops := 0
		during(call, func(running func() bool) {
			for stops < enough && running() {
				runtime.ReadMemStats(&runtime.MemStats{}) // stops all goroutines
				if !running() {
					return
				}
				stops++
				runtime.KeepAlive(work(100_000)) // lets call proceed into assembly
			}
		})
		most = max(most, stops)
	}
	if most < enough {
		t.Fatalf("all goroutines could be stopped at most %d times during any of %d calls", most, tries)
	}
	best := time.Hour
	for range 10 {
		during(call, func(func() bool) {
			start := time.Now()
			runtime.GC()
			best = min(best, time.Since(start))
		})
	}
	t.Logf("the fastest of ten collections took %v", best)
}

// during runs f concurrently with call, once call has begun.
func during(call func(), f func(running func() bool)) {
	const begun, ended = 1, 2
	var state atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		state.Store(begun)
		call()
		state.Store(ended)
	}()
	for state.Load() == 0 {
	}
	f(func() bool { return state.Load() == begun })
	<-done
}

// work takes the time of n multiplications, with or without the race detector.
//
//go:noinline
func work(n uint64) (x uint64) {
	for i := range n {
		x = x*31 + i
	}
	return x
}
