package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/stream"
)

var widths = []int{1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 200, 1024, 2500}

func normal[T float](seed uint64, n int, scale float64) []T {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64() * scale)
	}
	return x
}

func checkClose[T float](t *testing.T, what string, got []T, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > tol*math.Max(1, math.Abs(want[i])) || (got[i] != got[i]) != (want[i] != want[i]) {
			t.Fatalf("%s[%d] = %v, want %v", what, i, got[i], want[i])
		}
	}
}

func refSoftmax[T float](x []T) []float64 {
	m, s := -inf, 0.0
	for _, v := range x {
		m = math.Max(m, float64(v))
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Exp(float64(v) - m)
		s += y[i]
	}
	for i := range y {
		y[i] /= s
	}
	return y
}

func testRows[T float](t *testing.T, tol float64) {
	const rows = 3
	for _, n := range widths {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x, dy := normal[T](1, rows*n, 4), normal[T](2, rows*n, 1)
			y, ly, dx := make([]T, rows*n), make([]T, rows*n), make([]T, rows*n)
			Softmax(y, x, n)
			LogSoftmax(ly, x, n)
			for r := range rows {
				p := refSoftmax(x[r*n : (r+1)*n])
				logs, grad, lgrad := make([]float64, n), make([]float64, n), make([]float64, n)
				dot, sum := 0.0, 0.0
				for i := range p {
					logs[i] = math.Log(p[i])
					dot += p[i] * float64(dy[r*n+i])
					sum += float64(dy[r*n+i])
				}
				for i := range p {
					grad[i] = p[i] * (float64(dy[r*n+i]) - dot)
					lgrad[i] = float64(dy[r*n+i]) - p[i]*sum
				}
				checkClose(t, "softmax", y[r*n:], p, tol)
				checkClose(t, "log_softmax", ly[r*n:], logs, tol)
				SoftmaxGrad(dx, y, dy, n)
				checkClose(t, "softmax gradient", dx[r*n:], grad, 4*tol)
				LogSoftmaxGrad(dx, ly, dy, n)
				checkClose(t, "log_softmax gradient", dx[r*n:], lgrad, 40*tol)
			}
			in := append([]T(nil), x...)
			Softmax(in, in, n)
			for i := range in {
				if in[i] != y[i] {
					t.Fatalf("in place [%d]: %v, want %v", i, in[i], y[i])
				}
			}
			testNorms(t, x, dy, n, tol)
		})
	}
}

func testNorms[T float](t *testing.T, x, dy []T, n int, tol float64) {
	rows := len(x) / n
	gamma, beta := normal[T](3, n, 1), normal[T](4, n, 1)
	const eps = 1e-5
	y, dx, mean, rstd := make([]T, len(x)), make([]T, len(x)), make([]T, rows), make([]T, rows)
	dgamma, dbeta := make([]T, n), make([]T, n)
	for _, withParameters := range []bool{true, false} {
		for _, centred := range []bool{true, false} {
			g, b := gamma, beta
			if !withParameters {
				g, b = nil, nil
			}
			if centred {
				LayerNorm(y, x, g, b, n, eps, mean, rstd)
				LayerNormGrad(dx, dgamma, dbeta, x, g, dy, n, mean, rstd)
			} else {
				RMSNorm(y, x, g, n, eps, rstd)
				RMSNormGrad(dx, dgamma, x, g, dy, n, rstd)
			}
			wantG, wantB := make([]float64, n), make([]float64, n)
			for r := range rows {
				row := x[r*n : (r+1)*n]
				m, v := 0.0, 0.0
				if centred {
					m = exactSum(row) / float64(n)
				}
				for _, e := range row {
					v += (float64(e) - m) * (float64(e) - m)
				}
				s := 1 / math.Sqrt(v/float64(n)+eps)
				want, wantDx := make([]float64, n), make([]float64, n)
				sumG, sumGH := 0.0, 0.0
				for i, e := range row {
					h, d := (float64(e)-m)*s, float64(dy[r*n+i])
					want[i], wantDx[i] = h, d
					if g != nil {
						want[i] *= float64(g[i])
						wantDx[i] *= float64(g[i])
					}
					if centred {
						if b != nil {
							want[i] += float64(b[i])
						}
						sumG += wantDx[i]
					}
					sumGH += wantDx[i] * h
					wantG[i] += d * h
					wantB[i] += d
				}
				for i, e := range row {
					wantDx[i] = s * (wantDx[i] - sumG/float64(n) - (float64(e)-m)*s*sumGH/float64(n))
				}
				if n > 1 { // of one element, s and the gradient hang on eps and cancellation
					checkClose(t, "norm", y[r*n:], want, 8*tol)
					checkClose(t, "norm gradient", dx[r*n:], wantDx, 40*tol)
					checkClose(t, "rstd", rstd[r:], []float64{s}, 4*tol)
				}
			}
			if n > 1 {
				checkClose(t, "dgamma", dgamma, wantG, 20*tol)
				if centred {
					checkClose(t, "dbeta", dbeta, wantB, 20*tol)
				}
			}
		}
	}
}

