package gather

import (
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
