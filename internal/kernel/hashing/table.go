package hashing

import (
	"hash/maphash"

	"github.com/tenonml/tenon/internal/par"
)

// A table numbers distinct words in the order in which they come.
type table struct {
	slots []slot
	shift uint
	first []int64 // where each number's word was found
}

type slot struct {
	word uint64
	id   int64 // one more than the number, 0 for a free slot
}

// mixer makes hashes differ from process to process.
var mixer = maphash.Bytes(seed, nil) | 1

// newTable returns a table that takes n words without growing, up to a limit.
func newTable(n int) *table {
	bits := uint(6)
	for 1<<bits < min(2*n, 1<<14) {
		bits++
	}
	return &table{slots: make([]slot, 1<<bits), shift: 64 - bits}
}

// hash multiplies and folds, so that every bit of a word reaches the top bits.
func hash(word uint64) uint64 {
	word = (word ^ mixer) * 0x9e3779b97f4a7c15
	return (word ^ word>>32) * (mixer ^ 0xbf58476d1ce4e5b8)
}

// number returns the number of row i of a column, a new one if its key is new.
func (t *table) number(c *Column, i int) int64 {
	w := c.words[i]
	mask := uint64(len(t.slots) - 1)
	for h := hash(w) >> t.shift; ; h = (h + 1) & mask {
		s := &t.slots[h]
		if s.id == 0 {
			t.first = append(t.first, int64(i))
			id := int64(len(t.first))
			s.word, s.id = w, id
			if 2*len(t.first) > len(t.slots) {
				t.grow()
			}
			return id - 1
		}
		if s.word == w && (c.same == nil || c.same(int(t.first[s.id-1]), i)) {
			return s.id - 1
		}
	}
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 4*len(old))
	t.shift -= 2
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		h := hash(s.word) >> t.shift
		for t.slots[h].id != 0 {
			h = (h + 1) & mask
		}
		t.slots[h] = s
	}
}

// numbered writes the number of each row's key into ids and returns where each key
// is first found.
func numbered(ids []int64, c Column) (first []int64) {
	n := c.Len()
	start := newTable(min(n, grain))
	for i := range min(n, grain) {
		ids[i] = start.number(&c, i)
	}
	if n <= grain || 4*len(start.first) > grain {
		for i := grain; i < n; i++ {
			ids[i] = start.number(&c, i)
		}
		return start.first
	}
	rest := ids[grain:]
	tables := make([]*table, (n-1)/grain)
	par.For(len(rest), grain, func(lo, hi int) {
		t := newTable(len(start.first))
		for i := lo; i < hi; i++ {
			rest[i] = t.number(&c, grain+i)
		}
		tables[lo/grain] = t
	})
	global := make([][]int64, len(tables))
	for k, t := range tables {
		global[k] = make([]int64, len(t.first))
		for id, at := range t.first {
			global[k][id] = start.number(&c, int(at))
		}
	}
	par.For(len(rest), grain, func(lo, hi int) {
		to := global[lo/grain]
		for i, id := range rest[lo:hi] {
			rest[lo+i] = to[id]
		}
	})
	return start.first
}
