//go:build amd64 && !purego

package elementwise

import (
	"testing"

	"github.com/tenonml/tenon/internal/cpu"
)

// eachLevel runs a test with every family of kernels that this machine can run.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	saved := level
	t.Cleanup(func() { setLevel(saved) })
	for l := cpu.Generic; l <= cpu.Offered(); l++ {
		setLevel(l)
		t.Run(l.String(), f)
	}
}

func setLevel(l cpu.Level) {
	level = l
	for i := range cached {
		cached[i].Store(nil)
	}
}
