package rank

import (
	"cmp"
	"slices"
)

// Vary makes the n best results more varied: after each of them, best first, those whose names begin with the same word
// count less, and again less after the next one. Somebody who did not find the answer among three functions named
// Format… is helped more by a different one. A NaN is not changed.
func (x *Index) Vary(scores []float32, n int, w Weights) {
	var order []int32
	for i, s := range scores {
		if s == s {
			order = append(order, int32(i))
		}
	}
	// Later results are never reached, however much is subtracted from those before.
	most := 4*n + 100
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	left := order[:min(most, len(order))]
	for range min(n, len(left)) {
		at := 0
		for i, d := range left {
			if scores[d] > scores[left[at]] {
				at = i
			}
		}
		best := left[at]
		left = slices.Delete(left, at, at+1)
		for _, d := range left {
			if x.Begins[d] >= 0 && x.Begins[d] == x.Begins[best] {
				scores[d] -= float32(w.Again)
			}
		}
	}
}
