package attention

import (
	"math"
	"runtime"

	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/internal/par"
)

// If the scores of a few queries with all their keys fit into the second-level cache, they are
// computed in one piece: each softmax is finished at once, and the gradient needs none of Forward's
// results.
const (
	wholeKeys = 1024    // largest number of keys for that
	wholeSize = 1 << 16 // scores held at a time
	rowsSize  = 8192    // scores passed to one call of a row kernel
)

func (p *Params[T]) whole() bool { return p.Keys <= wholeKeys }

// NeedsForward reports whether [Backward] needs Out and LogSum for this number of keys and element
// type.
func NeedsForward[T float](keys int) bool {
	_, single := any(T(0)).(float32)
	return keys > wholeKeys || !single
}

// rowStride returns the distance between rows of scores: whole cache lines, and such that the rows
// of a tile do not map to the same sets of the first-level cache.
func rowStride(keys int) int {
	n := (keys + 15) &^ 15
	for n > 64 && min(n%512, 512-n%512) < 16 {
		n += 16
	}
	return n
}

// rowsOfTiles is a number of rows that gemm divides into full tiles with AVX-512.
const rowsOfTiles = 14

// wholeRows returns the number of queries of a block.
func (p *Params[T]) wholeRows() int {
	return max(1, min(queryBlock, wholeSize/rowStride(max(p.Keys, 1)))/rowsOfTiles) * rowsOfTiles
}

// room provides memory for a block of scores and one of gradients.
func (s *blocks[T]) room(rows, stride int, grads bool) {
	if n := rows * stride; len(s.scores) < n {
		s.scores = make([]T, n)
	}
	if n := rows * stride; grads && len(s.grads) < n {
		s.grads = make([]T, n)
	}
}

// exponentials sets the block of scores of queries [i0, i1), whose keys s.kt holds, to
// 2^-down·exp(score - m), where m is the greatest score of the row or a bound for it. It
// stores m and the sum of each row in s.stats and returns the number of keys that the last
// query sees. Entries that a query does not see are 0.
func (s *scratch) exponentials(p *Params[float32], i0, i1, stride, down int) (seen int) {
	rows := i1 - i0
	if seen = p.visible(i1 - 1); seen == 0 {
		return 0
	}
	if s.bounded(p, i0, i1, stride, down) {
		return seen
	}
	unit := float32(math.Ldexp(1, -down))
	s.kt.Times(s.scores, stride, from(p.Q, i0*p.QRow), p.QRow, 1, rows, seen, p.Depth, p.Scale, 0)
	if !p.Causal && p.Mask == nil {
		inParts(rows, seen, func(i, n int) {
			table.Now().exponentialRows(s.scores[i*stride:], n, seen, stride, unit, s.stats[2*i:])
		})
		return seen
	}
	for i := range rows {
		row, live := s.scores[i*stride:][:seen], p.visible(i0+i)
		clear(row[live:])
		if p.hide(row[:live], i0+i, 0) {
			table.Now().exponentialRows(row, 1, live, stride, unit, s.stats[2*i:])
		} else {
			clear(row)
			s.stats[2*i], s.stats[2*i+1] = float32(math.Inf(-1)), 1
		}
	}
	return seen
}

// inParts calls f for ranges of rows that are short enough for the goroutine to be preempted soon.
func inParts(rows, cols int, f func(i, n int)) {
	for i := 0; i < rows; {
		n := min(rows-i, max(1, rowsSize/cols))
		f(i, n)
		i += n
	}
}

// forwardWhole computes the queries [i0, i1) of a head; s.kt and s.v hold its keys and
// values. It divides the results, which are fewer than the weights, by the sums. The
// exponentials of a row add up to at most 1, so that the undivided results do not overflow
// unless the divided ones would.
func (s *scratch) forwardWhole(p *Params[float32], i0, i1, stride int) {
	const down = 10 // there are at most 2^10 keys
	seen := s.exponentials(p, i0, i1, stride, down)
	out := from(p.Out, i0*p.OutRow)
	s.v.Times(out, p.OutRow, s.scores, stride, 1, i1-i0, p.Width, seen, 1, 0)
	if seen > 0 {
		inParts(i1-i0, p.Width, func(i, n int) {
			table.Now().divideRows(out[i*p.OutRow:], n, p.Width, p.OutRow, s.stats[2*i:])
		})
	}
	if p.LogSum == nil {
		return
	}
	for i := range i1 - i0 {
		if p.visible(i0+i) == 0 || math.IsInf(float64(s.stats[2*i]), -1) {
			p.LogSum[i0+i] = float32(math.Inf(-1))
			continue
		}
		p.LogSum[i0+i] = float32(float64(s.stats[2*i]) + math.Log(math.Ldexp(float64(s.stats[2*i+1]), down)))
	}
}

