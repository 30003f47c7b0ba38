package segment

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon/internal/kernel/gather"
)

// An item that is moved about in these tests has one of these types, of 1, 2, 4, 8
// and 16 bytes.
type movable interface {
	uint8 | uint16 | float32 | int64 | complex128
}

func numbered[T movable](n int) []T {
	x := make([]T, n, n+64)
	for i := range x {
		switch p := any(&x[i]).(type) {
		case *uint8:
			*p = uint8(i*7 + i/251)
		case *uint16:
			*p = uint16(i * 7)
		case *float32:
			*p = float32(i)
		case *int64:
			*p = int64(i)
		case *complex128:
			*p = complex(float64(i), 1)
		}
	}
	return x
}

// eachLayout runs a test for every partition, inner size and element size. x starts
// unaligned, and with exact it has no slack behind it.
func eachLayout(t *testing.T, f func(t *testing.T, run layoutRun)) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, lengths := range partitions(rng) {
		for _, inner := range []int{1, 3} {
			f(t, layoutRun{name, splitsOf(lengths), inner, rng})
			if t.Failed() {
				t.Fatalf("partition %q, inner %d", name, inner)
			}
		}
	}
}

type layoutRun struct {
	name   string
	splits []int64
	inner  int
	rng    *rand.Rand
}

// forTypes runs one generic check for some of the element sizes, all of which occur
// among the inner sizes; generic methods do not exist, so the checks are functions.
func forTypes(t *testing.T, run layoutRun, size1, size2, size4, size8, size16 func(*testing.T, layoutRun)) {
	checks := []func(*testing.T, layoutRun){size4, size1, size16}
	if run.inner > 1 {
		checks = []func(*testing.T, layoutRun){size8, size2}
	}
	for _, check := range checks {
		atEachFlow(t, func(t *testing.T) { check(t, run) })
	}
}

// values returns the values of a run, with and without slack.
func values[T movable](run layoutRun) [2][]T {
	n := int(run.splits[len(run.splits)-1]) * run.inner
	x := numbered[T](n + 1)
	return [2][]T{x[1 : n+1], slices.Clip(slices.Clone(x)[1 : n+1])}
}

// rowsOfRun returns the rows as slices.
func rowsOfRun[T movable](x []T, splits []int64, inner int) [][]T {
	var rows [][]T
	for r := range len(splits) - 1 {
		rows = append(rows, x[int(splits[r])*inner:int(splits[r+1])*inner])
	}
	return rows
}

// guarded returns an output of n elements with sentinels around it, and a check that
// nobody wrote over those.
func guarded[T movable](t *testing.T, n int) (out []T, check func(name string)) {
	const margin = 40
	all := numbered[T](n + 2*margin)
	before := slices.Clone(all)
	return all[margin : margin+n : margin+n], func(name string) {
		t.Helper()
		if !slices.Equal(all[:margin], before[:margin]) || !slices.Equal(all[margin+n:], before[margin+n:]) {
			t.Errorf("%s writes outside its output", name)
		}
	}
}

func TestPadAndUnpad(t *testing.T) {
	eachLayout(t, func(t *testing.T, run layoutRun) {
		if slices.Max(append(diffs(run.splits), 0)) > 3000 {
			return // the padded array of a giant row says nothing new
		}
		forTypes(t, run, checkPad[uint8], checkPad[uint16], checkPad[float32], checkPad[int64], checkPad[complex128])
	})
}

func diffs(splits []int64) []int64 {
	d := make([]int64, len(splits)-1)
	Lengths(d, splits)
	return d
}

