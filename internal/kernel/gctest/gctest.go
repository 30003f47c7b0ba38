package gctest

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// StopsDuring checks that call, one call of a kernel over hundreds of mebibytes, lets
// all goroutines be stopped while it runs: not a few times, at its beginning or end, but
// again and again. That is what a collection waits for, and it does not depend on how
// busy the machine is, as the time of a collection does. That is logged: the quickest
// takes well under 10 ms where nothing else runs.
func StopsDuring(t *testing.T, call func()) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	const tries, enough = 100, 5
	most := 0
	for n := 0; n < tries && most < enough; n++ { // this goroutine may get a processor late
		stops := 0
		during(call, func(running func() bool) {
			for stops < enough && running() {
				runtime.ReadMemStats(&runtime.MemStats{}) // stops all
				if !running() {
					return
				}
				stops++
				runtime.KeepAlive(work(100_000)) // meanwhile call goes on to where it may not be stopped
			}
		})
		most = max(most, stops)
	}
	if most < enough {
		t.Fatalf("all goroutines were stopped %d times at most during one of %d calls", most, tries)
	}
	best := time.Hour
	for range 10 {
		during(call, func(func() bool) {
			start := time.Now()
			runtime.GC()
			best = min(best, time.Since(start))
		})
	}
	t.Logf("the quickest of ten collections took %v", best)
}

// during runs f beside call, once that has begun.
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

// work takes the time of n multiplications, also for the race detector.
//
//go:noinline
func work(n uint64) (x uint64) {
	for i := range n {
		x = x*31 + i
	}
	return x
}
