package interp

import (
	"slices"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
)

// A place says that a tensor has one element for each value, or for each row, of a partition.
type place struct {
	splits int // ID of the row splits
	along  op.RowPart
}

// A loop describes how a node runs on a part of its elements.
type loop struct {
	f     op.BlockFunc // for an elementwise node
	rows  *op.RowLoop  // for a node on rows
	table bool         // the operand of rows is a table that all rows share
	dtype dtype.DType  // element type of the result
	key   any          // a shape or the ID of row splits; nodes with equal keys can run together
}

// layout tells which nodes of a graph can run together: elementwise nodes whose results have the
// same shape and, if these are the values of rows, also reductions of the rows, elementwise nodes on
// the reduced results, and nodes that spread a number of each row over its values.
//
// Sizes need not be known: everything found here is a guess until there is data, and the group then
// checks whether it holds.
type layout struct {
	places map[int]place // place by ID of the value
	loops  map[*graph.Node]*loop
	sums   map[*graph.Node]*graph.Node // additions, by the operation that does them itself
}

func layoutOf(g *graph.Graph) *layout {
	l := &layout{places: map[int]place{}, loops: make(map[*graph.Node]*loop, len(g.Nodes))}
	for _, n := range g.Nodes {
		if x := loopOf(n); x != nil {
			l.loops[n] = x
		}
	}
	l.spread(g)
	for n, x := range l.loops {
		if x.key == nil && !l.assign(n, x) {
			delete(l.loops, n)
		}
	}
	l.findSums(g)
	return l
}

// loopOf returns the loop of a node that may run together with others, or nil.
func loopOf(n *graph.Node) *loop {
	if len(n.Outs) != 1 {
		return nil
	}
	if f, d := fusible(n); f != nil {
		return &loop{f: f, dtype: d}
	}
	if rows := rowLoop(n); rows != nil {
		return &loop{rows: rows, dtype: rows.DType, key: splitsOf(n)}
	}
	if rows, splits := takeLoop(n); rows != nil {
		return &loop{rows: rows, table: true, dtype: rows.DType, key: splits}
	}
	if isColumnView(n) {
		size := n.Outs[0].DType().Size()
		return &loop{dtype: n.Outs[0].DType(), f: func(dst unsafe.Pointer, x [3]unsafe.Pointer, n int, _ uint8) {
			copy(unsafe.Slice((*byte)(dst), n*size), unsafe.Slice((*byte)(x[0]), n*size))
		}}
	}
	return nil
}

// fusible returns the loop of an elementwise node, or nil if the node cannot be fused.
func fusible(n *graph.Node) (op.BlockFunc, dtype.DType) {
	if !n.Op.IsElementwise() || len(n.Outs) != 1 {
		return nil, dtype.None
	}
	in := n.Inputs()
	if n.Op.Name == "cast" {
		return castLoop(in[0].DType(), n.Outs[0].DType())
	}
	if n.Op.Block == nil || len(in) != len(n.Args) || len(in) > 3 {
		return nil, dtype.None // has attributes or absent operands
	}
	types := make([]dtype.DType, len(in))
	for i, v := range in {
		if types[i] = v.DType(); types[i] == dtype.String {
			return nil, dtype.None
		}
	}
	f, d := n.Op.Block(types)
	if f == nil || d != n.Outs[0].DType() {
		return nil, dtype.None
	}
	return f, d
}

func castLoop(from, to dtype.DType) (op.BlockFunc, dtype.DType) {
	if from == dtype.String || to == dtype.String {
		return nil, dtype.None
	}
	f := elementwise.CastOf(to, from)
	if f == nil {
		return nil, dtype.None
	}
	return func(dst unsafe.Pointer, x [3]unsafe.Pointer, n int, _ uint8) { f(dst, x[0], n) }, to
}

// rowLoop returns the loop of an operation on rows whose items are single elements.
func rowLoop(n *graph.Node) *op.RowLoop {
	if n.Op.Rows == nil {
		return nil
	}
	in := n.Inputs()
	rows := n.Op.Rows(in[0].DType())
	operands := 2
	if rows != nil && rows.From == op.Nothing {
		operands = 1
	}
	if rows == nil || len(in) != operands || rows.DType != n.Outs[0].DType() || n.Outs[0].Shape().Rank() != 1 || in[0].Shape().Rank() != 1 {
		return nil
	}
	for i, a := range n.Args {
		if n.Op.Params[i].Kind != op.Attr {
			continue
		}
		if nvals, ok := a.(int); !ok || nvals != shape.Unknown {
			return nil
		}
	}
	return rows
}

// splitsOf returns the ID of the row splits of a node on rows.
func splitsOf(n *graph.Node) int {
	in := n.Inputs()
	return in[len(in)-1].Unchecked().ID()
}

