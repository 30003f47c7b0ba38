package gather

import (
	"testing"

	"github.com/tenonml/tenon/internal/cpu"
)

// atEachFamily runs f with every family of kernels that this machine has, writing
// results through the cache and past it.
func atEachFamily(t *testing.T, f func(t *testing.T)) {
	defer func(large int) { largeOutput = large }(largeOutput)
	for family := range table.Each() {
		for _, large := range []int{16 << 20, 0} {
			if family == cpu.Generic && large == 0 {
				continue
			}
			largeOutput = large
			f(t)
			if t.Failed() {
				t.Fatalf("with %v kernels, large from %d bytes", family, large)
			}
		}
	}
}
