package fused

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

func random[T float](seed uint64, n int) []T {
	rng := rand.New(rand.NewPCG(seed, 5))
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64() * 2)
	}
	return x
}

var activations = []Activation{Identity, Relu, Gelu, GeluTanh, Silu, Sigmoid, Tanh}

func reference(act Activation) func(float64) float64 {
	if act == Identity {
		return func(x float64) float64 { return x }
	}
	f := elementwise.Unary[float64](act.op())
	return func(x float64) float64 {
		y := []float64{x}
		f(y, y)
		return y[0]
	}
}

func testRows[T float](t *testing.T, tol float64) {
	for _, act := range activations {
		f := reference(act)
		for _, n := range []int{1, 3, 16, 17, 100, 511, 512, 700, 1500} {
			for _, rows := range []int{0, 1, 2, 5, 30} {
				x, w, b := random[T](1, rows*n), random[T](2, n), random[T](3, n)
				dst := make([]T, rows*n)
				check := func(what string, want func(i int) float64) {
					t.Helper()
					for i, v := range dst {
						if e := f(want(i)); math.Abs(float64(v)-e) > tol*math.Max(1, math.Abs(want(i))) {
							t.Fatalf("%s %d [%d,%d]: element %d is %v, want %v", what, act, rows, n, i, v, e)
						}
					}
				}
				Bias(act, dst, x, b, n)
				check("bias", func(i int) float64 { return float64(x[i]) + float64(b[i%n]) })
				Affine(act, dst, x, w, b, n)
				check("affine", func(i int) float64 { return float64(x[i])*float64(w[i%n]) + float64(b[i%n]) })
				in := append([]T(nil), x...)
				Affine(act, in, in, w, b, n)
				for i := range in {
					if in[i] != dst[i] {
						t.Fatalf("in place: element %d is %v, want %v", i, in[i], dst[i])
					}
				}
			}
		}
	}
}

func TestRows(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		testRows[float32](t, 1e-6)
		testRows[float64](t, 1e-15)
	})
}

// Rows that are written past the cache are the same.
func TestRowsPastTheCache(t *testing.T) {
	const n = 1000
	x, w, b := random[float32](1, n), random[float32](2, n), random[float32](3, n)
	room := make([]float32, n+16)
	dst := room[(64-uintptr(unsafe.Pointer(&room[0]))%64)/4%16:][:n]
	want := make([]float32, n)
	eachFamily(t, func(t *testing.T) {
		for _, act := range activations {
			for _, scale := range [][]float32{nil, w} {
				row(act, want, x, scale, b, false)
				row(act, dst, x, scale, b, true)
				for i := range dst {
					if dst[i] != want[i] {
						t.Fatalf("%d: element %d is %v, want %v", act, i, dst[i], want[i])
					}
				}
			}
		}
	})
}

