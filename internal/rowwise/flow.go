package rowwise

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A flow interprets one graph.
type flow struct {
	*study
	parts map[*graph.Value]part
}

// of returns the part of an argument.
func (f *flow) of(x tenon.Value) part {
	v, ok := x.(*graph.Value)
	if !ok {
		return same()
	}
	if _, ok := v.ConstValue(); ok {
		return same()
	}
	return f.parts[v]
}

// run interprets a graph whose parameters have the given parts.
func (f *flow) run(g *graph.Graph, params []part) {
	for i, p := range params {
		f.parts[g.Params[i]] = p
	}
	for _, n := range g.Nodes {
		x := &node{flow: f, Node: n, call: &op.Call{Op: n.Op, Args: n.Args}}
		for _, v := range x.call.Operands() {
			x.in = append(x.in, f.of(v))
			t, _ := v.(tensor.Tensor)
			x.values = append(x.values, t)
		}
		out := x.results()
		for i, v := range n.Outs {
			if len(out) == 1 {
				i = 0
			}
			p := part{}
			if i < len(out) {
				p = out[i]
			}
			if p.kind <= mixed && p.by == "" {
				p.by = n.Op.Name
			}
			f.parts[v] = p
		}
		if n.Op.Checks && f.wrong == nil {
			if p := f.parts[n.Outs[0]]; p.kind <= mixed {
				f.wrong = &p
			}
		}
	}
}

// A node is one operation with the parts of its operands.
type node struct {
	*flow
	*graph.Node
	call   *op.Call
	in     []part
	values []tensor.Tensor
}

// rank returns the number of axes of operand i, or a negative number if it is unknown.
func (n *node) rank(i int) int {
	if n.values[i] == nil || !n.values[i].Shape().HasRank() {
		return -1
	}
	return n.values[i].Shape().Rank()
}

// dim returns the size of an axis of operand i.
func (n *node) dim(i, axis int) int { return n.values[i].Shape().Dim(axis) }

// number returns the value of an operand that is a known integer.
func (n *node) number(i int) (int, bool) {
	t, ok := op.Known(n.values[i])
	if !ok {
		return 0, false
	}
	list, ok := op.Ints(t)
	if !ok || len(list) != 1 {
		return 0, false
	}
	return list[0], true
}

// results returns the parts of all results; a single part applies to each of them.
func (n *node) results() []part {
	if all(n.in, isAlike) {
		return []part{same()}
	}
	if n.Op.Draws {
		return []part{{kind: mixed}} // different rows get different numbers
	}
	if slices.ContainsFunc(n.in, isPadded) {
		return n.filledUp()
	}
	if make, ok := named[n.Op.Name]; ok {
		return make(n)
	}
	for i, p := range n.in {
		if p.kind <= mixed && !n.Op.ShapeOnly.Has(n.operand(i)) {
			return []part{p}
		}
	}
	if s := n.Op.Statement; s.By != op.ByAxis {
		return n.byRows()
	}
	return []part{n.byAxis()}
}

// operand returns the number of the operand that input i belongs to.
func (n *node) operand(i int) int {
	k := 0
	for o := range n.call.Operands() {
		if k == i {
			return o
		}
		k++
	}
	return k
}

// byAxis handles operations whose statement describes their effect along axes.
func (n *node) byAxis() part {
	switch s := n.Op.Statement; s.Axes {
	case op.Map:
		return n.mapped()
	case op.Reduce, op.Along, op.Scan, op.Window:
		return n.alongAxes()
	case op.Select, op.Scatter:
		return n.inside()
	case op.Contract:
		return n.contracted()
	case op.Permute:
		return n.permuted()
	case op.Insert:
		return n.inserted()
	case op.Remove:
		return n.removed()
	case op.Join:
		return n.sideBySide()
	case op.Stack:
		return stacked(n)[0]
	case op.Broadcast:
		return broadcast(n)[0]
	case op.Regroup:
		if s.Moves == op.First {
			return reshaped(n)[0]
		}
	case op.Create:
		if s.Moves == op.Second {
			return filled(n)[0]
		}
	case op.Opaque:
		if s.Core > 0 {
			return n.alongAxes()
		}
	}
	return part{}
}

