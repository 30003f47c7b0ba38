package ops_test

import (
	"testing"

	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The cost of an eager operation on little data.
func BenchmarkEager(b *testing.B) {
	x, y := tensor.Of([]float32{1, 2, 3, 4}), tensor.Of([]float32{5, 6, 7, 8})
	m := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	r := tensor.Of([]float32{1, 2, 3})
	for _, c := range []struct {
		name string
		f    func() tensor.Tensor
	}{
		{"add", func() tensor.Tensor { return ops.Add(x, y) }},
		{"add scalar", func() tensor.Tensor { return ops.Add(x, 2.0) }},
		{"add row", func() tensor.Tensor { return ops.Add(m, r) }},
		{"less", func() tensor.Tensor { return ops.Less(x, y) }},
		{"exp", func() tensor.Tensor { return ops.Exp(x) }},
		{"sum", func() tensor.Tensor { return ops.Sum(m, -1) }},
		{"softmax", func() tensor.Tensor { return ops.Softmax(m, -1) }},
		{"matmul", func() tensor.Tensor { return ops.MatMulT(m, m, false, true) }},
		{"where", func() tensor.Tensor { return ops.Where(true, x, y) }},
		{"cast", func() tensor.Tensor { return ops.Cast(x, 12) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}

// Broadcasting at the speed of memory: 4 MiB results.
func BenchmarkBroadcast(b *testing.B) {
	big := tensor.Of(make([]float32, 1<<20), 1024, 1024)
	thin := tensor.Of(make([]float32, 1<<20), 1<<18, 4)
	for _, c := range []struct {
		name string
		x, y tensor.Tensor
	}{
		{"same", big, big},
		{"scalar", big, tensor.Scalar(float32(2))},
		{"row", big, tensor.Of(make([]float32, 1024))},
		{"column", big, tensor.Of(make([]float32, 1024), 1024, 1)},
		{"short row", thin, tensor.Of(make([]float32, 4))},
		{"short column", thin, tensor.Of(make([]float32, 1<<18), 1<<18, 1)},
		{"transposed", big, ops.Transpose(big)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(8 << 20)
			for b.Loop() {
				ops.Add(c.x, c.y)
			}
		})
	}
}
