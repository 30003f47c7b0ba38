package attention

import (
	"math"
	"runtime"
	"sync"

	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/internal/par"
)

// Block sizes: a block of scores is 256 KiB and stays in the second-level cache.
const (
	queryBlock = 128
	keyBlock   = 512
)

// scratch is what one goroutine needs.
type scratch struct {
	scores        []float32 // [queryBlock, keyBlock], or whole rows of scores
	grads         []float32 // the same, for Backward
	operands      []float32 // of a head, for ForwardOf
	queries, sums []float32 // of a block, for bounded
	longest       float32   // sum of squares of the longest key, or +Inf
	greatest, sum [queryBlock]float32
	panels
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Forward computes p, or with batch dimensions (outermost first) every head of the
// batch. It panics where the description reaches outside its slices.
func Forward(p Params, batch ...Batch) {
	p.check(batch)
	heads := batchLen(batch)
	if heads == 0 || p.Queries == 0 || p.Width == 0 {
		return
	}
	if p.whole() {
		forwardHeads(p, batch, heads)
		return
	}
	blocks := (p.Queries + queryBlock - 1) / queryBlock
	// Where there are few blocks, the products are divided instead.
	serial := heads*blocks >= runtime.GOMAXPROCS(0)
	par.For(heads*blocks, grain(&p), func(lo, hi int) {
		s := scratches.Get().(*scratch)
		s.room(queryBlock, keyBlock, false)
		for t := lo; t < hi; t++ {
			one := p.at(t/blocks, batch)
			i0 := t % blocks * queryBlock
			one.forward(s, i0, min(i0+queryBlock, p.Queries), serial)
		}
		scratches.Put(s)
	})
}

// grain returns how many blocks of queries make a task worth handing over.
func grain(p *Params) int {
	const work = 1 << 19 // multiply-adds
	each := float64(min(p.Queries, queryBlock)) * float64(p.Keys) * float64(p.Depth+p.Width)
	return max(1, int(work/max(each, 1)))
}

// forward computes the queries i0 to i1.
func (p *Params) forward(s *scratch, i0, i1 int, serial bool) {
	rows := i1 - i0
	greatest, sum := s.greatest[:rows], s.sum[:rows]
	for i := range rows {
		greatest[i], sum[i] = float32(math.Inf(-1)), 0
	}
	seen := p.visible(i1 - 1) // by the last query, which sees the most
	for j0 := 0; j0 < seen; j0 += keyBlock {
		j1 := min(j0+keyBlock, seen)
		cols := j1 - j0
		p.scores(s.scores, i0, i1, j0, j1, serial)
		for i := range rows {
			row := s.scores[i*cols:][:cols]
			live := min(max(p.visible(i0+i)-j0, 0), cols)
			clear(row[live:])
			if live == 0 {
				continue
			}
			row = row[:live]
			old := greatest[i]
			top := max(old, table.Now().maximum(row))
			add := table.Now().exponentials(row, top)
			if j0 > 0 && top != old {
				less := exp(old - top)
				sum[i] *= less
				scale(p.Out[(i0+i)*p.OutRow:][:p.Width], less)
			}
			greatest[i] = top
			sum[i] += add
		}
		gemm.Multiply(gemm.Params[float32]{
			M: rows, N: p.Width, K: cols,
			A: s.scores, ARow: cols, ACol: 1,
			B: from(p.V, j0*p.VRow), BRow: p.VRow, BCol: 1,
			C: from(p.Out, i0*p.OutRow), CRow: p.OutRow, CCol: 1,
			Alpha: 1, Beta: float32(min(j0, 1)), Serial: serial,
		})
	}
	for i := range rows {
		out := p.Out[(i0+i)*p.OutRow:][:p.Width]
		if p.visible(i0+i) == 0 {
			clear(out)
		} else {
			scale(out, 1/sum[i])
		}
		if p.LogSum != nil {
			p.LogSum[i0+i] = greatest[i] + float32(math.Log(float64(sum[i])))
		}
	}
}

// visible returns how many keys query i sees.
func (p *Params) visible(i int) int {
	if !p.Causal {
		return p.Keys
	}
	return min(max(i+1+p.Keys-p.Queries, 0), p.Keys)
}

// scores sets dst[i1-i0, j1-j0] to the scaled products of queries and keys.
func (p *Params) scores(dst []float32, i0, i1, j0, j1 int, serial bool) {
	gemm.Multiply(gemm.Params[float32]{
		M: i1 - i0, N: j1 - j0, K: p.Depth,
		A: from(p.Q, i0*p.QRow), ARow: p.QRow, ACol: 1,
		B: from(p.K, j0*p.KRow), BRow: 1, BCol: p.KRow,
		C: dst, CRow: j1 - j0, CCol: 1,
		Alpha: p.Scale, Serial: serial,
	})
}

func scale(x []float32, by float32) {
	for i := range x {
		x[i] *= by
	}
}