// aligned finds the axis of rows in broadcast operands, counted from the last axis. Operands that
// are the same in all calls must not have that axis, unless its size is 1.
func (n *node) aligned(skip op.Operands) (back int, out part) {
	back = -1
	for i, p := range n.in {
		r := n.rank(i)
		if p.kind == alike || skip.Has(n.operand(i)) {
			continue
		}
		if p.kind != entries || r < 0 {
			return -1, part{}
		}
		b := r - 1 - p.axis
		if back >= 0 && (b != back || !p.level.is(out.level)) {
			return -1, part{}
		}
		if back < 0 {
			back, out = b, p
		}
	}
	for i, p := range n.in {
		if p.kind != alike || skip.Has(n.operand(i)) {
			continue
		}
		r := n.rank(i)
		if r < 0 || r > back && n.dim(i, r-1-back) != 1 {
			return -1, part{}
		}
	}
	return back, out
}

// laid returns the rank of the result of broadcasting the operands.
func (n *node) laid() int {
	most := 0
	for i := range n.in {
		most = max(most, n.rank(i))
	}
	return most
}

// mapped handles operations on elements at the same positions.
func (n *node) mapped() part {
	if len(n.in) == 1 && (n.Op.Moves == op.First || n.Op.Name == "cast") {
		return n.in[0]
	}
	if n.Op.ShapeOnly == op.First && n.in[0].kind == entries {
		return along(n.in[0].axis, n.in[0].level)
	}
	if len(n.in) == 2 {
		if out := scalars(n); out != nil {
			return out[0]
		}
	}
	back, p := n.aligned(0)
	if back < 0 {
		return part{}
	}
	into, ok := n.shifted()
	if !ok {
		return part{}
	}
	return part{kind: entries, axis: n.laid() - 1 - back, level: p.level, into: into, loose: into != nil && !n.tight()}
}

// shifted determines what the resulting elements are positions in. In a joined call, the positions of
// an operand are all shifted by the same number, and so is a choice among them, or their sum with
// something that is not shifted; a difference of positions is not, nor is the result of a comparison.
func (n *node) shifted() (into *level, ok bool) {
	var moved []int
	for i, p := range n.in {
		if p.kind != entries || p.into == nil {
			continue
		}
		if into != nil && !into.is(p.into) {
			return nil, false
		}
		moved, into = append(moved, i), p.into
	}
	switch name := n.Op.Name; {
	case len(moved) == 0:
		return nil, true
	case name == "add":
		return into, len(moved) == 1
	case name == "sub":
		if len(moved) == 2 {
			return nil, true
		}
		return into, moved[0] == 0
	case name == "where":
		return into, slices.Equal(moved, []int{1, 2})
	case len(moved) < 2:
		return nil, false
	case name == "maximum" || name == "minimum":
		return into, true
	}
	return nil, slices.Contains(comparisons, n.Op.Name)
}

// tight reports whether positions lie within the entries of their own call: this holds for choices
// among such positions, and for the start of a row plus an offset within it.
func (n *node) tight() bool {
	if n.Op.Name == "add" {
		a, b := n.in[0], n.in[1]
		if a.role == offsets {
			a, b = b, a
		}
		return a.role == starts && b.role == offsets && a.of.is(b.of) && a.via == b.via
	}
	return n.Op.Name != "sub" && all(n.in, func(p part) bool { return p.into == nil || !p.loose })
}

