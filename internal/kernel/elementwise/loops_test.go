package elementwise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// lengths are all up to three of the longest vectors and one more, for bytes and
// for words, and some beyond the main loops.
func lengths() []int {
	var ns []int
	for n := range 3*16 + 2 {
		ns = append(ns, n)
	}
	return append(ns, 63, 64, 65, 96, 127, 128, 129, 200, 255, 1000)
}

var pools sync.Map // values by element type

// values returns n elements among which special ones are frequent, a stretch of a
// pool that is made once. They may not be changed.
func values[T dtype.Number](rng *rand.Rand, n int) []T {
	const size = 8192
	var t T
	pool, ok := pools.Load(any(t))
	if !ok {
		pool, _ = pools.LoadOrStore(any(t), newValues[T](size))
	}
	at := rng.IntN(size - n)
	return pool.([]T)[at : at+n : at+n]
}

func newValues[T dtype.Number](n int) []T {
	rng := rand.New(rand.NewPCG(11, 12))
	x := make([]T, n)
	for i := range x {
		switch p := any(&x[i]).(type) {
		case *float32:
			*p = []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)),
				math.SmallestNonzeroFloat32, 1, -1, 2.5, 3.5, -0.5, math.MaxFloat32, float32(rng.NormFloat64()), float32(rng.NormFloat64()), 1 << 31, 1 << 63, -1 << 31, 3e9}[rng.IntN(18)]
		case *float64:
			*p = []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 1, -1, 2.5, 3.5, -0.5, math.MaxFloat64,
				rng.NormFloat64(), rng.NormFloat64(), 1 << 31, 1 << 63, -1 << 31, 1<<31 - 1, 1<<31 - 0.5, 1e10}[rng.IntN(20)]
		case *int32:
			*p = []int32{0, 1, -1, math.MaxInt32, math.MinInt32, int32(rng.Uint32()), int32(rng.Uint32()), 7}[rng.IntN(8)]
		case *int64:
			*p = []int64{0, 1, -1, math.MaxInt64, math.MinInt64, int64(rng.Uint64()), int64(rng.Uint64()), 1<<32 + 5}[rng.IntN(8)]
		case *uint8:
			*p = uint8(rng.Uint32())
		case *dtype.F16:
			*p = dtype.F16(rng.Uint32())
		case *dtype.BF16:
			*p = dtype.BF16(rng.Uint32())
		}
	}
	return x
}

// same compares bits, any NaN being like any other.
func same[T any](a, b T) bool {
	switch a := any(a).(type) {
	case float32:
		b := any(b).(float32)
		return a != a && b != b || math.Float32bits(a) == math.Float32bits(b)
	case float64:
		b := any(b).(float64)
		return a != a && b != b || math.Float64bits(a) == math.Float64bits(b)
	case dtype.F16:
		b := any(b).(dtype.F16)
		return a == b || a.Float32() != a.Float32() && b.Float32() != b.Float32()
	case dtype.BF16:
		b := any(b).(dtype.BF16)
		return a == b || a.Float32() != a.Float32() && b.Float32() != b.Float32()
	}
	return any(a) == any(b)
}

// guarded calls f with a destination of n elements, at odd offsets within a
// larger array, and reports writes outside it.
func guarded[T any](t *testing.T, what string, n, offset int, guard T, f func(dst []T)) []T {
	t.Helper()
	const margin = 40
	all := make([]T, margin+offset+n+margin)
	splat(all, guard)
	dst := all[margin+offset:][:n:n]
	f(dst)
	for i, v := range all {
		if (i < margin+offset || i >= margin+offset+n) && !same(v, guard) {
			t.Fatalf("%s, n = %d: element %d outside is %v", what, n, i-margin-offset, v)
		}
	}
	return dst
}

// plain returns the plain Go kernels, which are the definition.
func plainUnary[T dtype.Number](op Op) func(dst, x []T) {
	var f any
	switch any((*T)(nil)).(type) {
	case *float32:
		f = unaryFloat[float32](op)
	case *float64:
		f = unaryFloat[float64](op)
	case *int32:
		f = unarySigned[int32](op)
	case *int64:
		f = unarySigned[int64](op)
	}
	k, _ := f.(func(dst, x []T))
	return k
}

