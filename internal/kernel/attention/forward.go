package attention

import (
	"math"
	"runtime"
	"sync"

	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/internal/par"
)

// Block sizes: a block of scores is 256 KiB and stays in the second-level cache.
const (
	queryBlock = 128
	keyBlock   = 512
)

// blocks is the memory that one goroutine needs for blocks of scores.
type blocks[T float] struct {
	scores        []T // [queryBlock, keyBlock], or whole rows of scores
	grads         []T // their gradients, for Backward
	greatest, sum [queryBlock]T
}

// scratch is the memory that one goroutine needs for whole rows of scores.
type scratch struct {
	blocks[float32]
	operands      []float32 // queries, keys and values of a head, for ForwardOf
	queries, sums []float32 // scaled queries of a block, and sums of its rows, for bounded
	longest       float32   // sum of squares of the longest key, or +Inf
	panels
}

var (
	scratches = sync.Pool{New: func() any { return new(scratch) }}
	doubles   = sync.Pool{New: func() any { return new(blocks[float64]) }}
)

// lend calls f with pooled memory for blocks.
func lend[T float](grads bool, f func(s *blocks[T])) {
	var s *blocks[T]
	switch s := any(&s).(type) {
	case **blocks[float32]:
		own := scratches.Get().(*scratch)
		defer scratches.Put(own)
		*s = &own.blocks
	case **blocks[float64]:
		*s = doubles.Get().(*blocks[float64])
		defer doubles.Put(*s)
	}
	s.room(queryBlock, keyBlock, grads)
	f(s)
}

// Forward computes p, or with batch dimensions (outermost first) every head of the batch. It panics
// if the description reaches outside its slices.
func Forward[T float](p Params[T], batch ...Batch) {
	p.check(batch)
	heads := batchLen(batch)
	if heads == 0 || p.Queries == 0 || p.Width == 0 {
		return
	}
	if p, ok := any(p).(Params[float32]); ok && p.whole() {
		forwardHeads(p, batch, heads)
		return
	}
	parts := (p.Queries + queryBlock - 1) / queryBlock
	// If there are few tasks, the matrix products are parallelised instead.
	serial := heads*parts >= runtime.GOMAXPROCS(0)
	par.For(heads*parts, grain(&p), func(lo, hi int) {
		lend(false, func(s *blocks[T]) {
			for t := lo; t < hi; t++ {
				one := p.at(t/parts, batch)
				i0 := t % parts * queryBlock
				one.forward(s, i0, min(i0+queryBlock, p.Queries), serial)
			}
		})
	})
}

// grain returns the number of blocks of queries that make a task worth distributing.
func grain[T float](p *Params[T]) int {
	const work = 1 << 19 // multiply-adds
	each := float64(min(p.Queries, queryBlock)) * float64(p.Keys) * float64(p.Depth+p.Width)
	return max(1, int(work/max(each, 1)))
}

// forward computes the queries [i0, i1).
func (p *Params[T]) forward(s *blocks[T], i0, i1 int, serial bool) {
	rows := i1 - i0
	greatest, sum := s.greatest[:rows], s.sum[:rows]
	for i := range rows {
		greatest[i], sum[i] = T(math.Inf(-1)), 0
	}
	seen := p.visible(i1 - 1) // keys visible to the last query, which sees the most
	for j0 := 0; j0 < seen; j0 += keyBlock {
		j1 := min(j0+keyBlock, seen)
		cols := j1 - j0
		p.scores(s.scores, i0, i1, j0, j1, serial)
		for i := range rows {
			row := s.scores[i*cols:][:cols]
			live := min(max(p.visible(i0+i)-j0, 0), cols)
			clear(row[live:])
			row = row[:live]
			if !p.hide(row, i0+i, j0) {
				clear(row)
				continue
			}
			old := greatest[i]
			top := max(old, maximum(row))
			add := exponentials(row, top)
			if j0 > 0 && top != old {
				less := T(math.Exp(float64(old - top)))
				sum[i] *= less
				scale(p.Out[(i0+i)*p.OutRow:][:p.Width], less)
			}
			greatest[i] = top
			sum[i] += add
		}
		gemm.Multiply(gemm.Params[T]{
			M: rows, N: p.Width, K: cols,
			A: s.scores, ARow: cols, ACol: 1,
			B: from(p.V, j0*p.VRow), BRow: p.VRow, BCol: 1,
			C: from(p.Out, i0*p.OutRow), CRow: p.OutRow, CCol: 1,
			Alpha: 1, Beta: T(min(j0, 1)), Serial: serial,
		})
	}
	for i := range rows {
		out := p.Out[(i0+i)*p.OutRow:][:p.Width]
		if sum[i] == 0 { // query i sees no key
			clear(out)
		} else {
			scale(out, 1/sum[i])
		}
		if p.LogSum != nil {
			p.LogSum[i0+i] = greatest[i] + T(math.Log(float64(sum[i])))
		}
	}
}

// visible returns how many keys query i sees.
func (p *Params[T]) visible(i int) int {
	if !p.Causal {
		return p.Keys
	}
	return min(max(i+1+p.Keys-p.Queries, 0), p.Keys)
}

// scores sets dst[i1-i0, j1-j0] to the scaled products of queries and keys.
func (p *Params[T]) scores(dst []T, i0, i1, j0, j1 int, serial bool) {
	gemm.Multiply(gemm.Params[T]{
		M: i1 - i0, N: j1 - j0, K: p.Depth,
		A: from(p.Q, i0*p.QRow), ARow: p.QRow, ACol: 1,
		B: from(p.K, j0*p.KRow), BRow: 1, BCol: p.KRow,
		C: dst, CRow: j1 - j0, CCol: 1,
		Alpha: p.Scale, Serial: serial,
	})
}

func scale[T float](x []T, by T) {
	for i := range x {
		x[i] *= by
	}
}

// maximum returns the greatest of the scores; it may ignore NaN.
func maximum[T float](x []T) T {
	if x, ok := any(x).([]float32); ok {
		return T(table.Now().maximum(x))
	}
	most := x[0]
	for _, v := range x {
		if v > most || most != most {
			most = v
		}
	}
	return most
}

// exponentials replaces scores by exp(x - shift) and returns their sum.
func exponentials[T float](x []T, shift T) T {
	switch x := any(x).(type) {
	case []float32:
		return T(table.Now().exponentials(x, float32(shift)))
	case []float64:
		return T(reduce.ExpShift(x, float64(shift)))
	}
	return 0
}

// scoreGrad replaces dp by p·(dp - mean)·by.
func scoreGrad[T float](p, dp []T, mean, by T) {
	if p, ok := any(p).([]float32); ok {
		table.Now().scoreGrad(p, any(dp).([]float32), float32(mean), float32(by))
		return
	}
	for i, v := range p {
		dp[i] = (dp[i] - mean) * v * by
	}
}
