package graph

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// RecordLevel returns the level of the graph; later traces have higher levels.
func (v *Value) RecordLevel() int { return v.graph.level }

// Record appends the call to the graph and returns its symbolic results.
func (v *Value) Record(c *op.Call) ([]tenon.Value, error) { return v.graph.Record(c) }

// Record appends a call, whose arguments need not be values of the graph, and returns its symbolic
// results.
func (g *Graph) Record(c *op.Call) ([]tenon.Value, error) {
	if g.sealed.Load() {
		e := c.Errorf(tenon.ErrInvalid, "a value of the trace of %s is used after the trace has ended", g.Name)
		e.Hint = "return the value from the function instead of storing it outside"
		return nil, e
	}
	var err error
	d := c // if all its values already belong to the graph
	for i, a := range c.Args {
		switch a := a.(type) {
		case []tenon.Value:
			l := make([]tenon.Value, len(a))
			for k, x := range a {
				if l[k], err = g.use(x); err != nil {
					return nil, c.Fail(err)
				}
			}
			if d == c {
				d = c.WithArg(i, l)
			}
			d.Args[i] = l
		case tenon.Value:
			v, err := g.use(a)
			if err != nil {
				return nil, c.Fail(err)
			}
			if a == tenon.Value(v) {
				continue
			}
			if d == c {
				d = c.WithArg(i, v)
			}
			d.Args[i] = v
		}
	}
	specs, err := d.Infer()
	if err != nil {
		return nil, c.Fail(err)
	}
	n, err := g.Add(d, g.line(), specs)
	if err != nil {
		return nil, err
	}
	n.dims = dimsOf(c)
	out := make([]tenon.Value, len(n.Outs))
	for i, o := range n.Outs {
		out[i] = o
	}
	return out, nil
}

// dimsOf returns the names of the dimensions of a call's operands, or nil if none are known.
func dimsOf(c *op.Call) (dims [][]string) {
	at := 0
	note := func(x tenon.Value) {
		at++
		if v, ok := x.(*Value); ok && v.dims != nil {
			for len(dims) < at-1 {
				dims = append(dims, nil)
			}
			dims = append(dims, v.dims)
		}
	}
	for _, a := range c.Args {
		switch a := a.(type) {
		case []tenon.Value:
			for _, x := range a {
				note(x)
			}
		case tenon.Value:
			note(a)
		}
	}
	for dims != nil && len(dims) < at {
		dims = append(dims, nil)
	}
	return dims
}

// line returns the user's line, or that of the node being replaced.
func (g *Graph) line() string {
	if g.rebuilding {
		return g.replaced
	}
	return source.Line()
}

// Import returns v as a Value of g: itself, a constant, or a capture.
func (g *Graph) Import(v tenon.Value) (*Value, error) { return g.use(v) }

func (g *Graph) use(v tenon.Value) (*Value, error) {
	switch v := v.(type) {
	case *Value:
		if v = v.origin(); v.graph == g {
			return v, nil
		}
		if v.konst != nil {
			return g.Const(v.konst), nil
		}
		if v.graph.sealed.Load() {
			e := tenon.NewError(tenon.ErrInvalid, "graph.Import", fmt.Sprintf("a value of the trace of %s is used after the trace has ended", v.graph.Name))
			e.Hint = "return the value from the function instead of storing it outside"
			return nil, e
		}
		return g.capture(v), nil
	case *tensor.Dense:
		return g.Const(v), nil
	case *tensor.Strings:
		return g.Const(v), nil
	case Cell:
		return g.captureCell(v), nil
	case op.Recorder:
		return g.capture(v), nil
	}
	return nil, tenon.NewError(tenon.ErrDType, "graph.Import", fmt.Sprintf("a %s is not a tensor", v.Spec().TypeName()))
}

func (g *Graph) capture(t tensor.Tensor) *Value {
	if v, ok := g.captured[t]; ok {
		return v
	}
	v := g.Param(t.Spec().(*tensor.Spec))
	if w, ok := t.(*Value); ok {
		v.dims = w.dims
	}
	g.captured[t] = v
	g.Captures = append(g.Captures, t)
	return v
}

// Trace records f in a new graph with parameters of the given Specs.
func Trace(name string, specs []*tensor.Spec, f func(params []tensor.Tensor) ([]tensor.Tensor, error)) (*Graph, error) {
	return trace(New(name), specs, f)
}

