package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

func scanned[T dtype.Native](t *testing.T, op ScanOp, x []T, s [3]int, exclusive, reverse bool) []T {
	t.Helper()
	f := Scan(op, dtype.Of[T]())
	if f == nil {
		t.Fatalf("no scan %d of %v", op, dtype.Of[T]())
	}
	dst := make([]T, len(x))
	f(ptr(dst), ptr(x), s[0], s[1], s[2], exclusive, reverse)
	return dst
}

func TestScanIsTheReductionOfEachPrefix(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for op, reduction := range map[ScanOp]Op{CumSum: Sum, CumProd: Prod, CumMax: Max, CumMin: Min, CumLogSumExp: LogSumExp} {
		for _, s := range [][3]int{{1, 1, 1}, {2, 9, 1}, {1, 6, 3}, {2, 4, 67}, {0, 3, 1}, {2, 0, 2}} {
			for mode := range 4 {
				exclusive, reverse := mode&1 != 0, mode&2 != 0
				t.Run(fmt.Sprint(op, s, exclusive, reverse), func(t *testing.T) {
					x := make([]float64, s[0]*s[1]*s[2])
					for i := range x {
						x[i] = rng.NormFloat64()
					}
					if len(x) > 40 {
						x[20], x[30], x[31] = nan, inf, -inf
					}
					x32 := make([]float32, len(x))
					ints := make([]int16, len(x))
					for i, v := range x {
						x32[i] = float32(v)
						ints[i] = int16(rng.Uint32())
					}
					got := scanned(t, op, x, s, exclusive, reverse)
					got32 := scanned(t, op, x32, s, exclusive, reverse)
					var gotInts []int16
					if op != CumLogSumExp {
						gotInts = scanned(t, op, ints, s, exclusive, reverse)
					}
					for o := range s[0] {
						for j := range s[2] {
							for i := range s[1] {
								var prefix []float64
								var prefixInts []int16
								for k := range s[1] {
									before := k < i
									if reverse {
										before = k > i
									}
									if before || k == i && !exclusive {
										prefix = append(prefix, x[(o*s[1]+k)*s[2]+j])
										prefixInts = append(prefixInts, ints[(o*s[1]+k)*s[2]+j])
									}
								}
								at := (o*s[1]+i)*s[2] + j
								want, _ := Row[float64](reduction, prefix)
								if !close64(got[at], want, 1e-14) {
									t.Fatalf("float64 [%d]: got %v, want %v", at, got[at], want)
								}
								if !close64(float64(got32[at]), want, 1e-5) {
									t.Fatalf("float32 [%d]: got %v, want %v", at, got32[at], want)
								}
								if gotInts != nil {
									if want, _ := Row[int16](reduction, prefixInts); gotInts[at] != want {
										t.Fatalf("int16 [%d]: got %v, want %v", at, gotInts[at], want)
									}
								}
							}
						}
					}
				})
			}
		}
	}
}

func TestScanInPlace(t *testing.T) {
	x := []int32{1, 2, 3, 4}
	Scan(CumSum, dtype.Int32)(ptr(x), ptr(x), 1, 4, 1, true, true)
	if want := [4]int32{9, 7, 4, 0}; [4]int32(x) != want {
		t.Errorf("got %v, want %v", x, want)
	}
}

func TestScanSumOfHalves(t *testing.T) {
	x := make([]dtype.BF16, 600)
	for i := range x {
		x[i] = dtype.BF16From(1)
	}
	got := scanned(t, CumSum, x, [3]int{1, 600, 1}, false, false)
	// bfloat16 counts by ones to 256 only; a wide accumulator goes on.
	if got[599] != dtype.BF16From(600) {
		t.Errorf("sum of 600 ones = %v", got[599])
	}
	if math.IsNaN(float64(got[0].Float32())) {
		t.Error("first sum is NaN")
	}
}
