package graph

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/slab"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Graph is a program over tensors.
type Graph struct {
	Name    string
	Params  []*Value // the inputs, captures last
	Nodes   []*Node  // in an order in which they can run
	Outputs []*Value

	// Captures are the values of enclosing traces that the last len(Captures)
	// parameters stand for.
	Captures []tensor.Tensor

	level    int
	sealed   atomic.Bool
	captured map[tensor.Tensor]*Value
	consts   map[tensor.Tensor]*Value
	next     int
	region   bool // of a branch or loop
	cells    map[Cell]*Value
	effects  []Effect
	memo     sync.Map

	room *room // memory for what is read; nil in a trace, whose values are searched for after it has ended

	rebuilding bool   // nodes take their line from replaced instead of the stack
	replaced   string // the line of the node being replaced
}

// room is memory for the nodes and values of a graph being read.
type room struct {
	nodes  slab.Slab[Node]
	values slab.Slab[Value]
	outs   slab.Slab[*Value]
	args   slab.Slab[any]
}

// A Node is an operation in a graph.
type Node struct {
	Op   *op.Op
	Args []any // by parameter, as in op.Call: *Value, nil, []tenon.Value of *Values, or an attribute
	Outs []*Value
	Line string // the user's source line

	dims [][]string // the names of the inputs' dimensions; nil if none are known
}

// A Value is a symbolic tensor: a parameter of a graph, a constant, or a result
// of a node.
type Value struct {
	graph *Graph
	node  *Node         // nil for parameters and constants
	konst tensor.Tensor // the elements of a constant
	index int           // index of the result or parameter
	id    int
	spec  *tensor.Spec
	dims  []string // the names of its dimensions, if they are known
	of    *Value   // the value of which it is a renamed view
}

var (
	_ op.Recorder = (*Value)(nil)
	_ op.Constant = (*Value)(nil)
)

// New returns an empty graph that can be recorded into.
func New(name string) *Graph {
	return &Graph{
		Name:     name,
		level:    op.NextLevel(),
		captured: map[tensor.Tensor]*Value{},
		consts:   map[tensor.Tensor]*Value{},
	}
}

// Param adds an input.
func (g *Graph) Param(spec *tensor.Spec) *Value {
	v := g.value(spec)
	v.index = len(g.Params)
	g.Params = append(g.Params, v)
	return v
}

func (g *Graph) value(spec *tensor.Spec) *Value {
	var v *Value
	if g.room != nil {
		v = g.room.values.New()
	} else {
		v = new(Value)
	}
	v.graph, v.spec, v.id = g, spec, g.next
	g.next++
	return v
}

// Const returns a constant of the graph.
func (g *Graph) Const(t tensor.Tensor) *Value {
	if v, ok := g.consts[t]; ok {
		return v
	}
	v := g.value(t.Spec().(*tensor.Spec))
	v.konst = t
	g.consts[t] = v
	return v
}

// Add appends a node for a call whose tensor arguments are Values of the graph.
func (g *Graph) Add(c *op.Call, line string, specs []tenon.Spec) (*Node, error) {
	var n *Node
	if g.room != nil {
		n = g.room.nodes.New()
		n.Outs = g.room.outs.Take(len(specs))
	} else {
		n = &Node{Outs: make([]*Value, len(specs))}
	}
	n.Op, n.Args, n.Line = c.Op, c.Args, line
	for i, s := range specs {
		ts, ok := s.(*tensor.Spec)
		if !ok {
			return nil, c.Errorf(tenon.ErrDType, "result %d is a %s, and a graph holds dense tensors only", i, s.TypeName())
		}
		v := g.value(ts)
		v.node, v.index = n, i
		n.Outs[i] = v
	}
	g.Nodes = append(g.Nodes, n)
	return n, nil
}

// Seal ends the trace: later operations on its values are errors.
func (g *Graph) Seal() { g.sealed.Store(true) }

// Spec returns the *tensor.Spec with what is known about the value.
func (v *Value) Spec() tenon.Spec { return v.spec }

// DType returns the element type.
func (v *Value) DType() dtype.DType { return v.spec.DType() }

// Shape returns the sizes as far as they are known.
func (v *Value) Shape() shape.Shape { return v.spec.Shape() }

// Graph returns the graph that v belongs to.
func (v *Value) Graph() *Graph { return v.graph }

// Node returns the node that v is a result of, or nil for parameters and
// constants.
func (v *Value) Node() *Node { return v.node }

// Index returns the index of v among the results of its node or among the
// parameters.
func (v *Value) Index() int { return v.index }

// Unchecked returns the value that v equals, looking through checks.
func (v *Value) Unchecked() *Value {
	for v.node != nil && v.node.Op.IsAssert() && v.index == 0 {
		in, ok := v.node.Args[0].(*Value)
		if !ok {
			break
		}
		v = in
	}
	return v
}

// ID returns the number of the value. Values of a graph are numbered from 0 in
// the order of their definition.
func (v *Value) ID() int { return v.id }

// IsParam reports whether v is a parameter.
func (v *Value) IsParam() bool { return v.node == nil && v.konst == nil }

// ConstValue returns the elements of a constant.
func (v *Value) ConstValue() (tensor.Tensor, bool) { return v.konst, v.konst != nil }

// Concrete returns the elements of a constant. For other values, it returns an
// error that explains how to depend on data inside a trace.
func (v *Value) Concrete() (tensor.Tensor, error) {
	if v.konst != nil {
		return v.konst, nil
	}
	e := tenon.NewError(tenon.ErrUnsupported, "tensor.Data", fmt.Sprintf("%v is symbolic: its elements do not exist while the function is traced", v))
	e.Hint = "to branch or loop on data use control.Cond or control.While; to call Go code use control.GoFunc"
	return nil, e
}

// String returns "%3: float32[2, ?]".
func (v *Value) String() string { return fmt.Sprintf("%%%d: %v", v.id, v.spec) }

// Inputs returns the node's tensor arguments in the order of its parameters.
func (n *Node) Inputs() []*Value {
	in := make([]*Value, 0, 3)
	n.EachInput(func(v *Value) { in = append(in, v) })
	return in
}

// EachInput calls f with each of [Node.Inputs].
func (n *Node) EachInput(f func(v *Value)) {
	for _, a := range n.Args {
		switch a := a.(type) {
		case *Value:
			f(a)
		case []tenon.Value:
			for _, x := range a {
				if v, ok := x.(*Value); ok {
					f(v)
				}
			}
		}
	}
}

// Regions returns the graphs among the node's attributes.
func (n *Node) Regions() []*Graph {
	var gs []*Graph
	for _, a := range n.Args {
		switch a := a.(type) {
		case *Graph:
			gs = append(gs, a)
		case []*Graph:
			gs = append(gs, a...)
		}
	}
	return gs
}

// Memo returns the result of make from the first call with the key. Plans and
// derived graphs are kept with the graph from which they were made.
func (g *Graph) Memo(key any, make func() any) any {
	if v, ok := g.memo.Load(key); ok {
		return v
	}
	v, _ := g.memo.LoadOrStore(key, make())
	return v
}

// NumValues returns one more than the largest ID of the graph's values.
func (g *Graph) NumValues() int { return g.next }
