package elementwise

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// testCast compares a cast with a reference for lengths around the kernels' steps.
func testCast[D, S dtype.Number](t *testing.T, want func(S) D) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 9))
	for i, n := range lengths() {
		x := values[S](rng, n+1)[i%2:][:n]
		got := guarded(t, "cast", n, i%5, D(7), func(dst []D) { Cast(dst, x) })
		for j, v := range x {
			if w := want(v); !same(got[j], w) {
				t.Fatalf("%v(%v) = %v, want %v (from %v, n = %d, at %d)", dtype.Of[D](), v, got[j], w, dtype.Of[S](), n, j)
			}
		}
	}
}

// saturated is the definition in exact arithmetic.
func saturated[D integer](v float64) D {
	if v != v {
		return 0
	}
	lo, hi := limits[D]()
	if math.IsInf(v, 1) || big.NewFloat(v).Cmp(new(big.Float).SetInt64(int64(min(uint64(hi), math.MaxInt64)))) >= 0 && uint64(hi) <= math.MaxInt64 {
		return hi
	}
	if v <= float64(lo) {
		return lo
	}
	i, _ := big.NewFloat(v).Int(nil)
	if !i.IsInt64() && !i.IsUint64() {
		return hi
	}
	if i.IsUint64() {
		return D(i.Uint64())
	}
	return D(i.Int64())
}

func TestCast(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		testCast(t, func(v float32) float64 { return float64(v) })
		testCast(t, func(v float64) float32 { return float32(v) })
		testCast(t, func(v int32) float32 { return float32(v) })
		testCast(t, func(v int32) float64 { return float64(v) })
		testCast(t, func(v int32) int64 { return int64(v) })
		testCast(t, func(v int64) int32 { return int32(v) })
		testCast(t, func(v int64) float32 { return float32(v) })
		testCast(t, func(v int64) float64 { return float64(v) })
		testCast(t, func(v uint8) float32 { return float32(v) })
		testCast(t, func(v uint8) int32 { return int32(v) })
		testCast(t, func(v float32) int32 { return saturated[int32](float64(v)) })
		testCast(t, func(v float64) int32 { return saturated[int32](v) })
		testCast(t, func(v float32) int64 { return saturated[int64](float64(v)) })
		testCast(t, func(v float64) int64 { return saturated[int64](v) })
		testCast(t, func(v float64) uint8 { return saturated[uint8](v) })
		testCast(t, func(v float32) int16 { return saturated[int16](float64(v)) })
		testCast(t, func(v float64) uint64 { return saturated[uint64](v) })
		testCast(t, func(v dtype.F16) float32 { return v.Float32() })
		testCast(t, func(v dtype.BF16) float32 { return v.Float32() })
		testCast(t, dtype.F16From)
		testCast(t, dtype.BF16From)
		testCast(t, dtype.F16From64)
		testCast(t, func(v dtype.F16) int32 { return saturated[int32](float64(v.Float32())) })
		testCast(t, func(v int64) int64 { return v })
	})
}

// Rounding twice, through float64, would go wrong here.
func TestCastRoundsOnce(t *testing.T) {
	for _, c := range []struct {
		v    int64
		want dtype.BF16
	}{
		{1<<62 + 1<<54, 0x5e80},        // a tie: to even
		{1<<62 + 1<<54 + 1, 0x5e81},    // just above it
		{-(1<<62 + 1<<54 + 1), 0xde81}, //
		{1<<62 + 3<<54 - 1, 0x5e81},    // just below a tie
		{math.MaxInt64, 0x5f00},        //
		{0, 0}, {1, 0x3f80}, {-3, 0xc040},
	} {
		var got [1]dtype.BF16
		Cast(got[:], []int64{c.v})
		if got[0] != c.want {
			t.Errorf("bfloat16(%d) = %#x, want %#x", c.v, uint16(got[0]), uint16(c.want))
		}
	}
	var got [1]dtype.F16
	Cast(got[:], []uint64{1<<63 + 1})
	if got[0] != 0x7c00 {
		t.Errorf("float16(2^63+1) = %#x, want infinity", uint16(got[0]))
	}
}

func TestCastBoolAndComplex(t *testing.T) {
	var b [4]bool
	Cast(b[:], []float64{0, math.Copysign(0, -1), math.NaN(), 0.1})
	if b != [4]bool{false, false, true, true} {
		t.Errorf("bool of floats: %v", b)
	}
	var f [2]float32
	Cast(f[:], []bool{true, false})
	if f != [2]float32{1, 0} {
		t.Errorf("float32 of bools: %v", f)
	}
	var i [2]int16
	Cast(i[:], []complex128{3.9 + 5i, -1e9})
	if i != [2]int16{3, math.MinInt16} {
		t.Errorf("int16 of complex numbers: %v", i)
	}
	Cast(b[:2], []complex64{0, 1i})
	if b[0] || !b[1] {
		t.Errorf("bool of complex numbers: %v", b[:2])
	}
	var c [1]complex64
	Cast(c[:], []complex128{complex(1, 1e300)})
	if c[0] != complex(1, float32(math.Inf(1))) {
		t.Errorf("complex64 of complex128: %v", c)
	}
	var h [1]dtype.F16
	Cast(h[:], []dtype.BF16{dtype.BF16From(1.5)})
	if h[0] != dtype.F16From(1.5) {
		t.Errorf("float16 of bfloat16: %v", h)
	}
}

// Every pair of types takes every length, a block's border included.
func TestCastLengths(t *testing.T) {
	for _, to := range dtype.All() {
		for _, from := range dtype.All() {
			f := CastOf(to, from)
			if f == nil {
				continue
			}
			for _, n := range []int{0, 1, 17, 2049} {
				x := make([]byte, n*from.Size()+16)
				y := make([]byte, n*to.Size()+16)
				for i := n * to.Size(); i < len(y); i++ {
					y[i] = 0xa5
				}
				f(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), n)
				for i, v := range y {
					if want := byte(0xa5); i < n*to.Size() && v != 0 || i >= n*to.Size() && v != want {
						t.Fatalf("%v of %v, n = %d: byte %d is %#x", to, from, n, i, v)
					}
				}
			}
		}
	}
}
