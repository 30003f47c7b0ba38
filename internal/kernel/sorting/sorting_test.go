package sorting

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

func real64[T dtype.Real](v T) float64 {
	switch v := any(v).(type) {
	case dtype.F16:
		return float64(v.Float32())
	case dtype.BF16:
		return float64(v.Float32())
	}
	return float64(v)
}

func same[T dtype.Real](a, b T) bool {
	x, y := real64(a), real64(b)
	return x == y || x != x && y != y
}

// order is the order of the package's documentation.
func order[T dtype.Real](a, b T, descending bool) int {
	x, y := real64(a), real64(b)
	if dtype.Of[T]().IsInteger() && dtype.Of[T]().Size() == 8 { // beyond 53 bits
		switch {
		case a == b:
			return 0
		case a < b != descending:
			return -1
		}
		return 1
	}
	switch {
	case x != x && y != y || x == y:
		return 0
	case x != x:
		return 1
	case y != y:
		return -1
	case x < y != descending:
		return -1
	}
	return 1
}

// random draws from all bit patterns and from a few values, so that there are ties,
// extremes, infinities and NaNs of both signs.
func random[T dtype.Real](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		bits := rng.Uint64()
		if rng.IntN(2) == 0 {
			bits = []uint64{0, 1, 2, math.MaxUint64, 1 << 63, 0x8000000080008080, 0x7f80000000000000, 0x7c007c007c007c00}[rng.IntN(8)]
		}
		switch p := any(&x[i]).(type) {
		case *float32:
			*p = math.Float32frombits(uint32(bits >> 32))
		case *float64:
			*p = math.Float64frombits(bits)
		case *dtype.F16:
			*p = dtype.F16(bits)
		case *dtype.BF16:
			*p = dtype.BF16(bits)
		default:
			x[i] = T(bits)
		}
	}
	return x
}

func eachType(t *testing.T, f32, f64, f16, bf16, i8, i16, i32, i64, i, u8, u16, u32, u64 func(*testing.T)) {
	for name, f := range map[string]func(*testing.T){"float32": f32, "float64": f64, "float16": f16, "bfloat16": bf16,
		"int8": i8, "int16": i16, "int32": i32, "int64": i64, "int": i, "uint8": u8, "uint16": u16, "uint32": u32, "uint64": u64} {
		t.Run(name, f)
	}
}

func TestSort(t *testing.T) {
	eachType(t, testSort[float32], testSort[float64], testSort[dtype.F16], testSort[dtype.BF16], testSort[int8], testSort[int16],
		testSort[int32], testSort[int64], testSort[int], testSort[uint8], testSort[uint16], testSort[uint32], testSort[uint64])
}

func testSort[T dtype.Real](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 10, 23, 24, 25, 100, 1023, 1024, 5000} {
		for _, descending := range []bool{false, true} {
			x := random[T](rng, n)
			want := make([]int64, n)
			for i := range want {
				want[i] = int64(i)
			}
			slices.SortStableFunc(want, func(a, b int64) int { return order(x[a], x[b], descending) })
			got := make([]int64, n)
			ArgSort(got, x, descending)
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("ArgSort of %d, descending %v: %d is at %d, want %d", n, descending, got[i], i, want[i])
				}
			}
			sorted := slices.Clone(x)
			Sort(sorted, descending)
			for i := range sorted {
				if !same(sorted[i], x[want[i]]) {
					t.Fatalf("Sort of %d, descending %v: %v is at %d, want %v", n, descending, sorted[i], i, x[want[i]])
				}
			}
		}
		x := random[T](rng, n)
		largest := make([]int64, n)
		ArgSort(largest, x, true)
		for _, k := range []int{0, 1, 2, 10, 64, 65, n} {
			if k > n {
				continue
			}
			values, at := make([]T, k), make([]int64, k)
			TopK(values, at, x)
			for i, p := range at {
				if p != largest[i] || !same(values[i], x[p]) {
					t.Fatalf("TopK %d of %d: %d, %v is at %d, want %d", k, n, p, values[i], i, largest[i])
				}
			}
		}
	}
}

func TestSearchSorted(t *testing.T) {
	eachType(t, testSearch[float32], testSearch[float64], testSearch[dtype.F16], testSearch[dtype.BF16], testSearch[int8], testSearch[int16],
		testSearch[int32], testSearch[int64], testSearch[int], testSearch[uint8], testSearch[uint16], testSearch[uint32], testSearch[uint64])
}

func testSearch[T dtype.Real](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 7, 100} {
		sorted := random[T](rng, n)
		Sort(sorted, false)
		x := append(random[T](rng, 50), sorted...)
		for _, right := range []bool{false, true} {
			got := make([]int64, len(x))
			SearchSorted(got, sorted, x, right)
			for i, v := range x {
				want := int64(0)
				for _, s := range sorted {
					if c := order(s, v, false); c < 0 || right && c == 0 {
						want++
					}
				}
				if got[i] != want {
					t.Fatalf("SearchSorted(%v, right %v) in %v = %d, want %d", v, right, sorted, got[i], want)
				}
			}
		}
	}
}

