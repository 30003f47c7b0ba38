package segment

import (
	"testing"

	"github.com/tenonml/tenon/internal/kernel/gctest"
)

func TestCollectionsDoNotWaitForKernels(t *testing.T) {
	const rows, length = 1 << 18, 256
	lengths := make([]int64, rows)
	starts := make([]int64, rows)
	for r := range lengths {
		lengths[r], starts[r] = length, int64(rows-1-r)*length
	}
	splits := splitsOf(lengths)
	x, y, sums := make([]float32, rows*length), make([]float32, rows*length), make([]float32, rows)
	for name, loop := range map[string]func(){
		"softmax": func() { Softmax(y, x, splits, 1) },
		"sum":     func() { Sum(sums, x, splits, 1) },
		"gather":  func() { Gather(y, x, splits, starts, 1) },
		"pad":     func() { Pad(y, x, splits, length, 1, []float32{0}) },
	} {
		t.Run(name, func(t *testing.T) { gctest.StopsDuring(t, loop) })
	}
}
