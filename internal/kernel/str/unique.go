package str

import (
	"bytes"
	"hash/maphash"
)

// Unique finds the distinct strings of x in the order of their first appearance. It
// writes to inverse, which has x.Len() elements, the number of each string among
// them, and returns the position at which each first appears and how often it does.
// It is what encodes a column by a dictionary: the dictionary is Gather(x, first),
// the codes are inverse.
func Unique(inverse []int64, x Column) (first, counts []int64) {
	t := newTable(x.Len())
	for i := range x.Len() {
		id := t.id(x, int64(i), func(id int64) int64 { return first[id] })
		if id == int64(len(first)) {
			first = append(first, int64(i))
			counts = append(counts, 0)
		}
		counts[id]++
		inverse[i] = id
	}
	return first, counts
}

// UniqueRows is [Unique] within each row: numbers count from 0 in every row. It
// returns the row splits of the distinct strings, their first positions in x, and
// how often each appears in its row.
func UniqueRows(inverse []int64, x Column, splits []int64) (outSplits, first, counts []int64) {
	outSplits = make([]int64, 1, max(len(splits), 1))
	for r := 0; r+1 < len(splits); r++ {
		lo, hi := splits[r], splits[r+1]
		row := Column{Offsets: x.Offsets[lo : hi+1], Bytes: x.Bytes}
		f, c := Unique(inverse[lo:hi], row)
		for _, at := range f {
			first = append(first, lo+at)
		}
		counts = append(counts, c...)
		outSplits = append(outSplits, int64(len(first)))
	}
	return outSplits, first, counts
}

var seed = maphash.MakeSeed()

// A table numbers distinct strings by open addressing. Its hash is seeded
// differently in each process, so that no input can be made to collide; the
// numbering does not depend on it.
type table struct {
	slots []slot
	used  int
}

type slot struct {
	hash uint64
	id   int64 // one more than the number, 0 for a free slot
}

func newTable(n int) *table {
	size := 16
	for size < min(2*n, 1<<12) {
		size *= 2
	}
	return &table{slots: make([]slot, size)}
}

// id returns the number of string i of x, a new one if it has none yet; first says
// at which position the string of a number is found.
func (t *table) id(x Column, i int64, first func(id int64) int64) int64 {
	s := x.At(int(i))
	h := maphash.Bytes(seed, s)
	mask := uint64(len(t.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		e := &t.slots[at]
		if e.id == 0 {
			t.used++
			e.hash, e.id = h, int64(t.used)
			if 2*t.used > len(t.slots) {
				t.grow()
			}
			return int64(t.used) - 1
		}
		if e.hash == h && bytes.Equal(x.At(int(first(e.id-1))), s) {
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
