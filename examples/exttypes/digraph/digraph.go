package digraph

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// TensorDigraph is a directed graph: edge i leads from node Source[i] to node Target[i].
type TensorDigraph struct {
	Nodes  tensor.Tensor `tenon:"shape=[nodes ...]"` // [nodes, features…]
	Source tensor.Tensor `tenon:"dtype=int64,shape=[edges]"`
	Target tensor.Tensor `tenon:"dtype=int64,shape=[edges]"`
}

func init() { ext.Register[TensorDigraph]("tenonml.com/examples/exttypes.TensorDigraph") }

// New returns the graph with the given nodes and edges.
func New(nodes any, source, target []int64) (TensorDigraph, error) {
	n, err := tensor.Convert(nodes)
	if err != nil {
		return TensorDigraph{}, err
	}
	return ext.New(TensorDigraph{n, tensor.Vector(source), tensor.Vector(target)})
}

// Spec returns the Spec of nodes and edges.
func (g TensorDigraph) Spec() tenon.Spec { return ext.SpecOf(g) }

// String prints nodes and edges.
func (g TensorDigraph) String() string { return ext.String(g) }

// Validate checks that the ends of edges are nodes, if the data is known.
func (g TensorDigraph) Validate() error { return inside(g.Nodes.Shape().Dim(0), g.Source, g.Target) }

// inside checks that the ends of edges are below n.
func inside(n int, source, target tensor.Tensor) error {
	for name, ends := range map[string]tensor.Tensor{"Source": source, "Target": target} {
		t, ok := op.Known(ends)
		if !ok || n < 0 {
			continue
		}
		for i, x := range tensor.Data[int64](t) {
			if x < 0 || x >= int64(n) {
				return &tenon.Error{Kind: tenon.ErrInvalid, Where: fmt.Sprintf("%s[%d]", name, i), Msg: fmt.Sprintf("is node %d, but there are %d", x, n)}
			}
		}
	}
	return nil
}

// count returns the number of nodes.
func (g TensorDigraph) count() tensor.Tensor { return ops.Index(ops.Shape(g.Nodes), 0) }

// InDegree returns the number of edges that lead to each node: int64[nodes].
func (g TensorDigraph) InDegree() tensor.Tensor {
	return ops.SegmentSum(ops.OnesLike(g.Target), g.Target, g.count())
}

// OutDegree returns the number of edges that leave each node: int64[nodes].
func (g TensorDigraph) OutDegree() tensor.Tensor {
	return ops.SegmentSum(ops.OnesLike(g.Source), g.Source, g.count())
}

// Propagate is a step of message passing: every edge carries message of its source's row, and
// each node becomes update of its own row and the sum of the arriving messages. Both functions
// work on all rows at once.
func (g TensorDigraph) Propagate(message func(rows tensor.Tensor) tensor.Tensor, update func(own, sum tensor.Tensor) tensor.Tensor) TensorDigraph {
	sent := message(ops.Gather(g.Nodes, g.Source, 0))
	g.Nodes = update(g.Nodes, ops.SegmentSum(sent, g.Target, g.count()))
	return g
}

// SumMessages returns the graph whose nodes are the sums of their predecessors.
func (g TensorDigraph) SumMessages() TensorDigraph {
	return g.Propagate(func(rows tensor.Tensor) tensor.Tensor { return rows }, func(_, sum tensor.Tensor) tensor.Tensor { return sum })
}

// PageRank returns the rank of each node: float64[nodes], with sum 1. It iterates
// until no rank changes by more than tolerance. Nodes without edges pass their rank
// on to all nodes.
//
// See S. Brin and L. Page, "The anatomy of a large-scale hypertextual web search
// engine", Computer Networks 30 (1998).
func (g TensorDigraph) PageRank(damping, tolerance float64) tensor.Tensor {
	type state struct{ Rank, Change tensor.Tensor }
	n := ops.Cast(g.count(), dtype.Float64)
	out := ops.Cast(g.OutDegree(), dtype.Float64)
	dangling := ops.Cast(ops.Equal(out, 0.0), dtype.Float64)
	last := control.While(
		func(s state) tensor.Tensor { return ops.Greater(s.Change, tolerance) },
		func(s state) state {
			share := ops.Div(s.Rank, ops.Maximum(out, 1.0))
			arriving := ops.SegmentSum(ops.Gather(share, g.Source, 0), g.Target, g.count())
			lost := ops.Sum(ops.Mul(s.Rank, dangling))
			rank := ops.Add(ops.Mul(ops.Add(arriving, ops.Div(lost, n)), damping), ops.Div(tensor.Scalar(1-damping), n))
			return state{rank, ops.Max(ops.Abs(ops.Sub(rank, s.Rank)))}
		},
		state{ops.Div(ops.OnesLike(out), n), tensor.Scalar(1.0)})
	return last.Rank
}

