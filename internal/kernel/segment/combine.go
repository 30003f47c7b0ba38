package segment

import (
	"math"
	"math/bits"
)

// CombinationsSplits writes to out, which has len(splits) entries, the row splits of the
// combinations of n items of each row, with or without replacement, and returns the number of
// combinations. It is an error if that exceeds int64, or if n < 1.
func CombinationsSplits(out, splits []int64, n int, replacement bool) (total int64, err error) {
	if n < 1 {
		return 0, rowError("combinations", 0, int64(n), "items are chosen; choose at least 1")
	}
	out[0] = 0
	for r := range rowsOf(splits) {
		length := splits[r+1] - splits[r]
		count, ok := choose(length, int64(n), replacement)
		if !ok || count > math.MaxInt64-total {
			return 0, rowError("combinations", r, length, "items have more combinations than fit into int64")
		}
		total += count
		out[r+1] = total
	}
	return total, nil
}

// choose returns the number of ways to choose k of m items, with or without replacement, and false
// if it does not fit.
func choose(m, k int64, replacement bool) (int64, bool) {
	if replacement {
		if m == 0 {
			return 0, true
		}
		if m > math.MaxInt64-k {
			return 0, false
		}
		m += k - 1
	}
	if k > m {
		return 0, true
	}
	k = min(k, m-k)
	c := uint64(1)
	for i := int64(1); i <= k; i++ {
		// c*(m-k+i)/i is a binomial coefficient again, so the division is exact.
		high, low := bits.Mul64(c, uint64(m-k+i))
		if high >= uint64(i) {
			return 0, false
		}
		c, _ = bits.Div64(high, low, uint64(i))
		if c > math.MaxInt64 {
			return 0, false
		}
	}
	return int64(c), true
}

// Combinations writes the items chosen in each combination: out[d][c] is item d of combination c,
// in lexicographic order of positions. Each out[d] has outSplits[rows] entries; outSplits comes
// from [CombinationsSplits] with n = len(out). Items are given by their position among all values
// or, if local is set, within their row.
func Combinations(out [][]int64, outSplits, splits []int64, replacement, local bool) {
	n := len(out)
	eachRows(outSplits, n, func(lo, hi int) {
		choice := make([]int64, n)
		for r := lo; r < hi; r++ {
			length, base := splits[r+1]-splits[r], splits[r]
			if local {
				base = 0
			}
			for d := range choice {
				choice[d] = int64(d)
				if replacement {
					choice[d] = 0
				}
			}
			for c := outSplits[r]; c < outSplits[r+1]; c++ {
				for d, p := range choice {
					out[d][c] = base + p
				}
				advance(choice, length, replacement)
			}
		}
	})
}

// advance moves to the next combination of positions below length, if there is one.
func advance(choice []int64, length int64, replacement bool) {
	n := len(choice)
	for d := n - 1; d >= 0; d-- {
		limit := length - int64(n-d) // the largest that leaves room for the positions after it
		if replacement {
			limit = length - 1
		}
		if choice[d] >= limit {
			continue
		}
		choice[d]++
		for e := d + 1; e < n; e++ {
			choice[e] = choice[e-1]
			if !replacement {
				choice[e]++
			}
		}
		return
	}
}

// CartesianSplits writes to out the row splits of the row-by-row Cartesian products of several
// partitions, all with the same number of rows, and returns the number of tuples. It is an error if
// that exceeds int64.
func CartesianSplits(out []int64, parts ...[]int64) (total int64, err error) {
	out[0] = 0
	for r := range len(out) - 1 {
		count := uint64(1)
		for _, s := range parts {
			high, low := bits.Mul64(count, uint64(s[r+1]-s[r]))
			if high != 0 {
				low = math.MaxUint64
			}
			count = low
			if count == 0 {
				break
			}
		}
		if count > uint64(math.MaxInt64-total) {
			return 0, rowError("cartesian product", r, int64(len(parts)), "rows have more tuples than fit into int64")
		}
		total += int64(count)
		out[r+1] = total
	}
	return total, nil
}

// Cartesian writes the tuples of each row's product: out[p][t] is the item of part p in tuple t,
// with the last part changing fastest. outSplits comes from [CartesianSplits]. Items are given by
// their position among all values of their part or, if local is set, within their row.
func Cartesian(out [][]int64, outSplits []int64, local bool, parts ...[]int64) {
	eachRows(outSplits, len(parts), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			repeat := int64(1) // how many times in a row each item of this part appears
			for p := len(parts) - 1; p >= 0; p-- {
				s := parts[p]
				base, length := s[r], s[r+1]-s[r]
				if local {
					base = 0
				}
				o := out[p][outSplits[r]:outSplits[r+1]]
				for t := 0; t < len(o); {
					for i := range length {
						for range repeat {
							o[t] = base + i
							t++
						}
					}
				}
				repeat *= max(length, 1)
			}
		}
	})
}