func TestUnique(t *testing.T) {
	eachType(t, testUnique[float32], testUnique[float64], testUnique[dtype.F16], testUnique[dtype.BF16], testUnique[int8], testUnique[int16],
		testUnique[int32], testUnique[int64], testUnique[int], testUnique[uint8], testUnique[uint16], testUnique[uint32], testUnique[uint64])
}

func testUnique[T dtype.Real](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 5, 300, 3000} {
		x := random[T](rng, n)
		var wantFirst, wantCounts []int64
		wantInverse := make([]int64, n)
		for i, v := range x {
			id := slices.IndexFunc(wantFirst, func(f int64) bool { return order(x[f], v, false) == 0 })
			if id < 0 {
				id = len(wantFirst)
				wantFirst = append(wantFirst, int64(i))
				wantCounts = append(wantCounts, 0)
			}
			wantCounts[id]++
			wantInverse[i] = int64(id)
		}
		inverse := make([]int64, n)
		first, counts := Unique(inverse, x)
		if !slices.Equal(first, wantFirst) || !slices.Equal(counts, wantCounts) || !slices.Equal(inverse, wantInverse) {
			t.Fatalf("Unique of %d differs: %d distinct, want %d", n, len(first), len(wantFirst))
		}
	}
}

func TestUniqueComplex(t *testing.T) {
	nan := math.NaN()
	inverse := make([]int64, 5)
	first, counts := Unique(inverse, []complex128{1 + 2i, complex(0, nan), 1 + 2i, complex(0, nan), 2 + 1i})
	if !slices.Equal(first, []int64{0, 1, 4}) || !slices.Equal(counts, []int64{2, 2, 1}) || !slices.Equal(inverse, []int64{0, 1, 0, 1, 2}) {
		t.Errorf("complex128: %v, %v, %v", first, counts, inverse)
	}
	first, _ = Unique(inverse[:2], []complex64{1 + 2i, 2 + 1i})
	if len(first) != 2 {
		t.Errorf("complex64: %v", first)
	}
}

func TestBytes(t *testing.T) {
	got := make([]int64, 4)
	ArgSort(got, Bytes([]bool{true, false, true, false}), true)
	if !slices.Equal(got, []int64{0, 2, 1, 3}) {
		t.Errorf("ArgSort of booleans = %v", got)
	}
}

func TestCounts(t *testing.T) {
	x := []int32{1, 1, 3, 0, 5}
	for _, c := range []struct {
		bins int
		want []int64
	}{{6, []int64{1, 2, 0, 1, 0, 1}}, {4, []int64{1, 2, 0, 1}}, {0, nil}} {
		got := make([]int64, c.bins)
		if err := BinCount(got, x); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("BinCount = %v, %v", got, err)
		}
	}
	sums := make([]float32, 6)
	weights := []float32{2.5, -3.5, -3, -2.75, -1.5}
	if err := BinSum(sums, x, weights); err != nil || !slices.Equal(sums, []float32{-2.75, -1, 0, -3, 0, -1.5}) {
		t.Errorf("BinSum = %v, %v", sums, err)
	}
	half := make([]dtype.F16, 4)
	if err := BinSum(half, []uint8{1, 1, 9}, []dtype.F16{dtype.F16From(1), dtype.F16From(.5), dtype.F16From(7)}); err != nil || half[1].Float32() != 1.5 {
		t.Errorf("BinSum = %v, %v", half, err)
	}
	for _, err := range []error{BinCount(make([]int64, 2), []int64{5, -1}), BinSum(sums, []int64{5, -1}, weights), BinSum(half, []int64{0, -1}, half)} {
		if err == nil || err.Error() != "element 1: -1 is negative" {
			t.Errorf("error %v", err)
		}
	}
	if m := MaxValue(x); m != 5 {
		t.Errorf("MaxValue = %d", m)
	}
	if m := MaxValue[int64](nil); m != -1 {
		t.Errorf("MaxValue of nothing = %d", m)
	}
}

func TestHistogram(t *testing.T) {
	inf := float32(math.Inf(1))
	got := make([]int64, 5)
	Histogram(got, []float32{-1, 0, 1.5, 2, 5, 15, float32(math.NaN()), inf, -inf}, 0, 5)
	if !slices.Equal(got, []int64{3, 1, 1, 0, 3}) {
		t.Errorf("Histogram = %v", got)
	}
	got = make([]int64, 2)
	Histogram(got, []dtype.BF16{dtype.BF16From(.25), dtype.BF16From(.75), dtype.BF16From(.5)}, 0, 1)
	if !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("Histogram = %v", got)
	}
	Histogram(nil, []int{1}, 0, 1)
}
