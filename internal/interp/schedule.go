package interp

import "github.com/tenonml/tenon/graph"

// schedule returns the nodes of a graph in an order in which those that can run together are
// adjacent: each of them waits until it is needed by another node or by the end. All other nodes
// keep their order.
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

// gather makes nodes on the rows of one partition adjacent, in a list of nodes that may wait for
// one another. Elementwise nodes on other tensors stay in place: there may be many unrelated ones
// of the same shape, and all of their results would be live at once.
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
		delete(left, first) // its predecessors are done
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
