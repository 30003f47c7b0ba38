package segment

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// fails checks that an error is there and says what is wrong.
func fails(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

func TestCheckSplits(t *testing.T) {
	for _, s := range [][]int64{{0}, {0, 0}, {0, 3, 3, 7}} {
		if err := CheckSplits(s, s[len(s)-1]); err != nil {
			t.Errorf("CheckSplits(%v): %v", s, err)
		}
		if err := CheckSplits(s, -1); err != nil {
			t.Errorf("CheckSplits(%v) without an end: %v", s, err)
		}
	}
	for _, c := range []struct {
		splits []int64
		nvals  int64
		want   string
	}{
		{nil, 0, "at least one"},
		{[]int64{1, 2}, 2, "row splits: entry 0: 1 is not 0"},
		{[]int64{0, 5, 2}, 2, "row splits: entry 2: 2 comes after 5"},
		{[]int64{0, -1}, -1, "entry 1: -1 comes after 0"},
		{[]int64{0, math.MaxInt64, math.MinInt64}, -1, "entry 2"},
		{[]int64{0, math.MinInt64, math.MaxInt64}, -1, "entry 1"},
		{[]int64{0, 2}, 3, "entry 1: 2 is not the number of values, 3"},
	} {
		fails(t, CheckSplits(c.splits, c.nvals), c.want)
	}
	// Wherever the bad entry is, it is found.
	long := make([]int32, 5000)
	for i := range long {
		long[i] = int32(i / 3)
	}
	for _, at := range []int{1023, 1024, 1025, 1026, 2048, 4999} {
		bad := slices.Clone(long)
		bad[at] = bad[at-1] - 1
		if e, ok := CheckSplits(bad, -1).(*RowError); !ok || e.Row != at {
			t.Errorf("bad entry %d: %v", at, e)
		}
	}
	if err := CheckSplits(long, int64(long[4999])); err != nil {
		t.Error(err)
	}
}

func TestIsSortedAgreesWithComparing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	edges := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	for range 2000 {
		x := make([]int64, rng.IntN(6))
		for i := range x {
			x[i] = edges[rng.IntN(len(edges))]
		}
		if isSorted(x) != slices.IsSorted(x) {
			t.Fatalf("isSorted(%v) = %v", x, isSorted(x))
		}
	}
}

func TestCheckRowIDs(t *testing.T) {
	if err := CheckRowIDs([]int32{0, 0, 2}, 3); err != nil {
		t.Error(err)
	}
	if err := CheckRowIDs[int64](nil, 0); err != nil {
		t.Error(err)
	}
	fails(t, CheckRowIDs([]int64{0, -1, 2}, 3), "entry 1: -1 is negative")
	fails(t, CheckRowIDs([]int64{0, 2, 1}, 3), "entry 2: 1 comes after 2")
	fails(t, CheckRowIDs([]int64{0, 3}, 3), "entry 1: 3 is not below the number of rows, 3")
}

// Every encoding of a partition is computed from every other.
func TestEncodings(t *testing.T) {
	for name, lengths := range partitions(rand.New(rand.NewPCG(1, 2))) {
		splits := splitsOf(lengths)
		n := splits[len(splits)-1]
		got := make([]int64, len(splits))
		if err := SplitsFromLengths(got, lengths); err != nil || !slices.Equal(got, splits) {
			t.Fatalf("%s: SplitsFromLengths: %v", name, err)
		}
		gotLengths := make([]int64, len(lengths))
		if Lengths(gotLengths, splits); !slices.Equal(gotLengths, lengths) {
			t.Errorf("%s: Lengths = %v", name, gotLengths)
		}
		ids, offsets := make([]int64, n), make([]int64, n)
		RowIDs(ids, splits)
		Offsets(offsets, splits)
		for r := range lengths {
			for i := splits[r]; i < splits[r+1]; i++ {
				if ids[i] != int64(r) || offsets[i] != i-splits[r] {
					t.Fatalf("%s: value %d: row %d, offset %d", name, i, ids[i], offsets[i])
				}
			}
		}
		if SplitsFromRowIDs(got, ids); !slices.Equal(got, splits) {
			t.Errorf("%s: SplitsFromRowIDs differs", name)
		}
		if m := MaxLength(splits); len(lengths) > 0 && m != slices.Max(lengths) {
			t.Errorf("%s: MaxLength = %d", name, m)
		}
		if FirstDifference(splits, splits) != -1 {
			t.Errorf("%s differs from itself", name)
		}
	}
}

func TestSmallPartitionFunctions(t *testing.T) {
	out := make([]int64, 3)
	fails(t, SplitsFromLengths(out, []int64{1, -2}), "row lengths: entry 1: -2 is negative")
	fails(t, SplitsFromLengths(out, []int64{math.MaxInt64, 1}), "overflow")
	if UniformSplits(out, 4); !slices.Equal(out, []int64{0, 4, 8}) {
		t.Errorf("UniformSplits = %v", out)
	}
	for _, c := range []struct {
		splits []int64
		length int64
		ok     bool
	}{{[]int64{0}, 0, false}, {[]int64{0, 4, 8}, 4, true}, {[]int64{0, 0}, 0, true}, {[]int64{0, 4, 7}, 0, false}} {
		if n, ok := IsUniform(c.splits); n != c.length || ok != c.ok {
			t.Errorf("IsUniform(%v) = %d, %v", c.splits, n, ok)
		}
	}
	for _, c := range []struct {
		a, b []int64
		want int
	}{
		{[]int64{0, 2, 3}, []int64{0, 2, 3}, -1},
		{[]int64{0, 2, 3}, []int64{0, 2, 4}, 1},
		{[]int64{0, 2, 3}, []int64{0, 2}, 1},
		{[]int64{0}, []int64{0, 0}, 0},
	} {
		if got := FirstDifference(c.a, c.b); got != c.want {
			t.Errorf("FirstDifference(%v, %v) = %d", c.a, c.b, got)
		}
	}
	narrow := make([]int32, 2)
	if err := Narrow(narrow, []int64{0, math.MaxInt32}); err != nil || narrow[1] != math.MaxInt32 {
		t.Errorf("Narrow: %v, %v", narrow, err)
	}
	fails(t, Narrow(narrow, []int64{0, math.MaxInt32 + 1}), "entry 1: 2147483648 does not fit")
	if Widen(out, []int32{0, 5, 7}); !slices.Equal(out, []int64{0, 5, 7}) {
		t.Errorf("Widen = %v", out)
	}
	if ComposeSplits(out, []int64{0, 2, 3}, []int64{0, 5, 6, 9}); !slices.Equal(out, []int64{0, 6, 9}) {
		t.Errorf("ComposeSplits = %v", out)
	}
	SplitsFromRowIDs(out, []int32{1})
	if !slices.Equal(out, []int64{0, 0, 1}) {
		t.Errorf("SplitsFromRowIDs = %v", out)
	}
}

// TestStackSplitsPastTheCache joins partitions of many rows, of a number that fills no block.
func TestStackSplitsPastTheCache(t *testing.T) {
	n := largeSplits/8 + 1234
	splits := make([]int64, n+1)
	for r := range splits {
		splits[r] = 3 * int64(r)
	}
	atEachFamily(t, func(t *testing.T) {
		out := make([]int64, 2*n+1)
		if err := StackSplits(out, splits, splits); err != nil {
			t.Fatal(err)
		}
		for r, s := range out {
			if s != 3*int64(r) {
				t.Fatalf("entry %d is %d, want %d", r, s, 3*r)
			}
		}
	})
}
