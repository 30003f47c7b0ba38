package onnx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A writing is a model that is being written.
type writing struct {
	where   string // the function, for messages
	used    map[string]bool
	weights []weight          // in the order of their first use
	known   map[string]string // the names of small constants, by type, shape and elements
	held    map[tensor.Tensor]string
	nodes   int
}

// A weight is an initializer.
type weight struct {
	name string
	t    tensor.Tensor
}

func decimal(n int) string { return strconv.Itoa(n) }

// unique returns a name that no other value has, derived from name.
func (w *writing) unique(name string) string {
	for at, i := name, 1; ; i++ {
		if !w.used[at] {
			w.used[at] = true
			return at
		}
		at = fmt.Sprintf("%s_%d", name, i)
	}
}

// constant returns the name of an initializer with the elements of a tensor.
func (w *writing) constant(t tensor.Tensor) string {
	if name, ok := w.held[t]; ok {
		return name
	}
	key := ""
	if d, ok := t.(*tensor.Dense); ok && d.Len() <= 64 {
		key = fmt.Sprint(t.DType(), t.Shape(), rawBytes(d))
		if name, ok := w.known[key]; ok {
			return name
		}
	}
	name := w.unique(fmt.Sprintf("const%d", len(w.weights)))
	w.weights = append(w.weights, weight{name, t})
	if w.held[t] = name; key != "" {
		w.known[key] = name
	}
	return name
}

// A block holds the nodes of one graph of the model.
type block struct {
	w     *writing
	nodes [][]byte
	turns map[string]transposition // values that were transposed
}

// A transposition says of which value, and how, a value is the transpose.
type transposition struct {
	from string
	perm []int
}

// put appends a node with some results and returns their names.
func (b *block) put(n int, operation string, in []string, attrs ...attr) []string {
	out := make([]string, n)
	stem := strings.ToLower(operation[:1]) + operation[1:]
	for i := range out {
		out[i] = b.w.unique(fmt.Sprintf("%s%d", stem, b.w.nodes))
		b.w.nodes++
	}
	b.nodes = append(b.nodes, nodeMessage(out[0], operation, in, out, attrs))
	return out
}

// named gives a value another name, as an output of a graph must be computed in that graph.
func (b *block) named(name, from string) {
	b.nodes = append(b.nodes, nodeMessage(name, "Identity", []string{from}, []string{name}, nil))
}

// A section is a graph whose nodes are written into a block: the graph of a function, or one
// that expresses an operation. A node is written when one of its results is needed.
type section struct {
	*block
	graph  *graph.Graph
	names  map[int]string // of values, by number
	outer  *section       // the section that has the operation that this one expresses
	within *graph.Node
}

func (b *block) section(g *graph.Graph, params []string) *section {
	s := &section{block: b, graph: g, names: map[int]string{}}
	for i, p := range g.Params {
		s.names[p.ID()] = params[i]
	}
	return s
}

// outputs returns the names of the outputs of the graph.
func (s *section) outputs() []string {
	out := make([]string, len(s.graph.Outputs))
	for i, v := range s.graph.Outputs {
		out[i] = s.name(v)
	}
	return out
}

// name returns the name of a value, and writes its node if necessary.
func (s *section) name(t tenon.Value) string {
	v, ok := t.(*graph.Value)
	if !ok {
		return s.w.constant(t.(tensor.Tensor))
	}
	if name, ok := s.names[v.ID()]; ok {
		return name
	}
	if c, ok := v.ConstValue(); ok {
		s.names[v.ID()] = s.w.constant(c)
		return s.names[v.ID()]
	}
	n := v.Node()
	for i, name := range s.write(n) {
		s.names[n.Outs[i].ID()] = name
	}
	return s.names[v.ID()]
}

// write writes the operations that compute a node, and returns the names of its results.
func (s *section) write(n *graph.Node) (out []string) {
	err := func() (err error) {
		defer tenon.Catch(&err)
		x, ok := exports[n.Op.Name]
		if !ok {
			return unsupported("ONNX has no operation for %s", n.Op.Name)
		}
		c, err := op.NewCall(n.Op, n.Args...)
		if err != nil {
			return err
		}
		e := &node{section: s, Node: n, c: c}
		if x.write != nil {
			if out = x.write(e); out != nil {
				return nil
			}
		}
		if x.expand == nil {
			return unsupported("ONNX has no operation for this call of %s", n.Op.Name)
		}
		out = e.expanded(x.expand)
		return nil
	}()
	tenon.Throw(s.at(n, err))
	return out
}

// at adds the place of a node to an error.
func (s *section) at(n *graph.Node, err error) error {
	if err == nil {
		return nil
	}
	e := *tenon.AsError(err)
	if e.Op != "onnx" || e.Line == "" && e.Where == "" {
		inner := e
		e = tenon.Error{Kind: inner.Kind, Op: "onnx", Where: fmt.Sprintf("%s: %%%d = %s", s.w.where, n.Outs[0].ID(), n.Op.Name), Line: n.Line,
			Msg: inner.Msg, Hint: "docs/onnx.md lists the operations that are written"}
		if inner.Op != "" || inner.Err != nil {
			e.Msg, e.Err = "", &inner
		}
	}
	for at := s; at.outer != nil; at = at.outer { // finds the operation of the user's program
		e.Where = fmt.Sprintf("%s: %%%d = %s", s.w.where, at.within.Outs[0].ID(), at.within.Op.Name)
		e.Line = at.within.Line
	}
	if e.Line == "" {
		e.Line = source.Line()
	}
	return &e
}

