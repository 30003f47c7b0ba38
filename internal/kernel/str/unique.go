package str

import (
	"math"
)

// Unique finds the distinct strings of x in the order of their first appearance. It writes to
// inverse, which has x.Len() elements, the index of each string among them, and returns the
// position of each one's first appearance and its number of occurrences. This is dictionary
// encoding: the dictionary is Gather(x, first), and the codes are inverse.
func Unique(inverse []int64, x Column) (first, counts []int64) {
	n := x.Len()
	inverse = inverse[:n]
	if n == 0 {
		return nil, nil
	}
	t := newTable(n)
	if n <= sample || n > math.MaxUint32 {
		t.number(inverse, x, 0, n)
		return t.first, t.counts
	}
	// As long as there are few distinct strings, one table of them stays in the cache.
	for lo := 0; lo < n; lo += sample {
		hi := min(lo+sample, n)
		t.number(inverse, x, lo, hi)
		if len(t.first) > fewDistinct && hi < n {
			return uniqueMany(inverse, x)
		}
	}
	return t.first, t.counts
}

const (
	// sample is the number of strings after which the number of distinct ones is checked.
	sample = 1 << 14
	// fewDistinct is the number of strings whose table fits into the second-level cache.
	fewDistinct = 1 << 13
)

// UniqueRows is [Unique] within each row: indices count from 0 in every row. It returns the row
// splits of the distinct strings, their first positions in x, and the number of times each appears
// in its row.
func UniqueRows(inverse []int64, x Column, splits []int64) (outSplits, first, counts []int64) {
	outSplits = make([]int64, 1, max(len(splits), 1))
	var t table
	for r := 0; r+1 < len(splits); r++ {
		lo, hi := splits[r], splits[r+1]
		row := Column{Offsets: x.Offsets[lo : hi+1], Bytes: x.Bytes}
		t.reset(row.Len())
		t.number(inverse[lo:hi], row, 0, row.Len())
		for _, at := range t.first {
			first = append(first, lo+at)
		}
		counts = append(counts, t.counts...)
		outSplits = append(outSplits, int64(len(first)))
	}
	return outSplits, first, counts
}

// A table numbers distinct strings by open addressing. Its hash is seeded differently in each
// process, so that inputs cannot be constructed to collide; the numbering does not depend on the
// hash.
type table struct {
	slots  []slot
	first  []int64 // position of the first occurrence, by number
	counts []int64 // number of occurrences, by number
}

type slot struct {
	hash uint64
	id   int64 // one more than the number, 0 for a free slot
}

func newTable(n int) *table {
	t := new(table)
	t.reset(n)
	return t
}

// reset empties the table and makes room for n strings without growing, up to a limit.
func (t *table) reset(n int) {
	size := 16
	for size < min(2*n, 1<<12) {
		size *= 2
	}
	if cap(t.slots) >= size {
		t.slots = t.slots[:size]
		clear(t.slots)
	} else {
		t.slots = make([]slot, size)
	}
	t.first, t.counts = t.first[:0], t.counts[:0]
}

// number writes the numbers of the strings [lo, hi) to inverse.
func (t *table) number(inverse []int64, x Column, lo, hi int) {
	var hashes [256]uint64
	for ; lo < hi; lo += len(hashes) {
		part := hashes[:min(len(hashes), hi-lo)]
		hashWords(part, x, lo)
		for i, h := range part {
			id := t.id(x, int64(lo+i), h)
			t.counts[id]++
			inverse[lo+i] = id
		}
	}
}

// id returns the number of string i of x, whose hash is h, and assigns a new one if it has none
// yet.
func (t *table) id(x Column, i int64, h uint64) int64 {
	mask := uint64(len(t.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		e := &t.slots[at]
		if e.id == 0 {
			t.first, t.counts = append(t.first, i), append(t.counts, 0)
			id := int64(len(t.first))
			e.hash, e.id = h, id
			if 2*len(t.first) > len(t.slots) {
				t.grow()
			}
			return id - 1
		}
		if e.hash == h && x.equal(t.first[e.id-1], i) {
			return e.id - 1
		}
	}
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 4*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, e := range old {
		if e.id == 0 {
			continue
		}
		at := e.hash & mask
		for t.slots[at].id != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = e
	}
}

// equal reports whether two strings of a column are equal.
func (c Column) equal(i, j int64) bool {
	a, b, n := c.Offsets[i], c.Offsets[j], c.Offsets[i+1]-c.Offsets[i]
	if n != c.Offsets[j+1]-b {
		return false
	}
	return equalAt(c, a, a+n, c, b)
}
