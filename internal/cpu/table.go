package cpu

import "iter"

// A Table holds the kernels of a package, by family. K is a struct of functions mostly, in
// which nil leaves something to plain Go.
type Table[K any] struct {
	sets []set[K]
	now  *K
	of   *Family // the family of now
}

type set[K any] struct {
	family  *Family
	kernels *K
}

// NewTable returns a table with the kernels of [Generic].
func NewTable[K any](generic K) *Table[K] {
	return &Table[K]{[]set[K]{{Generic, &generic}}, &generic, Generic}
}

// Add adds the kernels of another family, in an init function. Where the machine does not
// offer the family nothing happens.
func (t *Table[K]) Add(f *Family, kernels K) {
	if !f.offered {
		return
	}
	t.sets = append(t.sets, set[K]{f, &kernels})
	if f.rank <= active.rank && f.rank > t.of.rank {
		t.now, t.of = &kernels, f
	}
}

// Now returns the kernels of the best family that there are any for: with them the process
// runs.
func (t *Table[K]) Now() *K { return t.now }

// Each goes through all families of the table that the machine offers, whatever the
// environment variable says. While it is at one, that is what [Table.Now] returns. It is for
// tests.
func (t *Table[K]) Each() iter.Seq2[*Family, *K] {
	return func(yield func(*Family, *K) bool) {
		defer func(now *K) { t.now = now }(t.now)
		for _, s := range t.sets {
			if t.now = s.kernels; !yield(s.family, s.kernels) {
				return
			}
		}
	}
}
