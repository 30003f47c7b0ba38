package grad

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A backward function is a VJP on flat tensors: it gets the inputs of a call (argument and
// captures), the results and their cotangents, and returns a cotangent for each floating-point
// input.
type backward func(in, out, ct []tensor.Tensor) ([]tensor.Tensor, error)

// rule is the gradient of a region.
type rule struct {
	region   *graph.Graph
	backward backward        // nil: given by the operations of the region
	stored   *graph.Graph    // the graph that backward runs, if it was read from a file
	out      []tensor.Tensor // the results, if they were computed while recording
}

// backwardOf returns the gradient of a call of customOp.
func backwardOf(c *op.Call) backward {
	if r, ok := c.Args[3].(*rule); ok && r.backward != nil {
		return r.backward
	}
	region := c.Args[2].(*graph.Graph)
	return func(in, _, ct []tensor.Tensor) ([]tensor.Tensor, error) {
		_, back, err := vjpTensors(in, region.Inline, seeds(ct))
		return back, err
	}
}

// Stored returns the gradient as a graph, which replaces the rule in graphs that are stored. Its
// parameters are the inputs of a call, the results, and the cotangents of the floating-point
// results; its outputs are the cotangents of the floating-point inputs.
func (r *rule) Stored() (*graph.Graph, error) {
	if r.backward == nil || r.stored != nil {
		return r.stored, nil
	}
	var specs []*tensor.Spec
	add := func(vs []*graph.Value, all bool) {
		for _, v := range vs {
			if all || v.DType().IsDifferentiable() {
				specs = append(specs, v.Spec().(*tensor.Spec))
			}
		}
	}
	add(r.region.Params, true)
	add(r.region.Outputs, true)
	add(r.region.Outputs, false)
	n, m := len(r.region.Params), len(r.region.Outputs)
	g, err := graph.Trace("gradient", specs, func(ts []tensor.Tensor) ([]tensor.Tensor, error) {
		in, out, rest := ts[:n], ts[n:n+m], ts[n+m:]
		ct := make([]tensor.Tensor, m)
		for i, o := range out {
			if o.DType().IsDifferentiable() {
				ct[i], rest = rest[0], rest[1:]
			}
		}
		back, err := r.backward(in, out, ct)
		if err != nil {
			return nil, err
		}
		var some []tensor.Tensor
		for i, x := range in {
			switch {
			case !x.DType().IsDifferentiable():
			case back[i] == nil:
				some = append(some, ops.ZerosLike(x))
			default:
				some = append(some, back[i])
			}
		}
		return some, nil
	})
	if err == nil && len(g.Captures) > 0 {
		err = fmt.Errorf("the rule reads a %T from outside, which is not an argument", g.Captures[0])
	}
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: "grad.Custom", Err: err,
			Msg: "the gradient rule cannot be stored", Hint: "write the rule with operations on its arguments"}
	}
	return g, nil
}

// ruleFrom makes the attribute of customOp from a rule or from the result of [rule.Stored].
func ruleFrom(a any) (any, bool) {
	switch a := a.(type) {
	case nil, *rule:
		return a, true
	case *graph.Graph:
		return &rule{backward: fromGraph(a), stored: a}, true
	}
	return nil, false
}

// fromGraph returns the gradient that a graph computes.
func fromGraph(g *graph.Graph) backward {
	return func(in, out, ct []tensor.Tensor) ([]tensor.Tensor, error) {
		all := append(append([]tensor.Tensor(nil), in...), out...)
		for i, o := range out {
			if !o.DType().IsDifferentiable() {
				continue
			}
			c := ct[i]
			if c == nil {
				c = ops.ZerosLike(o)
			}
			all = append(all, c)
		}
		some, err := g.Inline(all)
		if err != nil {
			return nil, err
		}
		back := make([]tensor.Tensor, len(in))
		for i, x := range in {
			if !x.DType().IsDifferentiable() {
				continue
			}
			if len(some) == 0 {
				return nil, tenon.NewError(tenon.ErrInvalid, "grad.Custom", "the stored gradient has too few results")
			}
			back[i], some = some[0], some[1:]
		}
		return back, nil
	}
}
