package fused

import "github.com/tenonml/tenon/internal/par"

// SGDStep holds the parameters of one step of stochastic gradient descent.
type SGDStep struct {
	Rate        float64 // learning rate
	Momentum    float64 // decay rate of the momentum
	Nesterov    bool    // use Nesterov momentum
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

// sgd is the reference implementation. b1 and b are complete; the other slices begin at element lo.
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
	adam, adamStream   adamKernel[T]
	idle, idleStream   idleKernel[T]
	sgd                func(p1, p, g *T, n int, rate, keep, l2 T)
	momentum, nesterov func(p1, b1, p, b, g *T, n int, mu, rate, keep, l2 T)
}

// share calls f for parts of n elements, each at most as long as one call into assembly may be.
func share(n int, f func(lo, hi int)) { par.For(n, serialBelow, f) }
