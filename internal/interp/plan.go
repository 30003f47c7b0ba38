package interp

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A Plan is a graph prepared for execution.
type Plan struct {
	graph  *graph.Graph
	nodes  []*graph.Node // in execution order
	params []int         // slots of the parameters; -1 for a parameter that is not read
	consts []slotConst
	steps  []step
	outs   []int          // slots of the outputs
	specs  []*tensor.Spec // by slot
	slots  int
}

type slotConst struct {
	slot int
	t    tensor.Tensor
}

// step is one node.
type step struct {
	op   *op.Op
	args []arg
	outs []int
	free []int // slots that are not read by later steps
	line string
	node *graph.Node // nil for a group
	keep bool        // it may retain its operands and results, so that it is unknown when their memory is free

	// consts are the constants of the step's regions. Its results may be constants or views of
	// them.
	consts []*tensor.Dense

	group *group // the nodes of a group; nil for a single node

	even bool // an elementwise operation whose arguments are all values, which op.Even can run
}

// arg is an argument of a step: an attribute, a slot, or a list of slots.
type arg struct {
	attr any
	slot int // -1 for an attribute
	list []int
}

type planKey struct{}

// For returns the plan of a graph, which is created on first use.
func For(g *graph.Graph) *Plan {
	return g.Memo(planKey{}, func() any { return plan(g) }).(*Plan)
}

func plan(g *graph.Graph) *Plan {
	l := layoutOf(g)
	p := &Plan{graph: g, nodes: schedule(g, l), slots: g.NumValues()}
	last := make([]int, p.slots) // the last step that reads each slot
	seen := map[int]bool{}
	slot := func(v *graph.Value, at int) int {
		if t, ok := v.ConstValue(); ok && !seen[v.ID()] {
			seen[v.ID()] = true
			p.consts = append(p.consts, slotConst{v.ID(), t})
		}
		last[v.ID()] = at
		return v.ID()
	}
	for i, n := range p.nodes {
		s := step{op: n.Op, args: make([]arg, len(n.Args)), line: n.Line, node: n}
		for k, a := range n.Args {
			switch a := a.(type) {
			case *graph.Value:
				s.args[k] = arg{slot: slot(a, i)}
			case []tenon.Value:
				l := make([]int, len(a))
				for j, x := range a {
					l[j] = slot(x.(*graph.Value), i)
				}
				s.args[k] = arg{slot: -1, list: l}
			default:
				s.args[k] = arg{slot: -1, attr: a}
			}
		}
		s.keep = n.Op.Stateful || holdsGo(n)
		for _, r := range n.Regions() {
			s.consts = appendConsts(s.consts, r)
		}
		s.even = n.Op.Block != nil && len(n.Args) <= 3 && !slices.ContainsFunc(s.args, func(a arg) bool { return a.slot < 0 })
		for _, o := range n.Outs {
			s.outs = append(s.outs, o.ID())
			last[o.ID()] = max(last[o.ID()], i)
		}
		p.steps = append(p.steps, s)
	}
	for _, o := range g.Outputs {
		slot(o, len(p.nodes))
	}
	for id, at := range last {
		if at < len(p.steps) && !seen[id] {
			p.steps[at].free = append(p.steps[at].free, id)
		}
	}
	p.join(l)
	p.number()
	return p
}

// appendConsts appends the constants of a region and of the regions nested in it.
func appendConsts(to []*tensor.Dense, g *graph.Graph) []*tensor.Dense {
	add := func(v *graph.Value) {
		if t, ok := v.ConstValue(); ok {
			if d, ok := t.(*tensor.Dense); ok && !slices.Contains(to, d) {
				to = append(to, d)
			}
		}
	}
	for _, n := range g.Nodes {
		n.EachInput(add)
		for _, r := range n.Regions() {
			to = appendConsts(to, r)
		}
	}
	for _, o := range g.Outputs {
		add(o)
	}
	return to
}

// holdsGo reports whether a node has Go values of the program among its attributes, usually
// functions.
func holdsGo(n *graph.Node) bool {
	for i, a := range n.Args {
		switch a.(type) {
		case *graph.Graph, []*graph.Graph, nil:
			continue
		}
		if n.Op.Params[i].Kind != op.Attr {
			continue
		}
		if _, ok := op.EncodeAttr(a); !ok {
			return true
		}
	}
	return false
}

// number assigns slots, counted from 0, to the values that steps pass to one another. Values that
// are computed and used within a group need none.
func (p *Plan) number() {
	slots := make(map[int]int, p.slots)
	slot := func(id int) int {
		at, ok := slots[id]
		if !ok {
			at = len(slots)
			slots[id] = at
		}
		return at
	}
	list := func(ids []int) {
		for i, id := range ids {
			ids[i] = slot(id)
		}
	}
	for i := range p.consts {
		p.consts[i].slot = slot(p.consts[i].slot)
	}
	for i := range p.steps {
		s := &p.steps[i]
		if s.group != nil {
			for k := range s.group.inputs {
				s.group.inputs[k].slot = slot(s.group.inputs[k].slot)
			}
			list(s.group.outs)
		}
		for k := range s.args {
			if s.args[k].slot >= 0 {
				s.args[k].slot = slot(s.args[k].slot)
			}
			list(s.args[k].list)
		}
		list(s.outs)
		free := s.free[:0]
		for _, id := range s.free {
			if at, ok := slots[id]; ok {
				free = append(free, at)
			}
		}
		s.free = free
	}
	for _, v := range p.graph.Outputs {
		p.outs = append(p.outs, slot(v.ID()))
	}
	for _, v := range p.graph.Params {
		at, ok := slots[v.ID()]
		if !ok {
			at = -1
		}
		p.params = append(p.params, at)
	}
	p.slots = len(slots)
	p.specs = make([]*tensor.Spec, p.slots)
	note := func(v *graph.Value) {
		if at, ok := slots[v.ID()]; ok {
			p.specs[at] = v.Spec().(*tensor.Spec)
		}
	}
	for _, n := range p.nodes {
		for _, o := range n.Outs {
			note(o)
		}
	}
}

// Graph returns the graph that the plan runs.
func (p *Plan) Graph() *graph.Graph { return p.graph }

// Reads reports whether a run reads input i; otherwise the input may be nil.
func (p *Plan) Reads(i int) bool { return p.params[i] >= 0 }
