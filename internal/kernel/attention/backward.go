package attention

import (
	"runtime"

	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/internal/throw"
)

// Gradients holds the cotangent of Forward's result and the destinations of the operands'
// gradients. Each slice has the layout (row strides and batch strides) of the corresponding
// operand. DQ, DK and DV are overwritten and must not share elements with anything else.
type Gradients[T float] struct {
	DOut       []T
	DQ, DK, DV []T
}

// Backward computes the gradients of sum(Out * DOut). For float64, and for float32 with more than 1024 keys, p must be
// the one that Forward computed, including LogSum; otherwise Backward reads neither LogSum nor Out. With P the
// softmax, the gradient of V is Pᵀ DOut, and that of the scores before scaling is P ∘ (DOut Vᵀ - rowsum(DOut ∘ Out)).
// Heads are computed independently, so no batch dimension may have stride 0.
func Backward[T float](p Params[T], g Gradients[T], batch ...Batch) {
	whole := !NeedsForward[T](p.Keys)
	if whole {
		p.Out, p.LogSum = g.DOut, nil // DOut has the layout of Out, and Forward's results are not needed
	}
	p.checkGradients(g, batch)
	p.check(batch)
	heads := batchLen(batch)
	if heads == 0 {
		return
	}
	if whole {
		backwardHeads(any(p).(Params[float32]), any(g).(Gradients[float32]), batch, heads)
		return
	}
	serial := heads >= runtime.GOMAXPROCS(0)
	par.For(heads, 1, func(lo, hi int) {
		lend(true, func(s *blocks[T]) {
			for h := lo; h < hi; h++ {
				one := p.at(h, batch)
				one.backward(s, g.at(&p, h, batch), serial)
			}
		})
	})
}

// at returns the gradients of head number h.
func (g Gradients[T]) at(p *Params[T], h int, batch []Batch) Gradients[T] {
	one := *p
	one.Q, one.K, one.V, one.Out, one.LogSum = g.DQ, g.DK, g.DV, g.DOut, nil
	one = one.at(h, batch)
	return Gradients[T]{DQ: one.Q, DK: one.K, DV: one.V, DOut: one.Out}
}

func (p *Params[T]) checkGradients(g Gradients[T], batch []Batch) {
	if len(p.LogSum) == 0 && NeedsForward[T](p.Keys) && p.Queries > 0 && batchLen(batch) > 0 {
		throw.Bug("attention: Backward needs the LogSum of Forward")
	}
	for _, d := range batch {
		if d.Size > 1 && (d.Q == 0 || d.K == 0 || d.V == 0) {
			throw.Bug("attention: heads that share an operand would write the same gradient")
		}
	}
	for _, x := range []struct {
		name      string
		got, need int
	}{
		{"DQ", len(g.DQ), len(p.Q)}, {"DK", len(g.DK), len(p.K)}, {"DV", len(g.DV), len(p.V)}, {"DOut", len(g.DOut), len(p.Out)},
	} {
		if x.got < x.need {
			throw.Bug("attention: %s has %d elements, its operand has %d", x.name, x.got, x.need)
		}
	}
}

// backward computes one head, block by block.
func (p *Params[T]) backward(s *blocks[T], g Gradients[T], serial bool) {
	// The first block that contributes to a gradient overwrites it, unless the first queries do not
	// see all keys or there is no block.
	fresh := !p.Causal && p.Queries > 0 && p.Keys > 0
	if !fresh {
		for i := range p.Queries {
			clear(g.DQ[i*p.QRow:][:p.Depth])
		}
		for j := range p.Keys {
			clear(g.DK[j*p.KRow:][:p.Depth])
			clear(g.DV[j*p.VRow:][:p.Width])
		}
	}
	added := func(before bool) T {
		if fresh && !before {
			return 0
		}
		return 1
	}
	for i0 := 0; i0 < p.Queries; i0 += queryBlock {
		i1 := min(i0+queryBlock, p.Queries)
		mean := s.sum[:i1-i0]
		for i := range mean {
			var sum T
			out, dout := p.Out[(i0+i)*p.OutRow:][:p.Width], g.DOut[(i0+i)*p.OutRow:][:p.Width]
			for k, v := range out {
				sum += v * dout[k]
			}
			mean[i] = sum
		}
		seen := p.visible(i1 - 1)
		for j0 := 0; j0 < seen; j0 += keyBlock {
			p.backwardBlock(s, g, i0, i1, j0, min(j0+keyBlock, seen), mean, added(i0 > 0), added(j0 > 0), serial)
		}
	}
}

// backwardBlock adds the contributions of queries [i0, i1) and keys [j0, j1) to the gradients,
// multiplied by keysBeta and queriesBeta. These are 0 for a gradient that has not been set yet.
func (p *Params[T]) backwardBlock(s *blocks[T], g Gradients[T], i0, i1, j0, j1 int, mean []T, keysBeta, queriesBeta T, serial bool) {
	rows, cols := i1-i0, j1-j0
	p.scores(s.scores, i0, i1, j0, j1, serial)
	gemm.Multiply(gemm.Params[T]{ // the gradient of P
		M: rows, N: cols, K: p.Width,
		A: from(g.DOut, i0*p.OutRow), ARow: p.OutRow, ACol: 1,
		B: from(p.V, j0*p.VRow), BRow: 1, BCol: p.VRow,
		C: s.grads, CRow: cols, CCol: 1,
		Alpha: 1, Serial: serial,
	})
	for i := range rows {
		prob, grad := s.scores[i*cols:][:cols], s.grads[i*cols:][:cols]
		live := min(max(p.visible(i0+i)-j0, 0), cols)
		clear(prob[live:])
		clear(grad[live:])
		prob, grad = prob[:live], grad[:live]
		if !p.hide(prob, i0+i, j0) {
			clear(prob)
			clear(grad)
			continue
		}
		exponentials(prob, p.LogSum[i0+i])
		scoreGrad(prob, grad, mean[i], p.Scale)
	}
	gemm.Multiply(gemm.Params[T]{
		M: cols, N: p.Width, K: rows,
		A: s.scores, ARow: 1, ACol: cols,
		B: from(g.DOut, i0*p.OutRow), BRow: p.OutRow, BCol: 1,
		C: from(g.DV, j0*p.VRow), CRow: p.VRow, CCol: 1,
		Alpha: 1, Beta: keysBeta, Serial: serial,
	})
	gemm.Multiply(gemm.Params[T]{
		M: cols, N: p.Depth, K: rows,
		A: s.grads, ARow: 1, ACol: cols,
		B: from(p.Q, i0*p.QRow), BRow: p.QRow, BCol: 1,
		C: from(g.DK, j0*p.KRow), CRow: p.KRow, CCol: 1,
		Alpha: 1, Beta: keysBeta, Serial: serial,
	})
	gemm.Multiply(gemm.Params[T]{
		M: rows, N: p.Depth, K: cols,
		A: s.grads, ARow: cols, ACol: 1,
		B: from(p.K, j0*p.KRow), BRow: p.KRow, BCol: 1,
		C: from(g.DQ, i0*p.QRow), CRow: p.QRow, CCol: 1,
		Alpha: 1, Beta: queriesBeta, Serial: serial,
	})
}
