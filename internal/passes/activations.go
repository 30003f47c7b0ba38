package passes

import (
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Activations replaces activation functions that are written as formulas by their operations, which
// have kernels: GELU, exact or by tanh, and SiLU. A formula is compared as a polynomial in its
// argument y and a function f of y, so that the order of its factors and terms does not matter.
func Activations(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "tanh", "erf", "sigmoid") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if n.Op.Name != "mul" && n.Op.Name != "add" {
			return nil, nil
		}
		d := n.Outs[0].DType()
		if d != dtype.Float32 && d != dtype.Float64 {
			return nil, nil
		}
		out := activation(c)
		if out == nil || !sameSpec(out, n.Outs[0]) {
			return nil, nil
		}
		return []tensor.Tensor{out}, nil
	})
}

// formula is an activation function written with f(u), for a polynomial u in y.
type formula struct {
	f       string
	whole   polynomial // in y and f
	inner   polynomial // u, as a polynomial in y
	written func(x any) tensor.Tensor
}

var half = polynomial{{1, 0}: 0.5, {1, 1}: 0.5}

var formulas = []formula{
	{"tanh", half, polynomial{{1, 0}: math.Sqrt(2 / math.Pi), {3, 0}: math.Sqrt(2/math.Pi) * 0.044715}, ops.GeluTanh},
	{"erf", half, polynomial{{1, 0}: math.Sqrt2 / 2}, ops.Gelu},
	{"sigmoid", polynomial{{1, 1}: 1}, polynomial{{1, 0}: 1}, ops.Silu},
}

// activation returns the activation function that a call computes, or nil.
func activation(c *op.Call) tensor.Tensor {
	var inside []*graph.Value // values in the formula, outermost first
	var f *graph.Value
	var collect func(t tensor.Tensor, depth int)
	collect = func(t tensor.Tensor, depth int) {
		v, ok := t.(*graph.Value)
		if !ok || depth > 4 || len(inside) > 16 {
			return
		}
		if _, constant := v.ConstValue(); constant {
			return
		}
		n := v.Node()
		if n != nil && (n.Op.Name == "tanh" || n.Op.Name == "erf" || n.Op.Name == "sigmoid") {
			f = v
			return
		}
		inside = append(inside, v)
		if n != nil && arithmetic(n) {
			n.EachInput(func(x *graph.Value) { collect(x, depth+1) })
		}
	}
	collect(c.Tensor(0), 0)
	collect(c.Tensor(1), 0)
	if f == nil {
		return nil
	}
	u := f.Node().Args[0].(tensor.Tensor)
	for _, y := range inside {
		e := expansion{y: y, f: f}
		whole, ok := e.call(c)
		if !ok {
			continue
		}
		e.f = nil
		inner, ok := e.of(u)
		if !ok {
			continue
		}
		for _, form := range formulas {
			if form.f == f.Node().Op.Name && whole.near(form.whole) && inner.near(form.inner) {
				return form.written(y)
			}
		}
	}
	return nil
}

func arithmetic(n *graph.Node) bool {
	switch n.Op.Name {
	case "add", "sub", "mul", "div", "neg", "square", "pow":
		return true
	}
	return false
}

// polynomial maps {i, j} to the coefficient of y^i·f^j.
type polynomial map[[2]int]float64

// near reports whether two polynomials are equal up to the rounding of single precision.
func (p polynomial) near(q polynomial) bool {
	if len(p) != len(q) {
		return false
	}
	for k, a := range p {
		b, ok := q[k]
		if !ok || math.Abs(a-b) > 1e-6*math.Abs(b) {
			return false
		}
	}
	return true
}

func (p polynomial) plus(q polynomial, factor float64) polynomial {
	s := polynomial{}
	for k, a := range p {
		s[k] += a
	}
	for k, b := range q {
		s[k] += factor * b
	}
	return s
}

func (p polynomial) times(q polynomial) polynomial {
	s := polynomial{}
	for k, a := range p {
		for l, b := range q {
			s[[2]int{k[0] + l[0], k[1] + l[1]}] += a * b
		}
	}
	return s
}

// expansion expands formulas to polynomials in two values. It expands each formula only a limited
// number of times.
type expansion struct {
	y, f  *graph.Value
	steps int
}

// of returns t as a polynomial, or false if it is not one.
func (e *expansion) of(t tensor.Tensor) (polynomial, bool) {
	v, ok := t.(*graph.Value)
	if !ok {
		return nil, false
	}
	if e.steps++; e.steps > 64 {
		return nil, false
	}
	switch v {
	case e.y:
		return polynomial{{1, 0}: 1}, true
	case e.f:
		return polynomial{{0, 1}: 1}, true
	}
	if k, ok := constantOf(v); ok {
		return polynomial{{0, 0}: k}, true
	}
	if v.Node() == nil {
		return nil, false
	}
	return e.call(&op.Call{Op: v.Node().Op, Args: v.Node().Args})
}

func (e *expansion) call(c *op.Call) (polynomial, bool) {
	operand := func(i int) polynomial {
		p, ok := e.of(c.Tensor(i))
		if !ok {
			return nil
		}
		return p
	}
	var p, q polynomial
	switch c.Op.Name {
	case "neg", "square":
		p = operand(0)
		q = p
	case "add", "sub", "mul":
		p, q = operand(0), operand(1)
	case "div", "pow":
		p = operand(0)
		q = polynomial{}
	}
	if p == nil || q == nil || len(p)*len(q) > 64 {
		return nil, false
	}
	switch c.Op.Name {
	case "neg":
		return polynomial{}.plus(p, -1), true
	case "square", "mul":
		return p.times(q), true
	case "add":
		return p.plus(q, 1), true
	case "sub":
		return p.plus(q, -1), true
	}
	k, ok := constantOf(c.Tensor(1))
	switch {
	case !ok:
		return nil, false
	case c.Op.Name == "div":
		return polynomial{}.plus(p, 1/k), k != 0
	case k == 2:
		return p.times(p), true
	case k == 3:
		return p.times(p).times(p), true
	}
	return nil, false
}

// constantOf returns the element of a constant that has exactly one.
func constantOf(t tensor.Tensor) (float64, bool) {
	known, ok := op.Known(t)
	if !ok {
		return 0, false
	}
	d, ok := known.(*tensor.Dense)
	if !ok || d.Len() != 1 || !d.DType().IsFloat() {
		return 0, false
	}
	return tensor.Data[float64](ops.Cast(d, dtype.Float64))[0], true
}
