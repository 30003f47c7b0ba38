package digraph

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// LabeledDigraph is a directed graph with labels: tensors with a row for each node, or
// for each edge, by name.
type LabeledDigraph struct {
	NodeLabels map[string]tensor.Tensor `tenon:"shape=[nodes ...]"`
	EdgeLabels map[string]tensor.Tensor `tenon:"shape=[edges ...]"`
	Source     tensor.Tensor            `tenon:"dtype=int64,shape=[edges]"`
	Target     tensor.Tensor            `tenon:"dtype=int64,shape=[edges]"`
}

func init() { ext.Register[LabeledDigraph]("tenonml.com/examples/exttypes.LabeledDigraph") }

// Spec returns the Spec of labels and edges.
func (g LabeledDigraph) Spec() tenon.Spec { return ext.SpecOf(g) }

// String prints labels and edges.
func (g LabeledDigraph) String() string { return ext.String(g) }

// Validate checks that the ends of edges are nodes, if a label gives the number of nodes.
func (g LabeledDigraph) Validate() error {
	for _, l := range g.NodeLabels {
		return inside(l.Shape().Dim(0), g.Source, g.Target)
	}
	return nil
}

func label(labels map[string]tensor.Tensor, what, name string) tensor.Tensor {
	l, ok := labels[name]
	if !ok {
		tenon.Throw(tenon.NewError(tenon.ErrNotFound, "digraph", fmt.Sprintf("%s have no label %q; there are %q", what, name, slices.Sorted(maps.Keys(labels)))))
	}
	return l
}

// Node returns a label of the nodes. If there is none with the name, it throws an error.
func (g LabeledDigraph) Node(name string) tensor.Tensor { return label(g.NodeLabels, "nodes", name) }

// Edge returns a label of the edges. If there is none with the name, it throws an error.
func (g LabeledDigraph) Edge(name string) tensor.Tensor { return label(g.EdgeLabels, "edges", name) }

// Plain returns the graph with one of its node labels.
func (g LabeledDigraph) Plain(node string) TensorDigraph {
	return TensorDigraph{g.Node(node), g.Source, g.Target}
}

// WeightedSum returns for each node the sum, over the edges that lead to it, of the edge's
// label times the label of the node where the edge begins: [nodes, …]. It throws errors.
func (g LabeledDigraph) WeightedSum(node, edge string) tensor.Tensor {
	x, w := g.Node(node), g.Edge(edge)
	rows := ops.Gather(x, g.Source, 0)
	for w.Shape().Rank() < rows.Shape().Rank() {
		w = ops.ExpandDims(w, -1)
	}
	return ops.SegmentSum(ops.Mul(w, rows), g.Target, ops.Index(ops.Shape(x), 0))
}

// With returns the graph with a node label added or replaced.
func (g LabeledDigraph) With(node string, x tensor.Tensor) LabeledDigraph {
	g.NodeLabels = maps.Clone(g.NodeLabels)
	if g.NodeLabels == nil {
		g.NodeLabels = map[string]tensor.Tensor{}
	}
	g.NodeLabels[node] = x
	return g
}
