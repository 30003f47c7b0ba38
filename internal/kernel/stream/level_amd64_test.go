//go:build amd64 && !purego

package stream

import (
	"testing"

	"github.com/tenonml/tenon/internal/cpu"
)

// eachLevel runs a test with every family of kernels that this machine can run.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	saved := kernel
	t.Cleanup(func() { kernel = saved })
	for l := cpu.Generic; l <= cpu.Offered(); l++ {
		kernel = choose(l)
		t.Run(l.String(), f)
	}
}
