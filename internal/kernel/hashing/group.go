package hashing

import "github.com/tenonml/tenon/internal/par"

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
	next := make([]int64, len(ids))
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
	if m <= (4*len(a)+1024)/k {
		return direct(a, b, m, k)
	}
	c := Column{words: make([]uint64, len(a))}
	par.For(len(a), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c.words[i] = uint64(a[i])*uint64(k) + uint64(b[i])
		}
	})
	return numbered(a, c)
}

// direct is paired for so few possible pairs that an array can hold them all.
func direct(a, b []int64, m, k int) (first []int64) {
	ids := make([]int64, m*k) // one more than the number, 0 for none
	for i, x := range a {
		s := &ids[int(x)*k+int(b[i])]
		if *s == 0 {
			first = append(first, int64(i))
			*s = int64(len(first))
		}
		a[i] = *s - 1
	}
	return first
}

// Collect lists the rows of each group in order: those of group g are index[splits[g]:splits[g+1]].
// splits has one entry more than there are groups, and ids must be below the number of groups; rows
// with a negative id belong to no group.
func Collect(splits, ids []int64) (index []int64) {
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
	index = make([]int64, splits[n])
	next := make([]int64, n)
	copy(next, splits)
	for i, id := range ids {
		if id >= 0 {
			index[next[id]] = int64(i)
			next[id]++
		}
	}
	return index
}