// TraceRegion is Trace for the body of a branch or loop inside another trace.
func TraceRegion(name string, specs []*tensor.Spec, f func(params []tensor.Tensor) ([]tensor.Tensor, error)) (*Graph, error) {
	g := New(name)
	g.region = true
	return trace(g, specs, f)
}

func trace(g *Graph, specs []*tensor.Spec, f func(params []tensor.Tensor) ([]tensor.Tensor, error)) (*Graph, error) {
	defer g.Seal()
	defer enter(g)()
	params := make([]tensor.Tensor, len(specs))
	for i, s := range specs {
		params[i] = g.Param(s)
	}
	out, err := g.call(f, params)
	if err != nil {
		return nil, err
	}
	for _, o := range out {
		v, err := g.use(o)
		if err != nil {
			return nil, err
		}
		g.Outputs = append(g.Outputs, v)
	}
	return g, nil
}

func (g *Graph) call(f func([]tensor.Tensor) ([]tensor.Tensor, error), params []tensor.Tensor) (out []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return f(params)
}

// Inline runs the graph's operations on other values, which may be concrete,
// symbolic in another graph, or recorded for gradients. It returns the resulting
// outputs.
func (g *Graph) Inline(inputs []tensor.Tensor) ([]tensor.Tensor, error) {
	if len(inputs) != len(g.Params) {
		return nil, tenon.NewError(tenon.ErrInvalid, "graph.Inline", fmt.Sprintf("%s has %d parameters, got %d values", g.Name, len(g.Params), len(inputs)))
	}
	return g.run(g.Nodes, g.Params, g.Outputs, inputs)
}

// Between is [Graph.Inline] for a part of the graph: inputs replace the values in from, the
// operations between them and the values in to are run, and the results for to are returned.
func (g *Graph) Between(from, to []*Value, inputs []tensor.Tensor) ([]tensor.Tensor, error) {
	needed := make([]bool, g.next)
	for _, v := range to {
		needed[v.id] = true
	}
	for _, v := range from {
		needed[v.id] = false
	}
	var nodes []*Node
	for _, n := range slices.Backward(g.Nodes) {
		if !slices.ContainsFunc(n.Outs, func(o *Value) bool { return needed[o.id] }) {
			continue
		}
		nodes = append(nodes, n)
		n.EachInput(func(v *Value) { needed[v.id] = !slices.Contains(from, v) })
	}
	slices.Reverse(nodes)
	return g.run(nodes, from, to, inputs)
}

// run runs nodes, with the values in from replaced by inputs.
func (g *Graph) run(nodes []*Node, from, to []*Value, inputs []tensor.Tensor) ([]tensor.Tensor, error) {
	env := make([]tensor.Tensor, g.next)
	for i, p := range from {
		if !inputs[i].Shape().CompatibleWith(p.Shape()) || inputs[i].DType() != p.DType() {
			return nil, tenon.NewError(tenon.ErrDType, "graph.Inline", fmt.Sprintf("parameter %d of %s is %v, got %v", i, g.Name, p.spec, tenon.String(inputs[i].Spec())))
		}
		env[p.id] = inputs[i]
	}
	get := func(v *Value) tensor.Tensor {
		if v.konst != nil {
			return v.konst
		}
		return env[v.id]
	}
	into := rebuilt(inputs)
	for _, n := range nodes {
		if into != nil && n.Line != "" {
			into.replaced = n.Line
		}
		out, err := callOn(n, get).DoTensors()
		if err != nil {
			return nil, err
		}
		for i, o := range out {
			if env[n.Outs[i].id] == nil {
				env[n.Outs[i].id] = o
			}
		}
	}
	out := make([]tensor.Tensor, len(to))
	for i, o := range to {
		out[i] = get(o)
	}
	return out, nil
}

// rebuilt returns the graph that values belong to, if it is being rebuilt from another one, so that
// nodes take the lines of those they replace.
func rebuilt(values []tensor.Tensor) *Graph {
	for _, x := range values {
		if v, ok := x.(*Value); ok && v.graph.rebuilding {
			return v.graph
		}
	}
	return nil
}

// Refine narrows the known shape of a parameter. It is for passes that have
// proved it.
func (v *Value) Refine(s shape.Shape) { v.spec = tensor.NewSpec(v.spec.DType(), s) }
