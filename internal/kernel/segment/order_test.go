package segment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

func TestOrder(t *testing.T) {
	t.Run("float32", testOrder[float32])
	t.Run("float64", testOrder[float64])
	t.Run("float16", testOrder[dtype.F16])
	t.Run("int32", testOrder[int32])
	t.Run("int64", testOrder[int64])
	t.Run("uint8", testOrder[uint8])
}

// before is the order of semantics: NaN last in both directions.
func before(a, b float64, descending bool) int {
	switch {
	case a != a && b != b || a == b:
		return 0
	case a != a:
		return 1
	case b != b:
		return -1
	case a < b != descending:
		return -1
	}
	return 1
}

func testOrder[T dtype.Real](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	eachCase(t, []int{1, 2}, func(t *testing.T, x []T, splits []int64, inner int) {
		if dtype.Of[T]().IsFloat() {
			x = slices.Clone(x)
			for range len(x) / 10 {
				x[rng.IntN(len(x))] = number[T](math.NaN())
			}
		}
		for _, descending := range []bool{false, true} {
			sorted, order := make([]T, len(x)), make([]int64, len(x))
			Sort(sorted, x, splits, inner, descending)
			ArgSort(order, x, splits, inner, descending)
			for r := range len(splits) - 1 {
				for j := range inner {
					c := columnOf(x, splits, r, j, inner)
					want := make([]int64, len(c))
					for i := range want {
						want[i] = int64(i)
					}
					slices.SortStableFunc(want, func(a, b int64) int { return before(c[a], c[b], descending) })
					for i, p := range want {
						at := (int(splits[r])+i)*inner + j
						if order[at] != p {
							t.Fatalf("ArgSort of row %d: %d is at %d, want %d", r, order[at], i, p)
						}
						if !near(real64(sorted[at]), c[p], 0, 0) {
							t.Fatalf("Sort of row %d: %v is at %d, want %v", r, sorted[at], i, c[p])
						}
					}
				}
			}
		}
		if inner != 1 {
			return
		}
		for _, k := range []int64{0, 1, 3, 1000} {
			outSplits := make([]int64, len(splits))
			total := TopKSplits(outSplits, splits, k)
			values, at := make([]T, total), make([]int64, total)
			TopK(values, at, x, outSplits, splits)
			order := make([]int64, len(x))
			ArgSort(order, x, splits, 1, true)
			for r := range len(splits) - 1 {
				n := min(k, splits[r+1]-splits[r])
				if !slices.Equal(at[outSplits[r]:outSplits[r+1]], order[splits[r]:splits[r]+n]) {
					t.Fatalf("TopK %d of row %d is %v, want %v", k, r, at[outSplits[r]:outSplits[r+1]], order[splits[r]:splits[r]+n])
				}
				for i, p := range at[outSplits[r]:outSplits[r+1]] {
					if !near(real64(values[int(outSplits[r])+i]), real64(x[splits[r]+p]), 0, 0) {
						t.Fatalf("TopK of row %d: value %d", r, i)
					}
				}
			}
		}
	})
}

func TestUniqueAndRuns(t *testing.T) {
	nan := math.NaN()
	x := []float64{1, 1, 2, 1, 0, math.Copysign(0, -1), nan, nan, 1}
	splits := []int64{0, 4, 4, 9}
	inverse := make([]int64, 9)
	d := Unique(inverse, x, splits)
	if !slices.Equal(inverse, []int64{0, 0, 1, 0, 0, 0, 1, 1, 2}) || !slices.Equal(d.Splits, []int64{0, 2, 2, 5}) ||
		!slices.Equal(d.First, []int64{0, 2, 4, 6, 8}) || !slices.Equal(d.Counts, []int64{3, 1, 2, 2, 1}) {
		t.Errorf("Unique = %v, %+v", inverse, d)
	}
	lengths, runSplits := Runs(x, splits, 1)
	if !slices.Equal(lengths, []int64{2, 1, 1, 2, 1, 1, 1}) || !slices.Equal(runSplits, []int64{0, 3, 3, 7}) {
		t.Errorf("Runs = %v, %v", lengths, runSplits)
	}
	lengths, runSplits = Runs([]int8{1, 2, 1, 2, 1, 3}, []int64{0, 3}, 2)
	if !slices.Equal(lengths, []int64{2, 1}) || !slices.Equal(runSplits, []int64{0, 2}) {
		t.Errorf("Runs of items = %v, %v", lengths, runSplits)
	}
}

