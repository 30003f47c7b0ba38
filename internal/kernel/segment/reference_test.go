package segment

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

// The references in these tests see one row at a time, as a slice of float64 or of
// the element type, and know nothing of splits.

// partitions are the row lengths that every kernel is tested with.
func partitions(rng *rand.Rand) map[string][]int64 {
	random := func(rows, longest int) []int64 {
		lengths := make([]int64, rows)
		for r := range lengths {
			lengths[r] = int64(rng.IntN(longest + 1))
		}
		return lengths
	}
	mixed := random(50, 6)
	mixed[7], mixed[20], mixed[49] = 300, 2000, 70
	every := make([]int64, 0, 200)
	for n := range int64(100) {
		every = append(every, n)
	}
	return map[string][]int64{
		"no rows":       {},
		"one empty row": {0},
		"empty rows":    make([]int64, 40),
		"one row of 1":  {1},
		"short rows":    random(37, 5),
		"middling rows": random(61, 20),
		"longer rows":   random(23, 40),
		"every length":  every,
		"mixed rows":    mixed,
		"giant row":     {3, 0, 35_000, 2},
		"many rows":     random(3500, 20),
	}
}

// splitsOf is the obvious way from lengths to splits.
func splitsOf(lengths []int64) []int64 {
	splits := []int64{0}
	for _, n := range lengths {
		splits = append(splits, splits[len(splits)-1]+n)
	}
	return splits
}

// number converts between element types for the tests.
func number[T dtype.Real](v float64) T {
	var t T
	switch p := any(&t).(type) {
	case *dtype.F16:
		*p = dtype.F16From64(v)
	case *dtype.BF16:
		*p = dtype.BF16From64(v)
	case *float32:
		*p = float32(v)
	case *float64:
		*p = v
	default:
		t = T(int64(v))
	}
	return t
}

// real64 is the reverse of number.
func real64[T dtype.Real](v T) float64 {
	switch v := any(v).(type) {
	case dtype.F16:
		return float64(v.Float32())
	case dtype.BF16:
		return float64(v.Float32())
	}
	return float64(v)
}

// sample returns small numbers, floats with fractions, in a slice that starts at an
// odd address and, with exact, ends at its capacity.
func sample[T dtype.Real](rng *rand.Rand, n int, exact bool) []T {
	room := 64
	if exact {
		room = 0
	}
	x := make([]T, n+3, n+3+room)[3:]
	for i := range x {
		v := float64(rng.IntN(41) - 20)
		if dtype.Of[T]().IsUnsigned() {
			v = math.Abs(v)
		}
		if dtype.Of[T]().IsFloat() {
			v += float64(rng.IntN(16)) / 16
		}
		x[i] = number[T](v)
	}
	return x[:n:cap(x)]
}

// tolerance is the relative error that a result of n float operations may have.
func tolerance[T any]() float64 {
	var t T
	switch any(t).(type) {
	case float32:
		return 2e-6
	case float64:
		return 1e-12
	case dtype.F16:
		return 1e-3
	case dtype.BF16:
		return 8e-3
	}
	return 0
}

// near reports whether a is b within tol of the larger of b and scale.
func near(a, b, scale, tol float64) bool {
	return a == b || a != a && b != b || math.Abs(a-b) <= tol*max(math.Abs(b), scale)
}

// eachCase runs a test for every partition, inner size and kind of slice.
func eachCase[T dtype.Real](t *testing.T, inners []int, f func(t *testing.T, x []T, splits []int64, inner int)) {
	rng := rand.New(rand.NewPCG(7, 11))
	for name, lengths := range partitions(rng) {
		splits := splitsOf(lengths)
		for _, inner := range inners {
			exact := rng.IntN(2) == 0
			x := sample[T](rng, int(splits[len(splits)-1])*inner, exact)
			atEachFamily(t, func(t *testing.T) {
				before := append([]T(nil), x...)
				f(t, x, splits, inner)
				for i := range x {
					if x[i] != before[i] && x[i] == x[i] {
						t.Fatalf("%s, inner %d: the input changed", name, inner)
					}
				}
				if t.Failed() {
					t.Fatalf("partition %q of %v, inner %d, no slack %v", name, dtype.Of[T](), inner, exact)
				}
			})
		}
	}
}

// columnOf returns element j of the items of row r as float64.
func columnOf[T dtype.Real](x []T, splits []int64, r, j, inner int) []float64 {
	var c []float64
	for i := splits[r]; i < splits[r+1]; i++ {
		c = append(c, real64(x[int(i)*inner+j]))
	}
	return c
}

func expect[T dtype.Real](t *testing.T, name string, r int, got T, want, scale float64) {
	t.Helper()
	if !near(real64(got), want, scale, tolerance[T]()) {
		t.Errorf("%s of row %d is %v, want %v", name, r, real64(got), want)
	}
}

func sumOf(c []float64) (s float64) {
	for _, v := range c {
		s += v
	}
	return s
}

// magnitude is the sum of absolute values, what the error of a sum is relative to.
func magnitude(c []float64) (s float64) {
	for _, v := range c {
		s += math.Abs(v)
	}
	return s
}
