package attention

import (
	"math"

	"github.com/tenonml/tenon/internal/kernel/gemm"
)

// Scores are inner products, so none is greater than the product of the norms of the longest
// query and the longest key. If that bound is small, the exponentials do not have to wait for
// the maximum of their row: relative to the bound, they neither overflow nor underflow, and
// they are computed while the scores are still in registers.

// boundedKeys is the number of keys from which finding the bound pays off.
const boundedKeys = 64

// takeKeys packs the keys of a head.
func (s *scratch) takeKeys(p *Params[float32]) {
	s.kt.Pack(p.K, p.Depth, p.Keys, 1, p.KRow)
	s.longest = float32(math.Inf(1))
	if p.Keys >= boundedKeys && p.Depth > 0 && !p.Causal && p.Mask == nil && gemm.HasPowers(&s.kt) {
		s.longest = longest(p.Keys, p.Depth, func(i, n int) float32 {
			return table.Now().longestRow(p.K[i*p.KRow:], n, p.Depth, p.KRow)
		})
	}
}

// longest returns the greatest value of f over parts of the rows, or NaN if one of them is NaN.
func longest(rows, cols int, f func(i, n int) float32) (most float32) {
	inParts(rows, cols, func(i, n int) {
		if v := f(i, n); v > most || v != v {
			most = v
		}
	})
	return most
}

// bounded is exponentials for a block of scores with a small bound. It reports false if the bound
// is too large.
func (s *scratch) bounded(p *Params[float32], i0, i1, stride, down int) bool {
	if !(s.longest <= math.MaxFloat32) {
		return false
	}
	rows, row := i1-i0, rowStride(p.Depth)
	if n := rows * row; len(s.queries) < n {
		s.queries = make([]float32, n)
	}
	long := longest(rows, p.Depth, func(i, n int) float32 {
		return table.Now().scaledRows(s.queries[i*row:], from(p.Q, (i0+i)*p.QRow), n, p.Depth, row, p.QRow, p.Scale*math.Log2E)
	})
	const rounding = 1 + 1e-4 // margin for the rounding of the sums of squares and of the scores
	bound := math.Ceil(math.Sqrt(float64(long)*float64(s.longest)) * rounding)
	if !(bound <= gemm.PowerLimit) {
		return false
	}
	if n := rows * gemm.PowerLanes; len(s.sums) < n {
		s.sums = make([]float32, n)
	}
	sums := s.sums[:rows*gemm.PowerLanes]
	clear(sums)
	gemm.Powers(&s.kt, s.scores, stride, s.queries, row, rows, p.Keys, int(bound)+down, sums)
	table.Now().addLanes(sums, rows, float32(bound*math.Ln2), s.stats[:])
	return true
}