func checkPad[T movable](t *testing.T, run layoutRun) {
	rows, inner := len(run.splits)-1, run.inner
	longest := int(MaxLength(run.splits))
	for _, x := range values[T](run) {
		for _, width := range []int{0, 1, 4, 16, 20, longest} {
			if rows*width*inner > 1<<16 {
				continue
			}
			for _, fill := range [][]T{{9}, numbered[T](inner)} {
				out, check := guarded[T](t, rows*width*inner)
				Pad(out, x, run.splits, width, inner, fill)
				check("Pad")
				for r, row := range rowsOfRun(x, run.splits, inner) {
					got := out[r*width*inner : (r+1)*width*inner]
					for i, v := range got {
						want := fill[i%len(fill)]
						if i < len(row) {
							want = row[i]
						}
						if v != want {
							t.Fatalf("Pad to %d: row %d has %v at %d, want %v", width, r, v, i, want)
						}
					}
				}
				back, check := guarded[T](t, len(x))
				err := Unpad(back, out, run.splits, width, inner)
				check("Unpad")
				if longest > width {
					fails(t, err, "is more than the width")
				} else if err != nil || !slices.Equal(back, x) {
					t.Fatalf("Unpad from %d: %v", width, err)
				}
			}
		}
	}
}

func TestUnpaddedLengths(t *testing.T) {
	dense := []int32{1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 4}
	got := make([]int64, 4)
	if UnpaddedLengths(got, dense, 3, 1, []int32{0}); !slices.Equal(got, []int64{3, 0, 1, 3}) {
		t.Errorf("UnpaddedLengths = %v", got)
	}
	got = make([]int64, 2)
	if UnpaddedLengths(got, dense, 3, 2, []int32{0, 0}); !slices.Equal(got, []int64{2, 3}) {
		t.Errorf("UnpaddedLengths of items = %v", got)
	}
	if UnpaddedLengths(got, []int32{1, 2, 7, 2, 1, 2, 1, 2}, 2, 2, []int32{1, 2}); !slices.Equal(got, []int64{2, 0}) {
		t.Errorf("UnpaddedLengths with an item = %v", got)
	}
	if UnpaddedLengths(got, nil, 0, 1, []int32{0}); !slices.Equal(got, []int64{0, 0}) {
		t.Errorf("UnpaddedLengths of nothing = %v", got)
	}
}

func TestGather(t *testing.T) {
	eachLayout(t, func(t *testing.T, run layoutRun) {
		forTypes(t, run, checkGather[uint8], checkGather[uint16], checkGather[float32], checkGather[int64], checkGather[complex128])
	})
}

func checkGather[T movable](t *testing.T, run layoutRun) {
	rows := len(run.splits) - 1
	idx := make([]int32, rows/2+3)
	for i := range idx {
		if rows > 0 {
			idx[i] = int32(run.rng.IntN(rows))
		}
	}
	if rows == 0 {
		idx = nil
	}
	if run.name == "giant row" {
		idx = []int32{2, 0, 2}
	}
	for _, x := range values[T](run) {
		outSplits := make([]int64, len(idx)+1)
		starts := make([]int64, len(idx))
		total, err := GatherSplits(outSplits, starts, run.splits, idx)
		if err != nil {
			t.Fatal(err)
		}
		out, check := guarded[T](t, int(total)*run.inner)
		Gather(out, x, outSplits, starts, run.inner)
		check("Gather")
		all := rowsOfRun(x, run.splits, run.inner)
		var want []T
		for _, r := range idx {
			want = append(want, all[r]...)
		}
		if !slices.Equal(out, want) {
			t.Fatalf("Gather differs")
		}
		at := make([]int64, total)
		GatherPositions(at, outSplits, starts)
		viaPositions := make([]T, len(want))
		if err := gather.Rows(viaPositions, x, at, run.inner); err != nil || !slices.Equal(viaPositions, want) {
			t.Fatalf("GatherPositions differ: %v", err)
		}
	}
}

