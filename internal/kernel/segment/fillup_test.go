package segment

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFillUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 21))
	for name, lengths := range partitions(rng) {
		splits := splitsOf(lengths)
		rows := len(lengths)
		for _, inner := range []int{1, 4, 12} {
			for _, width := range []int{0, 1, 7, 10, 32, 33, 200} {
				values := make([]byte, int(splits[rows])*inner, int(splits[rows])*inner+rng.IntN(200))
				for i := range values {
					values[i] = byte(1 + rng.IntN(255))
				}
				wantSplits, want := []int64{0}, []byte{}
				for r, n := range lengths {
					full := max(n, int64(width))
					want = append(want, values[int(splits[r])*inner:int(splits[r+1])*inner]...)
					want = append(want, make([]byte, int(full-n)*inner)...)
					wantSplits = append(wantSplits, wantSplits[r]+full)
				}
				outSplits, out := make([]int64, rows+1), make([]byte, len(want))
				FillUpSplits(outSplits, splits, width)
				if !slices.Equal(outSplits, wantSplits) {
					t.Fatalf("%s, width %d: splits %v, want %v", name, width, outSplits, wantSplits)
				}
				there, cut := make([]bool, outSplits[rows]), make([]bool, rows*width)
				atEachFlow(t, func(t *testing.T) {
					clear(out)
					FillUp(out, outSplits, values, splits, width, inner)
					if !bytes.Equal(out, want) {
						t.Errorf("%s, items of %d bytes, width %d: wrong values", name, inner, width)
					}
				})
				Present(there, outSplits, splits, width)
				Present(cut, nil, splits, width)
				for r, n := range lengths {
					for i, v := range there[outSplits[r]:outSplits[r+1]] {
						if v != (int64(i) < n) {
							t.Fatalf("%s, width %d: entry %d of row %d of %d is there: %v", name, width, i, r, n, v)
						}
					}
					for i, v := range cut[r*width : (r+1)*width] {
						if v != (int64(i) < n) {
							t.Fatalf("%s, cut at %d: entry %d of row %d of %d is there: %v", name, width, i, r, n, v)
						}
					}
				}
			}
		}
	}
}