func TestCombinations(t *testing.T) {
	splits := []int64{0, 4, 4, 5, 7}
	for _, c := range []struct {
		n           int
		replacement bool
		local       bool
		splits      []int64
		want        [][]int64
	}{
		{2, false, false, []int64{0, 6, 6, 6, 7}, [][]int64{{0, 0, 0, 1, 1, 2, 5}, {1, 2, 3, 2, 3, 3, 6}}},
		{2, true, true, []int64{0, 10, 10, 11, 14}, [][]int64{
			{0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 0, 0, 0, 1}, {0, 1, 2, 3, 1, 2, 3, 2, 3, 3, 0, 0, 1, 1}}},
		{3, false, true, []int64{0, 4, 4, 4, 4}, [][]int64{{0, 0, 0, 1}, {1, 1, 2, 2}, {2, 3, 3, 3}}},
		{1, false, false, []int64{0, 4, 4, 5, 7}, [][]int64{{0, 1, 2, 3, 4, 5, 6}}},
	} {
		out := make([]int64, 5)
		total, err := CombinationsSplits(out, splits, c.n, c.replacement)
		if err != nil || !slices.Equal(out, c.splits) {
			t.Errorf("CombinationsSplits of %d = %v, %v", c.n, out, err)
			continue
		}
		got := make([][]int64, c.n)
		for d := range got {
			got[d] = make([]int64, total)
		}
		Combinations(got, out, splits, c.replacement, c.local)
		for d := range got {
			if !slices.Equal(got[d], c.want[d]) {
				t.Errorf("Combinations of %d: item %d is %v, want %v", c.n, d, got[d], c.want[d])
			}
		}
	}
	out := make([]int64, 2)
	if total, err := CombinationsSplits(out, []int64{0, 66}, 33, false); err != nil || total != 7219428434016265740 {
		t.Errorf("66 over 33 = %d, %v", total, err)
	}
	_, err := CombinationsSplits(out, []int64{0, 67}, 33, false)
	fails(t, err, "more combinations than fit into int64")
	_, err = CombinationsSplits(out, []int64{0, math.MaxInt64}, 2, true)
	fails(t, err, "more combinations")
	_, err = CombinationsSplits(out, []int64{0, 1}, 0, false)
	fails(t, err, "at least 1")
}

func TestCartesian(t *testing.T) {
	a, b := []int64{0, 2, 3, 3}, []int64{0, 3, 5, 6}
	splits := make([]int64, 4)
	total, err := CartesianSplits(splits, a, b)
	if err != nil || !slices.Equal(splits, []int64{0, 6, 8, 8}) {
		t.Fatalf("CartesianSplits = %v, %v", splits, err)
	}
	got := [][]int64{make([]int64, total), make([]int64, total)}
	Cartesian(got, splits, false, a, b)
	if !slices.Equal(got[0], []int64{0, 0, 0, 1, 1, 1, 2, 2}) || !slices.Equal(got[1], []int64{0, 1, 2, 0, 1, 2, 3, 4}) {
		t.Errorf("Cartesian = %v", got)
	}
	Cartesian(got, splits, true, a, b)
	if !slices.Equal(got[0], []int64{0, 0, 0, 1, 1, 1, 0, 0}) || !slices.Equal(got[1], []int64{0, 1, 2, 0, 1, 2, 0, 1}) {
		t.Errorf("Cartesian of positions in rows = %v", got)
	}
	_, err = CartesianSplits(splits[:2], []int64{0, 1 << 32}, []int64{0, 1 << 31})
	fails(t, err, "more tuples than fit into int64")
	if _, err = CartesianSplits(splits[:2], []int64{0, 1 << 62}, []int64{0, 1 << 62}, []int64{0, 0}); err != nil || splits[1] != 0 {
		t.Errorf("a product with an empty row: %v, %v", splits, err)
	}
}

