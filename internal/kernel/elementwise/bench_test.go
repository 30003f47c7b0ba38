package elementwise

import (
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
)

// In cache: 4096 elements, 16 KiB an operand.
func BenchmarkCache(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 4096
	x, y, dst := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
	}
	report := func(b *testing.B, bytes int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		b.SetBytes(int64(bytes) * n)
	}
	for _, op := range []Op{Add, Mul, Div, Maximum} {
		f, vs := Binary[float32](op), BinaryVS[float32](op)
		b.Run(op.String(), func(b *testing.B) {
			for b.Loop() {
				f(dst, x, y)
			}
			report(b, 12)
		})
		b.Run(op.String()+"_scalar", func(b *testing.B) {
			for b.Loop() {
				vs(dst, x, 1.5)
			}
			report(b, 8)
		})
	}
	for _, op := range []Op{Abs, Relu, Sqrt, Exp, Log, Tanh, Sigmoid, Silu, Gelu, GeluTanh, Erf, Sin, Cos, Softplus, Mish, Log1p, Expm1} {
		f := Unary[float32](op)
		b.Run(op.String(), func(b *testing.B) {
			for b.Loop() {
				f(dst, x)
			}
			report(b, 8)
		})
	}
	x64, dst64 := make([]float64, n), make([]float64, n)
	Cast(x64, x)
	for _, op := range []Op{Exp, Log, Tanh, Sigmoid, Sin} {
		f := Unary[float64](op)
		b.Run("float64_"+op.String(), func(b *testing.B) {
			for b.Loop() {
				f(dst64, x64)
			}
			report(b, 16)
		})
	}
	less := make([]bool, n)
	cmp := Compare[float32](Less)
	b.Run("less", func(b *testing.B) {
		for b.Loop() {
			cmp(less, x, y)
		}
		report(b, 9)
	})
	b.Run("select", func(b *testing.B) {
		for b.Loop() {
			Select(dst, less, x, y)
		}
		report(b, 13)
	})
	ints := make([]int32, n)
	b.Run("cast_int32", func(b *testing.B) {
		for b.Loop() {
			Cast(ints, x)
		}
		report(b, 8)
	})
}

// Small: four elements, what an eager operation on a tiny tensor pays here.
func BenchmarkSmall(b *testing.B) {
	x := []float32{1, 2, 3, 4}
	add, exp := Binary[float32](Add), Unary[float32](Exp)
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			add(x, x, x)
		}
	})
	b.Run("exp", func(b *testing.B) {
		for b.Loop() {
			exp(x, x)
		}
	})
}

// From memory: 16M elements, written through the cache and past it.
func BenchmarkMemory(b *testing.B) {
	const n = 1 << 24
	x, y, dst := make([]float32, n), make([]float32, n), make([]float32, n)
	splat(x, 1)
	splat(y, 2)
	run := func(name string, bytes int, f func(lo, hi int)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(bytes) * n)
			for b.Loop() {
				par.For(n, 32<<10, f)
			}
		})
	}
	add, exp := BinaryOf(Add, dtype.Float32, VV), UnaryOf(Exp, dtype.Float32)
	addPast, expPast := StreamBinaryOf(Add, dtype.Float32, VV), StreamUnaryOf(Exp, dtype.Float32)
	addBlocks, expBlocks := StreamBinary(add, 4, 4, VV), StreamUnary(exp, 4, 4)
	run("copy", 8, func(lo, hi int) { copy(dst[lo:hi], x[lo:hi]) })
	run("add", 12, func(lo, hi int) { add(ptr(dst[lo:]), ptr(x[lo:]), ptr(y[lo:]), hi-lo) })
	run("add_past", 12, func(lo, hi int) { addPast(ptr(dst[lo:]), ptr(x[lo:]), ptr(y[lo:]), hi-lo) })
	run("add_blocks", 12, func(lo, hi int) { addBlocks(ptr(dst[lo:]), ptr(x[lo:]), ptr(y[lo:]), hi-lo) })
	run("exp", 8, func(lo, hi int) { exp(ptr(dst[lo:]), ptr(x[lo:]), hi-lo) })
	run("exp_past", 8, func(lo, hi int) { expPast(ptr(dst[lo:]), ptr(x[lo:]), hi-lo) })
	run("exp_blocks", 8, func(lo, hi int) { expBlocks(ptr(dst[lo:]), ptr(x[lo:]), hi-lo) })
}
