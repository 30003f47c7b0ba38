package segment

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

func TestArgOfFewValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		values []float64 // what the elements are drawn from
	}{
		{"ties", []float64{1, 2, 3}},
		{"zeros of both signs", []float64{0, math.Copysign(0, -1)}},
		{"infinite", []float64{inf, -inf}},
		{"lowest", []float64{-inf}},
		{"some NaN", []float64{nan, inf, -inf, 0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"NaN", []float64{nan}},
	} {
		t.Run(c.name+" float32", func(t *testing.T) { testArgOf[float32](t, c.values) })
		t.Run(c.name+" float64", func(t *testing.T) { testArgOf[float64](t, c.values) })
		t.Run(c.name+" bfloat16", func(t *testing.T) { testArgOf[dtype.BF16](t, c.values) })
	}
	t.Run("int32", func(t *testing.T) { testArgOf[int32](t, []float64{-3, 0, 7, 7, 8}) })
	t.Run("int64", func(t *testing.T) { testArgOf[int64](t, []float64{-3, 0, 7, 7, 8}) })
	t.Run("uint8", func(t *testing.T) { testArgOf[uint8](t, []float64{0, 1, 254, 255}) })
}

// testArgOf compares with a search in rows of 0 to 40 elements, some of a hundred and one
// of some thousands, which is longer than a piece that is done in cache.
func testArgOf[T dtype.Real](t *testing.T, values []float64) {
	rng := rand.New(rand.NewPCG(7, 7))
	splits := []int64{0}
	for r := range 3000 {
		n := rng.Int64N(41)
		switch {
		case r == 1500:
			n = 9000
		case r%100 == 0:
			n = 100
		case r > 2000:
			n = 0
		}
		splits = append(splits, splits[r]+n)
	}
	rows := rowsOf(splits)
	x := make([]T, splits[rows])
	for i := range x {
		x[i] = number[T](values[rng.IntN(len(values))])
	}
	atEachFamily(t, func(t *testing.T) {
		high, low := make([]int64, rows), make([]int64, rows)
		ArgMax(high, x, splits, 1)
		ArgMin(low, x, splits, 1)
		for r := range rows {
			wantHigh, wantLow := argsOf(x[splits[r]:splits[r+1]])
			if high[r] != wantHigh || low[r] != wantLow {
				t.Fatalf("ArgMax, ArgMin of row %d are %d, %d, want %d, %d", r, high[r], low[r], wantHigh, wantLow)
			}
		}
	})
}

// argsOf returns the positions of the largest and of the smallest element.
func argsOf[T dtype.Real](x []T) (high, low int64) {
	high, low = -1, -1
	for i, e := range x {
		v := real64(e)
		if v != v {
			return int64(i), int64(i)
		}
		if high < 0 || v > real64(x[high]) {
			high = int64(i)
		}
		if low < 0 || v < real64(x[low]) {
			low = int64(i)
		}
	}
	return high, low
}
