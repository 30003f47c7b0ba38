package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// shapes cover empty, single, short, odd and multi-block runs in both layouts.
var shapes = [][3]int{
	{1, 0, 1}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}, {1, 1, 1}, {5, 1, 1}, {1, 5, 1}, {3, 7, 1}, {4, 17, 1}, {2, 33, 1}, {2, 100, 1},
	{1, 257, 3}, {2, 5, 67}, {3, 70, 65}, {1, 2000, 2}, {1, 70001, 1}, {2, 66000, 1}, {1, 1100, 70}, {1, 14000, 5}, {150, 300, 1}, {7, 4, 16}, {2, 16, 33}, {2, 3, 2100}, {5, 1, 20},
}

// lines calls f with each line along the middle dimension, gathered, and the
// index of its result.
func lines[T any](x []T, s [3]int, f func(line []T, at int)) {
	for o := range s[0] {
		for j := range s[2] {
			line := make([]T, s[1])
			for i := range line {
				line[i] = x[(o*s[1]+i)*s[2]+j]
			}
			f(line, o*s[2]+j)
		}
	}
}

func ptr[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

func reduceAll[D, S dtype.Native](t *testing.T, op Op, x []S, s [3]int) []D {
	t.Helper()
	f := Of(op, dtype.Of[S]())
	if f == nil {
		t.Fatalf("%v of %v: no kernel", op, dtype.Of[S]())
	}
	if got := op.Result(dtype.Of[S]()); got != dtype.Of[D]() {
		t.Fatalf("%v of %v gives %v", op, dtype.Of[S](), got)
	}
	dst := make([]D, s[0]*s[2])
	f(ptr(dst), ptr(x), s[0], s[1], s[2])
	return dst
}

func close64(got, want, tol float64) bool {
	return got == want || got != got && want != want || math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))
}

func testFloat[T float](t *testing.T, tol float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range shapes {
		x := make([]T, s[0]*s[1]*s[2])
		for i := range x {
			x[i] = T(rng.NormFloat64() + 3)
		}
		for _, special := range []string{"", "nan", "inf", "-inf"} {
			if len(x) > 20000 && special != "" {
				continue
			}
			if len(x) > 2 {
				switch special {
				case "nan":
					x[len(x)/2], x[len(x)/2-1] = T(nan), T(nan)
				case "inf":
					x[len(x)/2] = T(inf)
				case "-inf":
					x[len(x)/3] = T(-inf)
				}
			}
			for op, want := range map[Op]func(x []T) float64{
				Sum: func(x []T) float64 { return exactSum(x) },
				Mean: func(x []T) float64 {
					return exactSum(x) / float64(len(x))
				},
				Prod: func(x []T) float64 {
					p := 1.0
					for _, v := range x {
						p *= float64(v)
					}
					return float64(T(p))
				},
				Max: func(x []T) float64 {
					m := -inf
					for _, v := range x {
						m = math.Max(m, float64(v))
						if v != v {
							return nan
						}
					}
					return m
				},
				Min: func(x []T) float64 {
					m := inf
					for _, v := range x {
						m = math.Min(m, float64(v))
						if v != v {
							return nan
						}
					}
					return m
				},
				LogSumExp: func(x []T) float64 {
					m := -inf
					for _, v := range x {
						m = max(m, float64(v))
					}
					if math.IsInf(m, 0) || m != m {
						return m
					}
					s := 0.0
					for _, v := range x {
						s += math.Exp(float64(v) - m)
					}
					return m + math.Log(s)
				},
				SumSquares: func(x []T) float64 {
					s := 0.0
					for _, v := range x {
						s += float64(v) * float64(v)
					}
					return s
				},
				Variance: func(x []T) float64 {
					mean := exactSum(x) / float64(len(x))
					s := 0.0
					for _, v := range x {
						s += (float64(v) - mean) * (float64(v) - mean)
					}
					return s / float64(len(x))
				},
			} {
				t.Run(fmt.Sprint(op, s, special), func(t *testing.T) {
					got := reduceAll[T](t, op, x, s)
					lines(x, s, func(line []T, at int) {
						if w := want(line); !close64(float64(got[at]), w, tol) {
							t.Fatalf("[%d]: got %v, want %v", at, got[at], w)
						}
					})
				})
			}
			for op, better := range map[Op]func(a, b T) bool{
				ArgMax: func(a, b T) bool { return a > b },
				ArgMin: func(a, b T) bool { return a < b },
			} {
				got := reduceAll[int64](t, op, x, s)
				lines(x, s, func(line []T, at int) {
					best := 0
					for i, v := range line {
						if line[best] == line[best] && (v != v || better(v, line[best])) {
							best = i
						}
					}
					if got[at] != int64(best) {
						t.Fatalf("%v%v%s[%d]: got %d, want %d", op, s, special, at, got[at], best)
					}
				})
			}
		}
	}
}