func TestByID(t *testing.T) {
	x := []float32{1, 10, 2, 20, 3, 30, 4, 40}
	ids := []int64{2, 0, 2, -1}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, c := range map[string]struct {
		f    func(out, x []float32, ids []int64, inner int) error
		want []float32
	}{
		"sum":    {SumByID[float32, int64], []float32{2, 20, 0, 0, 4, 40}},
		"prod":   {ProdByID[float32, int64], []float32{2, 20, 1, 1, 3, 300}},
		"max":    {MaxByID[float32, int64], []float32{2, 20, -inf, -inf, 3, 30}},
		"min":    {MinByID[float32, int64], []float32{2, 20, inf, inf, 1, 10}},
		"mean":   {MeanByID[float32, int64], []float32{2, 20, nan, nan, 2, 20}},
		"sqrt n": {SqrtNByID[float32, int64], []float32{2, 20, nan, nan, 4 / float32(math.Sqrt2), 40 / float32(math.Sqrt2)}},
	} {
		out := make([]float32, 6)
		if err := c.f(out, x, ids, 2); err != nil {
			t.Fatal(err)
		}
		for i := range out {
			if !near(float64(out[i]), float64(c.want[i]), 0, 1e-7) {
				t.Errorf("%s = %v, want %v", name, out, c.want)
				break
			}
		}
		fails(t, c.f(out, x, []int64{0, 3, 0, 0}, 2), "segment ids: entry 1: 3 is not below the number of segments, 3")
	}
	count := make([]int64, 3)
	if err := CountByID(count, ids); err != nil || !slices.Equal(count, []int64{1, 0, 2}) {
		t.Errorf("CountByID = %v, %v", count, err)
	}
	mean := make([]float64, 2)
	if err := MeanIntByID(mean, []int8{100, 101, 102}, []int32{0, 0, 1}, 1); err != nil || !slices.Equal(mean, []float64{100.5, 102}) {
		t.Errorf("MeanIntByID = %v, %v", mean, err)
	}
	half := make([]dtype.F16, 1)
	if err := SumByID(half, []dtype.F16{dtype.F16From(1.5), dtype.F16From(2)}, []int32{0, 0}, 1); err != nil || half[0].Float32() != 3.5 {
		t.Errorf("SumByID = %v, %v", half, err)
	}
	many, sum := make([]float32, 1_000_000), make([]float32, 1)
	for i := range many {
		many[i] = .1
	}
	if err := SumByID(sum, many, make([]int32, len(many)), 1); err != nil || math.Abs(float64(sum[0])-1e5) > .01 {
		t.Errorf("SumByID of many = %v, %v", sum, err)
	}
	fails(t, CheckIDs([]int32{0}, 0), "entry 0")
	if err := CheckIDs([]int32{-1, math.MinInt32}, 0); err != nil {
		t.Error(err)
	}
}

func TestResultsDoNotDependOnWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	lengths := make([]int64, 20000)
	for r := range lengths {
		lengths[r] = int64(rng.IntN(21))
	}
	lengths[777] = 200_000
	splits := splitsOf(lengths)
	x := make([]float32, splits[len(lengths)], splits[len(lengths)]+64)
	for i := range x {
		x[i] = rng.Float32()
	}
	run := func(procs int) ([]float32, []float32) {
		defer withProcs(procs)()
		sums, p := make([]float32, len(lengths)), make([]float32, len(x))
		Sum(sums, x, splits, 1)
		Softmax(p, x, splits, 1)
		return sums, p
	}
	atEachFamily(t, func(t *testing.T) {
		sums1, p1 := run(1)
		sums4, p4 := run(4)
		if !slices.Equal(sums1, sums4) || !slices.Equal(p1, p4) {
			t.Error("results differ between one worker and four")
		}
	})
}