// takeLoop returns the loop of a node that gives each row the first elements of a table, as many as
// the row is long. Such a node is written as a gather from the table at the positions of values
// within their rows.
func takeLoop(n *graph.Node) (loop *op.RowLoop, splits int) {
	if n.Op.Name != "gather" || n.Args[2] != 0 || n.Args[3] != 0 {
		return nil, 0
	}
	in := n.Inputs()
	at := in[1].Node()
	if at == nil || at.Op.Name != "ragged.offsets" || in[0].Shape().Rank() != 1 || in[0].DType() == dtype.String {
		return nil, 0
	}
	loop = rows.Heads(in[0].DType())
	if loop == nil {
		return nil, 0
	}
	return loop, splitsOf(at)
}

// isColumnView reports whether a node reshapes a column to another shape that is a column: [n], [n,
// 1] and so on.
func isColumnView(n *graph.Node) bool {
	if !n.Op.Reshapes() {
		return false
	}
	in := n.Inputs()[0]
	return in.DType() != dtype.String && isColumn(in.Shape()) && isColumn(n.Outs[0].Shape())
}

// isColumn reports whether all axes but the first have size 1.
func isColumn(s shape.Shape) bool {
	if s.Rank() < 1 {
		return false
	}
	for a := 1; a < s.Rank(); a++ {
		if s.Dim(a) != 1 {
			return false
		}
	}
	return true
}

// spread determines the places of values: those implied by nodes on rows, and those of values that
// elementwise nodes combine with them.
func (l *layout) spread(g *graph.Graph) {
	changed := false
	mark := func(v *graph.Value, p place) {
		s := v.Shape()
		if _, ok := l.places[v.ID()]; ok || p.along == op.PerValue && s.Rank() != 1 || !isColumn(s) {
			return
		}
		l.places[v.ID()] = p
		changed = true
	}
	for n, x := range l.loops {
		if x.rows == nil {
			continue
		}
		splits := x.key.(int)
		mark(n.Outs[0], place{splits, x.rows.To})
		if !x.table && x.rows.From != op.Nothing {
			mark(n.Inputs()[0], place{splits, x.rows.From})
		}
	}
	if !changed {
		return
	}
	// Propagate along the nodes and against them until nothing changes.
	visit := func(n *graph.Node) {
		x := l.loops[n]
		if x == nil || x.rows != nil {
			return
		}
		out := n.Outs[0]
		view := isColumnView(n)
		alike := func(v *graph.Value) bool { return view || v.Shape().Equal(out.Shape()) }
		if p, ok := l.places[out.ID()]; ok {
			n.EachInput(func(v *graph.Value) {
				if alike(v) && (!view || v == n.Args[0]) {
					mark(v, p)
				}
			})
			return
		}
		n.EachInput(func(v *graph.Value) {
			if p, ok := l.places[v.ID()]; ok && alike(v) && (!view || p.along == op.PerRow && v == n.Args[0]) {
				mark(out, p)
			}
		})
	}
	for changed {
		changed = false
		for _, n := range g.Nodes {
			visit(n)
		}
		for _, n := range slices.Backward(g.Nodes) {
			visit(n)
		}
	}
}

// assign gives an elementwise node its key. It reports false for a node that cannot run with any
// other: one whose operands have different layouts, or a view of something other than a column of
// rows.
func (l *layout) assign(n *graph.Node, x *loop) bool {
	out := n.Outs[0]
	p, ok := l.places[out.ID()]
	if !ok {
		x.key = out.Shape()
		return !isColumnView(n)
	}
	x.key = p.splits
	fits := true
	n.EachInput(func(v *graph.Value) {
		if q, ok := l.places[v.ID()]; ok && q != p {
			fits = false
		}
	})
	return fits
}

// together reports whether two nodes can be in one group.
func (l *layout) together(a, b *graph.Node) bool {
	x, y := l.loops[a], l.loops[b]
	if x == nil || y == nil {
		return false
	}
	if s, ok := x.key.(shape.Shape); ok {
		t, ok := y.key.(shape.Shape)
		return ok && s.Equal(t)
	}
	return x.key == y.key
}

// alike reports whether two nodes can be in one group without rows: both are elementwise, and their
// results have the same shape.
func (l *layout) alike(a, b *graph.Node) bool {
	return l.plain(a) && l.plain(b) && a.Outs[0].Shape().Equal(b.Outs[0].Shape())
}

func (l *layout) plain(n *graph.Node) bool {
	x := l.loops[n]
	return x != nil && x.rows == nil && !isColumnView(n)
}

// onRows reports whether one of the nodes works on rows.
func (l *layout) onRows(nodes []*graph.Node) bool {
	return slices.ContainsFunc(nodes, func(n *graph.Node) bool { x := l.loops[n]; return x != nil && x.rows != nil })
}