// exactSum adds with compensation; a non-finite element decides by itself.
func exactSum[T float](x []T) float64 {
	var c compensated
	for _, v := range x {
		c = c.plus(compensated{sum: float64(v)})
	}
	return c.value()
}

func TestFloat32(t *testing.T) {
	eachFamily(t, func(t *testing.T) { testFloat[float32](t, 2e-6) })
}

func TestFloat64(t *testing.T) {
	eachFamily(t, func(t *testing.T) { testFloat[float64](t, 1e-13) })
}

func testInt[T integer](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range shapes {
		x := make([]T, s[0]*s[1]*s[2])
		for i := range x {
			x[i] = T(rng.Uint64())
			if i%3 == 0 {
				x[i] = T(i % 2)
			}
		}
		sums := reduceAll[T](t, Sum, x, s)
		prods := reduceAll[T](t, Prod, x, s)
		squares := reduceAll[T](t, SumSquares, x, s)
		maxs, mins := reduceAll[T](t, Max, x, s), reduceAll[T](t, Min, x, s)
		argmaxs, argmins := reduceAll[int64](t, ArgMax, x, s), reduceAll[int64](t, ArgMin, x, s)
		counts := reduceAll[int64](t, CountNonzero, x, s)
		means := reduceAll[float64](t, Mean, x, s)
		lo, hi := extremes[T]()
		lines(x, s, func(line []T, at int) {
			var sum, square T
			p, top, bottom, first, last, n, mean := T(1), lo, hi, 0, 0, int64(0), 0.0
			for i, v := range line {
				sum += v
				square += v * v
				p *= v
				top, bottom = max(top, v), min(bottom, v)
				if v > line[first] {
					first = i
				}
				if v < line[last] {
					last = i
				}
				if v != 0 {
					n++
				}
				mean += float64(v) / float64(len(line))
			}
			if sums[at] != sum || prods[at] != p || squares[at] != square || maxs[at] != top || mins[at] != bottom || counts[at] != n ||
				argmaxs[at] != int64(first) || argmins[at] != int64(last) {
				t.Fatalf("%v[%d]: got sum %v prod %v squares %v max %v min %v count %v argmax %v argmin %v, want %v %v %v %v %v %v %v %v", s, at,
					sums[at], prods[at], squares[at], maxs[at], mins[at], counts[at], argmaxs[at], argmins[at], sum, p, square, top, bottom, n, first, last)
			}
			scale := math.Max(math.Abs(float64(lo)), float64(hi))
			if len(line) > 0 && math.Abs(means[at]-mean) > 1e-12*scale {
				t.Fatalf("%v[%d]: got mean %v, want %v", s, at, means[at], mean)
			}
		})
	}
}

func TestIntegers(t *testing.T) {
	t.Run("int8", testInt[int8])
	t.Run("int16", testInt[int16])
	eachFamily(t, func(t *testing.T) {
		t.Run("int32", testInt[int32])
		t.Run("int64", testInt[int64])
	})
	t.Run("uint8", testInt[uint8])
	t.Run("uint16", testInt[uint16])
	t.Run("uint32", testInt[uint32])
	t.Run("uint64", testInt[uint64])
}

