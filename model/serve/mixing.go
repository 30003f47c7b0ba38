package serve

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ragged"
)

// What the statements of its operations say about the rows of a function: one that combines
// elements along the axis of rows, such as a mean of all, must not get the rows of several calls.

// A part is what an element of a value in a graph depends on.
type part uint8

// From what is the same in each call to what depends on several rows. What operations do not
// state, such as where an index that is computed points, is anything.
const (
	constantPart part = iota
	rowPart           // element i along the first axis depends on its own row, or on entries of its row
	anyPart
	mixedPart
)

// mixing finds out which operation of a graph combines rows.
type mixing struct {
	parts map[*graph.Value]part
	by    map[*graph.Value]*graph.Node // what combined them
}

// mixes returns the name of an operation by which a result of a variant of a function depends on
// several rows; empty where none states it. Variables that are changed are such a result.
func mixes(f *saved.Func, variant int) string {
	g := f.Graph(variant)
	m := &mixing{map[*graph.Value]part{}, map[*graph.Value]*graph.Node{}}
	leaves := 0
	for _, l := range f.Args(variant) {
		leaves += m.params(g.Params[leaves:], l.Spec)
	}
	for _, n := range g.Nodes {
		m.node(n)
	}
	results := 0
	for _, l := range f.Results(variant) {
		results += leavesOf(l.Spec)
	}
	if len(g.Outputs) > results {
		return "assignment to a variable"
	}
	for _, v := range g.Outputs {
		if m.parts[v] == mixedPart {
			return m.by[v].Op.Name
		}
	}
	return ""
}

// leavesOf returns the number of tensors that a Value of a Spec is made of.
func leavesOf(s tenon.Spec) int {
	if tenon.IsLeaf(s) {
		return 1
	}
	n := 0
	for _, c := range s.Components() {
		n += leavesOf(c.Spec)
	}
	return n
}

// params says what the parameters are that a Spec is made of, and returns how many there are.
func (m *mixing) params(params []*graph.Value, s tenon.Spec) int {
	if tenon.IsLeaf(s) {
		m.parts[params[0]] = rowPart
		return 1
	}
	n := 0
	for _, c := range s.Components() {
		n += m.params(params[n:], c.Spec)
	}
	if _, ok := s.(*ragged.PartitionSpec); ok { // splits count the rows in front of them
		for _, p := range params[:n] {
			m.parts[p] = anyPart
		}
	}
	return n
}

// node says what the results of a node depend on.
func (m *mixing) node(n *graph.Node) {
	c := &op.Call{Op: n.Op, Args: n.Args}
	most, by := constantPart, (*graph.Node)(nil)
	operands := 0
	for i, x := range c.Operands() {
		v, ok := x.(*graph.Value)
		if !ok {
			continue
		}
		p := m.parts[v]
		if n.Op.ShapeOnly.Has(i) {
			p = min(p, anyPart)
		}
		if p == mixedPart && most != mixedPart {
			by = m.by[v]
		}
		if p == rowPart && n.Op.ShapeOnly.Has(i) {
			p = anyPart
		}
		most, operands = max(most, p), operands+1
	}
	if most == rowPart || most == anyPart {
		if p := m.stated(n, c); p == mixedPart || most == rowPart {
			most, by = p, n
		}
	}
	for _, v := range n.Outs {
		m.parts[v] = most
		if most == mixedPart {
			m.by[v] = by
		}
	}
}

// stated returns what an operation on rows gives, as it states it.
func (m *mixing) stated(n *graph.Node, c *op.Call) part {
	o := n.Op
	if o.Draws {
		return mixedPart // other rows get other numbers
	}
	switch {
	case o.Checks:
		return rowPart
	case o.By == op.ByRows && (o.Axes == op.Reduce || o.Axes == op.Along || o.Axes == op.Scan):
		return rowPart
	case o.By != op.ByAxis:
		return anyPart
	}
	switch o.Axes {
	case op.Map:
		return m.aligned(c)
	case op.Reduce, op.Along, op.Scan:
		return m.alongAxes(c)
	case op.Select:
		return m.selected(c)
	case op.Contract, op.Insert, op.Remove, op.Permute:
		return m.carried(n, c)
	}
	return anyPart
}

// selected is for operations that choose entries of an axis: of a table that is always the same
// they are rows as their positions are.
func (m *mixing) selected(c *op.Call) part {
	for i, x := range c.Operands() {
		v, ok := x.(*graph.Value)
		if !ok || c.Op.Moves.Has(i) && m.parts[v] != constantPart {
			return anyPart
		}
	}
	if k := c.Op.AxisParam(); k < 0 || c.Args[k] != 0 {
		return anyPart
	}
	return rowPart
}

// carried is for operations that sum products over axes, or move axes: rows of which there is any
// number, where all other sizes are known, are on the axis of the result whose size is not known; where
// there is none, they were summed.
func (m *mixing) carried(n *graph.Node, c *op.Call) part {
	rows := 0
	for _, x := range c.Operands() {
		v, ok := x.(*graph.Value)
		if !ok || !v.Shape().HasRank() {
			return anyPart
		}
		if m.parts[v] == constantPart {
			continue
		}
		if rows++; m.parts[v] != rowPart || !onlyRowsUnknown(v) {
			return anyPart
		}
	}
	out := n.Outs[0]
	switch {
	case rows != 1 || !out.Shape().HasRank():
		return anyPart
	case onlyRowsUnknown(out):
		return rowPart
	case c.Op.Axes == op.Contract && out.Shape().IsFull():
		return mixedPart
	}
	return anyPart
}

// onlyRowsUnknown reports whether all sizes of a value but the first are known, and that is not.
func onlyRowsUnknown(v *graph.Value) bool {
	for i := range v.Shape().Rank() {
		if (v.Shape().Dim(i) < 0) != (i == 0) {
			return false
		}
	}
	return v.Shape().Rank() > 0
}

// aligned is for operations on elements in the same places: the rows of all operands lie on one
// axis.
func (m *mixing) aligned(c *op.Call) part {
	rank, most := -1, 0
	for _, x := range c.Operands() {
		v, ok := x.(*graph.Value)
		if !ok || !v.Shape().HasRank() {
			return anyPart
		}
		r := v.Shape().Rank()
		switch {
		case m.parts[v] != rowPart:
			most = max(most, r)
		case rank >= 0 && rank != r:
			return anyPart
		default:
			rank = r
		}
	}
	if most >= rank {
		return anyPart
	}
	return rowPart
}

// alongAxes is for operations that combine the elements of axes.
func (m *mixing) alongAxes(c *op.Call) part {
	for _, x := range c.Operands() {
		v, ok := x.(*graph.Value)
		if !ok || m.parts[v] != rowPart {
			continue
		}
		if !v.Shape().HasRank() {
			return anyPart
		}
		axes, err := c.Axes(v.Shape().Rank())
		if err != nil {
			return anyPart
		}
		if slices.Contains(axes, 0) {
			return mixedPart
		}
		return rowPart
	}
	return anyPart
}
