package fused

import (
	"math"

	"github.com/tenonml/tenon/internal/par"
)

// AdamStep are the numbers of one step of Adam (Kingma and Ba, arXiv:1412.6980)
// and AdamW (Loshchilov and Hutter, arXiv:1711.05101).
type AdamStep struct {
	Rate         float64 // learning rate
	Beta1, Beta2 float64 // decay rates of the moments
	Epsilon      float64 // added to the root of the second moment
	Step         int     // counted from 1, for the correction of the bias toward 0
	WeightDecay  float64 // decoupled: the parameter shrinks by the factor 1 - Rate·WeightDecay
	L2           float64 // coupled: L2·parameter is added to the gradient
}

// Adam computes a step for parameters p with moments m and v and gradient g, all of
// one length, into p1, m1 and v1, which may be the same memory:
//
//	g' = g + L2·p
//	m1 = m + (1-Beta1)·(g'-m)
//	v1 = v + (1-Beta2)·(g'²-v)
//	p1 = p·(1-Rate·WeightDecay) - Rate·m̂/(√v̂+Epsilon)
//
// with m̂ = m1/(1-Beta1^Step) and v̂ = v1/(1-Beta2^Step). Work is shared among
// the workers of package par.
func Adam[T float](p1, m1, v1, p, m, v, g []T, s AdamStep) {
	a1, a2 := T(1-s.Beta1), T(1-s.Beta2)
	rate := T(s.Rate / (1 - math.Pow(s.Beta1, float64(s.Step))))
	correction := T(1 / (1 - math.Pow(s.Beta2, float64(s.Step))))
	eps, keep, l2 := T(s.Epsilon), T(1-s.Rate*s.WeightDecay), T(s.L2)
	k := assembly[T]()
	share(len(p), func(lo, hi int) {
		if k != nil {
			k.adam(&p1[lo], &m1[lo], &v1[lo], &p[lo], &m[lo], &v[lo], &g[lo], hi-lo, a1, a2, rate, correction, eps, keep, l2)
			return
		}
		for i := lo; i < hi; i++ {
			d := g[i] + l2*p[i]
			mean := m[i] + a1*(d-m[i])
			square := v[i] + a2*(d*d-v[i])
			root := T(math.Sqrt(float64(square * correction)))
			p1[i] = keep*p[i] - rate*(mean/(root+eps))
			m1[i], v1[i] = mean, square
		}
	})
}

// SGDStep are the numbers of one step of stochastic gradient descent.
type SGDStep struct {
	Rate        float64 // learning rate
	Momentum    float64 // decay rate of the momentum
	Nesterov    bool    // step from where the momentum will lead to
	WeightDecay float64 // decoupled: the parameter shrinks by the factor 1 - Rate·WeightDecay
	L2          float64 // coupled: L2·parameter is added to the gradient
}

// SGD computes a step for parameters p with gradient g into p1, which may be the
// same memory:
//
//	p1 = p·(1-Rate·WeightDecay) - Rate·(g + L2·p)
//
// With the momentum b, which becomes b1 (both nil for none):
//
//	b1 = Momentum·b + g + L2·p
//	p1 = p·(1-Rate·WeightDecay) - Rate·b1
//
// and with Nesterov p1 is computed with g + L2·p + Momentum·b1 in place of b1.
func SGD[T float](p1, b1, p, b, g []T, s SGDStep) {
	rate, mu, keep, l2 := T(s.Rate), T(s.Momentum), T(1-s.Rate*s.WeightDecay), T(s.L2)
	k := assembly[T]()
	share(len(p), func(lo, hi int) {
		switch {
		case k == nil:
			sgd(p1[lo:hi], b1, p[lo:hi], b, g[lo:hi], lo, rate, mu, keep, l2, s.Nesterov)
		case b == nil:
			k.sgd(&p1[lo], &p[lo], &g[lo], hi-lo, rate, keep, l2)
		case s.Nesterov:
			k.nesterov(&p1[lo], &b1[lo], &p[lo], &b[lo], &g[lo], hi-lo, mu, rate, keep, l2)
		default:
			k.momentum(&p1[lo], &b1[lo], &p[lo], &b[lo], &g[lo], hi-lo, mu, rate, keep, l2)
		}
	})
}

// sgd is the definition. b1 and b are whole; the others begin at element lo.
func sgd[T float](p1, b1, p, b, g []T, lo int, rate, mu, keep, l2 T, nesterov bool) {
	for i := range p1 {
		d := g[i] + l2*p[i]
		if b != nil {
			momentum := mu*b[lo+i] + d
			if nesterov {
				d += mu * momentum
			} else {
				d = momentum
			}
			b1[lo+i] = momentum
		}
		p1[i] = keep*p[i] - rate*d
	}
}

// kernels are the assembly functions of the optimizers for one element type.
type kernels[T any] struct {
	adam               func(p1, m1, v1, p, m, v, g *T, n int, a1, a2, rate, correction, eps, keep, l2 T)
	sgd                func(p1, p, g *T, n int, rate, keep, l2 T)
	momentum, nesterov func(p1, b1, p, b, g *T, n int, mu, rate, keep, l2 T)
}

// share calls f for parts of n elements, each at most what one call into assembly
// may cover.
func share(n int, f func(lo, hi int)) { par.For(n, serialBelow, f) }
