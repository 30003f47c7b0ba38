package hashing

import (
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/par"
)

// Group writes to ids, which has as many elements as there are rows, the number of each row's key
// in the order of first appearance, and returns the row in which each key first appears. Without
// columns all rows have the same key.
func Group(ids []int64, columns []Column) (first []int64) {
	if len(ids) == 0 {
		return nil
	}
	if len(columns) == 0 {
		clear(ids)
		return []int64{0}
	}
	first = numbered(ids, columns[0])
	if len(columns) == 1 {
		return first
	}
	b, next := arena.Lend[int64](len(ids))
	defer b.Release()
	for _, c := range columns[1:] {
		if len(first) == len(ids) {
			break // all keys differ already
		}
		k := len(numbered(next, c))
		if k > 1 {
			first = paired(ids, next, len(first), k)
		}
	}
	return first
}

// paired numbers the pairs of numbers a[i] < m and b[i] < k, and writes the results to a.
func paired(a, b []int64, m, k int) (first []int64) {
	if m <= few(len(a))/k {
		for i, x := range a {
			a[i] = x*int64(k) + b[i]
		}
		return renumbered(a, m*k)
	}
	c := newColumn(len(a))
	defer c.lent.Release()
	par.For(len(a), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c.words[i] = uint64(a[i])*uint64(k) + uint64(b[i])
		}
	})
	return numbered(a, c)
}

// few is the number of possible keys of n rows for which an array with an entry for each is used
// rather than a table of hashes.
func few(n int) int { return 4*n + 1024 }

// renumbered replaces numbers below n by their rank in the order of first appearance.
func renumbered(ids []int64, n int) (first []int64) {
	rank := make([]int64, n) // one more than the rank, 0 for none
	for i, x := range ids {
		s := &rank[x]
		if *s == 0 {
			first = append(first, int64(i))
			*s = int64(len(first))
		}
		ids[i] = *s - 1
	}
	return first
}

// Collect lists the rows of each group in order: those of group g are index[splits[g]:splits[g+1]].
// splits has one entry more than there are groups, and ids must be below the number of groups; rows
// with a negative id belong to no group. Memory for the index comes from alloc.
func Collect(splits, ids []int64, alloc func(n int) []int64) (index []int64) {
	clear(splits)
	for _, id := range ids {
		if id >= 0 {
			splits[id+1]++
		}
	}
	for g := range splits[1:] {
		splits[g+1] += splits[g]
	}
	n := len(splits) - 1
	index = alloc(int(splits[n]))
	b, next := arena.Lend[int64](n)
	defer b.Release()
	copy(next, splits)
	for i, id := range ids {
		if id >= 0 {
			index[next[id]] = int64(i)
			next[id]++
		}
	}
	return index
}