func TestGatherErrors(t *testing.T) {
	out, starts := make([]int64, 3), make([]int64, 2)
	_, err := GatherSplits(out, starts, []int64{0, 2, 3}, []int64{1, 2})
	fails(t, err, "row index: entry 1: 2 is outside [0, 2)")
	_, err = GatherSplits(out, starts, []int64{0, 2, 3}, []int32{-1, 0})
	fails(t, err, "entry 0: -1 is outside")
	_, err = GatherSplits(out, starts, []int64{0, 1 << 62}, []int64{0, 0})
	fails(t, err, "overflow")
	if n, err := GatherSplits(out[:1], nil, nil, []int64{}); n != 0 || err != nil {
		t.Errorf("no rows: %d, %v", n, err)
	}
}

func TestPick(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5, 6}
	splits := []int64{0, 2, 2, 3}
	out, found := make([]float32, 6), make([]bool, 3)
	Pick(out, found, x, splits, []int64{-1}, 2, []float32{9})
	if !slices.Equal(out, []float32{3, 4, 9, 9, 5, 6}) || !slices.Equal(found, []bool{true, false, true}) {
		t.Errorf("Pick = %v, %v", out, found)
	}
	Pick(out, found, x, splits, []int32{1, 0, 1}, 2, []float32{7, 8})
	if !slices.Equal(out, []float32{3, 4, 7, 8, 7, 8}) || !slices.Equal(found, []bool{true, false, false}) {
		t.Errorf("Pick = %v, %v", out, found)
	}
}

func TestConcat(t *testing.T) {
	eachLayout(t, func(t *testing.T, run layoutRun) {
		forTypes(t, run, checkConcat[uint8], checkConcat[uint16], checkConcat[float32], checkConcat[int64], checkConcat[complex128])
	})
}

func checkConcat[T movable](t *testing.T, run layoutRun) {
	rows := len(run.splits) - 1
	reversed := diffs(run.splits)
	slices.Reverse(reversed)
	second := splitsOf(reversed)
	for _, x := range values[T](run) {
		y := numbered[T](len(x) + 5)[5:]
		a, b := rowsOfRun(x, run.splits, run.inner), rowsOfRun(y, second, run.inner)
		splits := make([]int64, rows+1)
		if err := ZipSplits(splits, run.splits, second); err != nil {
			t.Fatal(err)
		}
		out, check := guarded[T](t, 2*len(x))
		Zip(out, splits, [][]T{x, y}, [][]int64{run.splits, second}, run.inner)
		check("Zip")
		var want []T
		for r := range rows {
			want = append(append(want, a[r]...), b[r]...)
		}
		if !slices.Equal(out, want) {
			t.Fatal("Zip differs")
		}
		at := make([]int64, splits[rows])
		ZipPositions(at, splits, run.splits, second)
		joined, check := guarded[T](t, 2*len(x))
		Join(joined, x, nil, y)
		check("Join")
		if !slices.Equal(joined, append(slices.Clone(x), y...)) {
			t.Fatal("Join differs")
		}
		if err := gather.Rows(out, joined, at, run.inner); err != nil || !slices.Equal(out, want) {
			t.Fatalf("ZipPositions differ: %v", err)
		}
		stacked := make([]int64, 2*rows+1)
		if err := StackSplits(stacked, run.splits, []int64{0}, nil, second); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(stacked, splitsOf(append(diffs(run.splits), reversed...))) {
			t.Fatal("StackSplits differs")
		}
	}
}

func TestConcatErrors(t *testing.T) {
	out := make([]int64, 3)
	fails(t, ZipSplits(out, []int64{0, 1, 2}, []int64{0, 1}), "entry 1: 1 rows, not 2")
	fails(t, ZipSplits(out, []int64{0, 0, 1 << 62}, []int64{0, 0, 1 << 62}), "overflow")
	fails(t, StackSplits(out, []int64{0, 1 << 62}, []int64{0, 1 << 62}), "overflow")
	one := make([]int64, 1)
	if err := StackSplits(one); err != nil || one[0] != 0 {
		t.Errorf("nothing stacked: %v, %v", one, err)
	}
}

func TestMask(t *testing.T) {
	eachLayout(t, func(t *testing.T, run layoutRun) {
		forTypes(t, run, checkMask[uint8], checkMask[uint16], checkMask[float32], checkMask[int64], checkMask[complex128])
	})
}