func TestBool(t *testing.T) {
	for _, c := range []struct {
		x        []bool
		any, all bool
		count    int64
	}{
		{nil, false, true, 0},
		{[]bool{false}, false, false, 0},
		{[]bool{true, true}, true, true, 2},
		{[]bool{false, true, false}, true, false, 1},
	} {
		if got, _ := Row[bool](Any, c.x); got != c.any {
			t.Errorf("any(%v) = %v", c.x, got)
		}
		if got, _ := Row[bool](All, c.x); got != c.all {
			t.Errorf("all(%v) = %v", c.x, got)
		}
		if got, _ := Row[int64](CountNonzero, c.x); got != c.count {
			t.Errorf("count_nonzero(%v) = %v", c.x, got)
		}
	}
	x := make([]bool, 3*200*70)
	x[1*200*70+150*70+69] = true
	got := reduceAll[bool](t, Any, x, [3]int{3, 200, 70})
	for i, v := range got {
		if v != (i == 1*70+69) {
			t.Errorf("any over columns [%d] = %v", i, v)
		}
	}
}

func TestHalfAccumulatesWide(t *testing.T) {
	// 4096 ones and as many 2^-11: a float16 accumulator would stop at 2048.
	x := make([]dtype.F16, 8192)
	for i := range x {
		x[i] = dtype.F16From(1)
		if i%2 == 1 {
			x[i] = dtype.F16From(0x1p-11)
		}
	}
	if got, _ := Row[dtype.F16](Sum, x); got.Float32() != 4098 && got.Float32() != 4100 && got.Float32() != 4096 {
		t.Errorf("sum = %v, want 4098 to float16's precision", got)
	}
	if got, _ := Row[dtype.F16](Mean, x); got != dtype.F16From(float32((4096+2)/8192.0)) {
		t.Errorf("mean = %v", got)
	}
	if got, _ := Row[int64](ArgMin, x); got != 1 {
		t.Errorf("argmin = %v, want 1", got)
	}
}

func TestEmptyResults(t *testing.T) {
	if got, _ := Row[float32](Mean, []float32{}); got == got {
		t.Errorf("mean of nothing = %v, want NaN", got)
	}
	if got, _ := Row[int32](Max, []int32{}); got != math.MinInt32 {
		t.Errorf("max of nothing = %v", got)
	}
	if got, _ := Row[uint8](Min, []uint8{}); got != 255 {
		t.Errorf("min of nothing = %v", got)
	}
	if got, _ := Row[float64](LogSumExp, []float64{}); !math.IsInf(got, -1) {
		t.Errorf("logsumexp of nothing = %v", got)
	}
	if got, _ := Row[complex64](Prod, []complex64{}); got != 1 {
		t.Errorf("prod of nothing = %v", got)
	}
}

func TestVarianceDoesNotCancel(t *testing.T) {
	x := []float32{10000, 10001, 10002}
	if got, _ := Row[float32](Variance, x); math.Abs(float64(got)-2./3) > 1e-7 {
		t.Errorf("variance = %v, want 2/3", got)
	}
	got := float32(0)
	VarianceOf(dtype.Float32, 1)(unsafe.Pointer(&got), ptr(x), 1, 3, 1)
	if got != 1 {
		t.Errorf("variance with ddof 1 = %v, want 1", got)
	}
}

func TestExtremeZeros(t *testing.T) {
	zero := float32(math.Copysign(0, -1))
	eachFamily(t, func(t *testing.T) {
		for n := 0; n < 70; n += 1 + n/20 {
			for at := range n {
				x := make([]float32, n)
				for i := range x {
					x[i] = zero
				}
				if m, _ := Row[float32](Max, x); !math.Signbit(float64(m)) {
					t.Fatalf("max of %d times -0 is +0", n)
				}
				x[at] = 0
				if m, _ := Row[float32](Max, x); math.Signbit(float64(m)) {
					t.Fatalf("max with +0 at %d of %d is -0", at, n)
				}
				for i := range x {
					x[i] = 0
				}
				x[at] = zero
				if m, _ := Row[float32](Min, x); !math.Signbit(float64(m)) {
					t.Fatalf("min with -0 at %d of %d is +0", at, n)
				}
			}
		}
	})
}

// NaN wins wherever it stands.
func TestExtremeNaN(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		for n := 1; n < 70; n += 1 + n/20 {
			for at := range n {
				x := make([]float64, n)
				for i := range x {
					x[i] = float64(i)
				}
				x[at] = nan
				if m, _ := Row[float64](Max, x); m == m {
					t.Fatalf("max with NaN at %d of %d is %v", at, n, m)
				}
				if i, _ := Row[int64](ArgMin, x); i != int64(at) {
					t.Fatalf("argmin with NaN at %d of %d is %d", at, n, i)
				}
			}
		}
	})
}
