package reduce

import (
	"testing"

	"github.com/tenonml/tenon/dtype"
)

// The workload softmax_layernorm: 4096 rows of 1024, 16 MiB, beside a copy.
func BenchmarkRows(b *testing.B) {
	const rows, n = 4096, 1024
	x, dst := normal[float32](1, rows*n, 4), make([]float32, rows*n)
	gamma, beta := normal[float32](2, n, 1), normal[float32](3, n, 1)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(8 * rows * n)
			for b.Loop() {
				f()
			}
		})
	}
	run("copy", func() { copy(dst, x) })
	run("softmax", func() { Softmax(dst, x, n) })
	run("log_softmax", func() { LogSoftmax(dst, x, n) })
	run("layer_norm", func() { LayerNorm(dst, x, gamma, beta, n, 1e-5, nil, nil) })
	run("rms_norm", func() { RMSNorm(dst, x, gamma, n, 1e-5, nil) })
	run("softmax_grad", func() { SoftmaxGrad(dst, dst, x, n) })
}

// One row of 1024 in the first-level cache.
func BenchmarkRow(b *testing.B) {
	const n = 1024
	x, dst := normal[float32](1, n, 4), make([]float32, n)
	gamma, beta := normal[float32](2, n, 1), normal[float32](3, n, 1)
	k := assembly[float32]()
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"copy", func() { copy(dst, x) }},
		{"max", func() { maxBlock(x) }},
		{"sum", func() { sumBlock(x) }},
		{"sum_squares", func() { sumSquaresBlock(x, 1) }},
		{"scale", func() { scale(dst, 1) }},
		{"top", func() { topBlock(x) }},
		{"exp_sum", func() { expSumBlock(x, 10) }},
		{"softmax", func() { softmaxRow(dst, x) }},
		{"log_softmax", func() { logSoftmaxRow(k, k, dst, x) }},
		{"layer_norm", func() { layerNormRow(k, k, dst, x, gamma, beta, 1e-5) }},
		{"rms_norm", func() { rmsNormRow(k, k, dst, x, gamma, 1e-5) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.f()
			}
		})
	}
}

// Reductions of 16M numbers, in all three layouts; the limit is reading them.
func BenchmarkReduce(b *testing.B) {
	const size = 1 << 24
	x := normal[float32](1, size, 1)
	dst := make([]float64, size/64)
	for _, c := range []struct {
		name            string
		outer, n, inner int
	}{{"all", 1, size, 1}, {"last", size / 1024, 1024, 1}, {"first", 1024, 1, size / 1024}, {"middle", 64, 1024, 256}, {"axis0", 16384, 1, 1024}} {
		if c.name == "axis0" {
			c.outer, c.n = 1, 16384
		}
		if c.name == "first" {
			c.outer, c.n, c.inner = 1, 1024, size/1024
		}
		for _, op := range []Op{Sum, Max, ArgMax, Variance, LogSumExp} {
			f := Of(op, dtype.Float32)
			b.Run(c.name+"/"+op.String(), func(b *testing.B) {
				b.SetBytes(4 * size)
				for b.Loop() {
					f(ptr(dst), ptr(x), c.outer, c.n, c.inner)
				}
			})
		}
	}
}
