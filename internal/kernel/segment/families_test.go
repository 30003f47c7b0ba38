package segment

import (
	"runtime"
	"testing"
)

// atEachFamily runs f with every family of kernels that this machine has.
func atEachFamily(t *testing.T, f func(t *testing.T)) {
	for family := range table.Each() {
		f(t)
		if t.Failed() {
			t.Fatalf("with %v kernels", family)
		}
	}
}

// atEachFlow is atEachFamily with results written through the cache and past it.
func atEachFlow(t *testing.T, f func(t *testing.T)) {
	defer func(large int) { largeOutput = large }(largeOutput)
	for _, largeOutput = range []int{16 << 20, 0} {
		atEachFamily(t, f)
	}
}

// withProcs sets GOMAXPROCS and returns a function that sets it back.
func withProcs(n int) func() {
	old := runtime.GOMAXPROCS(n)
	return func() { runtime.GOMAXPROCS(old) }
}
