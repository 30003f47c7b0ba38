package interp

import "github.com/tenonml/tenon/graph"

// schedule returns the nodes of a graph in an order in which elementwise ones that can
// run together stand together: each waits until a node of another kind, or the end, needs
// it. The others keep their order.
func schedule(g *graph.Graph) []*graph.Node {
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
		if f, _ := fusible(n); f != nil {
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
	return out
}
