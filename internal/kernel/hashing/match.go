package hashing

import (
	"math"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/par"
)

// Match finds equal keys among the rows of the columns, of which the first n are the left rows and
// the others the right rows. For each left row i it lists the right rows with an equal key, in
// order, as index[splits[i]:splits[i+1]]; right rows count from 0, and splits has n+1 elements. It
// returns the total number of matches, or math.MaxInt64 if that overflows. If the total exceeds
// limit, the index is not made; otherwise its memory comes from alloc.
func Match(splits []int64, columns []Column, limit int64, alloc func(n int) []int64) (total int64) {
	n := len(splits) - 1
	b, ids := arena.Lend[int64](columns[0].Len())
	defer b.Release()
	first := Group(ids, columns)
	starts := make([]int64, len(first)+1)
	m, right := arena.Lend[int64](len(ids) - n)
	defer m.Release()
	Collect(starts, ids[n:], func(int) []int64 { return right })
	splits[0] = 0
	for i, id := range ids[:n] {
		splits[i+1] = splits[i] + starts[id+1] - starts[id]
		if splits[i+1] < splits[i] {
			return math.MaxInt64
		}
	}
	if splits[n] > limit {
		return splits[n]
	}
	index := alloc(int(splits[n]))
	par.For(n, grain, func(lo, hi int) {
		to := index[splits[lo]:splits[hi]]
		for _, id := range ids[lo:hi] {
			if r := right[starts[id]:starts[id+1]]; len(r) == 1 {
				to[0], to = r[0], to[1:]
			} else {
				to = to[copy(to, r):]
			}
		}
	})
	return splits[n]
}
