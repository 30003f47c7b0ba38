package dataset

import (
	"math"
	"slices"
	"sync"
)

// Split divides a dataset into consecutive parts with the given shares of its elements, which
// must add up to 1. The parts are fixed: each element is in the same part in every epoch.
// Shuffle before Split to assign elements at random, and after it to vary their order in each
// epoch:
//
//	parts := data.Shuffle(seed).Split(0.8, 0.2)
//	train, test := parts[0].Shuffle(seed).Repeat(10), parts[1]
//
// Splitting a stream is an error of kind tenon.ErrUnsupported, unless it is filtered from
// numbered elements.
func (d *Dataset[T]) Split(shares ...float64) []*Dataset[T] {
	up, err := d.n, d.err
	if err == nil {
		err = checkShares("Split", shares)
	}
	out := make([]*Dataset[T], len(shares))
	if err == nil {
		up, err = numberedNode("Split", d.n)
	}
	count := int64(0)
	if err == nil {
		count, err = up.size()
	}
	lo, sum := int64(0), 0.0
	for i, s := range shares {
		if err != nil {
			out[i] = failing[T](err)
			continue
		}
		sum += s
		hi := int64(math.Round(sum * float64(count)))
		if i == len(shares)-1 {
			hi = count
		}
		out[i] = derived(between("Split", up, lo, hi))
		lo = hi
	}
	return out
}

// checkShares checks that shares add up to 1.
func checkShares(op string, shares []float64) error {
	total := 0.0
	for _, s := range shares {
		if total += s; !(s >= 0) {
			return invalid(op, "the shares %v are not all positive", shares)
		}
	}
	if !(math.Abs(total-1) < 1e-9) {
		return invalid(op, "the shares %v add up to %v instead of 1", shares, total)
	}
	return nil
}

// A Fold is one of the parts of a cross-validation: the elements to train on, and those held out.
type Fold[T any] struct{ Train, Test *Dataset[T] }

// Folds divides a dataset into k parts of equal size, up to one element: each part is held out in
// one of the folds, and the others are trained on. Shuffle before Folds to assign elements at
// random.
func (d *Dataset[T]) Folds(k int) []Fold[T] {
	if k < 2 {
		return []Fold[T]{{failing[T](invalid("Folds", "cannot make %d folds", k)), failing[T](invalid("Folds", "cannot make %d folds", k))}}
	}
	shares := make([]float64, k)
	for i := range shares {
		shares[i] = 1 / float64(k)
	}
	return foldsOf(d.Split(shares...))
}

func foldsOf[T any](parts []*Dataset[T]) []Fold[T] {
	out := make([]Fold[T], len(parts))
	for i, p := range parts {
		out[i] = Fold[T]{Concat(slices.Delete(slices.Clone(parts), i, i+1)...), p}
	}
	return out
}

// SplitBy is [Dataset.Split] applied to each class of elements separately, so that all parts
// have the same shares of the classes, up to one element each. label returns the class of an
// element; it is computed once for all elements, when the first part is read.
func SplitBy[T any, K comparable](d *Dataset[T], label func(T) (K, error), shares ...float64) []*Dataset[T] {
	out := make([]*Dataset[T], len(shares))
	err := checkShares("SplitBy", shares)
	up := d.n
	if d.err != nil {
		err = d.err
	} else if err == nil {
		up, err = numberedNode("SplitBy", d.n)
	}
	parts := sync.OnceValues(func() ([][]int64, error) {
		all, err := up.size()
		if err != nil {
			return nil, err
		}
		var order []K
		classes := map[K][]int64{}
		for i := range all {
			x, err := up.at(i)
			var k K
			if err == nil {
				k, err = called(label, x)
			}
			if err != nil {
				return nil, elementError(i, err)
			}
			if _, seen := classes[k]; !seen {
				order = append(order, k)
			}
			classes[k] = append(classes[k], i)
		}
		out := make([][]int64, len(shares))
		over := make([]float64, len(shares)) // excess of the parts over their shares
		for _, k := range order {
			at := classes[k]
			for i, n := range apportioned(len(at), shares, over) {
				out[i] = append(out[i], at[:n]...)
				at = at[n:]
			}
		}
		for i := range out {
			slices.Sort(out[i])
		}
		return out, nil
	})
	for i := range out {
		if err != nil {
			out[i] = failing[T](err)
			continue
		}
		out[i] = derived(picked("SplitBy", up, func(int64) ([]int64, error) {
			all, err := parts()
			if err != nil {
				return nil, err
			}
			return all[i], nil
		}))
	}
	return out
}

// FoldsBy is [Dataset.Folds] applied to each class separately, like [SplitBy].
func FoldsBy[T any, K comparable](d *Dataset[T], k int, label func(T) (K, error)) []Fold[T] {
	if k < 2 {
		return d.Folds(k)
	}
	shares := make([]float64, k)
	for i := range shares {
		shares[i] = 1 / float64(k)
	}
	return foldsOf(SplitBy(d, label, shares...))
}

// apportioned divides n elements by shares: first the whole elements of each part, and then the
// remaining ones, one by one, to the parts that are furthest below their shares. over is the
// excess of the parts over their shares; it is kept from class to class, so that the same part
// does not get the remainder of every class.
func apportioned(n int, shares, over []float64) []int {
	out := make([]int, len(shares))
	left := n
	for i, s := range shares {
		out[i] = int(math.Floor(s*float64(n) + 1e-9))
		left -= out[i]
		over[i] += float64(out[i]) - s*float64(n)
	}
	given := make([]bool, len(shares))
	for ; left > 0; left-- {
		best := -1
		for i := range over {
			if !given[i] && shares[i] > 0 && (best < 0 || over[i] < over[best]-1e-9) {
				best = i
			}
		}
		out[best]++
		given[best] = true
		over[best]++
	}
	return out
}
