package hashing

import (
	"math"

	"github.com/tenonml/tenon/internal/par"
)

// Match lists for each of the first n rows of the columns, the left ones, those of the
// other rows, the right ones, that have an equal key, in their order: their numbers,
// from 0 on, for left row i are index[splits[i]:splits[i+1]]. splits has n+1 elements.
// Where it would have more than limit elements, the index is nil, and total is how many
// it would have, math.MaxInt64 where that is less.
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
