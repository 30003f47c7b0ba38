package graph

import (
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Rematerialise returns g with values recomputed where they are needed long after they were first
// computed: at least far nodes later. Their memory is free in between. A value is a candidate if
// cheap accepts its node, and if everything that the node reads is still available at the later
// point or can be recomputed in the same way.
func Rematerialise(g *Graph, far int, cheap func(n *Node) bool) (*Graph, error) {
	last := make([]int, g.next) // the last node that reads each value
	for _, o := range g.Outputs {
		last[o.id] = len(g.Nodes)
	}
	for i, n := range g.Nodes {
		n.EachInput(func(v *Value) { last[v.id] = max(last[v.id], i) })
	}
	// again holds, for the values that are computed twice, where the second computation is first
	// needed.
	again := map[*Value]int{}
	for i, n := range g.Nodes {
		if len(n.Outs) != 1 || n.Op.Stateful || last[n.Outs[0].id] < i+far || last[n.Outs[0].id] == len(g.Nodes) || !cheap(n) {
			continue
		}
		v, first, early := n.Outs[0], len(g.Nodes), false
		for k := i + 1; k <= last[v.id]; k++ {
			g.Nodes[k].EachInput(func(x *Value) {
				switch {
				case x != v:
				case k < i+far:
					early = true
				default:
					first = min(first, k)
				}
			})
		}
		if early && within(n, func(x *Value) bool {
			_, twice := again[x]
			return x.konst != nil || x.IsParam() || last[x.id] >= first && !twice
		}, cheap, maxChain) {
			again[v] = first
		}
	}
	if len(again) == 0 {
		return g, nil
	}
	at := -1
	second := map[*Value]*Value{}
	// remake recomputes a value from what is available.
	var remake func(v *Value, get func(*Value) *Value) (*Value, error)
	remake = func(v *Value, get func(*Value) *Value) (*Value, error) {
		if _, twice := again[v]; v.konst != nil || v.IsParam() || last[v.id] >= at && !twice {
			return get(v), nil
		}
		if w := second[v]; w != nil {
			return w, nil
		}
		var failure error
		c := callOn(v.node, func(x *Value) *Value {
			w, err := remake(x, get)
			if err != nil {
				failure = err
				return get(x)
			}
			return w
		})
		if failure != nil {
			return nil, failure
		}
		kept, err := get(v).graph.Add(c, v.node.Line, specsOfOuts(v.node))
		if err != nil {
			return nil, err
		}
		second[v] = kept.Outs[0]
		return second[v], nil
	}
	return rebuild(g, func(n *Node, c *op.Call, get func(*Value) *Value) ([]tensor.Tensor, error) {
		at++
		replaced := map[*Value]*Value{}
		var failure error
		n.EachInput(func(v *Value) {
			first, ok := again[v]
			if !ok || at < first || failure != nil {
				return
			}
			replaced[v], failure = remake(v, get)
		})
		if failure != nil || len(replaced) == 0 {
			return nil, failure
		}
		return callOn(n, func(v *Value) *Value {
			if w := replaced[v]; w != nil {
				return w
			}
			return get(v)
		}).DoTensors()
	})
}

// maxChain is the number of consecutive nodes that may be recomputed for a value.
const maxChain = 4

// within reports whether everything that a node reads is available, or is the result of a cheap
// node for which the same is true.
func within(n *Node, there func(x *Value) bool, cheap func(n *Node) bool, depth int) bool {
	ok := depth > 0
	n.EachInput(func(x *Value) {
		ok = ok && (there(x) || x.node != nil && len(x.node.Outs) == 1 && !x.node.Op.Stateful && cheap(x.node) && within(x.node, there, cheap, depth-1))
	})
	return ok
}
