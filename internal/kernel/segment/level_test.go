package segment

import (
	"runtime"
	"testing"

	"github.com/tenonml/tenon/internal/cpu"
)

// atEachLevel runs f with every family of kernels that this machine has, writing
// results through the cache and past it.
func atEachLevel(t *testing.T, f func(t *testing.T)) {
	defer func(l cpu.Level, large int) { level, largeOutput = l, large }(level, largeOutput)
	for l := cpu.Generic; l <= cpu.Offered(); l++ {
		for _, large := range []int{16 << 20, 0} {
			if l == cpu.Generic && large == 0 {
				continue
			}
			level, largeOutput = l, large
			f(t)
			if t.Failed() {
				t.Fatalf("with %v kernels, large from %d bytes", l, large)
			}
		}
	}
}

// withProcs sets GOMAXPROCS and returns a function that sets it back.
func withProcs(n int) func() {
	old := runtime.GOMAXPROCS(n)
	return func() { runtime.GOMAXPROCS(old) }
}
