package interp

import (
	"slices"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A sum is an addition to the result of another operation that adds it itself ([op.Op.Onto]).
type sum struct {
	to int // input of the group
}

// findSums finds the additions to results that nothing else reads. An addition whose own result is read by
// nodes that it can run with stays with these.
func (l *layout) findSums(g *graph.Graph) {
	if !slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool { return n.Op.Onto != nil }) {
		return
	}
	readers := map[*graph.Value][]*graph.Node{}
	for _, n := range g.Nodes {
		n.EachInput(func(v *graph.Value) { readers[v] = append(readers[v], n) })
	}
	for _, o := range g.Outputs {
		readers[o] = append(readers[o], nil)
	}
	l.sums = map[*graph.Node]*graph.Node{}
	for _, n := range g.Nodes {
		if n.Op.Name != "add" || l.loops[n] == nil {
			continue
		}
		out := n.Outs[0]
		if slices.ContainsFunc(readers[out], func(r *graph.Node) bool { return r != nil && l.loops[r] != nil && l.together(n, r) }) {
			continue
		}
		n.EachInput(func(v *graph.Value) {
			if of := v.Node(); of != nil && of.Op.Onto != nil && len(readers[v]) == 1 && v.Shape().Equal(out.Shape()) && l.sums[of] == nil {
				l.sums[of] = n
			}
		})
	}
	for _, n := range l.sums {
		delete(l.loops, n) // so that it follows the operation at once
	}
}

// onto turns the nodes i and i+1 into one step if the second adds to the result of the first.
func (p *Plan) onto(l *layout, i int) (step, bool) {
	if i+1 == len(p.nodes) || l.sums[p.nodes[i]] != p.nodes[i+1] {
		return step{}, false
	}
	nodes := p.nodes[i : i+2]
	b := newBuilder(l, false)
	for _, v := range nodes[0].Inputs() {
		b.input(v, unused)
	}
	x, y := nodes[1].Args[0].(*graph.Value), nodes[1].Args[1].(*graph.Value)
	if x == nodes[0].Outs[0] {
		x = y
	}
	return b.whole(p, i, i+2, &sum{b.input(x, unused)}), true
}

// run computes a sum. It reports false if the operation does not add to such an operand.
func (s *sum) run(g *group, slots []tensor.Tensor) bool {
	of := &g.steps[0]
	c := &op.Call{Op: of.op, Args: make([]any, len(of.args))}
	for i, a := range of.args {
		if c.Args[i] = a.attr; a.slot >= 0 {
			c.Args[i] = slots[g.inputs[a.slot].slot]
		}
	}
	out := of.op.Onto(c, slots[g.inputs[s.to].slot])
	if out == nil {
		return false
	}
	slots[g.outs[0]] = out
	return true
}
