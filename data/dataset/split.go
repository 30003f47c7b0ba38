package dataset

import (
	"math"
	"slices"
	"sync"
)

// Split returns parts of a dataset with given shares of its elements, which add up to 1: the
// first elements, those behind them, and so on. The parts are fixed, and each element is in
// one of them, in every epoch. Shuffle before it to draw them, and behind it for another
// order in each epoch:
//
//	parts := data.Shuffle(seed).Split(0.8, 0.2)
//	train, test := parts[0].Shuffle(seed).Repeat(10), parts[1]
//
// A stream is an error of kind tenon.ErrUnsupported, unless it is filtered from elements with
// numbers.
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
		return invalid(op, "the shares %v add up to %v, not to 1", shares, total)
	}
	return nil
}

// A Fold is one of the parts of a cross validation: what is trained on, and what is held out.
type Fold[T any] struct{ Train, Test *Dataset[T] }

// Folds divides a dataset into k parts of the same size, up to one element: each is held out
// in one of the folds, and the others are what is trained on there. Shuffle before to draw them.
func (d *Dataset[T]) Folds(k int) []Fold[T] {
	if k < 2 {
		return []Fold[T]{{failing[T](invalid("Folds", "there are no %d folds", k)), failing[T](invalid("Folds", "there are no %d folds", k))}}
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

// SplitBy is [Dataset.Split] for each class of elements by itself, so that all parts have the
// classes in the same shares, up to one element each. label tells the class; it is computed
// for all elements, once, when the first part is read.
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
		over := make([]float64, len(shares)) // what parts have beyond their shares
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

// FoldsBy is [Dataset.Folds] for each class by itself, as [SplitBy] is.
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

// apportioned divides n elements by shares: the whole ones of each, and what is left one by one
// to those that are furthest below theirs. over is how far parts are above theirs, and is
// kept from class to class, so that no part gets what is left of all of them.
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
