// Command fused generates the loops of internal/kernel/fused: whole formulas over
// arrays, of which the intermediate results stay in registers.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

type (
	machine = vec.Machine
	vector  = vec.V
)

func main() {
	wide := flag.Bool("wide", false, "generate for AVX-512 instead of AVX2")
	flag.Parse()
	ConstraintExpr("amd64,!purego")
	activations(machine{Wide: *wide, Elem: vec.Float32})
	for _, e := range []vec.Elem{vec.Float32, vec.Float64} {
		optimizers(machine{Wide: *wide, Elem: e})
		chains(machine{Wide: *wide, Elem: e})
	}
	Generate()
}

// activations emits act(x + b) and act(x·w + b), in the cache and past it.
func activations(m machine) {
	for _, a := range []struct {
		name string
		f    func(m machine, x vector) vector
		slow bool
	}{
		{"Identity", func(m machine, x vector) vector { return x }, false},
		{"Relu", machine.Relu, false},
		{"Gelu", machine.Gelu, true},
		{"GeluTanh", machine.GeluTanh, true},
		{"Silu", machine.Silu, true},
		{"Sigmoid", machine.Sigmoid, true},
		{"Tanh", machine.Tanh, true},
	} {
		unroll, keep := 4, 0
		if a.slow {
			unroll, keep = 2, 10
		}
		for _, stream := range []bool{false, true} {
			m.Map(vec.Loop{Name: "bias" + a.name, Doc: "sets dst to act(x + b).", Vectors: "x,b", Unroll: unroll, Keep: keep, Together: a.slow, Stream: stream,
				Body: func(m machine, x []vector) vector { return a.f(m, m.Add(x[0], x[1])) }})
			m.Map(vec.Loop{Name: "affine" + a.name, Doc: "sets dst to act(x·w + b).", Vectors: "x,w,b", Unroll: unroll, Keep: keep, Together: a.slow, Stream: stream,
				Body: func(m machine, x []vector) vector { return a.f(m, m.FMA(m.Load(x[0]), x[1], x[2])) }})
		}
	}
}

// optimizers emits the updates of parameters by gradients.
func optimizers(m machine) {
	for _, stream := range []bool{false, true} {
		adam(m, stream)
	}
	m.Map(vec.Loop{Name: "sgd", Doc: "sets p1 to keep·p - rate·(g + l2·p).", Dsts: "p1", Vectors: "p,grad", Scalars: "rate,keep,l2", Unroll: 2,
		Bodies: func(k machine, x []vector) []vector {
			p, g, rate, keep, l2 := x[0], x[1], x[2], x[3], x[4]
			return []vector{k.MulSub(k.Mul(p, keep), k.MulAdd(k.Load(g), p, l2), rate)}
		}})
	m.Map(vec.Loop{Name: "momentum", Doc: "updates a parameter and its momentum.", Dsts: "p1,b1", Vectors: "p,b,grad", Scalars: "mu,rate,keep,l2", Unroll: 1,
		Bodies: func(k machine, x []vector) []vector {
			p, b, g, mu, rate, keep, l2 := x[0], x[1], x[2], x[3], x[4], x[5], x[6]
			b1 := k.MulAdd(k.MulAdd(k.Load(g), p, l2), b, mu)
			return []vector{k.MulSub(k.Mul(p, keep), b1, rate), b1}
		}})
	m.Map(vec.Loop{Name: "nesterov", Doc: "updates a parameter and its momentum, looking ahead.", Dsts: "p1,b1", Vectors: "p,b,grad", Scalars: "mu,rate,keep,l2", Unroll: 1,
		Bodies: func(k machine, x []vector) []vector {
			p, b, g, mu, rate, keep, l2 := x[0], x[1], x[2], x[3], x[4], x[5], x[6]
			g = k.MulAdd(k.Load(g), p, l2)
			b1 := k.MulAdd(k.Load(g), b, mu)
			return []vector{k.MulSub(k.Mul(p, keep), k.MulAdd(g, b1, mu), rate), b1}
		}})
}

// adam emits the update by Adam, and the same for a gradient of 0 that is not read.
func adam(m machine, stream bool) {
	update := func(k machine, p, m, v, g vector, s []vector) []vector {
		a1, a2, rate, correction, eps, keep, l2 := s[0], s[1], s[2], s[3], s[4], s[5], s[6]
		g = k.MulAdd(g, p, l2)
		m1 := k.MulAdd(k.Load(m), k.Sub(g, m), a1)
		v1 := k.MulAdd(k.Load(v), k.Sub(k.Mul(g, g), v), a2)
		d := k.Add(k.Sqrt(k.Mul(v1, correction)), eps)
		p1 := k.MulSub(k.Mul(p, keep), k.Div(m1, d), rate)
		return []vector{p1, m1, v1}
	}
	const scalars = "a1,a2,rate,correction,eps,keep,l2"
	m.Map(vec.Loop{Name: "adam", Doc: "updates a parameter and both its moments.", Dsts: "p1,m1,v1", Vectors: "p,m,v,grad",
		Scalars: scalars, Unroll: 1, Reload: true, Stream: stream, Fetch: 4,
		Bodies: func(k machine, x []vector) []vector { return update(k, x[0], x[1], x[2], k.Load(x[3]), x[4:]) }})
	m.Map(vec.Loop{Name: "adamIdle", Doc: "is adam with a gradient of 0.", Dsts: "p1,m1,v1", Vectors: "p,m,v",
		Scalars: scalars, Unroll: 1, Reload: true, Stream: stream, Fetch: 3,
		Bodies: func(k machine, x []vector) []vector { return update(k, x[0], x[1], x[2], k.Zero(), x[3:]) }})
}
