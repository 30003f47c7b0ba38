package segment

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGatherSplitsOfManyRows looks up more rows than one worker does at a time.
func TestGatherSplitsOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lengths := make([]int64, 1000)
	for r := range lengths {
		lengths[r] = rng.Int64N(9)
	}
	splits := splitsOf(lengths)
	for _, n := range []int{1, worthVectors - 1, worthVectors, 1000, chunkCost, chunkCost + 1, 3*chunkCost + 17} {
		idx := make([]int64, n)
		want, wantStarts := []int64{0}, make([]int64, n)
		for i := range idx {
			r := rng.IntN(len(lengths))
			idx[i] = int64(r)
			wantStarts[i] = splits[r]
			want = append(want, want[i]+lengths[r])
		}
		for _, procs := range []int{1, 3} {
			defer withProcs(procs)()
			atEachFamily(t, func(t *testing.T) {
				out, starts := make([]int64, n+1), make([]int64, n)
				total, err := GatherSplits(out, starts, splits, idx)
				if err != nil || total != want[n] || !slices.Equal(out, want) || !slices.Equal(starts, wantStarts) {
					t.Errorf("%d rows, %d processors: %d values, %v", n, procs, total, err)
				}
			})
		}
	}
}

// TestGatherSplitsNamesTheFirstBadRow looks rows up of which some are not there, or that
// are too many.
func TestGatherSplitsNamesTheFirstBadRow(t *testing.T) {
	const n = 2*chunkCost + 100
	few, vast := []int64{0, 2, 3}, []int64{0, 1 << 47}
	for _, c := range []struct {
		splits []int64
		bad    []int // positions of indices that are not there
		want   string
	}{
		{few, []int{0}, "row index: entry 0: 2 is outside [0, 2)"},
		{few, []int{n - 1}, "entry 65635: 2 is outside"},
		{few, []int{40_000, 39_999, 65_600}, "entry 39999: 2 is outside"},
		{vast, nil, "entry 65535: 0 makes the number of values overflow"},
		{vast, []int{65_534}, "entry 65534: 2 is outside"},
		{[]int64{0, 1 << 61}, nil, "entry 3: 0 makes the number of values overflow"},
		{[]int64{0}, nil, "entry 0: 0 is outside [0, 0)"},
	} {
		idx := make([]int64, n)
		for _, i := range c.bad {
			idx[i] = 2
		}
		for _, procs := range []int{1, 3} {
			defer withProcs(procs)()
			atEachFamily(t, func(t *testing.T) {
				_, err := GatherSplits(make([]int64, n+1), make([]int64, n), c.splits, idx)
				fails(t, err, c.want)
			})
		}
	}
	idx := make([]int32, 100)
	idx[99] = -1
	atEachFamily(t, func(t *testing.T) {
		_, err := GatherSplits(make([]int64, 101), make([]int64, 100), few, idx)
		fails(t, err, "entry 99: -1 is outside [0, 2)")
	})
}