func TestRowsFloat32(t *testing.T) {
	eachFamily(t, func(t *testing.T) { testRows[float32](t, 1e-6) })
}

func TestRowsFloat64(t *testing.T) {
	eachFamily(t, func(t *testing.T) { testRows[float64](t, 4e-15) })
}

// Results that go past the cache are the same.
func TestRowsPastTheCache(t *testing.T) {
	const n, rows = 272, stream.Threshold/4/272 + 1
	x, gamma, beta := normal[float32](1, 5*n, 3), normal[float32](2, n, 1), normal[float32](3, n, 1)
	all := make([]float32, rows*n)
	for i := 0; i < len(all); i += len(x) {
		copy(all[i:], x)
	}
	room := make([]float32, rows*n+16)
	dst := room[(64-uintptr(unsafe.Pointer(&room[0]))%64)/4%16:][:rows*n]
	for name, f := range map[string]func(dst, x []float32){
		"softmax":            func(dst, x []float32) { Softmax(dst, x, n) },
		"log_softmax":        func(dst, x []float32) { LogSoftmax(dst, x, n) },
		"layer_norm":         func(dst, x []float32) { LayerNorm(dst, x, gamma, beta, n, 1e-5, nil, nil) },
		"layer_norm, scaled": func(dst, x []float32) { LayerNorm(dst, x, gamma, nil, n, 1e-5, nil, nil) },
		"layer_norm, moved":  func(dst, x []float32) { LayerNorm(dst, x, nil, beta, n, 1e-5, nil, nil) },
		"layer_norm, plain":  func(dst, x []float32) { LayerNorm(dst, x, nil, nil, n, 1e-5, nil, nil) },
		"rms_norm":           func(dst, x []float32) { RMSNorm(dst, x, gamma, n, 1e-5, nil) },
	} {
		want := make([]float32, len(x))
		f(want, x)
		f(dst, all)
		for i, v := range dst {
			if v != want[i%len(x)] {
				t.Fatalf("%s: element %d is %v, want %v", name, i, v, want[i%len(x)])
			}
		}
	}
}

// The first element of a row is where its moments are counted from; one far away must
// not cost digits.
func TestLayerNormWithOutlier(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		for _, n := range []int{17, 200, 3000} {
			x := normal[float32](5, n, 1)
			for _, first := range []float32{0, 30, 1e4, -1e6} {
				x[0] = first
				dst, mean, rstd := make([]float32, n), make([]float32, 1), make([]float32, 1)
				LayerNorm(dst, x, nil, nil, n, 1e-5, mean, rstd)
				m := exactSum(x) / float64(n)
				v := 0.0
				for _, e := range x {
					v += (float64(e) - m) * (float64(e) - m)
				}
				want := 1 / math.Sqrt(v/float64(n)+1e-5)
				if math.Abs(float64(rstd[0])-want) > 1e-6*want || math.Abs(float64(mean[0])-m) > 1e-6*math.Max(1, math.Abs(m)) {
					t.Errorf("n = %d, first %v: mean %v, rstd %v, want %v, %v", n, first, mean[0], rstd[0], m, want)
				}
			}
		}
	})
}

