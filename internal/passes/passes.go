package passes

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A Pass returns a graph equivalent to g.
type Pass struct {
	Name string
	Run  func(g *graph.Graph) (*graph.Graph, error)
}

// Default is the sequence of passes for the graph of a function.
var Default = []Pass{
	{"customs", Customs},
	{"ones", Ones},
	{"fold", Fold},
	{"simplify", Simplify},
	{"rows", Rows},
	{"activations", Activations},
	{"sink", SinkBroadcasts},
	{"layouts", Layouts},
	{"transposes", FoldTransposes},
	{"cse", CSE},
	{"attention", Attention},
	{"sums", Sums},
	{"captures", TurnCaptures},
	{"dce", DCE},
	{"branches", Branches},
}

// Apply runs passes in sequence, also on the regions inside the graph.
func Apply(g *graph.Graph, list []Pass) (*graph.Graph, error) {
	g, err := inRegions(g, list)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if g, err = p.Run(g); err != nil {
			return nil, fmt.Errorf("pass %s: %w", p.Name, err)
		}
	}
	return g, g.Verify()
}

// has reports whether some node of the graph is of interest, so that a pass without work to do
// costs only a scan.
func has(g *graph.Graph, interesting func(n *graph.Node) bool) bool {
	return slices.ContainsFunc(g.Nodes, interesting)
}

// hasOp is has for operations by name.
func hasOp(g *graph.Graph, names ...string) bool {
	return has(g, func(n *graph.Node) bool { return slices.Contains(names, n.Op.Name) })
}

func inRegions(g *graph.Graph, list []Pass) (*graph.Graph, error) {
	if !has(g, func(n *graph.Node) bool { return len(n.Regions()) > 0 }) {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		list := list
		if lateGradients(n) {
			list = without(list, "customs")
		}
		for i, a := range c.Args {
			switch a := a.(type) {
			case *graph.Graph:
				r, err := Apply(a, list)
				if err != nil {
					return nil, err
				}
				c.Args[i] = r
			case []*graph.Graph:
				rs := make([]*graph.Graph, len(a))
				for k, x := range a {
					var err error
					if rs[k], err = Apply(x, list); err != nil {
						return nil, err
					}
				}
				c.Args[i] = rs
			}
		}
		return nil, nil
	})
}

// Branches moves operations that only one branch of a choice needs into that branch. A trace
// records operations on values from outside of a branch outside of it.
func Branches(g *graph.Graph) (*graph.Graph, error) {
	return graph.Sink(g, func(n *graph.Node) (inputs, regions int, ok bool) {
		return 1, 2, n.Op.Name == "control.switch"
	})
}

// Rematerialise recomputes elementwise results that are needed again much later, for example by
// gradients, if their operands are still live. Their memory is free in between. It is for functions
// that request it, because it takes more time.
func Rematerialise(g *graph.Graph) (*graph.Graph, error) {
	const far = 8 // nodes
	return graph.Rematerialise(g, far, func(n *graph.Node) bool {
		return n.Op.IsElementwise() && n.Op.Block != nil && (!n.Outs[0].Shape().IsFull() || n.Outs[0].Shape().Size() >= 1<<10)
	})
}
