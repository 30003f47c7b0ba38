package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

func TestStreamOf(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 5, 16, 100, 1000} {
			for offset := range 3 {
				x, y := normal[float32](1, n), normal[float32](2, n)
				for op := Abs; op < Equal; op++ {
					if f := UnaryOf(op, dtype.Float32); f != nil {
						want := make([]float32, n)
						f(ptr(want), ptr(x), n)
						got := guarded(t, op.String(), n, offset, 7, func(dst []float32) { StreamUnaryOf(op, dtype.Float32)(ptr(dst), ptr(x), n) })
						for i := range want {
							if !same(got[i], want[i]) {
								t.Fatalf("%v(%v) = %v, want %v", op, x[i], got[i], want[i])
							}
						}
					}
					for _, form := range []Form{VV, VS, SV} {
						f := BinaryOf(op, dtype.Float32, form)
						if f == nil || n == 0 {
							continue
						}
						want := make([]float32, n)
						f(ptr(want), ptr(x), ptr(y), n)
						got := guarded(t, op.String(), n, offset, 7, func(dst []float32) {
							if bad := StreamBinaryOf(op, dtype.Float32, form)(ptr(dst), ptr(x), ptr(y), n); bad != -1 {
								t.Fatalf("%v: bad element %d", op, bad)
							}
						})
						for i := range want {
							if !same(got[i], want[i]) {
								t.Fatalf("%v(%v, %v) = %v in form %d, want %v", op, x[i], y[i], got[i], form, want[i])
							}
						}
					}
				}
			}
		}
	})
	bools := make([]bool, 3)
	StreamUnaryOf(IsNaN, dtype.Float64)(ptr(bools), ptr([]float64{1, math.NaN(), 2}), 3)
	if [3]bool(bools) != [3]bool{false, true, false} {
		t.Errorf("is_nan: %v", bools)
	}
	parts := make([]float32, 2)
	StreamUnaryOf(ImagPart, dtype.Complex64)(ptr(parts), ptr([]complex64{1i, 2i}), 2)
	if parts[0] != 1 || parts[1] != 2 {
		t.Errorf("imaginary parts: %v", parts)
	}
}

func normal[T float](seed uint64, n int) []T {
	rng := rand.New(rand.NewPCG(seed, 3))
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

func TestStream(t *testing.T) {
	for _, n := range []int{0, 1, 100, 1024, 5000} {
		x, y, want, got := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], y[i] = float32(i), float32(2*i)
		}
		Unary[float32](Sqrt)(want, x)
		StreamUnary(UnaryOf(Sqrt, dtype.Float32), 4, 4)(ptr(got), ptr(x), n)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("sqrt, n = %d: element %d is %v, want %v", n, i, got[i], want[i])
			}
		}
		wide := make([]float64, n)
		StreamUnary(CastOf(dtype.Float64, dtype.Float32), 8, 4)(ptr(wide), ptr(x), n)
		for i := range wide {
			if wide[i] != float64(x[i]) {
				t.Fatalf("cast, n = %d: element %d is %v", n, i, wide[i])
			}
		}
		if n == 0 {
			continue
		}
		for _, form := range []Form{VV, VS, SV} {
			f := BinaryOf(Sub, dtype.Float32, form)
			f(ptr(want), ptr(x), ptr(y), n)
			if bad := StreamBinary(f, 4, 4, form)(ptr(got), ptr(x), ptr(y), n); bad != -1 {
				t.Fatalf("bad element %d", bad)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("sub in form %d, n = %d: element %d is %v, want %v", form, n, i, got[i], want[i])
				}
			}
		}
	}
	d, r := make([]int64, 3000), make([]int64, 3000)
	splat(d, 3)
	d[2500] = 0
	if bad := StreamBinary(BinaryOf(Mod, dtype.Int64, VV), 8, 8, VV)(ptr(r), ptr(d), ptr(d), len(d)); bad != 2500 {
		t.Errorf("division by zero reported at %d, want 2500", bad)
	}
}

func ptr[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
