package cpu

import "iter"

// A Table holds the kernels of a package, by family. K is typically a struct of functions, in which
// nil means plain Go.
type Table[K any] struct {
	sets []set[K]
	now  *K
	of   *Family // the family family of now
}

type set[K any] struct {
	family  *Family
	kernels *K
}

// NewTable returns a table with the kernels of [Generic].
func NewTable[K any](generic K) *Table[K] {
	return &Table[K]{[]set[K]{{Generic, &generic}}, &generic, Generic}
}

// Add adds the kernels of another family, in an init function. It does nothing if the machine does
// not support the family.
func (t *Table[K]) Add(f *Family, kernels K) {
	if !f.offered {
		return
	}
	t.sets = append(t.sets, set[K]{f, &kernels})
	if f.rank <= active.rank && f.rank > t.of.rank {
		t.now, t.of = &kernels, f
	}
}

// Now returns the kernels of the best supported family in the table, which are the ones to run.
func (t *Table[K]) Now() *K { return t.now }

// Each iterates over all families of the table that the machine supports, whatever the
// environment variable says. During each step, [Table.Now] returns the kernels of that
// family. Each is for tests.
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