func testOptimizers[T float](t *testing.T, tol float64) {
	near := func(what string, got T, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > tol*math.Max(1, math.Abs(want)) {
			t.Fatalf("%s = %v, want %v", what, got, want)
		}
	}
	for _, n := range []int{0, 1, 7, 8, 16, 17, 33, 100, 17000} {
		p, m, v, g := random[T](1, n), random[T](2, n), random[T](3, n), random[T](4, n)
		for i := range v {
			v[i] *= v[i]
		}
		s := AdamStep{Rate: 0.1, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 3, WeightDecay: 0.01, L2: 0.02}
		p1, m1, v1 := make([]T, n), make([]T, n), make([]T, n)
		Adam(p1, m1, v1, p, m, v, g, s)
		for i := range p {
			d := float64(g[i]) + s.L2*float64(p[i])
			wantM := 0.9*float64(m[i]) + 0.1*d
			wantV := 0.999*float64(v[i]) + 0.001*d*d
			mHat, vHat := wantM/(1-0.9*0.9*0.9), wantV/(1-math.Pow(0.999, 3))
			near("m", m1[i], wantM)
			near("v", v1[i], wantV)
			near("p", p1[i], float64(p[i])*(1-0.1*0.01)-0.1*mHat/(math.Sqrt(vHat)+1e-8))
		}
		p2 := append([]T(nil), p...)
		Adam(p2, m, v, p2, m, v, g, s)
		for i := range p2 {
			if p2[i] != p1[i] || m[i] != m1[i] || v[i] != v1[i] {
				t.Fatalf("in place: element %d differs", i)
			}
		}
		b, b1 := random[T](5, n), make([]T, n)
		for _, nesterov := range []bool{false, true} {
			s := SGDStep{Rate: 0.1, Momentum: 0.9, Nesterov: nesterov, WeightDecay: 0.01, L2: 0.02}
			SGD(p1, b1, p, b, g, s)
			for i := range p {
				d := float64(g[i]) + s.L2*float64(p[i])
				momentum := 0.9*float64(b[i]) + d
				step := momentum
				if nesterov {
					step = d + 0.9*momentum
				}
				near("momentum", b1[i], momentum)
				near("p", p1[i], float64(p[i])*(1-0.1*0.01)-0.1*step)
			}
		}
		SGD(p1, nil, p, nil, g, SGDStep{Rate: 0.5})
		for i := range p {
			near("plain p", p1[i], float64(p[i])-0.5*float64(g[i]))
		}
	}
}

func TestOptimizers(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		testOptimizers[float32](t, 2e-6)
		testOptimizers[float64](t, 1e-14)
	})
}

// The workload elementwise_fused: 64 MiB in, 64 MiB out, beside a copy.
func BenchmarkAffine(b *testing.B) {
	const n, rows = 1024, 16384
	x, w, shift := random[float32](1, rows*n), random[float32](2, n), random[float32](3, n)
	dst := make([]float32, rows*n)
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(8 * n * rows)
		for b.Loop() {
			copy(dst, x)
		}
	})
	for _, act := range activations {
		b.Run(fmt.Sprint(act.op()), func(b *testing.B) {
			b.SetBytes(8 * n * rows)
			for b.Loop() {
				Affine(act, dst, x, w, shift, n)
			}
		})
	}
}

func BenchmarkAdam(b *testing.B) {
	const n = 1 << 22
	p, m, v, g := random[float32](1, n), make([]float32, n), make([]float32, n), random[float32](4, n)
	b.SetBytes(28 * n)
	for b.Loop() {
		Adam(p, m, v, p, m, v, g, AdamStep{Rate: 1e-3, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 10})
	}
}

// The gradient of few rows gives what the whole gradient does, past the cache too.
func TestAdamRows(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		for _, s := range []struct{ rows, width int }{{1, 1}, {40, 7}, {50, 16}, {23000, 64}} {
			n := s.rows * s.width
			p, m, v := random[float32](1, n), random[float32](2, n), random[float32](3, n)
			for i := range v {
				v[i] *= v[i]
			}
			ids := []int64{0, -1, int64(s.rows) - 1, int64(s.rows) / 2, 0, int64(s.rows) / 3, 0}
			values := random[float32](4, len(ids)*s.width)
			g := make([]float32, n)
			for i, id := range ids {
				for j := range s.width {
					if id >= 0 {
						g[int(id)*s.width+j] += values[i*s.width+j]
					}
				}
			}
			step := AdamStep{Rate: 0.1, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 3, WeightDecay: 0.01}
			want, got := [3][]float32{}, [3][]float32{}
			for i := range want {
				want[i], got[i] = make([]float32, n), make([]float32, n)
			}
			Adam(want[0], want[1], want[2], p, m, v, g, step)
			AdamRows(got[0], got[1], got[2], p, m, v, values, ids, s.width, step)
			for i, name := range []string{"p", "m", "v"} {
				if !slices.Equal(got[i], want[i]) {
					t.Errorf("%d rows of %d: %s differs", s.rows, s.width, name)
				}
			}
		}
	})
}