func checkMask[T movable](t *testing.T, run layoutRun) {
	for _, x := range values[T](run) {
		n := len(x) / run.inner
		for _, percent := range []int{0, 1, 50, 99, 100} {
			mask := make([]bool, n+1)[1:]
			for i := range mask {
				mask[i] = run.rng.IntN(100) < percent
			}
			var want []T
			var wantLengths []int64
			for r, row := range rowsOfRun(x, run.splits, run.inner) {
				kept := int64(0)
				for i := range len(row) / run.inner {
					if mask[int(run.splits[r])+i] {
						want = append(want, row[i*run.inner:(i+1)*run.inner]...)
						kept++
					}
				}
				wantLengths = append(wantLengths, kept)
			}
			kept := gather.CountTrue(mask)
			out, check := guarded[T](t, kept*run.inner)
			splits := make([]int64, len(run.splits))
			got := Mask(out, splits, x, run.splits, mask, run.inner)
			check("Mask")
			if int(got) != kept || !slices.Equal(out, want) || !slices.Equal(splits, splitsOf(wantLengths)) {
				t.Fatalf("Mask of %d %% differs: %d kept, want %d", percent, got, kept)
			}
			only := make([]int64, len(run.splits))
			if MaskSplits(only, run.splits, mask) != got || !slices.Equal(only, splits) {
				t.Fatalf("MaskSplits of %d %% differs", percent)
			}
		}
	}
}

func TestArrange(t *testing.T) {
	eachLayout(t, func(t *testing.T, run layoutRun) {
		forTypes(t, run, checkArrange[uint8], checkArrange[uint16], checkArrange[float32], checkArrange[int64], checkArrange[complex128])
	})
}

func checkArrange[T movable](t *testing.T, run layoutRun) {
	inner := run.inner
	for _, x := range values[T](run) {
		out, check := guarded[T](t, len(x))
		Reverse(out, x, run.splits, inner)
		check("Reverse")
		for r, row := range rowsOfRun(x, run.splits, inner) {
			got := out[int(run.splits[r])*inner:]
			for i := range len(row) / inner {
				if !slices.Equal(got[i*inner:(i+1)*inner], row[len(row)-(i+1)*inner:len(row)-i*inner]) {
					t.Fatalf("Reverse: row %d, item %d", r, i)
				}
			}
		}
		for _, shift := range []int64{0, 1, -1, 5, -1 << 63} {
			Roll(out, x, run.splits, inner, shift)
			check("Roll")
			for r, row := range rowsOfRun(x, run.splits, inner) {
				n := int64(len(row) / inner)
				got := out[int(run.splits[r])*inner:]
				for i := range n {
					to := int((i + (shift%n+n)%n) % n)
					if !slices.Equal(got[to*inner:(to+1)*inner], row[int(i)*inner:(int(i)+1)*inner]) {
						t.Fatalf("Roll by %d: row %d, item %d", shift, r, i)
					}
				}
			}
		}
		perRow := numbered[T]((len(run.splits) - 1) * inner)
		Repeat(out, perRow, run.splits, inner)
		check("Repeat")
		for r := range len(run.splits) - 1 {
			for i := run.splits[r]; i < run.splits[r+1]; i++ {
				if !slices.Equal(out[int(i)*inner:(int(i)+1)*inner], perRow[r*inner:(r+1)*inner]) {
					t.Fatalf("Repeat: value %d of row %d", i, r)
				}
			}
		}
	}
}

func TestRepeatRows(t *testing.T) {
	x := []int64{1, 2, 3}
	splits := []int64{0, 2, 2, 3}
	out := make([]int64, 5)
	RepeatRows(out, x, []int64{0, 2, 4, 4, 5}, splits, []int32{2, 1, 1}, 1)
	if !slices.Equal(out, []int64{1, 2, 1, 2, 3}) {
		t.Errorf("RepeatRows = %v", out)
	}
}