// Rows that cannot take the quick way leave those before and after alone.
func TestSoftmaxOfMixedRows(t *testing.T) {
	const n = 40
	eachFamily(t, func(t *testing.T) {
		x := normal[float32](6, 7*n, 2)
		x[1*n+3] = float32(nan)
		for j := range n {
			x[3*n+j] = float32(-inf)
		}
		x[4*n] = 3e38
		want := make([]float32, len(x))
		for i := 0; i < len(x); i += n {
			Softmax(want[i:i+n], x[i:i+n], n)
		}
		Softmax(x, x, n)
		for i, v := range x {
			if v != want[i] && (v == v || want[i] == want[i]) {
				t.Fatalf("element %d: %v among other rows, %v alone", i, v, want[i])
			}
		}
		if want[4*n] != 1 || want[0] != want[0] || want[n] == want[n] || want[3*n] == want[3*n] {
			t.Errorf("rows begin with %v, %v, %v, %v", want[0], want[n], want[3*n], want[4*n])
		}
	})
}

func TestSoftmaxSpecials(t *testing.T) { eachFamily(t, testSoftmaxSpecials) }

func testSoftmaxSpecials(t *testing.T) {
	for _, n := range []int{2, 16, 19, 70} {
		for _, c := range []struct {
			name string
			at   map[int]float64
			want func(i int) float64
		}{
			{"NaN", map[int]float64{1: nan}, func(int) float64 { return nan }},
			{"+Inf", map[int]float64{0: inf}, func(int) float64 { return nan }},
			{"one -Inf", map[int]float64{1: -inf}, func(i int) float64 {
				if i == 1 {
					return 0
				}
				return 1 / float64(n-1)
			}},
			{"large", map[int]float64{0: 1000}, func(i int) float64 {
				if i == 0 {
					return 1
				}
				return 0
			}},
		} {
			x := make([]float32, n)
			for i, v := range c.at {
				x[i] = float32(v)
			}
			Softmax(x, x, n)
			for i, v := range x {
				if w := c.want(i); !close64(float64(v), w, 1e-6) || w == 0 && v != 0 {
					t.Errorf("%s n=%d: [%d] = %v, want %v", c.name, n, i, v, w)
				}
			}
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(-inf)
		}
		Softmax(x, x, n)
		if x[0] == x[0] {
			t.Errorf("all -Inf n=%d: %v, want NaN", n, x[0])
		}
	}
}

func TestLines(t *testing.T) {
	const outer, n, inner = 2, 5, 19
	x := normal[float64](9, outer*n*inner, 1)
	y := make([]float64, len(x))
	Lines(y, [][]float64{x}, outer, n, inner, func(dst []float64, x [][]float64) { Softmax(dst, x[0], n) })
	lines(x, [3]int{outer, n, inner}, func(line []float64, at int) {
		want := refSoftmax(line)
		for i := range want {
			if got := y[(at/inner*n+i)*inner+at%inner]; !close64(got, want[i], 1e-15) {
				t.Fatalf("line %d [%d]: got %v, want %v", at, i, got, want[i])
			}
		}
	})
}

func TestHalves(t *testing.T) {
	x := []dtype.F16{dtype.F16From(0), dtype.F16From(0), dtype.F16From(1), dtype.F16From(1)}
	Halves(x, [][]dtype.F16{x}, 2, func(dst []float32, x [][]float32) { Softmax(dst, x[0], 2) })
	for i, v := range x {
		if v != dtype.F16From(0.5) {
			t.Errorf("[%d] = %v, want 0.5", i, v)
		}
	}
}

// The result is the same however many workers there are, as blocks lie at fixed
// positions; see also the driver's comment. Splitting by hand must agree.
func TestBlocksAreFixed(t *testing.T) {
	x := normal[float32](11, 5*blockSize+123, 1)
	r := sumFloat[float32](false)
	serial := r.finish(r.row(x), len(x))
	var split [1]float32
	r.split(split[:], x, 1, len(x), 1)
	if split[0] != serial {
		t.Errorf("split %v, serial %v", split[0], serial)
	}
}
