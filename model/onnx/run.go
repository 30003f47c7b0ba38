package onnx

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/throw"
	"github.com/tenonml/tenon/tensor"
)

// A scope holds the values of a graph that is running. Graphs inside of nodes see the values of
// those around them.
type scope struct {
	m      *Model
	outer  *scope
	values map[string]any
	opsets map[string]int
	attrs  map[string]*protoAttr // of the function whose body runs
	depth  int                   // nesting of functions
}

// get returns a value: a tensor, a sequence as []any, or nil for an absent optional value.
func (s *scope) get(name string) (any, error) {
	for at := s; at != nil; at = at.outer {
		if x, ok := at.values[name]; ok {
			return x, nil
		}
	}
	return nil, fmt.Errorf("there is no value %q here; nodes must be in an order in which they can run", name)
}

// run runs nodes in order.
func (s *scope) run(nodes []*protoNode) error {
	for _, n := range nodes {
		if err := s.node(n); err != nil {
			return within(n.String(), err)
		}
	}
	return nil
}

// within adds the node to an error.
func within(node string, err error) error {
	e := *tenon.AsError(err)
	if e.Op != "" && e.Op != "onnx" {
		e = tenon.Error{Kind: e.Kind, Err: err}
	}
	if e.Op = "onnx"; e.Where == "" {
		e.Where = node
	} else {
		e.Where = node + ": " + e.Where
	}
	return &e
}

// node runs one node.
func (s *scope) node(n *protoNode) (err error) {
	defer tenon.Catch(&err)
	c := &call{n: n, s: s, in: make([]any, len(n.inputs)), given: make([]bool, len(n.inputs)), opset: s.opsets[n.domain]}
	for i, name := range n.inputs {
		if name == "" {
			continue
		}
		if c.in[i], err = s.get(name); err != nil {
			return err
		}
		c.given[i] = true
	}
	var out []any
	if f := s.m.functions[n.key()]; f != nil {
		if out, err = s.function(f, c); err != nil {
			return err
		}
	} else if run := lookup(n); run != nil {
		if out, err = c.guarded(run); err != nil {
			return err
		}
	} else {
		return unsupported("the operation is unknown")
	}
	for i, name := range n.outputs {
		if name == "" {
			continue
		}
		if i >= len(out) || out[i] == nil && !c.mayBeNil {
			return unsupported("output %d is not computed", i)
		}
		s.values[name] = out[i]
	}
	return nil
}

// guarded runs an operation. Attributes and inputs come from an unchecked file: if they do not fit each
// other in a way that the operation did not foresee, that is an error of the node.
func (c *call) guarded(run func(*call) []any) (out []any, err error) {
	defer func() {
		if r := recover(); r != nil && !throw.Recovered(r, &err) {
			err = fmt.Errorf("the attributes or inputs do not fit the operation: %v", r)
		}
	}()
	return run(c), nil
}

// maxCalls bounds the nesting of function calls.
const maxCalls = 100

// function runs the body of a function of the model.
func (s *scope) function(f *protoFunction, c *call) ([]any, error) {
	if s.depth > maxCalls {
		return nil, fmt.Errorf("function calls are nested more than %d deep", maxCalls)
	}
	inner := &scope{m: s.m, values: map[string]any{}, opsets: f.opsets, attrs: map[string]*protoAttr{}, depth: s.depth + 1}
	for name, a := range f.defaults {
		inner.attrs[name] = a
	}
	for _, name := range f.attributes {
		if a := c.attr(name); a != nil {
			inner.attrs[name] = a
		}
	}
	for i, name := range f.inputs {
		if i < len(c.in) && c.given[i] {
			inner.values[name] = c.in[i]
		}
	}
	// An omitted input stays omitted if the body passes it on.
	if err := inner.run(stripped(f.nodes, f.inputs, inner.values)); err != nil {
		return nil, err
	}
	out := make([]any, len(f.outputs))
	for i, name := range f.outputs {
		if i < len(c.n.outputs) && c.n.outputs[i] != "" {
			var err error
			if out[i], err = inner.get(name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// stripped returns nodes without inputs that were not given.
func stripped(nodes []*protoNode, params []string, given map[string]any) []*protoNode {
	missing := map[string]bool{}
	for _, name := range params {
		if _, ok := given[name]; !ok {
			missing[name] = true
		}
	}
	if len(missing) == 0 {
		return nodes
	}
	out := make([]*protoNode, len(nodes))
	for i, n := range nodes {
		m := *n
		m.inputs = make([]string, len(n.inputs))
		for k, name := range n.inputs {
			if !missing[name] {
				m.inputs[k] = name
			}
		}
		out[i] = &m
	}
	return out
}

// graph runs a graph inside of a node with the given inputs, and returns its outputs.
func (s *scope) graph(g *protoGraph, inputs ...any) []any {
	inner := &scope{m: s.m, outer: s, values: map[string]any{}, opsets: s.opsets, attrs: s.attrs, depth: s.depth}
	if len(inputs) != len(g.inputs) {
		refuse(tenon.ErrInvalid, "the graph %s takes %d inputs, but got %d", g.name, len(g.inputs), len(inputs))
	}
	for i, v := range g.inputs {
		inner.values[v.name] = inputs[i]
	}
	for _, p := range g.initializers {
		t, err := p.value(nil)
		if err != nil {
			refuse(tenon.ErrInvalid, "weight %s: %v", p.name, err)
		}
		inner.values[p.name] = t
	}
	tenon.Throw(inner.run(g.nodes))
	out := make([]any, len(g.outputs))
	for i, v := range g.outputs {
		x, err := inner.get(v.name)
		tenon.Throw(err)
		out[i] = x
	}
	return out
}

func refuse(kind error, format string, args ...any) {
	tenon.Throw(&tenon.Error{Kind: kind, Msg: fmt.Sprintf(format, args...)})
}

// T is the type that nodes compute with.
type T = tensor.Tensor
