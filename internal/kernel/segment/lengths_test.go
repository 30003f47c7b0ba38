package segment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Splits of lengths, for any number of rows, with a length that is wrong at any place.
func TestSplitsWithin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for _, rows := range []int{0, 1, 7, 63, 64, 65, 100, 127, chunkCost + 77} {
		lengths := make([]int64, rows)
		for r := range lengths {
			lengths[r] = int64(rng.IntN(21))
		}
		want := make([]int64, rows+1)
		for r, n := range lengths {
			want[r+1] = want[r] + n
		}
		narrow := make([]int32, rows)
		for r, n := range lengths {
			narrow[r] = int32(n)
		}
		atEachFamily(t, func(t *testing.T) {
			out := make([]int64, rows+1)
			if !SplitsWithin(out, lengths, 20) || !slices.Equal(out, want) {
				t.Errorf("splits of %d lengths differ", rows)
			}
			if !SplitsWithin(out, narrow, 20) || !slices.Equal(out, want) {
				t.Errorf("splits of %d int32 lengths differ", rows)
			}
			for _, r := range []int{0, 1, 7, 8, 62, 66, rows - 1} {
				if r < 0 || r >= rows {
					continue
				}
				for _, wrong := range []int64{-1, 21, math.MinInt64, math.MaxInt64} {
					kept := lengths[r]
					lengths[r] = wrong
					if SplitsWithin(out, lengths, 20) {
						t.Errorf("length %d of %d is %d, which is not found", r, rows, wrong)
					}
					lengths[r] = kept
				}
			}
		})
	}
}

// A sum that does not fit is found where it begins.
func TestSplitsFromLengthsOverflow(t *testing.T) {
	lengths := make([]int64, 200)
	lengths[3], lengths[150] = math.MaxInt64-5, 6
	atEachFamily(t, func(t *testing.T) {
		out := make([]int64, len(lengths)+1)
		fails(t, SplitsFromLengths(out, lengths), "entry 150: 6 makes the number of values overflow")
		lengths[150] = 5
		if err := SplitsFromLengths(out, lengths); err != nil || out[200] != math.MaxInt64 || out[150] != math.MaxInt64-5 {
			t.Errorf("sum at the limit: %v", err)
		}
		lengths[150] = 6
	})
}
