package elementwise

import (
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

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