func plainBinary[T dtype.Number](op Op) func(dst, x, y []T) int {
	var f any
	switch any((*T)(nil)).(type) {
	case *float32:
		f = binaryFloat[float32](op)
	case *float64:
		f = binaryFloat[float64](op)
	case *int32:
		f = binarySigned[int32](op)
	case *int64:
		f = binarySigned[int64](op)
	}
	k, _ := f.(func(dst, x, y []T) int)
	return k
}

func testUnaryLoops[T dtype.Number](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for op := Abs; op < Add; op++ {
		f, plain := Unary[T](op), plainUnary[T](op)
		if f == nil {
			continue
		}
		exact := bounds[op] == [2]float64{} && op != GeluTanh && op != Gelu
		for i, n := range lengths() {
			x := values[T](rng, n+3)[i%4:][:max(0, n-3)]
			n := len(x)
			want := make([]T, n)
			if exact {
				plain(want, x)
			} else { // each by itself: no result depends on its place
				for j := range x {
					f(want[j:j+1], x[j:j+1])
				}
			}
			got := guarded(t, op.String(), n, i%5, T(7), func(dst []T) { f(dst, x) })
			in := append([]T(nil), x...)
			f(in, in)
			for j := range want {
				if !same(got[j], want[j]) || !same(in[j], want[j]) {
					t.Fatalf("%v(%v) = %v, in place %v, want %v (n = %d, at %d)", op, x[j], got[j], in[j], want[j], n, j)
				}
			}
		}
	}
}

func testBinaryLoops[T dtype.Number](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for op := Add; op < Equal; op++ {
		f, vs, sv, plain := Binary[T](op), BinaryVS[T](op), BinarySV[T](op), plainBinary[T](op)
		if f == nil || op == Pow && !dtype.Of[T]().IsFloat() {
			continue
		}
		for i, n := range lengths() {
			x, y := values[T](rng, n+1)[i%2:][:n], values[T](rng, n+2)[i%3:][:n]
			want, wantVS, wantSV := make([]T, n), make([]T, n), make([]T, n)
			if op == Elu {
				for j := range x {
					f(want[j:j+1], x[j:j+1], y[j:j+1])
				}
			} else if plain(want, x, y) >= 0 {
				continue // a zero divisor: see TestDivisionByZero
			}
			got := guarded(t, op.String(), n, i%5, T(7), func(dst []T) { f(dst, x, y) })
			left, right := append([]T(nil), x...), append([]T(nil), y...)
			f(left, left, y)
			f(right, x, right)
			if n > 0 {
				ys, xs := make([]T, n), make([]T, n)
				splat(ys, y[0])
				splat(xs, x[0])
				f(wantVS, x, ys)
				f(wantSV, xs, y)
				gotVS := guarded(t, op.String()+" VS", n, i%5, T(7), func(dst []T) { vs(dst, x, y[0]) })
				gotSV := guarded(t, op.String()+" SV", n, i%5, T(7), func(dst []T) { sv(dst, x[0], y) })
				for j := range want {
					if !same(gotVS[j], wantVS[j]) || !same(gotSV[j], wantSV[j]) {
						t.Fatalf("%v: (%v, scalar %v) = %v, want %v; (scalar %v, %v) = %v, want %v (n = %d, at %d)", op,
							x[j], y[0], gotVS[j], wantVS[j], x[0], y[j], gotSV[j], wantSV[j], n, j)
					}
				}
			}
			for j := range want {
				if !same(got[j], want[j]) || !same(left[j], want[j]) || !same(right[j], want[j]) {
					t.Fatalf("%v(%v, %v) = %v, in place %v and %v, want %v (n = %d, at %d)", op, x[j], y[j], got[j], left[j], right[j], want[j], n, j)
				}
			}
		}
	}
}

