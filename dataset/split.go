package dataset

import "math"

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
	total := 0.0
	for _, s := range shares {
		if total += s; !(s >= 0) && err == nil {
			err = invalid("Split", "the shares %v are not all positive", shares)
		}
	}
	if err == nil && !(math.Abs(total-1) < 1e-9) {
		err = invalid("Split", "the shares %v add up to %v, not to 1", shares, total)
	}
	count := int64(0)
	if err == nil {
		if up, err = numberedNode("Split", d.n); err == nil {
			count, _, err = up.count()
		}
	}
	out := make([]*Dataset[T], len(shares))
	lo, sum := int64(0), 0.0
	for i, s := range shares {
		sum += s
		hi := int64(math.Round(sum * float64(count)))
		if i == len(shares)-1 {
			hi = count
		}
		out[i] = derived[T](&rangeNode[T]{up, lo, hi}, err)
		lo = hi
	}
	return out
}