// forwardHeads is Forward for few keys. Tasks are blocks of queries; consecutive tasks share a head
// and its packed keys.
func forwardHeads(p Params[float32], batch []Batch, heads int) {
	step, stride := p.wholeRows(), rowStride(p.Keys)
	blocks := (p.Queries + step - 1) / step
	each := grain(&p)
	if heads >= runtime.GOMAXPROCS(0) {
		each = (each + blocks - 1) / blocks * blocks
	}
	par.For(heads*blocks, each, func(lo, hi int) {
		s := scratches.Get().(*scratch)
		s.room(min(step, p.Queries), stride, false)
		var one Params[float32]
		for t := lo; t < hi; t++ {
			if b := t % blocks; t == lo || b == 0 {
				one = p.at(t/blocks, batch)
				s.take(&one)
			}
			i0 := t % blocks * step
			s.forwardWhole(&one, i0, min(i0+step, p.Queries), stride)
		}
		s.giveBack()
	})
}

// take packs the keys and values of a head for forwardWhole.
func (s *scratch) take(p *Params[float32]) {
	s.takeKeys(p)
	takeFactor(&s.v, p.V, p.Keys, p.Width, p.VRow, 1, p.Queries)
}

// backwardWhole computes the gradients of a head.
func (s *scratch) backwardWhole(p *Params[float32], g Gradients[float32]) {
	step, stride := p.wholeRows(), rowStride(p.Keys)
	s.room(min(step, p.Queries), stride, true)
	s.takeKeys(p)
	s.vt.Pack(p.V, p.Width, p.Keys, 1, p.VRow)
	s.k.Take(p.K, p.Keys, p.Depth, p.KRow, p.Queries)
	// The first block of queries overwrites the gradients and later blocks add to them, unless the
	// first does not see all keys.
	beta := float32(0)
	if p.Causal || p.Queries == 0 {
		beta = 1
		for j := range p.Keys {
			clear(g.DK[j*p.KRow:][:p.Depth])
			clear(g.DV[j*p.VRow:][:p.Width])
		}
	}
	for i0 := 0; i0 < p.Queries; i0 += step {
		i1 := min(i0+step, p.Queries)
		s.blockGradient(p, g, i0, i1, stride)
		s.keysGradient(p, g, i0, i1, 0, p.visible(i1-1), stride, beta)
		beta = 1
	}
}

// blockGradient computes the weights of queries [i0, i1) and the gradients of their scores, leaves
// them in s, and computes the gradient of the queries.
func (s *scratch) blockGradient(p *Params[float32], g Gradients[float32], i0, i1, stride int) {
	rows := i1 - i0
	seen := s.exponentials(p, i0, i1, stride, 0)
	if seen > 0 {
		inParts(rows, seen, func(i, n int) { table.Now().divideRows(s.scores[i*stride:], n, seen, stride, s.stats[2*i:]) })
		s.vt.Times(s.grads, stride, from(g.DOut, i0*p.OutRow), p.OutRow, 1, rows, seen, p.Width, 1, 0)
	}
	if seen > 0 {
		inParts(rows, seen, func(i, n int) {
			table.Now().scoreGradRows(s.grads[i*stride:], s.scores[i*stride:], n, seen, stride, p.Scale)
		})
	}
	s.k.Times(from(g.DQ, i0*p.QRow), p.QRow, s.grads, stride, 1, rows, p.Depth, seen, 1, 0)
}

// keysGradient adds the contributions of queries [i0, i1), whose weights and score gradients are in
// s, to beta times the gradients of keys and values [j0, j1).
func (s *scratch) keysGradient(p *Params[float32], g Gradients[float32], i0, i1, j0, j1, stride int, beta float32) {
	rows, keys := i1-i0, j1-j0
	s.dout.Take(from(g.DOut, i0*p.OutRow), rows, p.Width, p.OutRow, keys)
	s.q.Take(from(p.Q, i0*p.QRow), rows, p.Depth, p.QRow, keys)
	s.dout.Times(from(g.DV, j0*p.VRow), p.VRow, from(s.scores, j0), 1, stride, keys, p.Width, rows, 1, beta)
	s.q.Times(from(g.DK, j0*p.KRow), p.KRow, from(s.grads, j0), 1, stride, keys, p.Depth, rows, 1, beta)
}

// panels are the packed operands of the products of one head.
type panels struct {
	kt, vt  gemm.Panels[float32] // transposed keys and values
	k, v    gemm.Panels[float32]
	q, dout gemm.Panels[float32] // of one block of queries
	factor  gemm.Panels[float32] // of a Product
	stats   [2 * queryBlock]float32
}

// giveBack returns s to its pool without references to the caller's memory.
func (s *scratch) giveBack() {
	for _, p := range []*gemm.Panels[float32]{&s.kt, &s.vt, &s.k, &s.v, &s.q, &s.dout, &s.factor} {
		p.Release()
	}
	scratches.Put(s)
}
