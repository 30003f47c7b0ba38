package segment

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/sorting"
)

// A Distinct lists the distinct values of each row in the order of their first
// appearance.
type Distinct struct {
	Splits []int64 // row splits of the next two
	First  []int64 // position of each one's first appearance among all values
	Counts []int64 // how often it appears in its row
}

// Unique finds the distinct values of each row. It writes to inverse, which has splits[rows]
// entries, the index of each value among the distinct values of its row. All NaNs are one value,
// and so are both floating-point zeros.
func Unique[T dtype.Number](inverse []int64, values []T, splits []int64) Distinct {
	return distinctRows(splits, func(lo, hi int64) (first, counts []int64) {
		return sorting.Unique(inverse[lo:hi], values[lo:hi])
	})
}

// distinctRows collects the results of find for each row.
func distinctRows(splits []int64, find func(lo, hi int64) (first, counts []int64)) Distinct {
	rows := rowsOf(splits)
	d := Distinct{Splits: make([]int64, 1, rows+1)}
	for r := range rows {
		lo, hi := splits[r], splits[r+1]
		if lo < hi {
			first, counts := find(lo, hi)
			for _, f := range first {
				d.First = append(d.First, lo+f)
			}
			d.Counts = append(d.Counts, counts...)
		}
		d.Splits = append(d.Splits, int64(len(d.First)))
	}
	return d
}

// Runs finds the runs of equal neighbours within rows and returns their lengths and the row splits
// of the runs. The first positions of the runs are the running sums of the lengths. NaN differs
// from its neighbours.
func Runs[T comparable](values []T, splits []int64, inner int) (lengths, runSplits []int64) {
	n := int(splits[max(len(splits)-1, 0)])
	if inner != 1 || n < worthIndex {
		return RunsFunc(splits, func(i int64) bool {
			a, b := item(values, int(i-1), inner), item(values, int(i), inner)
			for j, v := range a {
				if v != b[j] {
					return false
				}
			}
			return true
		})
	}
	// Mark where runs begin and index the marks: the time does not depend on the lengths of the
	// runs.
	begins := make([]bool, n)
	eachSpan(n-1, 1, func(lo, hi int) {
		x, next, b := values[lo:hi], values[lo+1:hi+1], begins[lo+1:hi+1]
		next, b = next[:len(x)], b[:len(x)]
		for i, v := range x {
			b[i] = v != next[i]
		}
	})
	for _, s := range splits {
		if int(s) < n { // an empty row begins where the next nonempty one does
			begins[s] = true
		}
	}
	index := gather.NewBitmap(begins)
	runSplits = make([]int64, len(splits))
	index.BeforeAll(runSplits, splits)
	count := index.Count()
	at := make([]int64, count+1)
	gather.TrueAt(at[:count], begins)
	at[count] = int64(n)
	for i := range count {
		at[i] = at[i+1] - at[i]
	}
	return at[:count], runSplits
}

// RunsFunc is [Runs] for values of any kind: same(i) reports whether the values
// i-1 and i are equal.
func RunsFunc(splits []int64, same func(i int64) bool) (lengths, runSplits []int64) {
	rows := rowsOf(splits)
	runSplits = make([]int64, 1, rows+1)
	for r := range rows {
		start := splits[r]
		for i := start + 1; i < splits[r+1]; i++ {
			if !same(i) {
				lengths = append(lengths, i-start)
				start = i
			}
		}
		if start < splits[r+1] {
			lengths = append(lengths, splits[r+1]-start)
		}
		runSplits = append(runSplits, int64(len(lengths)))
	}
	return lengths, runSplits
}
