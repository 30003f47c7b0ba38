package segment

import (
	"testing"

	"github.com/tenonml/tenon/internal/arena"
)

// What a call costs on ten values in four rows, such as every operation is tried with
// first. Results do not escape, so the figures are the kernels' own.
func BenchmarkTen(b *testing.B) {
	x, out, wide := arena.Make[float32](10), arena.Make[float32](10), arena.Make[float32](24)
	splits := []int64{0, 3, 3, 9, 10}
	newSplits, idx, mask := make([]int64, 5), []int64{2, 0, 3}, make([]bool, 10)
	ids := make([]int64, 10)
	for name, f := range map[string]func(){
		"sum":     func() { Sum(out[:4], x, splits, 1) },
		"max":     func() { Max(out[:4], x, splits, 1) },
		"softmax": func() { Softmax(out, x, splits, 1) },
		"pad":     func() { Pad(wide, x, splits, 6, 1, []float32{0}) },
		"repeat":  func() { Repeat(out, wide[:4], splits, 1) },
		"rowids":  func() { RowIDs(ids, splits) },
		"argsort": func() { ArgSort(ids, x, splits, 1, false) },
		"mask":    func() { Mask(out, newSplits, x, splits, mask, 1) },
		"check":   func() { _ = CheckSplits(splits, 10) },
		"gather": func() {
			_, _ = GatherSplits(newSplits, ids, splits, idx)
			Gather(out, x, newSplits, ids, 1)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
