package segment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

// TestByPosition compares combining rows of lists position by position with giving each
// value the number of its result.
func TestByPosition(t *testing.T) {
	for _, longest := range []int{8, 24, 40, 90} {
		byPositionOf[float32](t, longest)
		byPositionOf[float64](t, longest)
		byPositionOf[int32](t, longest)
		byPositionOf[int64](t, longest)
	}
	byPositionOf[int16](t, 8)
}

func byPositionOf[T dtype.Real](t *testing.T, longest int) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, lists := range [][]int64{{0, 5000}, {0, 0, 1, 1, 3000, 4999, 5000}, {0, 0}} {
		rows := int(lists[len(lists)-1])
		splits := make([]int64, rows+1)
		for r := range rows {
			splits[r+1] = splits[r] + int64(rng.IntN(longest+1))
		}
		values := make([]T, splits[rows], int(splits[rows])+rng.IntN(100))
		for i := range values {
			values[i] = T(rng.IntN(7)) - 3
			if nan := T(math.NaN()); nan != nan && rng.IntN(500) == 0 {
				values[i] = nan
			}
		}
		outSplits, starts := laidOver(splits, lists)
		total := outSplits[len(lists)-1]
		ids, number := make([]int64, len(values)), make([]int64, len(values))
		for l := range len(lists) - 1 {
			for r := lists[l]; r < lists[l+1]; r++ {
				for i := splits[r]; i < splits[r+1]; i++ {
					ids[i], number[i] = outSplits[l]+i-splits[r], r
				}
			}
		}
		for f, byID := range map[Fold]func(out, values []T, ids []int64, inner int) error{
			FoldSum: SumByID[T, int64], FoldProd: ProdByID[T, int64], FoldMax: MaxByID[T, int64], FoldMin: MinByID[T, int64],
		} {
			got, want := make([]T, total), make([]T, total)
			if err := byID(want, values, ids, 1); err != nil {
				t.Fatal(err)
			}
			atEachFamily(t, func(t *testing.T) {
				ByPosition(f, got, outSplits, values, splits, lists)
				for i, w := range want {
					if got[i] != w && (got[i] == got[i] || w == w) {
						t.Errorf("%T fold %d of %v: result %d is %v, want %v", values, f, lists, i, got[i], w)
					}
				}
			})
		}
		counts, wantCounts := make([]int64, total), make([]int64, total)
		FiberLengths(counts, splits, starts)
		if err := CountByID(wantCounts, ids); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(counts, wantCounts) {
			t.Errorf("counts %v, want %v", counts, wantCounts)
		}
		for _, largest := range []bool{true, false} {
			got := make([]int64, total)
			ArgByFiber(largest, got, values, splits, starts, lists, 1)
			for k := range total {
				var column []T
				var rows []int64
				for i, id := range ids {
					if id == k {
						column, rows = append(column, values[i]), append(rows, number[i])
					}
				}
				high, at := argsOf(column)
				if largest {
					at = high
				}
				if got[k] != rows[at] {
					t.Errorf("%T extreme of position %d is in row %d, want %d", values, k, got[k], rows[at])
				}
			}
		}
		bools := make([]bool, len(values))
		for i, v := range values {
			bools[i] = v > 0
		}
		some, every := make([]bool, total), make([]bool, total)
		wantAny, wantAll := make([]bool, total), slices.Repeat([]bool{true}, int(total))
		for i, id := range ids {
			wantAny[id] = wantAny[id] || bools[i]
			wantAll[id] = wantAll[id] && bools[i]
		}
		atEachFamily(t, func(t *testing.T) {
			AnyByPosition(some, outSplits, bools, splits, lists)
			AllByPosition(every, outSplits, bools, splits, lists)
			if !slices.Equal(some, wantAny) || !slices.Equal(every, wantAll) {
				t.Errorf("any %v, want %v; all %v, want %v", some, wantAny, every, wantAll)
			}
		})
	}
}

// laidOver returns what [AlignedSplits] and [AlignedStarts] give for the rows of lists.
func laidOver(splits, lists []int64) (aligned, starts []int64) {
	ids := make([]int64, len(splits)-1)
	RowIDs(ids, lists)
	aligned, starts = make([]int64, len(lists)), make([]int64, len(ids))
	AlignedSplits(aligned, splits, ids)
	AlignedStarts(starts, aligned, ids)
	return aligned, starts
}

