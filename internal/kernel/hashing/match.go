package hashing

import (
	"math"

	"github.com/tenonml/tenon/internal/par"
)

// Match finds equal keys among the rows of the columns, of which the first n are the left rows and
// the others the right rows. For each left row i it lists the right rows with an equal key, in
// order, as index[splits[i]:splits[i+1]]; right rows count from 0, and splits has n+1 elements. It
// returns the total number of matches, or math.MaxInt64 if that overflows. If the total exceeds
// limit, index is nil.
func Match(splits []int64, columns []Column, limit int64) (index []int64, total int64) {
	n := len(splits) - 1
	ids := make([]int64, columns[0].Len())
	first := Group(ids, columns)
	starts := make([]int64, len(first)+1)
	right := Collect(starts, ids[n:])
	splits[0] = 0
	for i, id := range ids[:n] {
		splits[i+1] = splits[i] + starts[id+1] - starts[id]
		if splits[i+1] < splits[i] {
			return nil, math.MaxInt64
		}
	}
	if splits[n] > limit {
		return nil, splits[n]
	}
	index = make([]int64, splits[n])
	par.For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			id := ids[i]
			copy(index[splits[i]:splits[i+1]], right[starts[id]:starts[id+1]])
		}
	})
	return index, splits[n]
}