func testCompareLoops[T ordered](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for op := Equal; op <= GreaterEqual; op++ {
		f, vs, sv := Compare[T](op), CompareVS[T](op), CompareSV[T](op)
		plain := comparison[T](op)
		for i, n := range lengths() {
			x, y := values[T](rng, n+1)[i%2:][:n], values[T](rng, n+1)[i%2:][:n]
			want, wantVS, wantSV := make([]bool, n), make([]bool, n), make([]bool, n)
			plain(want, x, y)
			got := guarded(t, op.String(), n, i%5, true, func(dst []bool) { f(dst, x, y) })
			if n == 0 {
				continue
			}
			ys, xs := make([]T, n), make([]T, n)
			splat(ys, y[0])
			splat(xs, x[0])
			plain(wantVS, x, ys)
			plain(wantSV, xs, y)
			gotVS := guarded(t, op.String()+" VS", n, i%5, true, func(dst []bool) { vs(dst, x, y[0]) })
			gotSV := guarded(t, op.String()+" SV", n, i%5, false, func(dst []bool) { sv(dst, x[0], y) })
			for j := range want {
				if got[j] != want[j] || gotVS[j] != wantVS[j] || gotSV[j] != wantSV[j] {
					t.Fatalf("%v(%v, %v): got %v, with scalars %v %v and %v %v: %v, %v (n = %d, at %d)", op, x[j], y[j], got[j],
						x[j], y[0], x[0], y[j], gotVS[j], gotSV[j], n, j)
				}
				for _, b := range [][]bool{got, gotVS, gotSV} {
					if raw := bytesOf(b)[j]; raw > 1 {
						t.Fatalf("%v: byte %#x is no bool", op, raw)
					}
				}
			}
		}
	}
}

func testSelectLoops[T dtype.Number](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for i, n := range lengths() {
		x, y := values[T](rng, n+1)[i%2:][:n], values[T](rng, n+1)[i%2:][:n]
		cond := make([]bool, n)
		for j := range cond {
			cond[j] = rng.IntN(2) == 0
		}
		got := guarded(t, "select", n, i%5, T(7), func(dst []T) { Select(dst, cond, x, y) })
		in := append([]T(nil), y...)
		Select(in, cond, x, in)
		for j := range cond {
			want := y[j]
			if cond[j] {
				want = x[j]
			}
			if !same(got[j], want) || !same(in[j], want) {
				t.Fatalf("select(%v, %v, %v) = %v, in place %v (n = %d, at %d)", cond[j], x[j], y[j], got[j], in[j], n, j)
			}
		}
	}
}

func testTernaryLoops[T float](t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	dt := dtype.Of[T]()
	for op, want := range map[Op]func(x, y, z T) T{
		Lerp: func(x, y, z T) T { return x + T(z*T(y-x)) },
		Clip: func(x, y, z T) T { return min(max(x, y), z) },
		FMA: func(x, y, z T) T {
			if dt == dtype.Float64 {
				return T(math.FMA(float64(x), float64(y), float64(z)))
			}
			var r [1]float32
			fma32(r[:], []float32{float32(x)}, []float32{float32(y)}, []float32{float32(z)})
			return T(r[0])
		},
	} {
		f := Ternary[T](op)
		for i, n := range lengths() {
			x, y, z := values[T](rng, n+1)[i%2:][:n], values[T](rng, n), values[T](rng, n+2)[1:][:n]
			got := guarded(t, op.String(), n, i%5, T(7), func(dst []T) { f(dst, x, y, z) })
			for j := range x {
				if w := want(x[j], y[j], z[j]); !same(got[j], w) {
					t.Fatalf("%v(%v, %v, %v) = %v, want %v (n = %d, at %d)", op, x[j], y[j], z[j], got[j], w, n, j)
				}
			}
			if n == 0 {
				continue
			}
			for scalars := range uint8(8) {
				got := guarded(t, op.String(), n, i%5, T(7), func(dst []T) {
					TernaryOf(op, dt)(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), unsafe.Pointer(&z[0]), n, scalars)
				})
				for j := range x {
					a, b, c := x[j], y[j], z[j]
					if scalars&1 != 0 {
						a = x[0]
					}
					if scalars&2 != 0 {
						b = y[0]
					}
					if scalars&4 != 0 {
						c = z[0]
					}
					if w := want(a, b, c); !same(got[j], w) {
						t.Fatalf("%v(%v, %v, %v) = %v, want %v (scalars %b, n = %d, at %d)", op, a, b, c, got[j], w, scalars, n, j)
					}
				}
			}
			clipped := guarded(t, "clip", n, i%5, T(7), func(dst []T) { ClipScalar(dst, x, -1, 2.5) })
			for j := range x {
				if w := min(max(x[j], -1), 2.5); !same(clipped[j], w) {
					t.Fatalf("clip(%v, -1, 2.5) = %v, want %v", x[j], clipped[j], w)
				}
			}
		}
	}
}