// Batch joins graphs into one without edges between them, and returns for each node the graph
// that it comes from: int64[nodes].
func Batch(graphs ...TensorDigraph) (g TensorDigraph, of tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	if len(graphs) == 0 {
		return g, nil, tenon.NewError(tenon.ErrInvalid, "digraph.Batch", "there are no graphs")
	}
	var nodes, source, target, ids []tensor.Tensor
	first := tensor.Tensor(tensor.Scalar(int64(0)))
	for i, x := range graphs {
		n := x.count()
		nodes = append(nodes, x.Nodes)
		source, target = append(source, ops.Add(x.Source, first)), append(target, ops.Add(x.Target, first))
		ids = append(ids, ops.Fill(ops.ExpandDims(n, 0), int64(i)))
		first = ops.Add(first, n)
	}
	g, err = ext.New(TensorDigraph{ops.Concat(nodes, 0), ops.Concat(source, 0), ops.Concat(target, 0)})
	return g, ops.Concat(ids, 0), err
}

// Successors returns, for each node, the nodes to which its edges lead: int64[nodes,
// (successors)].
func (g TensorDigraph) Successors() *ragged.Tensor {
	order := ops.ArgSort(g.Source, 0, ops.SortOptions{})
	return tenon.Must(ragged.FromValueRowIDs(ops.Gather(g.Target, order, 0), ops.Gather(g.Source, order, 0), g.count()))
}

// Sample draws k successors of each seed, with replacement, from a random key; -1
// for a seed without any.
//
//	seeds: int64[n]  →  int64[n, k]
func (g TensorDigraph) Sample(random, seeds tensor.Tensor, k int) tensor.Tensor {
	next := g.Successors()
	starts, lengths := next.Partition().RowStarts(), next.Partition().RowLengths()
	start, length := ops.ExpandDims(ops.Gather(starts, seeds, 0), 1), ops.ExpandDims(ops.Gather(lengths, seeds, 0), 1)
	n := ops.Index(ops.Shape(seeds), 0)
	size := ops.Stack([]tensor.Tensor{n, tensor.Scalar(int64(k))}, 0)
	draw := ops.RandomUniform(random, size, dtype.Float64)
	at := ops.Minimum(ops.Cast(ops.Floor(ops.Mul(draw, ops.Cast(length, dtype.Float64))), dtype.Int64), ops.Maximum(ops.Sub(length, 1), 0))
	// A node -1 after the successors stands for none.
	flat := ops.Concat([]tensor.Tensor{next.FlatValues(), tensor.Vector([]int64{-1})}, 0)
	last := ops.Sub(ops.Index(ops.Shape(flat), 0), 1)
	return ops.Gather(flat, ops.Where(ops.Greater(length, 0), ops.Add(start, at), last), 0)
}

// Subgraph returns the graph of the nodes for which keep is true, renumbered, and of the edges
// between them.
func (g TensorDigraph) Subgraph(keep tensor.Tensor) TensorDigraph {
	number := ops.Sub(ops.CumSum(ops.Cast(keep, dtype.Int64), 0, ops.CumOptions{}), 1)
	stays := ops.LogicalAnd(ops.Gather(keep, g.Source, 0), ops.Gather(keep, g.Target, 0))
	end := func(x tensor.Tensor) tensor.Tensor { return ops.Gather(number, ops.BooleanMask(x, stays, 0), 0) }
	return TensorDigraph{ops.Index(g.Nodes, key.By(keep)), end(g.Source), end(g.Target)}
}
