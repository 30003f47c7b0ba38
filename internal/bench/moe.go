package main

import (
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("moe", mixture) }

// sent is what a mixture of experts is differentiated with respect to.
type sent struct {
	X     tensor.Tensor
	Layer nn.Experts
}

func (c sent) apply() tensor.Tensor { return c.Layer.Apply(c.X) }

// mixture times experts, each of which gets the items that are sent to it.
func mixture(r *runner) {
	n, width, experts, hidden := r.pick(4096, 64, 64), r.pick(256, 16, 16), r.pick(8, 4, 4), r.pick(512, 32, 32)
	c := sent{sym(34, 0, 1, n, width), nn.Experts{
		Gate: sym(34, 1, 1.0/4, width, experts), Up: sym(34, 2, 1.0/16, experts, width, hidden), Down: sym(34, 3, 1.0/16, experts, hidden, width), Top: 2,
	}}
	g := sym(34, 4, 1, n, width)
	flops := float64(2 * 2 * n * 2 * width * hidden)
	forward := function.New(sent.apply)
	r.run(benchCase{name: "fwd", flops: flops, check: denseSum}, func() any { return forward.Call(c) })
	gradient := function.New(func(c sent, g tensor.Tensor) sent {
		_, d := grad.ValueAndGrad(func(c sent, g tensor.Tensor) tensor.Tensor { return gradientOf(c.apply(), g) })(c, g)
		return d
	})
	all := func(x any) []float64 {
		d := x.(sent)
		return flatSum(d.X, d.Layer.Gate, d.Layer.Up, d.Layer.Down)
	}
	r.run(benchCase{name: "fwdbwd", flops: 3 * flops, check: all}, func() any { return gradient.Call(c, g) })
}
