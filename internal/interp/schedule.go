package interp

import "github.com/tenonml/tenon/graph"

// schedule returns the nodes of a graph in an order in which those that can run together
// stand together: each waits until a node of another kind, or the end, needs it. The
// others keep their order.
func schedule(g *graph.Graph, l *layout) []*graph.Node {
	waiting := make(map[*graph.Node]bool, len(g.Nodes))
	out := make([]*graph.Node, 0, len(g.Nodes))
	var emit func(n *graph.Node)
	emit = func(n *graph.Node) {
		delete(waiting, n)
		n.EachInput(func(v *graph.Value) {
			if in := v.Node(); in != nil && waiting[in] {
				emit(in)
			}
		})
		out = append(out, n)
	}
	for _, n := range g.Nodes {
		if l.loops[n] != nil {
			waiting[n] = true
			continue
		}
		emit(n)
	}
	for _, n := range g.Nodes {
		if waiting[n] {
			emit(n)
		}
	}
	for i := 0; i < len(out); {
		j := i
		for j < len(out) && l.loops[out[j]] != nil {
			j++
		}
		l.gather(out[i:j])
		i = max(j, i+1)
	}
	return out
}

// gather brings nodes on the rows of one partition together, in a list of nodes that may
// wait for one another. Elementwise nodes on other tensors stay where they are: there
// may be many of one shape that have nothing to do with each other, whose results
// would all be there at once.
func (l *layout) gather(nodes []*graph.Node) {
	left := make(map[*graph.Node]bool, len(nodes))
	rows := false
	for _, n := range nodes {
		left[n] = true
		_, ok := l.loops[n].key.(int)
		rows = rows || ok
	}
	if !rows {
		return
	}
	ready := func(n *graph.Node) bool {
		ok := true
		n.EachInput(func(v *graph.Value) { ok = ok && !left[v.Node()] })
		return ok
	}
	out := make([]*graph.Node, 0, len(nodes))
	for i, first := range nodes {
		if !left[first] {
			continue
		}
		delete(left, first) // those before it are done
		out = append(out, first)
		if _, ok := l.loops[first].key.(int); !ok {
			continue
		}
		for _, n := range nodes[i+1:] {
			if left[n] && l.together(first, n) && ready(n) {
				delete(left, n)
				out = append(out, n)
			}
		}
	}
	copy(nodes, out)
}