var comparisons = []string{"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}

// alongAxes handles operations that combine the elements of axes, and those on the last axes.
func (n *node) alongAxes() part {
	back, p := n.aligned(n.Op.Control)
	if back < 0 || p.into != nil {
		return part{}
	}
	for i, q := range n.in {
		if n.Op.Control.Has(n.operand(i)) && q.kind != alike {
			return part{}
		}
	}
	rank := n.laid()
	axes, err := n.call.Axes(rank)
	if err != nil || n.Op.AxisParam() < 0 && n.Op.Core == 0 {
		return part{}
	}
	axis := rank - 1 - back
	if slices.Contains(axes, axis) {
		return part{kind: mixed}
	}
	if n.Op.Axes == op.Reduce && !n.keeps() {
		for _, a := range axes {
			if a < rank-1-back {
				axis--
			}
		}
	}
	return along(axis, p.level)
}

// keeps reports whether a reduced axis remains, with one entry.
func (n *node) keeps() bool {
	b, _ := n.call.Attr("keepdims").(bool)
	return b
}

// inside handles operations that select or set entries along an axis other than that of rows, given
// by other operands with the same rows.
func (n *node) inside() part {
	back, p := n.aligned(0)
	k := n.Op.AxisParam()
	if back < 0 || k < 0 || p.into != nil {
		return part{}
	}
	for i, q := range n.in {
		if q.kind == entries && q.into != nil || q.kind == entries && n.rank(i) != n.rank(0) || q.kind == alike && n.rank(i) > 1 {
			return part{}
		}
	}
	axes, err := n.call.Axes(n.rank(0))
	if err != nil || n.in[0].kind != entries {
		return part{}
	}
	if slices.Contains(axes, p.axis) {
		return part{kind: mixed}
	}
	return p
}

// permuted handles transpositions.
func (n *node) permuted() part {
	p, r := n.in[0], n.rank(0)
	if p.kind != entries || r < 0 {
		return part{}
	}
	perm := n.call.Ints(1)
	if perm == nil {
		return p.at(r - 1 - p.axis)
	}
	for i, a := range perm {
		if a == p.axis || a+r == p.axis {
			return p.at(i)
		}
	}
	return part{}
}

// inserted handles operations that add axes.
func (n *node) inserted() part {
	p, r := n.in[0], n.rank(0)
	if p.kind == count && p.plus == 0 {
		return part{kind: sizes, list: []part{p}}
	}
	if p.kind != entries || r < 0 || n.Op.Core > 0 || !all(n.in[1:], isAlike) {
		return part{}
	}
	if n.Op.AxisParam() < 0 { // the new axis is the last one
		return along(p.axis, p.level)
	}
	out := n.Outs[0].Shape().Rank()
	axes, err := n.call.Axes(out)
	if err != nil {
		return part{}
	}
	axis := p.axis
	slices.Sort(axes)
	for _, a := range axes {
		if a <= axis {
			axis++
		}
	}
	if n.Op.Moves != op.First {
		if p.into != nil {
			return part{}
		}
		return along(axis, p.level)
	}
	p = p.bare()
	return p.at(axis)
}

// removed handles operations that remove axes of size 1, or take one entry of an axis.
func (n *node) removed() part {
	p, r := n.in[0], n.rank(0)
	if p.kind != entries || r < 0 || n.Op.Core > 0 || n.call.Args[n.Op.AxisParam()] == nil {
		return part{}
	}
	axes, err := n.call.Axes(r)
	if err != nil {
		return part{}
	}
	axis := p.axis
	for _, a := range axes {
		switch {
		case a == p.axis:
			return part{kind: mixed}
		case a < p.axis:
			axis--
		}
	}
	p = p.bare()
	return p.at(axis)
}

// sideBySide handles concatenation along an axis other than that of rows.
func (n *node) sideBySide() part {
	if all(n.in, func(p part) bool { return p.kind == sizes || p.kind == alike }) {
		return n.sizesOf()
	}
	p := n.in[0]
	r := n.rank(0)
	if p.kind != entries || r < 0 {
		return part{}
	}
	for i, q := range n.in {
		if q.kind != entries || !q.level.is(p.level) || q.axis != p.axis || n.rank(i) != r || q.into != nil {
			return part{}
		}
	}
	axes, err := n.call.Axes(r)
	if err != nil {
		return part{}
	}
	if slices.Contains(axes, p.axis) {
		return part{kind: mixed}
	}
	return along(p.axis, p.level)
}

func isAlike(p part) bool { return p.kind == alike }

func all(list []part, f func(part) bool) bool {
	return !slices.ContainsFunc(list, func(p part) bool { return !f(p) })
}
