package segment

import (
	"runtime"
	"testing"

	"github.com/tenonml/tenon/internal/cpu"
)

// atEachLevel runs f with every family of kernels that this machine has.
func atEachLevel(t *testing.T, f func(t *testing.T)) {
	defer func(l cpu.Level) { level = l }(level)
	for l := cpu.Generic; l <= cpu.Offered(); l++ {
		level = l
		f(t)
		if t.Failed() {
			t.Fatalf("with %v kernels", l)
		}
	}
}

// atEachFlow is atEachLevel with results written through the cache and past it.
func atEachFlow(t *testing.T, f func(t *testing.T)) {
	defer func(large int) { largeOutput = large }(largeOutput)
	for _, largeOutput = range []int{16 << 20, 0} {
		atEachLevel(t, f)
	}
}

// withProcs sets GOMAXPROCS and returns a function that sets it back.
func withProcs(n int) func() {
	old := runtime.GOMAXPROCS(n)
	return func() { runtime.GOMAXPROCS(old) }
}