// A node is an operation that is being written.
type node struct {
	*section
	*graph.Node
	c *op.Call
}

// in returns the name of argument i, a tensor, or "" if it is left out.
func (e *node) in(i int) string {
	if !e.c.Has(i) {
		return ""
	}
	return e.name(e.c.Value(i))
}

// t returns argument i, with its element type and what is known of its shape.
func (e *node) t(i int) T { return e.c.Tensor(i) }

// list returns the names of a list of tensors.
func (e *node) list(i int) []string {
	var out []string
	for _, v := range e.c.List(i) {
		out = append(out, e.name(v))
	}
	return out
}

// do writes an operation with one result.
func (e *node) do(operation string, in []string, attrs ...attr) string {
	return e.put(1, operation, in, attrs...)[0]
}

// vector returns the name of a constant vector of integers.
func (e *node) vector(list ...int) string { return e.w.constant(vector(list)) }

// cast converts elements.
func (b *block) cast(name string, to dtype.DType) string {
	return b.put(1, "Cast", []string{name}, withInt("to", dtypeNumbers[to]))[0]
}

// int64s returns the name of argument i, integers, converted to 64 bits.
func (e *node) int64s(i int) string {
	if e.t(i).DType() == dtype.Int64 {
		return e.in(i)
	}
	if list, ok := e.c.ConstInts(i); ok && e.t(i).Shape().Rank() == 1 {
		return e.vector(list...)
	}
	return e.cast(e.in(i), dtype.Int64)
}

// transpose permutes axes. Successive transpositions are merged into one.
func (b *block) transpose(name string, perm []int) string {
	if before, ok := b.turns[name]; ok {
		all := make([]int, len(perm))
		for i, p := range perm {
			all[i] = before.perm[p]
		}
		name, perm = before.from, all
	}
	if slices.Equal(perm, upTo(len(perm))) {
		return name
	}
	out := b.put(1, "Transpose", []string{name}, withInts("perm", perm))[0]
	b.turns[out] = transposition{name, perm}
	return out
}

// ofRank returns the number of axes of argument i.
func (e *node) ofRank(i int) int { return rank(e.t(i)) }

// dtypeOf returns the element type of the call's first operand.
func (e *node) dtypeOf() dtype.DType { return e.c.Values()[0].(T).DType() }

// expanded writes the operations by which f expresses a call.
func (e *node) expanded(f func(c *op.Call) []T) []string {
	values := e.c.Values()
	var specs []*tensor.Spec
	var params []string
	for _, v := range values {
		if _, ok := op.Known(v); !ok {
			specs = append(specs, v.Spec().(*tensor.Spec))
			params = append(params, e.name(v))
		}
	}
	g, err := graph.Trace(e.Op.Name, specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		args := make([]tenon.Value, len(values))
		for i, v := range values {
			if known, ok := op.Known(v); ok {
				args[i] = known
			} else {
				args[i], p = p[0], p[1:]
			}
			if d := e.Outs[0].DType(); e.Op.Axes == op.Map && d.IsFloat() && args[i].(T).DType().IsInteger() {
				args[i] = ops.Cast(args[i], d) // an integer argument is converted, too
			}
		}
		return f(e.c.WithValues(args)), nil
	})
	tenon.Throw(err)
	s := e.block.section(g, params)
	s.outer, s.within = e.section, e.Node
	return s.outputs()
}

// inlined writes the body of a graph that is an attribute of the call, with params as its
// arguments.
func (e *node) inlined(g *graph.Graph, params []string) []string {
	return e.block.section(g, params).outputs()
}

// graphMessage is a graph inside of a node: its inputs, and the outputs that fill computes from
// them. Values from outside keep their names.
func (e *node) graphMessage(name string, inputs []*graph.Value, fill func(b *block, in []string) (out []string, like []*graph.Value)) *body {
	inner := &block{w: e.w, turns: map[string]transposition{}}
	m := &body{}
	var ins [][]byte
	var names []string
	for _, v := range inputs {
		in := e.w.unique(name + "_in")
		names = append(names, in)
		ins = append(ins, valueMessage(in, v.DType(), v.Shape(), nameless))
	}
	out, like := fill(inner, names)
	var outs [][]byte
	for i, from := range out {
		to := e.w.unique(name + "_out")
		inner.named(to, from)
		outs = append(outs, valueMessage(to, like[i].DType(), like[i].Shape(), nameless))
	}
	for _, n := range inner.nodes {
		m.text(1, string(n))
	}
	m.text(2, name)
	for _, b := range ins {
		m.text(11, string(b))
	}
	for _, b := range outs {
		m.text(12, string(b))
	}
	return m
}

func nameless(int) string { return "" }
