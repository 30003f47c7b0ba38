package gemm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

// BenchmarkFloat32 reports the rate of the shapes that the project compares itself by.
// GOMAXPROCS says for how many cores.
func BenchmarkFloat32(b *testing.B) {
	for _, s := range [][3]int{
		{64, 64, 64}, {128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048},
		{1, 4096, 4096}, {64, 1024, 1024}, {1000, 10, 1000}, {32, 3072, 768},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d", s[0], s[2], s[1]), func(b *testing.B) {
			benchmark(b, table.Now().f32, s[0], s[1], s[2], rowMajor, rowMajor)
		})
	}
}

func BenchmarkSmall(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmark(b, table.Now().f32, n, n, n, rowMajor, rowMajor) })
	}
}

func BenchmarkTransposed(b *testing.B) {
	for _, c := range []struct{ a, b layout }{{colMajor, rowMajor}, {rowMajor, colMajor}, {colMajor, colMajor}} {
		for _, n := range []int{250, 1000, 1024} {
			b.Run(fmt.Sprintf("%d/%v%v", n, c.a, c.b), func(b *testing.B) { benchmark(b, table.Now().f32, n, n, n, c.a, c.b) })
		}
	}
	b.Run("vector", func(b *testing.B) { benchmark(b, table.Now().f32, 1, 4096, 4096, rowMajor, colMajor) })
}

func BenchmarkFloat64(b *testing.B) {
	for _, n := range []int{256, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmark(b, table.Now().f64, n, n, n, rowMajor, rowMajor) })
	}
}

func BenchmarkHalf(b *testing.B) {
	const n = 512
	x, c := make([]dtype.F16, n*n), make([]float32, n*n)
	for b.Loop() {
		Half(HalfParams[dtype.F16]{M: n, N: n, K: n, A: x, B: x, C: c, ARow: n, ACol: 1, BRow: n, BCol: 1, CRow: n, CCol: 1, Alpha: 1})
	}
	rate(b, n*n*n)
}

func BenchmarkFamilies(b *testing.B) {
	for family, k := range table.Each() {
		b.Run(family.String(), func(b *testing.B) { benchmark(b, k.f32, 256, 256, 256, rowMajor, rowMajor) })
	}
}

// BenchmarkCeiling is a tile that stays in the first-level cache: what a product could
// reach if memory cost nothing.
func BenchmarkCeiling(b *testing.B) {
	for _, rows := range []int{6, 10, 14} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			f := table.Now().f32
			rows := min(rows, f.rows)
			const k = 64
			x := make([]float32, 14*k+64*k+14*64)
			t := tile[float32]{
				k: k, a: &x[0], aRow: 4 * k, aCol: 4, b: &x[14*k], bRow: 4 * f.width,
				c: &x[14*k+64*k], cRow: 4 * f.width, cols: f.width, alpha: 1, count: 1,
			}
			for b.Loop() {
				for range 100 {
					f.tile(full, rows, &t)
				}
			}
			rate(b, 100*rows*f.width*k)
		})
	}
}

func benchmark[T Element](b *testing.B, f *family[T], m, n, k int, la, lb layout) {
	p := build[T](rand.New(rand.NewPCG(1, 1)), m, n, k, la, lb, rowMajor)
	b.ReportAllocs()
	for b.Loop() {
		multiplyWith(f, p, nil, nil, nil)
	}
	rate(b, m*n*k)
}

// rate reports products of work multiply-adds each.
func rate(b *testing.B, work int) {
	b.ReportMetric(2*float64(work)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}

// BenchmarkPanels is products of the shapes of attention, from packed matrices.
func BenchmarkPanels(b *testing.B) {
	for _, s := range []struct {
		name       string
		m, n, k    int
		row, col   int // of A
		beta       float32
		transposed bool
	}{
		{"scores", 128, 512, 64, 64, 1, 0, true},
		{"values", 128, 64, 512, 528, 1, 0, false},
		{"keys", 512, 64, 128, 1, 528, 1, false},
		{"smallscores", 32, 32, 32, 128, 1, 0, true},
		{"smallvalues", 32, 32, 32, 32, 1, 0, false},
		{"smallkeys", 32, 32, 32, 1, 32, 0, false},
	} {
		b.Run(s.name, func(b *testing.B) {
			x, y, c := make([]float32, s.m*s.k*2+(s.k+s.m)*528), make([]float32, s.k*s.n), make([]float32, s.m*(s.n+16))
			var p Panels[float32]
			if s.transposed {
				p.Pack(y, s.k, s.n, 1, s.k)
			} else {
				p.Take(y, s.k, s.n, s.n, s.m)
			}
			cRow := s.n
			if s.transposed && s.n > 64 {
				cRow += 16
			}
			for b.Loop() {
				p.Times(c, cRow, x, s.row, s.col, s.m, s.n, s.k, 1, s.beta)
			}
			rate(b, s.m*s.n*s.k)
		})
	}
}
