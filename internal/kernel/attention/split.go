package attention

import (
	"runtime"
	"sync"

	"github.com/tenonml/tenon/internal/par"
)

// backwardHeads is Backward for few keys: heads are computed independently or, if there are fewer
// heads than processors, each by all processors.
func backwardHeads(p Params[float32], g Gradients[float32], batch []Batch, heads int) {
	each := grain(&Params[float32]{Queries: p.Queries, Keys: p.Keys, Depth: 3 * p.Depth, Width: 2 * p.Width})
	if blocks := (p.Queries + p.wholeRows() - 1) / p.wholeRows(); heads < runtime.GOMAXPROCS(0) && blocks > 1 && each == 1 {
		for h := range heads {
			one := p.at(h, batch)
			backwardTogether(&one, g.at(&p, h, batch), blocks)
		}
		return
	}
	par.For(heads, each, func(lo, hi int) {
		s := scratches.Get().(*scratch)
		for h := lo; h < hi; h++ {
			one := p.at(h, batch)
			s.backwardWhole(&one, g.at(&p, h, batch))
		}
		s.giveBack()
	})
}

// keyRange is the number of keys whose gradients backwardTogether computes at a time.
const keyRange = 128

// backwardTogether is backwardWhole for several workers: first they divide the blocks of queries,
// then the keys. The order of summation is the same.
func backwardTogether(p *Params[float32], g Gradients[float32], blocks int) {
	step, stride := p.wholeRows(), rowStride(p.Keys)
	size := step * stride
	room := shared.Get().(*[]float32)
	defer shared.Put(room)
	if len(*room) < 2*blocks*size {
		*room = make([]float32, 2*blocks*size)
	}
	// hold lends the memory of a block to a scratch for the duration of f.
	hold := func(s *scratch, b int, f func(i0, i1 int)) {
		scores, grads := s.scores, s.grads
		s.scores, s.grads = (*room)[2*b*size:][:size], (*room)[(2*b+1)*size:][:size]
		f(b*step, min((b+1)*step, p.Queries))
		s.scores, s.grads = scores, grads
	}
	par.For(blocks, 1, func(lo, hi int) {
		s := scratches.Get().(*scratch)
		s.takeKeys(p)
		s.vt.Pack(p.V, p.Width, p.Keys, 1, p.VRow)
		s.k.Take(p.K, p.Keys, p.Depth, p.KRow, p.Queries)
		for b := lo; b < hi; b++ {
			hold(s, b, func(i0, i1 int) { s.blockGradient(p, g, i0, i1, stride) })
		}
		s.giveBack()
	})
	par.For((p.Keys+keyRange-1)/keyRange, 1, func(lo, hi int) {
		s := scratches.Get().(*scratch)
		j0, j1 := lo*keyRange, min(hi*keyRange, p.Keys)
		if p.Causal {
			for j := j0; j < j1; j++ {
				clear(g.DK[j*p.KRow:][:p.Depth])
				clear(g.DV[j*p.VRow:][:p.Width])
			}
		}
		for b := range blocks {
			beta := float32(1)
			if b == 0 && !p.Causal {
				beta = 0
			}
			hold(s, b, func(i0, i1 int) {
				s.keysGradient(p, g, i0, i1, j0, max(j0, min(j1, p.visible(i1-1))), stride, beta)
			})
		}
		s.giveBack()
	})
}

var shared = sync.Pool{New: func() any { return new([]float32) }}
