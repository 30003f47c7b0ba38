package graph

import (
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
	"github.com/tenonml/tenon/tensor"
)

// The names of dimensions tell readers what a program works on: they appear in its text, in DOT, in
// profiles and in errors. They do not affect what the program does.

// NameDims returns v with names for its dimensions. Operations recorded with it note the names of
// their operands. A result keeps the first names that it is given.
func (v *Value) NameDims(names []string) tensor.Tensor {
	if s := v.spec.Shape(); s.HasRank() && s.Rank() != len(names) {
		return v
	}
	o := v.origin()
	if o.dims == nil && !o.graph.sealed.Load() {
		o.dims = names
	}
	alias := &Value{graph: o.graph, node: o.node, konst: o.konst, index: o.index, id: o.id, spec: o.spec, dims: names, of: o}
	return alias
}

// Dims returns the names of the dimensions, or nil if there are none.
func (v *Value) Dims() []string { return v.dims }

// origin returns the value in the graph itself.
func (v *Value) origin() *Value {
	if v.of != nil {
		return v.of
	}
	return v
}

// InputDims returns the names that the dimensions of each of [Node.Inputs] had when the operation
// was recorded, nil for an input without names. It returns nil if no input had names.
func (n *Node) InputDims() [][]string { return n.dims }

// text formats the Spec and the names of the dimensions: float32[2, ?] {Seq, Rep}.
func (v *Value) text() string {
	t := specText(v.spec)
	if v.dims == nil {
		return t
	}
	names := make([]string, len(v.dims))
	for i, n := range v.dims {
		names[i] = quoteName(n)
	}
	return t + " {" + strings.Join(names, ", ") + "}"
}

// Operand describes a tensor with named dimensions on one line of a message.
func Operand(role string, x tensor.Tensor, names []string) dimtext.Operand {
	o := dimtext.Operand{Role: role, Dims: make([]dimtext.Dim, len(names))}
	for i, n := range names {
		o.Dims[i] = dimtext.Dim{Name: n, Size: dimtext.Absent}
		if s := x.Shape(); s.HasRank() && i < s.Rank() {
			o.Dims[i].Size = s.Dim(i)
		}
	}
	return o
}

// dims parses what text writes after a Spec.
func (p *parser) dims() []string {
	if !p.accept("{") {
		return nil
	}
	names := []string{}
	for !p.accept("}") {
		if len(names) > 0 {
			p.expect(",")
		}
		names = append(names, p.name())
	}
	return names
}
