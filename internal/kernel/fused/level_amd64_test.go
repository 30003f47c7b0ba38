//go:build amd64 && !purego

package fused

import (
	"testing"

	"github.com/tenonml/tenon/internal/cpu"
)

// eachLevel runs a test with every family of kernels that this machine can run.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	saved := level
	t.Cleanup(func() { level = saved })
	for level = cpu.Generic; level <= cpu.Offered(); level++ {
		t.Run(level.String(), f)
	}
}
