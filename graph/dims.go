package graph

import (
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
	"github.com/tenonml/tenon/tensor"
)

// The names of dimensions say what a program works on to whoever reads it: they are in its
// text, in DOT, in profiles and in errors. What the program does does not depend on them.

// NameDims returns the tensor v under names for its dimensions: whatever is recorded with it
// notes the names of its operand. A result keeps the first names that it is given.
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

// Dims returns the names of the dimensions; nil where there are none.
func (v *Value) Dims() []string { return v.dims }

// origin returns the value that the graph itself holds.
func (v *Value) origin() *Value {
	if v.of != nil {
		return v.of
	}
	return v
}

// InputDims returns the names that the dimensions of each of [Node.Inputs] had where the
// operation was recorded, nil for those without names; nil where there are none at all.
func (n *Node) InputDims() [][]string { return n.dims }

// text prints the Spec, and the names of the dimensions: float32[2, ?] {Seq, Rep}.
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

// Operand describes a tensor whose dimensions have names in a line of a message.
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

// dims reads what text writes after a Spec.
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