func TestLoops(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		t.Run("unary", func(t *testing.T) {
			testUnaryLoops[float32](t)
			testUnaryLoops[float64](t)
			testUnaryLoops[int32](t)
			testUnaryLoops[int64](t)
		})
		t.Run("binary", func(t *testing.T) {
			testBinaryLoops[float32](t)
			testBinaryLoops[float64](t)
			testBinaryLoops[int32](t)
			testBinaryLoops[int64](t)
		})
		t.Run("compare", func(t *testing.T) {
			testCompareLoops[float32](t)
			testCompareLoops[float64](t)
			testCompareLoops[int32](t)
			testCompareLoops[int64](t)
		})
		t.Run("select", func(t *testing.T) {
			testSelectLoops[float32](t)
			testSelectLoops[int64](t)
			testSelectLoops[uint8](t)
		})
		t.Run("ternary", func(t *testing.T) {
			testTernaryLoops[float32](t)
			testTernaryLoops[float64](t)
		})
	})
}

// Arrays longer than one call into assembly covers.
func TestLongArrays(t *testing.T) {
	const n = 3<<16 + 5
	eachFamily(t, func(t *testing.T) {
		x, dst, less := make([]float32, n), make([]float32, n), make([]bool, n)
		for i := range x {
			x[i] = float32(i)
		}
		check := func(what string, want func(i int) float32) {
			t.Helper()
			for i, v := range dst {
				if v != want(i) {
					t.Fatalf("%s [%d] = %v", what, i, v)
				}
			}
		}
		Unary[float32](Neg)(dst, x)
		check("neg", func(i int) float32 { return -float32(i) })
		Binary[float32](Add)(dst, x, x)
		check("add", func(i int) float32 { return 2 * float32(i) })
		BinaryVS[float32](Sub)(dst, x, 1)
		check("sub scalar", func(i int) float32 { return float32(i) - 1 })
		BinarySV[float32](Sub)(dst, 1, x)
		check("scalar sub", func(i int) float32 { return 1 - float32(i) })
		Ternary[float32](Clip)(dst, x, x, x)
		check("clip", func(i int) float32 { return float32(i) })
		ClipScalar(dst, x, 0, 100)
		check("clip scalar", func(i int) float32 { return min(float32(i), 100) })
		CompareVS[float32](Less)(less, x, 70000)
		Select(dst, less, x, dst)
		check("select", func(i int) float32 {
			if i < 70000 {
				return float32(i)
			}
			return 100
		})
		Compare[float32](Equal)(less, x, dst)
		if less[70001] || !less[69999] || !less[0] || less[n-1] {
			t.Error("equal is wrong")
		}
		ints := make([]int64, n)
		Cast(ints, x)
		if ints[n-1] != n-1 || ints[65536] != 65536 {
			t.Errorf("cast: %v, %v", ints[n-1], ints[65536])
		}
		Unary[float32](Sin)(dst, x)
		check("sin", func(i int) float32 {
			y := []float32{x[i]}
			Unary[float32](Sin)(y, y)
			return y[0]
		})
	})
}

func TestTrigonometryBeyondTheVectorRange(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		x := make([]float32, 100)
		for i := range x {
			x[i] = float32(i)
		}
		x[3], x[40], x[99] = 1e22, float32(math.Inf(1)), 3e5
		want := make([]float32, len(x))
		for i := range x {
			Unary[float32](Sin)(want[i:i+1], x[i:i+1])
		}
		Unary[float32](Sin)(x, x)
		for i := range x {
			if !same(x[i], want[i]) {
				t.Errorf("[%d] = %v in a vector, %v alone", i, x[i], want[i])
			}
		}
	})
}

func ExampleBinaryOf() {
	x, y := []float32{1, 2, 3}, []float32{10}
	f := BinaryOf(Add, dtype.Float32, VS)
	f(unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), len(x))
	fmt.Println(x)
	// Output: [11 12 13]
}