// TestStacks: rows in the order of their lists are found to be stacks, whatever covers no
// fiber; rows in another order are not.
func TestStacks(t *testing.T) {
	splits, lists := []int64{0, 2, 2, 3, 6, 6, 7}, []int64{0, 0, 2, 5, 5, 6}
	aligned, starts := laidOver(splits, lists)
	l, o, ok := Stacks(splits, starts, aligned[5])
	if !ok || !slices.Equal(l, []int64{0, 2, 5, 6}) || !slices.Equal(o, []int64{0, 2, 5, 6}) {
		t.Errorf("stacks %v of %v, %v", l, o, ok)
	}
	if _, _, ok := Stacks([]int64{0, 2, 3, 5}, []int64{0, 2, 0}, 3); ok {
		t.Error("rows that turn back are stacks")
	}
	if _, _, ok := Stacks([]int64{0, 3}, []int64{1}, 3); ok {
		t.Error("a row beyond all fibers is in a stack")
	}
}

func TestTake(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const rows = 20000
	splits, lists := make([]int64, rows+1), make([]int64, rows+1)
	var at, want []int64
	for r := range rows {
		n := int64(1 + rng.IntN(9))
		splits[r+1] = splits[r] + n
		for range rng.IntN(5) {
			k := int64(rng.IntN(int(2*n))) - n
			at = append(at, k)
			want = append(want, splits[r]+(k+n)%n)
		}
		lists[r+1] = int64(len(at))
	}
	values := make([]int32, splits[rows])
	for i := range values {
		values[i] = int32(i)
	}
	places, taken := make([]int64, len(at)), make([]int32, len(at))
	if r, _ := Places(places, at, lists, splits); r >= 0 || !slices.Equal(places, want) {
		t.Errorf("row %d; %d places differ", r, len(places))
	}
	if r, _ := Take(taken, values, at, lists, splits); r >= 0 {
		t.Errorf("row %d lacks a position", r)
	}
	for i, v := range taken {
		if int64(v) != want[i] {
			t.Fatalf("value %d is %d, want %d", i, v, want[i])
		}
	}
	for _, r := range []int{17000, 4} { // the first counts
		for lists[r] == lists[r+1] {
			r++
		}
		bad := splits[r+1] - splits[r]
		at[lists[r]] = bad
		if row, k := Take(taken, values, at, lists, splits); row != r || k != bad {
			t.Errorf("row %d lacks %d, want row %d and %d", row, k, r, bad)
		}
		at[lists[r]] = -bad - 1
		if row, k := Places(places, at, lists, splits); row != r || k != -bad-1 {
			t.Errorf("row %d lacks %d, want row %d and %d", row, k, r, -bad-1)
		}
	}
}

func TestRunsOfManyValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	splits := []int64{0}
	for r := range 3000 {
		splits = append(splits, splits[r]+int64(rng.IntN(9)))
	}
	splits = append(splits, splits[3000], splits[3000])
	values := make([]float32, splits[3000])
	for i := range values {
		values[i] = float32(rng.IntN(3))
		if values[i] == 2 && rng.IntN(2) == 0 {
			values[i] = float32(math.NaN())
		}
	}
	lengths, runSplits := Runs(values, splits, 1)
	wantLengths, wantSplits := RunsFunc(splits, func(i int64) bool { return values[i-1] == values[i] })
	if !slices.Equal(lengths, wantLengths) || !slices.Equal(runSplits, wantSplits) {
		t.Error("runs differ")
	}
}

func TestTopKOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	splits := []int64{0}
	for r := range 3000 {
		splits = append(splits, splits[r]+int64(rng.IntN(40)))
	}
	values := make([]float32, splits[3000])
	for i := range values {
		values[i] = float32(rng.IntN(9)) - 4
		if rng.IntN(20) == 0 {
			values[i] = float32(math.NaN())
		}
	}
	outSplits := make([]int64, len(splits))
	n := TopKSplits(outSplits, splits, 3)
	got, at := make([]float32, n), make([]int64, n)
	TopK(got, at, values, outSplits, splits)
	want, wantAt := make([]float32, n), make([]int64, n)
	topKRows(want, wantAt, values, outSplits, splits, 0, 3000)
	if !slices.Equal(at, wantAt) {
		t.Error("positions differ")
	}
	for i, w := range want {
		if math.Float32bits(got[i]) != math.Float32bits(w) {
			t.Fatalf("value %d is %v, want %v", i, got[i], w)
		}
	}
}
