package mesh

import (
	"strings"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
)

// work is the work of a rank in a program.
type work struct {
	steps   []piece
	shared  []exchange
	peak    float64 // maximum number of bytes needed at one time
	unknown int     // steps with unknown sizes
}

// A piece is the work of one operation: the arithmetic of its contraction, and the bytes that it reads
// and writes.
type piece struct{ flops, bytes float64 }

// An exchange is one collective operation.
type exchange struct {
	kind          string // "all_reduce"
	bytes         float64
	ranks, stride int // the participating ranks, and the distance between their numbers
}

// workOf returns the work of a graph.
func (m *Mesh) workOf(g *graph.Graph) work {
	w := work{}
	m.add(&w, g)
	w.peak = peakOf(g)
	return w
}

// add adds the nodes of a graph, and those of the regions of a node once.
func (m *Mesh) add(w *work, g *graph.Graph) {
	inner := withinChains(g)
	for _, n := range g.Nodes {
		for _, r := range n.Regions() {
			w.unknown++ // the number of iterations
			m.add(w, r)
		}
		full := true
		n.EachInput(func(v *graph.Value) { full = full && v.Shape().IsFull() })
		kind, shared := strings.CutPrefix(n.Op.Name, "dist.")
		switch {
		case shared:
			group, _ := n.Args[n.Op.Param("group")].(string)
			x := exchange{kind: kind, bytes: n.Inputs()[0].Bytes()}
			if x.ranks, x.stride = m.along(group); x.ranks > 1 {
				w.shared = append(w.shared, x)
			}
		case isView(n.Op):
			continue
		default:
			p := piece{flops: n.FLOPs()}
			n.EachInput(func(v *graph.Value) {
				if !inner[v] {
					p.bytes += stored(v)
				}
			})
			for _, v := range n.Outs {
				if full = full && v.Shape().IsFull(); !inner[v] {
					p.bytes += v.Bytes()
				}
			}
			w.steps = append(w.steps, p)
		}
		if !full {
			w.unknown++
		}
	}
}

// along returns the number of ranks of a group, given its name in a context, and the distance between
// their numbers.
func (m *Mesh) along(group string) (ranks, stride int) {
	stride = 1
	for i := len(m.axes) - 1; i >= 0; i-- {
		if GroupOf(m.axes[i].Name) == group {
			return m.axes[i].Size, stride
		}
		stride *= m.axes[i].Size
	}
	return m.Size(), 1
}

// isView reports whether an operation has results that are views of its operand.
func isView(o *op.Op) bool {
	return o.Reshapes() || o.Axes == op.Permute || o.Axes == op.Broadcast && o.By == op.ByAxis
}

// stored returns the bytes of the tensor of which a value is a view, if they are fewer than its own, as for a
// broadcast.
func stored(v *graph.Value) float64 {
	n := v.Bytes()
	if from := v.Node(); from != nil && isView(from.Op) {
		n = min(n, stored(from.Inputs()[0]))
	}
	return n
}

// withinChains returns the results of elementwise operations that are used by a single other elementwise
// operation: these run together, and the intermediate result is not written to memory.
func withinChains(g *graph.Graph) map[*graph.Value]bool {
	users := map[*graph.Value][]*graph.Node{}
	for _, n := range g.Nodes {
		n.EachInput(func(v *graph.Value) { users[v] = append(users[v], n) })
	}
	for _, v := range g.Outputs {
		users[v] = append(users[v], nil)
	}
	in := map[*graph.Value]bool{}
	for v, list := range users {
		if from := v.Node(); from != nil && from.Op.IsElementwise() && len(list) == 1 && list[0] != nil && list[0].Op.IsElementwise() {
			in[v] = true
		}
	}
	return in
}

// peakOf returns the maximum number of bytes of values needed at one time, including parameters and captures, when a
// graph runs in its order.
func peakOf(g *graph.Graph) float64 {
	root := func(v *graph.Value) *graph.Value {
		for v.Node() != nil && isView(v.Node().Op) {
			v = v.Node().Inputs()[0]
		}
		return v
	}
	last := map[*graph.Value]int{}
	for i, n := range g.Nodes {
		n.EachInput(func(v *graph.Value) { last[root(v)] = i })
	}
	for _, v := range g.Outputs {
		last[root(v)] = len(g.Nodes)
	}
	inner := withinChains(g)
	live := 0.0
	for _, p := range g.Params {
		live += p.Bytes() // the caller holds them all the time
	}
	peak := live
	ends := make([]float64, len(g.Nodes)+1)
	for i, n := range g.Nodes {
		if !isView(n.Op) {
			for _, v := range n.Outs {
				if end, used := last[v]; !inner[v] {
					live += v.Bytes()
					if !used {
						end = i
					}
					ends[end] += v.Bytes()
				}
			}
		}
		within := 0.0
		for _, r := range n.Regions() {
			within = max(within, peakOf(r))
		}
		peak = max(peak, live+within)
		live -= ends[i]
	}
	return peak
}
