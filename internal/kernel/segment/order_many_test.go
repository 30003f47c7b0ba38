package segment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/sorting"
)

// TestOrderOfManyRows compares sorting many rows, which networks do, with sorting each by
// itself.
func TestOrderOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	splits := []int64{0}
	for r := range 4000 {
		splits = append(splits, splits[r]+int64(rng.IntN(38)))
	}
	n := int(splits[len(splits)-1])
	floats := func(some func() float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			if x[i] = some(); rng.IntN(100) == 0 {
				x[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0}[rng.IntN(5)]
			}
		}
		return x
	}
	ints := func(some func() int64) []int64 {
		x := make([]int64, n)
		for i := range x {
			x[i] = some()
		}
		return x
	}
	for _, x := range [][]float64{
		floats(rng.NormFloat64), floats(func() float64 { return float64(rng.IntN(9) - 4) }), floats(func() float64 { return 0.1 * float64(rng.IntN(9)-4) }),
		floats(func() float64 { return math.Float64frombits(math.Float64bits(1.5) + rng.Uint64N(40)) }),
	} {
		orderOf(t, x, splits)
	}
	for _, x := range [][]int64{
		ints(func() int64 { return rng.Int64N(100) - 50 }), ints(func() int64 { return int64(rng.Uint64()) >> rng.IntN(12) }),
		ints(func() int64 {
			return []int64{math.MinInt64, math.MaxInt64, 1<<58 - 1, 1 << 58, -1 << 58, -1<<58 - 1, 0}[rng.IntN(7)]
		}),
	} {
		orderOf(t, x, splits)
	}
}

func orderOf[T dtype.Real](t *testing.T, x []T, splits []int64) {
	t.Helper()
	for _, descending := range []bool{false, true} {
		sorted, order, one := make([]T, len(x)), make([]int64, len(x)), make([]int64, 40)
		Sort(sorted, x, splits, 1, descending)
		ArgSort(order, x, splits, 1, descending)
		for r := range rowsOf(splits) {
			in := row(x, splits, r, 1)
			want := slices.Clone(in)
			sorting.Sort(want, descending)
			for i, v := range row(sorted, splits, r, 1) {
				if v != want[i] && (v == v || want[i] == want[i]) {
					t.Fatalf("%T %v: sorted %v, want %v", x, in, row(sorted, splits, r, 1), want)
				}
			}
			sorting.ArgSort(one[:len(in)], in, descending)
			if got := row(order, splits, r, 1); !slices.Equal(got, one[:len(in)]) {
				t.Fatalf("%T %v: order %v, want %v", x, in, got, one[:len(in)])
			}
		}
	}
}

func TestTruthOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	splits := []int64{0}
	for r := range 3000 {
		splits = append(splits, splits[r]+int64(rng.IntN(5)))
	}
	n := int(splits[3000])
	bools, numbers := make([]bool, n), make([]float32, n)
	for i := range bools {
		bools[i] = rng.IntN(3) > 0
		numbers[i] = []float32{0, 1, float32(math.NaN()), float32(math.Copysign(0, -1))}[rng.IntN(4)]
	}
	some, every, counts := make([]bool, 3000), make([]bool, 3000), make([]int64, 3000)
	Any(some, bools, splits, 1)
	All(every, bools, splits, 1)
	CountNonzero(counts, numbers, splits, 1)
	wantAny, wantAll, want := make([]bool, 3000), make([]bool, 3000), make([]int64, 3000)
	anyRange(wantAny, bools, splits, 1, 0, 3000)
	allRange(wantAll, bools, splits, 1, 0, 3000)
	countRange(want, numbers, splits, 1, 0, 3000)
	if !slices.Equal(some, wantAny) || !slices.Equal(every, wantAll) || !slices.Equal(counts, want) {
		t.Error("any, all or the number of values that are not zero differ")
	}
}
