package hashing

import (
	"hash/maphash"

	"github.com/tenonml/tenon/internal/par"
)

// A table numbers distinct words in the order of their first appearance.
type table struct {
	slots []slot
	shift uint
	first []int64 // row of the first appearance, by number
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

// hash multiplies and folds, so that every bit of a word affects the top bits.
func hash(word uint64) uint64 {
	word = (word ^ mixer) * 0x9e3779b97f4a7c15
	return (word ^ word>>32) * (mixer ^ 0xbf58476d1ce4e5b8)
}

// number returns the number of row i of a column, and assigns a new one if its key is new.
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

// numberAll writes the numbers of the rows of a column from lo on into ids.
func (t *table) numberAll(ids []int64, c *Column, lo int) {
	exact := c.same == nil
	slots, shift := t.slots, t.shift
	for i, w := range c.words[lo : lo+len(ids)] {
		if s := &slots[int(hash(w)>>shift)&(len(slots)-1)]; s.word == w && s.id > 0 && (exact || w < longString) {
			ids[i] = s.id - 1
			continue
		}
		ids[i] = t.number(c, lo+i)
		slots, shift = t.slots, t.shift
	}
}

func (t *table) grow() { t.growTo(4 * len(t.slots)) }

// growTo replaces the slots by a table of at least n slots.
func (t *table) growTo(n int) {
	old := t.slots
	size := len(old)
	for size < n {
		size *= 2
		t.shift--
	}
	if size == len(old) {
		return
	}
	t.slots = make([]slot, size)
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

// numbered writes the number of each row's key to ids and returns the row of each key's first
// appearance.
func numbered(ids []int64, c Column) (first []int64) {
	n := c.Len()
	if c.same == nil {
		if lo, hi := bounds(c.words); hi-lo < uint64(few(n)) {
			for i, w := range c.words {
				ids[i] = int64(w - lo)
			}
			return renumbered(ids, int(hi-lo)+1)
		}
	}
	start := newTable(min(n, grain))
	start.numberAll(ids[:min(n, grain)], &c, 0)
	if n <= grain {
		return start.first
	}
	if 4*len(start.first) > grain {
		start.growTo(2 * int(float64(n)*float64(len(start.first))/grain))
		start.numberAll(ids[grain:], &c, grain)
		return start.first
	}
	rest := ids[grain:]
	tables := make([]*table, (n-1)/grain)
	par.For(len(rest), grain, func(lo, hi int) {
		t := newTable(len(start.first))
		t.numberAll(rest[lo:hi], &c, grain+lo)
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

// bounds returns the least and the greatest word, which must not be none.
func bounds(words []uint64) (lo, hi uint64) {
	lo, hi = words[0], words[0]
	for _, w := range words {
		lo, hi = min(lo, w), max(hi, w)
	}
	return lo, hi
}
